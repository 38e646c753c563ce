"""People's corrections as examples: what they confirmed or mended in the studio, one JSON object a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hwdoc_ingest.bert.labels import NO_FIELD
from hwdoc_ingest.bert.second_opinion import is_same_but_unit
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.train.example import Example, Mark
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes

HELD_BACK = 5
"""One document in so many is not learnt from but measured."""
BOUNDS = ("min", "typ", "max")


def read_corrections(path: Path, fields: Sequence[str]) -> tuple[list[Example], list[Example]]:
    """Examples to learn and examples of other documents to measure with.

    A line says {"document", "page", "text", "field", "proposed": {...}, "corrected": {...} or null}; `corrected` has
    the parts of a candidate, and null says that the text gives this field no value. Lines about fields that the
    encoder does not tell apart, and those whose value is no number of the text, teach nothing and are left out.
    """
    learnt: list[Example] = []
    held_back: list[Example] = []
    for number, line in enumerate(read_bytes(path, "corrections").decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        entry = _entry(path, number, line)
        example = _example(entry, fields)
        if example is not None:
            digest = hashlib.sha256(str(entry["document"]).encode()).digest()
            (held_back if digest[0] % HELD_BACK == 0 else learnt).append(example)
    return learnt, held_back


def _entry(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}:{number}: this line is no JSON.", f"{error}.", "Export the corrections again."
        ) from error
    wanted = {"document": str, "text": str, "field": str, "proposed": dict, "corrected": (dict, type(None))}
    for key, kind in wanted.items():
        if not isinstance(entry, dict) or key not in entry or not isinstance(entry[key], kind):  # type: ignore[arg-type]
            raise InputError(
                f"{path}:{number}: this is no correction.", f"It lacks {key!r}.", "Export the corrections again."
            )
    return entry


def _example(entry: dict[str, Any], fields: Sequence[str]) -> Example | None:
    field, text, corrected = entry["field"], entry["text"], entry["corrected"]
    if field not in fields or not text:
        return None
    said = _stated(text, corrected if corrected is not None else entry["proposed"])
    if not said:
        return None
    own = NO_FIELD if corrected is None else field
    return Example(text, tuple(Mark(a.start, a.end, "value", own) for a in said), "feature")


def _stated(text: str, candidate: dict[str, Any]) -> list[Amount]:
    """The numbers of the text that a candidate's value and bounds came from."""
    wanted: list[float] = []
    for key in ("value", *BOUNDS):
        value = candidate.get(key)
        items = value if isinstance(value, list) else [value]
        wanted += [float(item) for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
    return [a for a in find_amounts(text) if any(is_same_but_unit(v, w) for v in a.values for w in wanted)]
