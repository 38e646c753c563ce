"""The vocabulary of the generated text: names, values and frames, from this folder's YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True)
class FieldPhrases:
    """How documents speak about one field."""

    field: str
    family: str
    names: Mapping[str, tuple[str, ...]]
    """Names of the parameter, by language."""
    values: tuple[str, ...]
    frames: tuple[str, ...] = ()
    """Ways to say it that only this field has."""
    numbers: tuple[tuple[str, str, str], ...] = ()
    """Min, typ and max of rows of a table of ratings."""
    unit: str = ""
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phrases:
    """All of it."""

    fields: tuple[FieldPhrases, ...]
    frames: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By family and language."""
    words: Mapping[str, tuple[str, ...]]
    negatives: Mapping[str, Any]
    paths: Mapping[str, tuple[tuple[str, ...], ...]]
    """Headings, by the kind of the statement under them."""


def load_phrases() -> Phrases:
    """The phrases of this package."""
    table = _yaml("phrases.yaml")
    return Phrases(
        fields=tuple(_field(name, row) for name, row in table["fields"].items()),
        frames={family: {lang: tuple(f) for lang, f in of.items()} for family, of in table["frames"].items()},
        words={key: tuple(words) for key, words in table["words"].items()},
        negatives=_yaml("negatives.yaml"),
        paths={kind: tuple(tuple(path) for path in paths) for kind, paths in _yaml("paths.yaml").items()},
    )


def _field(name: str, row: Mapping[str, Any]) -> FieldPhrases:
    return FieldPhrases(
        field=name,
        family=row["family"],
        names={lang: tuple(row[lang]) for lang in ("en", "zh") if lang in row},
        values=tuple(row["values"]),
        frames=tuple(row.get("frames", ())),
        numbers=tuple((a, b, c) for a, b, c in row.get("numbers", ())),
        unit=row.get("unit", ""),
        symbols=tuple(row.get("symbols", ())),
    )


def _yaml(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(files(__package__).joinpath(name).read_text("utf-8"))
    return loaded
