"""Whether the place that is marked for a value holds the value: the words in its box, held against its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hwdoc_ingest.judging.scoring import BOUNDS, number
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS, find_amounts

Box = Sequence[float]

_DECIMAL = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_HEX = re.compile(r"0x([\dA-F][\dA-F_]*)|H'([\dA-F][\dA-F_ ]*)|\b([\dA-F]{1,16})\s?[hH]?\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]+")
_NO_LETTER = re.compile(r"[^0-9a-z\u4e00-\u9fff]+")
_STEPS = [1024.0**power for power in range(1, 5)] + [10.0**power for power in range(-15, 16, 3)]
"""A number's unit may stand at the head of its column, outside of the box: 32 there is 32 Ki or 32 M."""


def holds(text: str, entry: Mapping[str, Any], printed_as: str = "") -> bool:
    """Whether words say all that a candidate says: each number of it, or each of its names.

    `printed_as` is how the document prints the value where that is known: `384KBx3` for 1.1 MiB.
    """
    said = [entry.get(key) for key in ("value", *BOUNDS)]
    parts = [part for each in said if each is not None for part in (each if isinstance(each, list) else [each])]
    letters = _letters(text)
    if _letters(printed_as) and _letters(printed_as) in letters:
        return True
    printed = list(_numbers(text))
    return bool(parts) and all(
        _letters(part) in letters if (wanted := number(part)) is None else _is_printed(wanted, printed)
        for part in parts
    )


def _letters(text: object) -> str:
    return _NO_LETTER.sub("", str(text).lower())


def _is_printed(wanted: float, printed: Iterable[tuple[float, bool]]) -> bool:
    return any(
        math.isclose(wanted, got * step, rel_tol=1e-3, abs_tol=1e-12)
        for got, whole in printed
        for step in ([1.0] if whole else [1.0, *_STEPS])
    )


def _numbers(text: str) -> Iterator[tuple[float, bool]]:
    """What the words may stand for as numbers, and whether a number is complete as it stands."""
    amounts = find_amounts(text)
    for amount in amounts:
        yield from ((value, amount.unit is not None) for value in amount.values)
    for found in _DECIMAL.finditer(text):
        if any(amount.start <= found.start() < amount.end and amount.unit for amount in amounts):
            continue  # 512 of `512KB` says 524288 alone
        yield float(found[0].replace(",", "")), False
        yield -float(found[0].replace(",", "")), False
    for word in _WORD.findall(text.lower()):
        if word in NUMBER_WORDS:
            yield float(NUMBER_WORDS[word]), True
    addresses = [float(int(re.sub(r"[_ ]", "", next(filter(None, m.groups()))), 16)) for m in _HEX.finditer(text)]
    yield from ((address, True) for address in addresses)
    yield from ((last - first + 1, True) for first, last in pairwise(addresses))
    if re.search(r"direct[- ]?mapp|single|直接映射", text, re.IGNORECASE):
        yield 1.0, True
