"""Puts what several documents say about one chip side by side, as a SpecDraft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hwdoc_ingest.reading import Reading
from metainfer_core.errors import DefectError
from metainfer_core.spec.draft import Candidate, SpecDraft


def draft(chip: str, readings: Sequence[Reading]) -> SpecDraft:
    """All candidates of `readings`: a repetition inside one document is merged, a conflict stays.

    Candidates stand in the order of field and instance, so that what contradicts each other stands together.
    """
    keys = [reading.key for reading in readings]
    if len(set(keys)) != len(keys):
        raise DefectError(f"Two documents have the same key: {sorted(keys)}.")
    merged = [candidate for reading in readings for candidate in merge(reading.candidates)]
    return SpecDraft(
        chip=chip,
        sources={reading.key: reading.source for reading in readings},
        candidates=tuple(sorted(merged, key=lambda candidate: (candidate.field, candidate.instance or ""))),
        notes=tuple(f"{reading.key}: {note}" for reading in readings for note in reading.notes),
    )


def merge(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates of one document, of those that say the same only the most certain (the first of equals)."""
    best: dict[tuple[object, ...], Candidate] = {}
    for candidate in candidates:
        said = _what_it_says(candidate)
        if said not in best or candidate.confidence > best[said].confidence:
            best[said] = candidate
    return tuple(best.values())


def _what_it_says(candidate: Candidate) -> tuple[object, ...]:
    """Everything but where it stands and how sure it is."""
    return (
        candidate.field,
        candidate.value,
        candidate.unit,
        candidate.min,
        candidate.typ,
        candidate.max,
        candidate.instance,
        candidate.strength,
        candidate.sharing,
        candidate.condition,
        candidate.source,
    )


def source_keys(names: Sequence[str]) -> tuple[str, ...]:
    """A key for each document, from its file name: `rk3588_datasheet_v1_4`, and `_2` at the second of that name."""
    keys: list[str] = []
    for name in names:
        stem = name.rsplit(".", 1)[0].lower()
        key = base = re.sub(r"[^0-9a-z]+", "_", stem).strip("_")[:60] or "document"
        number = 1
        while key in keys:
            number += 1
            key = f"{base}_{number}"
        keys.append(key)
    return tuple(keys)
