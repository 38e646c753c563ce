"""Canonical fields: the names that every reader uses, each with the base unit of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import yaml

from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.values import Value


class Field(Value):
    """One thing that a document can say about a chip."""

    name: str
    unit: str | None
    """Base unit of its numbers; `addr` for an address as hex text; None for text."""
    meaning: str = ""
    """What the name alone does not say."""


def _load() -> Mapping[str, Field]:
    table: dict[str, Any] = yaml.safe_load(files(__package__).joinpath("fields.yaml").read_text("utf-8"))
    return MappingProxyType(
        {name: Field(name=name, **row | {"unit": row["unit"] or None}) for name, row in table.items()}
    )


FIELDS = _load()
"""Every canonical field by name."""


def address(number: int) -> str:
    """An address as hex text, so that all 64 bits survive JSON."""
    return f"0x{number:x}"


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as plain JSON data: whole numbers as integers, absent parts left out."""
    plain = candidate.plain()
    plain.pop("source")
    return {key: _whole(value) for key, value in plain.items() if value != ""}


def _whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
