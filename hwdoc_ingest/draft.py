"""Puts what several documents say about one chip side by side, as a SpecDraft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hwdoc_ingest.decisions import decisions, rank
from hwdoc_ingest.reading import Reading
from metainfer_core.errors import DefectError
from metainfer_core.spec.draft import Candidate, SpecDraft


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
    names = tuple(_plain_name(name) for name in (chip, known_as) if name)
    keys = [reading.key for reading in readings]
    if len(set(keys)) != len(keys):
        raise DefectError(f"Two documents have the same key: {sorted(keys)}.")
    merged = [candidate for reading in readings for candidate in merge(_of_chip(reading.candidates, names))]
    sources = {reading.key: reading.source for reading in readings}
    merged.sort(key=lambda candidate: (candidate.field, candidate.instance or "", rank(sources[candidate.source])))
    notes = (
        f"{reading.key}: {note}"
        for reading in readings
        for note in (*reading.notes, *_left_out(reading.candidates, names))
    )
    return SpecDraft(chip=chip, sources=sources, candidates=tuple(merged), notes=(*notes, *decisions(sources, merged)))


def _plain_name(name: str) -> str:
    """`RK3566` and `rk-3566` are one name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _of_chip(candidates: Iterable[Candidate], names: Sequence[str]) -> Iterable[Candidate]:
    """The candidates that are not said of other chips only."""
    return (
        candidate
        for candidate in candidates
        if candidate.chips is None or any(_plain_name(each) in names for each in candidate.chips)
    )


def _left_out(candidates: Sequence[Candidate], names: Sequence[str]) -> Iterable[str]:
    """A note on what was said of other chips, naming them."""
    chips = [candidate.chips for candidate in candidates if candidate.chips is not None]
    other = [each for each in chips if not any(_plain_name(name) in names for name in each)]
    if not other:
        return
    named = ", ".join(dict.fromkeys("/".join(each) for each in other))
    hint = "" if len(other) < len(chips) else " None of these is this chip; --known-as gives its name in the document."
    yield f"{len(other):,} statements on other chips are left out ({named}).{hint}"


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
