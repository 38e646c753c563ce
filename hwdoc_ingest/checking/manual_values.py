"""Whether words say the value that a spec holds, in their own units and ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Literal

from hwdoc_ingest.checking.manual_quotes import letters
from hwdoc_ingest.page.pages import plain_text
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from metainfer_core.spec.field_shapes import shape_at, unit_key
from metainfer_core.spec.quantities import Unit, key_unit, unit

Verdict = Literal["says it", "says another", "does not tell"]
NEARLY = 2e-3
"""Relative: a spec may round what a document prints, and the other way round."""
_ENDS = ("min", "typ", "mean", "max")
_HEX = re.compile(r"\b0x([0-9a-f_]+)\b|\bH'([0-9a-f]+)|\b([0-9a-f]{2,16})H\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:an?|one|single|(?:uni|micro)?processor|cpu|core)\b", re.IGNORECASE)
"""What tells that there is one, or speaks of the only one there is."""
_WAIT_STATES = re.compile(r"\b(\d{1,3}|zero|no)[- ]wait[- ]states?\b", re.IGNORECASE)
"""Cycles beyond the first."""
_ABOVE = re.compile(r"(?:\(|>)\s*(\d+)\b(?!\s*\))")
_BELOW = re.compile(r"<\s*(\d+)\b|,\s*(\d+)\s*\)")
_TIMES_BEFORE = re.compile(r"(\d{1,3})\s*[x×*]\s*$")
_GLUED_TIMES = re.compile(r"(?<=[KMG]B)\s*[x×*]\s*(?=\d)")
_TIMES_AFTER = re.compile(r"^\s*[x×*]\s*(\d{1,3})\b")
_NUMBER = re.compile(r"(?:(?<![\w.])|(?<=[x×*]))[-+]?\d+(?:\.\d+)?")


def verdict(text: str, path: str, value: Any) -> Verdict:
    """What quoted words say about a value of a spec (plain data, in base units).

    `says another` only where they name a number of the same dimension, with its unit or in letters (`dual-core`), and
    none of theirs is the value.
    """
    text = _GLUED_TIMES.sub(" x ", plain_text(text))
    shape = shape_at(path)
    match shape.kind if shape else "any":
        case "quantity":
            return _quantity(text, path, [value[end] for end in _ENDS if end in value])
        case "integer" | "number":
            return _quantity(text, path, [value])
        case "address":
            return "says it" if int(value, 16) in _whole_numbers(text) else "does not tell"
        case "text" | "choice":
            return "says it" if letters(str(value)) in letters(text) else "does not tell"
        case "list":
            told = all(letters(str(item)) in letters(text) for item in value)
            return "says it" if told and value else "does not tell"
        case "any" if isinstance(value, int | float) and not isinstance(value, bool):
            return _quantity(text, path, [value])
    return "does not tell"


def _quantity(text: str, path: str, ends: list[float]) -> Verdict:
    base = key_unit(unit_key(path))
    amounts = find_amounts(text)
    if ends == [1] and base is None and _ONE.search(text):
        return "says it"
    of_dimension = [number for amount in amounts for number in _in_base(text, amount, base)]
    bare = [number * factor for number in _bare_numbers(text, amounts) for factor in _factors(text, base)]
    if ends and all(any(_near(end, number) for number in (*of_dimension, *bare)) for end in ends):
        return "says it"
    counted = base is None and any(amount.spoken and amount.unit is None for amount in amounts)
    return "says another" if counted or (of_dimension and base is not None) else "does not tell"


def _in_base(text: str, amount: Amount, base: Unit | None) -> Iterator[float]:
    """An amount's numbers in the base unit of a key; those that the text multiplies (`384KBx3`) also as the product."""
    if base is None:
        if amount.unit is None:
            yield from amount.values
        return
    if amount.unit is None or amount.unit.dimension != base.dimension:
        return
    to_base = float(base.factor) * (8 if amount.is_bits else 1)
    times = [match[1] for match in (_TIMES_BEFORE.search(text[: amount.start]),) if match]
    times += [match[1] for match in (_TIMES_AFTER.match(text[amount.end :]),) if match]
    for number in amount.values:
        yield number / to_base
        yield from (number / to_base * int(factor) for factor in times)


def _bare_numbers(text: str, amounts: tuple[Amount, ...]) -> list[float]:
    """Numbers whose unit, if any, stands elsewhere: in another cell of the row, or in the meaning of a property.

    An end that does not belong to its interval, `(0, 7]`, also stands for the whole number next to it.
    """
    words = [number for amount in amounts if amount.unit is None for number in amount.values]
    for amount in amounts:
        if amount.unit is not None:
            text = text[: amount.start] + " " * (amount.end - amount.start) + text[amount.end :]
    beside = [float(match[1]) + 1 for match in _ABOVE.finditer(text)]
    beside += [float(match[1] if match[1].isdigit() else 0) + 1 for match in _WAIT_STATES.finditer(text)]
    beside += [float(match[1] or match[2]) - 1 for match in _BELOW.finditer(text)]
    return [*words, *beside, *(float(match[0]) for match in _NUMBER.finditer(text)), *map(float, _whole_numbers(text))]


def _whole_numbers(text: str) -> set[int]:
    found = {int(match[0]) for match in re.finditer(r"(?<![\w.])\d{1,20}(?![\w.]*\w)", text)}
    for match in _HEX.finditer(text):
        digits = next(group for group in match.groups() if group).replace("_", "")
        found |= {int(digits, 16)} if 0 < len(digits) <= 16 else set()
    return found


def _factors(text: str, base: Unit | None) -> set[float]:
    """What a bare number of the text may have to be multiplied with: by the units that stand in the text."""
    if base is None:
        return {1.0}
    spelled = (unit(word.strip("()[],;.")) for word in re.split(r"[\s|]+", text))
    return {1.0} | {float(each.factor / base.factor) for each in spelled if each and each.dimension == base.dimension}


def agree(ours: Any, theirs: Any) -> bool:
    """Whether two readings of one place do not contradict each other: a spread may say more than one number."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        one, other = _spread(ours), _spread(theirs)
        shared = [end for end in one if end in other]
        if shared:
            return all(_near(one[end], other[end]) for end in shared)
        return all(_within(number, other) for number in one.values()) or all(
            _within(number, one) for number in other.values()
        )
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        one_set, other_set = {letters(str(item)) for item in ours}, {letters(str(item)) for item in theirs}
        return one_set <= other_set or other_set <= one_set
    if isinstance(ours, str) and isinstance(theirs, str):
        return letters(ours) in letters(theirs) or letters(theirs) in letters(ours)
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return _near(float(ours), float(theirs))
    return bool(ours == theirs)


def _spread(quantity: dict[str, Any]) -> dict[str, float]:
    return {"typ" if end == "mean" else end: float(quantity[end]) for end in _ENDS if end in quantity}


def _within(number: float, spread: dict[str, float]) -> bool:
    """Whether a number is an end of a spread, or lies between its two outer ones."""
    if any(_near(number, end) for end in spread.values()):
        return True
    return "min" in spread and "max" in spread and spread["min"] <= number <= spread["max"]


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=NEARLY, abs_tol=1e-12)
