"""How sure a candidate is: the rule's own sureness, the glyphs, and what the rest of the document says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hwdoc_ingest.statement import Statement
from metainfer_core.spec.draft import Candidate

AGREED = 0.25
"""What remains of the doubt when a second place of the document says the same."""
CONTRADICTED = 0.6
"""Most that a value can have when the document gives another one for the same thing."""
LEAST = 0.4
"""A reading that is more likely wrong is left out."""
NEARLY = 0.04
"""How much worse founded than the best a contradicting reading may be and still stand beside it."""
LISTED = frozenset(
    {"mmio.base", "register.offset", "memory.region.base", "memory.region.size_bytes", "interrupts.vector"}
)
"""Fields of which a document gives many."""


def confidence(sureness: float, statement: Statement) -> float:
    """The chance that a reading is right, given the rule's sureness and how well the glyphs were read."""
    read = min(1.0, statement.sureness) ** 0.5 * 0.97 if statement.by_ocr else 1.0
    return round(max(0.0, min(0.97, sureness * read)), 3)


def weigh(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates without repetitions, surer where places agree and less sure where they contradict.

    Of readings that contradict each other those stay that are nearly as well founded as the best one.
    """
    by_thing: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in (c for c in candidates if c.confidence >= LEAST):
        by_thing[candidate.field, _plain(candidate.instance)].append(candidate)
    weighed = [each for (field, _), group in by_thing.items() for each in _weigh_group(field, group)]
    order = {(c.page, c.field, c.text): i for i, c in enumerate(candidates)}
    return tuple(sorted(weighed, key=lambda c: order[c.page, c.field, c.text]))


def _weigh_group(field: str, group: list[Candidate]) -> list[Candidate]:
    """The readings of one field of one instance."""
    readings: dict[object, list[Candidate]] = defaultdict(list)
    for candidate in group:
        readings[_reading(candidate)].append(candidate)
    founded = {reading: _foundation(same) for reading, same in readings.items()}
    best = max(founded.values())
    weighed = []
    for reading, same in readings.items():
        first = max(same, key=lambda c: c.confidence)
        sure = first.confidence
        if len({(c.page, c.text) for c in same}) > 1:
            sure = 1 - (1 - sure) * AGREED
        if len(readings) > 1 and field not in LISTED:
            if founded[reading] < best - NEARLY:
                continue
            sure = min(sure, CONTRADICTED)
        weighed.append(Candidate(**{**first.__dict__, "confidence": round(sure, 3)}))
    return weighed


def _foundation(same: list[Candidate]) -> float:
    """How well a reading is founded: its surest place, and that there are several."""
    places = len({(c.page, c.text) for c in same})
    return max(c.confidence for c in same) + 0.03 * min(3, places - 1)


def _plain(instance: str | None) -> str:
    return "".join(c for c in (instance or "").lower() if c.isalnum())


def _reading(candidate: Candidate) -> object:
    return candidate.value, candidate.min, candidate.typ, candidate.max
