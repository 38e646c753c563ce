"""Holds candidates against the known facts of a document: which were found, which are wrong.

The rules, in short. A fact is found by one candidate of its field with the same value: numbers within 0.1 %, addresses
exactly, texts without case, spaces and punctuation, pairs in order, other lists as sets that overlap by 0.8; a bound
counts only against the same bound. Registers, blocks and interrupts must name the same instance; elsewhere, where a
document gives a field several values, a candidate is compared with the facts whose instance shares most words with its
own. A candidate is wrong when it disagrees with all facts it is compared with, or speaks where the document gives
nothing. The rest stays unjudged, because facts cover key pages and not every line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metainfer_core.errors import InputError

Plain = Mapping[str, Any]
"""A candidate or a fact as JSON data."""

BOUNDS = ("min", "typ", "max")
_BY_INSTANCE = ("register", "mmio", "interrupts")
_RELATIVE = 1e-3
_ABSOLUTE = 1e-12
_OVERLAP = 0.8
_HEX = re.compile(r"0[xX][0-9a-fA-F_]+")
_NO_LETTER = re.compile(r"[^0-9a-z\u4e00-\u9fff]+")


@dataclass(frozen=True)
class Judgement:
    """What became of the candidates of one document, by their positions."""

    found: Mapping[int, int]
    """Position of each fact that was found: position of the candidate that found it."""
    wrong: tuple[tuple[int, int], ...]
    """Positions of each wrong candidate and of a fact that it goes against."""


def judge(candidates: Sequence[Plain], facts: Sequence[Plain]) -> Judgement:
    """Compares all candidates of a document with all its facts; raises InputError where units differ."""
    found: dict[int, int] = {}
    wrong: list[tuple[int, int]] = []
    by_field: dict[str, list[int]] = {}
    for at, fact in enumerate(facts):
        by_field.setdefault(fact["field"], []).append(at)
    for field, positions in by_field.items():
        group = [facts[at] for at in positions]
        speaking = [at for at, candidate in enumerate(candidates) if candidate["field"] == field]
        against = {at: _compared_with(candidates[at], group) for at in speaking}
        _check_units(field, [candidates[at] for at in speaking], group[0])
        taken = _match(candidates, group, speaking, against)
        found.update({positions[index]: at for index, at in taken.items()})
        for at in speaking:
            if at not in taken.values():
                fault = _contradicts(candidates[at], group, against[at])
                if fault is not None:
                    wrong.append((at, positions[fault]))
    return Judgement(found, tuple(wrong))


def _check_units(field: str, candidates: Sequence[Plain], fact: Plain) -> None:
    expected = fact.get("unit")
    for candidate in candidates:
        unit = candidate.get("unit")
        if unit and expected and unit.lower() != expected.lower():
            raise InputError(f"{field}: a candidate has the unit {unit!r}.", f"The truth has {expected!r}.")


def _match(
    candidates: Sequence[Plain],
    group: Sequence[Plain],
    speaking: Sequence[int],
    against: Mapping[int, list[int] | None],
) -> dict[int, int]:
    """Each fact of a field takes the closest candidate that agrees and is still free, in the order of the facts."""
    taken: dict[int, int] = {}
    for index, fact in enumerate(group):
        if fact.get("expect") == "unknown":
            continue
        free = [at for at in speaking if at not in taken.values() and index in (against[at] or ())]
        fitting = [at for at in free if agrees(candidates[at], fact)]
        if fitting:
            taken[index] = max(
                fitting, key=lambda at: (*_closeness(candidates[at], fact), _same_page(candidates[at], fact), -at)
            )
    return taken


def _same_page(candidate: Plain, fact: Plain) -> bool:
    return bool(candidate.get("page") == fact.get("page"))


def _contradicts(candidate: Plain, group: Sequence[Plain], against: list[int] | None) -> int | None:
    """Position in the group of a fact that the candidate goes against; None when it goes against none."""
    if against is None:
        return None if any(agrees(candidate, fact) for fact in group) else 0
    known = [group[index] for index in against if group[index].get("expect") != "unknown"]
    if against and not any(agrees(candidate, fact) for fact in known):
        return against[0]
    return None


def _compared_with(candidate: Plain, group: Sequence[Plain]) -> list[int] | None:
    """Positions of the facts that a candidate is held against; None where it cannot be told which."""
    own = _words(candidate.get("instance"))
    instances = [_words(fact.get("instance")) for fact in group]
    if group[0]["field"].split(".")[0] in _BY_INSTANCE:
        return [at for at, fact in enumerate(group) if not fact.get("instance") or _tail(fact) == _tail(candidate)]
    if len({_values(fact) for fact in group}) == 1:
        return [at for at, words in enumerate(instances) if not words or not own or words & own]
    if not own:
        return [at for at, words in enumerate(instances) if not words] or None
    nearness = [_closeness(candidate, fact) for fact in group]
    best = max(nearness)
    return [at for at, near in enumerate(nearness) if near == best] if best > (False, 0) else []


def _tail(entry: Plain) -> str:
    return _letters(str(entry.get("instance") or "").rsplit(":", 1)[-1])


def _values(fact: Plain) -> str:
    """Value and bounds, so that equal ones compare equal and 1 differs from 1.0 and True."""
    return repr([fact.get(key) for key in ("value", *BOUNDS)])


def _closeness(candidate: Plain, fact: Plain) -> tuple[bool, int]:
    own, other = _words(candidate.get("instance")), _words(fact.get("instance"))
    return own == other, len(own & other)


def agrees(candidate: Plain, fact: Plain) -> bool:
    """Whether a candidate says what a fact says."""
    exactly = fact.get("unit") == "addr"
    value, truth = candidate.get("value"), fact.get("value")
    bounds = {key: (candidate[key], fact[key]) for key in BOUNDS if _has(candidate, key) and _has(fact, key)}
    if not all(same(own, other, exactly) for own, other in bounds.values()):
        return False
    if value is not None and truth is not None:
        return same(value, truth, exactly)
    if value is None and isinstance(truth, list) and len(truth) == 2:
        return same([candidate.get("min"), candidate.get("max")], truth, exactly)
    if truth is None:
        complete = all(_has(candidate, key) for key in BOUNDS if _has(fact, key))
        as_pair = isinstance(value, list) and same(value, [fact.get("min"), fact.get("max")], exactly)
        return (complete and bool(bounds)) or as_pair
    if value is not None:
        return False
    if any(_has(fact, key) for key in BOUNDS):
        return bool(bounds)
    return any(same(candidate[key], truth, exactly) for key in BOUNDS if _has(candidate, key))


def _has(entry: Plain, key: str) -> bool:
    return entry.get(key) is not None


def same(own: Any, truth: Any, exactly: bool = False) -> bool:
    """Whether two values are the same: numbers, texts, or lists of them."""
    if isinstance(own, list) and isinstance(truth, list):
        return _same_lists(own, truth, exactly)
    if isinstance(own, list) or isinstance(truth, list):
        return same(own if isinstance(own, list) else [own], truth if isinstance(truth, list) else [truth], exactly)
    wanted = number(truth)
    if wanted is None:
        return own is not None and truth is not None and _letters(own) == _letters(truth)
    got = number(own)
    if got is None:
        return False
    return got == wanted if exactly else math.isclose(got, wanted, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def _same_lists(own: list[Any], truth: list[Any], exactly: bool) -> bool:
    numbers = [got for item in own if (got := number(item)) is not None]
    wanted = [got for item in truth if (got := number(item)) is not None]
    if len(numbers) == len(own) and len(wanted) == len(truth):
        if len(truth) != 2:
            numbers, wanted = sorted(numbers), sorted(wanted)
        return len(own) == len(truth) and all(map(lambda one, other: same(one, other, exactly), numbers, wanted))
    texts, wanted_texts = {_letters(item) for item in own}, {_letters(item) for item in truth}
    return bool(texts | wanted_texts) and len(texts & wanted_texts) / len(texts | wanted_texts) >= _OVERLAP


def number(item: Any) -> float | None:
    """A number, or one in hex text; None for anything else, a truth value too."""
    if isinstance(item, bool):
        return None
    if isinstance(item, int | float):
        return item
    if isinstance(item, str) and _HEX.fullmatch(item.strip()):
        digits = item.strip().replace("_", "")
        return int(digits, 16) if len(digits) > 2 else None
    return None


def _letters(item: Any) -> str:
    return _NO_LETTER.sub("", str(item).lower())


def _words(item: Any) -> set[str]:
    return {word for word in _NO_LETTER.split(str(item or "").lower()) if word}
