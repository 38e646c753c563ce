"""Puts what several documents say about one chip side by side, as a SpecDraft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hwdoc_ingest.drafting.decisions import decisions, rank
from hwdoc_ingest.reading import Reading
from metainfer_core.errors import DefectError
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft


def draft(chip: str, readings: Sequence[Reading], known_as: str | None = None) -> SpecDraft:
    """All candidates of `readings`: a repetition inside one document is merged, a conflict stays.

    What a document says of other chips only is left out, with a note. Candidates stand in the order of field and
    instance, so that what contradicts each other stands together; the document that comes first stands first (errata,
    reference manual, data sheet, brief). What was settled so is in the notes.

    Args:
        chip: The chip's name.
        readings: What its documents say.
        known_as: Its name in documents that speak of several chips, where that is another.
    """
    readings = [of_chip(reading, chip, known_as) for reading in readings]
    keys = [reading.key for reading in readings]
    if len(set(keys)) != len(keys):
        raise DefectError(f"Two documents have the same key: {sorted(keys)}.")
    merged = [candidate for reading in readings for candidate in merge(reading.candidates)]
    sources = {reading.key: reading.source for reading in readings}
    merged.sort(key=lambda candidate: (candidate.field, candidate.instance or "", rank(sources[candidate.source])))
    notes = (f"{reading.key}: {note}" for reading in readings for note in reading.notes)
    return SpecDraft(chip=chip, sources=sources, candidates=tuple(merged), notes=(*notes, *decisions(sources, merged)))


def _plain_name(name: str) -> str:
    """`RK3566` and `rk-3566` are one name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def of_chip(reading: Reading, chip: str, known_as: str | None = None) -> Reading:
    """What a document says of a chip: what it says of other chips only is left out, with a note that names them.

    Args:
        reading: What the document says.
        chip: The chip's name.
        known_as: Its name in this document, where that is another.
    """
    names = tuple(_plain_name(name) for name in (chip, known_as) if name)
    parted = [candidate.chips for candidate in reading.candidates if candidate.chips is not None]
    other = [chips for chips in parted if not any(_plain_name(each) in names for each in chips)]
    if not other:
        return reading
    named = ", ".join(dict.fromkeys("/".join(chips) for chips in other))
    hint = "" if len(other) < len(parted) else " None of these is this chip; --known-as gives its name in the document."
    note = f"{len(other):,} statements on other chips are left out ({named}).{hint}"
    left_out = set(other)
    kept = tuple(each for each in reading.candidates if each.chips is None or each.chips not in left_out)
    return Reading(**{**reading.__dict__, "candidates": kept, "notes": (*reading.notes, note)})


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
        candidate.chips,
        candidate.rule,
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
