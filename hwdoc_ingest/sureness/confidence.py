"""How sure a candidate is: the rule's own sureness, the glyphs, and what the rest of the document says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.sureness.same_thing import plain as _plain
from hwdoc_ingest.sureness.same_thing import said_in_full
from metainfer_core.spec.drafting.draft import Candidate

AGREED = 0.25
"""What remains of the doubt when a second place of the document says the same."""
CONTRADICTED = 0.6
"""Most that a value can have when the document gives another one for the same thing."""
LEXICON = "lexicon"
"""Ends the method of a reading of the fallback reader."""
LEAST = 0.4
"""A reading that is more likely wrong is left out."""
NEARLY = 0.04
"""How much worse founded than the best a contradicting reading may be and still stand beside it."""
WEAKER = 0.12
"""The same for a reading of no instance, beside readings of instances by name."""
LISTED = frozenset(
    {
        "mmio.base",
        "register.offset",
        "memory.region.base",
        "memory.region.size_bytes",
        "interrupts.vector",
        "chip.package",
    }
)
"""Fields of which a document gives many."""

_Reading = tuple[Any, float | None, float | None, float | None]
"""What a candidate says: its value and bounds."""


def confidence(sureness: float, statement: Statement) -> float:
    """The chance that a reading is right, given the rule's sureness and how well the glyphs were read."""
    read = min(1.0, statement.sureness) ** 0.5 * 0.97 if statement.by_ocr else 1.0
    return round(max(0.0, min(0.97, sureness * read)), 3)


@dataclass(frozen=True)
class Weighed:
    """A candidate after all that the document says was held together."""

    candidate: Candidate
    """Its confidence is what the weighing left of it."""
    sureness: float
    """Of the reading alone, at its best place."""
    places: int
    """How many places of the document say the same."""
    contested: bool
    """Whether another reading of the same thing was found, kept beside it or not."""


Suits = Callable[[Candidate], int]
"""Tells how well the place of a candidate suits to show what it says."""


def any_place(candidate: Candidate) -> int:
    """All places suit alike."""
    return 0


def weigh(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates once a page, surer where places agree and less sure where they contradict."""
    return tuple(each.candidate for each in weighed(candidates))


def weighed(candidates: Sequence[Candidate], suits: Suits = any_place) -> tuple[Weighed, ...]:
    """The candidates once a page, surer where places agree and less sure where they contradict.

    Of readings that contradict each other those stay that are nearly as well founded as the best one. A reading's
    places follow each other, the one that suits best first.
    """
    ruled = [each for each in candidates if not each.method.endswith(LEXICON) and each.confidence >= LEAST]
    candidates = said_in_full(candidates, ruled)
    doubted = _doubted(candidates)
    candidates = _without_guesses(candidates)
    by_thing: dict[tuple[str, str, bool], list[Candidate]] = defaultdict(list)
    for candidate in (c for c in candidates if c.confidence >= LEAST):
        limit = candidate.strength == "must"  # an absolute maximum does not contradict what is recommended
        by_thing[candidate.field, _plain(candidate.instance), limit].append(candidate)
    named: dict[str, float] = defaultdict(float)
    for (field, instance, _), group in by_thing.items():
        if instance:
            named[field] = max(named[field], *(c.confidence for c in group))
    found = [
        _contested(each) if thing(each.candidate) in doubted else each
        for (field, instance, _), group in by_thing.items()
        for each in _weigh_group(field, group, 0.0 if instance else named[field], suits)
    ]
    order = {(c.page, c.field, c.text): i for i, c in enumerate(candidates)}
    at = [order[w.candidate.page, w.candidate.field, w.candidate.text] for w in found]
    first: dict[object, int] = {}
    for each, where in zip(found, at, strict=True):
        first.setdefault(thing(each.candidate), where)
    return tuple(sorted(found, key=lambda w: first[thing(w.candidate)]))


def _contested(each: Weighed) -> Weighed:
    doubted = _said_at(each.candidate, each.candidate, min(each.candidate.confidence, CONTRADICTED))
    return Weighed(doubted, each.sureness, each.places, contested=True)


def thing(candidate: Candidate) -> tuple[str, str, _Reading]:
    """What a candidate says of what, wherever it stands."""
    return candidate.field, _plain(candidate.instance), _reading(candidate)


def _doubted(candidates: Sequence[Candidate]) -> set[tuple[str, str, _Reading]]:
    """Readings of rules beside which the fallback reader read another value for the same thing."""
    guesses: dict[tuple[str, str], set[_Reading]] = defaultdict(set)
    for candidate in candidates:
        if candidate.method.endswith(LEXICON) and candidate.confidence >= LEAST:
            guesses[candidate.field, _plain(candidate.instance)].add(_reading(candidate))
    return {
        thing(candidate)
        for candidate in candidates
        if not candidate.method.endswith(LEXICON)
        for others in [guesses[candidate.field, _plain(candidate.instance)]]
        if others and _reading(candidate) not in others and not any(_same_number(candidate, other) for other in others)
    }


def _same_number(candidate: Candidate, other: _Reading) -> bool:
    """Whether two readings share a number, though one calls it a bound and the other a value."""
    mine = {each for each in _reading(candidate) if isinstance(each, int | float)}
    return bool(mine & {each for each in other if isinstance(each, int | float)})


def _without_guesses(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without what the fallback reader says of a field that rules have read, unless both name what it is of."""
    ruled: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        if not candidate.method.endswith(LEXICON):
            ruled[candidate.field].add(_plain(candidate.instance))
    return [
        candidate
        for candidate in candidates
        if not candidate.method.endswith(LEXICON)
        or not ruled[candidate.field]
        or (_plain(candidate.instance) and "" not in ruled[candidate.field])
    ]


def _weigh_group(field: str, group: list[Candidate], named: float, suits: Suits) -> list[Weighed]:
    """The readings of one field of one instance; `named` is how sure the document is of instances by name."""
    readings: dict[_Reading, list[Candidate]] = defaultdict(list)
    for candidate in group:
        readings[_reading(candidate)].append(candidate)
    for less in [r for r in readings if any(_says_less(r, other) for other in readings)]:
        del readings[less]
    founded = {reading: _foundation(same) for reading, same in readings.items()}
    surest, best = max(founded.items(), key=lambda item: item[1])
    contested = any(reading[0] is None or reading[0] != surest[0] for reading in readings if reading != surest)
    found: list[Weighed] = []
    for reading, same in readings.items():
        first = max(same, key=lambda c: c.confidence)
        sure = first.confidence
        places = len({(c.page, c.text) for c in same})
        if places > 1:
            sure = 1 - (1 - sure) * AGREED
        weak = founded[reading] < max(best, named) - (NEARLY if named <= best else WEAKER)
        if field not in LISTED and weak and not (reading[0] is not None and reading[0] == surest[0]):
            continue
        doubted = contested and field not in LISTED
        if doubted:
            sure = min(sure, CONTRADICTED)
        found += [
            Weighed(_said_at(place, first, round(sure, 3)), first.confidence, places, doubted)
            for place in _places(same, suits)
        ]
    return found


def _places(same: Sequence[Candidate], suits: Suits) -> list[Candidate]:
    """The best place of a reading and one on every other page that says it."""
    by_page: dict[object, Candidate] = {}
    for candidate in sorted(same, key=lambda c: (-suits(c), -c.confidence)):
        by_page.setdefault(candidate.page, candidate)
    return list(by_page.values())


def _said_at(place: Candidate, first: Candidate, sure: float) -> Candidate:
    """A reading at one of its places; only the place differs, so that a draft shows it once."""
    where = {"page": place.page, "box": place.box, "text": place.text, "method": place.method}
    return Candidate(**{**first.__dict__, **where, "confidence": sure})


def _foundation(same: list[Candidate]) -> float:
    """How well a reading is founded: its surest place, and that there are several."""
    places = len({(c.page, c.text) for c in same})
    return max(c.confidence for c in same) + 0.03 * min(3, places - 1)


def _says_less(reading: _Reading, other: _Reading) -> bool:
    """Whether another reading gives the number that this one rounds, or lists all that it lists and more."""
    value, full = reading[0], other[0]
    if isinstance(value, tuple) and isinstance(full, tuple) and all(isinstance(each, str) for each in value):
        return len(value) > 1 and set(value) < set(full)
    if any(reading[1:]) or any(other[1:]) or isinstance(value, bool) or isinstance(full, bool):
        return False
    if not isinstance(value, int | float) or not isinstance(full, int | float):
        return False
    return value != full and abs(value - full) < 0.03 * abs(full) and _digits(value) < _digits(full)


def _digits(number: float) -> int:
    """Significant digits of a number as it would be printed."""
    return len(f"{number:.9e}".split("e")[0].replace(".", "").rstrip("0"))


def _reading(candidate: Candidate) -> _Reading:
    return candidate.value, candidate.min, candidate.typ, candidate.max
