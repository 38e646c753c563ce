"""How sure a candidate is: the rule's own sureness, the glyphs, and what the rest of the document says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hwdoc_ingest.statement import Statement
from metainfer_core.spec.draft import Candidate

AGREED = 0.35
"""What remains of the doubt when a second place of the document says the same."""
CONTRADICTED = 0.6
"""Most that a value can have when the document gives another one for the same thing."""
LISTED = frozenset(
    {"mmio.base", "register.offset", "memory.region.base", "memory.region.size_bytes", "interrupts.vector"}
)
"""Fields of which a document gives many."""


def confidence(sureness: float, statement: Statement) -> float:
    """The chance that a reading is right, given the rule's sureness and how well the glyphs were read."""
    read = min(1.0, statement.sureness) ** 0.5 * 0.97 if statement.by_ocr else 1.0
    return round(max(0.0, min(0.97, sureness * read)), 3)


def weigh(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates without repetitions, surer where places agree and less sure where they contradict."""
    by_thing: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_thing[candidate.field, _plain(candidate.instance)].append(candidate)
    weighed: list[Candidate] = []
    for (field, _), group in by_thing.items():
        readings: dict[object, list[Candidate]] = defaultdict(list)
        for candidate in group:
            readings[_reading(candidate)].append(candidate)
        for same in readings.values():
            best = max(same, key=lambda c: c.confidence)
            places = {(c.page, c.text) for c in same}
            sure = best.confidence
            if len(places) > 1:
                sure = 1 - (1 - sure) * AGREED
            if len(readings) > 1 and field not in LISTED:
                sure = min(sure, CONTRADICTED)
            weighed.append(Candidate(**{**best.__dict__, "confidence": round(sure, 3)}))
    order = {id(c): i for i, c in enumerate(candidates)}
    return tuple(
        sorted(
            weighed, key=lambda c: (c.page if isinstance(c.page, int) else 0, c.field, c.box or (), order.get(id(c), 0))
        )
    )


def _plain(instance: str | None) -> str:
    return "".join(c for c in (instance or "").lower() if c.isalnum())


def _reading(candidate: Candidate) -> object:
    return candidate.value, candidate.min, candidate.typ, candidate.max
