"""Parameters of a core that is configured before it is built: `ICacheByteSize | 16384`, `NumWays | 2`, `VLEN | 256`.

Manuals of open cores list them by the names that they have in the source, with a default and a sentence about each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hwdoc_ingest.rules.rule import Found, Tagged, words
from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.statements.statement import Cell

_NAME = re.compile(r"(?=.*[a-z_].*[A-Z_\d]|[A-Z]{4,}$)[A-Za-z]\w{3,40}")
"""What a source calls a parameter: words run together or joined by underscores."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_VALUE_HEADER = words(r"^(?:default|value|default value|reset value|setting|configuration)s?\b")
_NUMBER = re.compile(r"(?:32|64|'d)?(\d{1,7})")
_CACHE = (
    ("l1i", words(r"\b(?:i|instr|instruction|ic) ?cache\b|\bicache\b")),
    ("l1d", words(r"\b(?:d|data|dc) ?cache\b|\bdcache\b")),
    ("l2", words(r"\bl ?2 ?(?:cache)?\b")),
)
_IN_BITS = words(r"\b(?:in|number of) bits\b|\bbits\b")
_IN_BYTES = words(r"\b(?:in|number of) bytes\b|\bbytes?\b")
_SURE = 0.74


@dataclass(frozen=True)
class _Kind:
    """A kind of parameter: the words of its name, and what its number may be."""

    name: re.Pattern[str]
    part: str
    """The end of the field's name, after the cache."""
    low: float
    high: float


_KINDS = (
    _Kind(words(r"\blines? (?:size|length|width|bytes|len)\b|\bline ?len\b|\bblock size\b"), "line_bytes", 4, 512),
    _Kind(words(r"\bways?\b|\bassoc\w*"), "ways", 1, 64),
    _Kind(words(r"\bsets\b"), "sets", 2, 65536),
    _Kind(words(r"\b(?:size|bytes?)\b"), "size_bytes", 128, 1 << 28),
)
_TLB = words(r"\btlb\b.*\b(?:entries|size|num)\b|\b(?:num|nr|entries)\b.*\btlb\b")
_SIDE_OF_TLB = words(r"\b(instr\w*|data|i|d)\b ?tlb\b|\b([id])tlb\b")
_VECTOR = words(r"^vlen$|\bvector (?:length|width|register width)\b")


def find(tagged: Tagged) -> Iterator[Found]:
    """What a row gives whose first cell is such a name; no row of a register's fields, whose settings are none."""
    cells = tagged.statement.cells
    if len(cells) < 2 or tagged.describes_register:
        return
    label = tagged.statement.cell_text(cells[0]).strip()
    if not _NAME.fullmatch(label):
        return
    named = " ".join(_WORD.findall(label.replace("_", " "))).lower()
    cell = next((each for each in cells[1:] if _VALUE_HEADER.search(each.header.strip())), None)
    number = _amount(tagged, cell) if cell else None
    if cell is None or number is None:
        return
    text = f"{named} {tagged.text}"
    if _TLB.search(named):
        side = _SIDE_OF_TLB.search(named)
        told = (side[1] or side[2]) if side else None
        instance = ("instruction TLB" if told.startswith("i") else "data TLB") if told else None
        if 2 <= number[0] <= 65536:
            yield Found("cpu.tlb.entries", cells[0].start, cell.end, number[0], instance=instance, sureness=_SURE)
        return
    if _VECTOR.search(named) and 32 <= number[0] <= 65536:
        yield Found("cpu.vector_width_bits", cells[0].start, cell.end, number[0], sureness=_SURE)
        return
    cache = _cache(tagged, named)
    kind = next((each for each in _KINDS if each.name.search(named)), None) if cache else None
    if kind is None or (kind.part == "sets" and cache == "l2"):
        return
    value, is_bytes = number
    if kind.part.endswith("bytes") and not is_bytes:
        if _IN_BITS.search(text) and not _IN_BYTES.search(named):
            value /= 8
        elif not _IN_BYTES.search(text):
            return  # in what it counts is not said
    if kind.low <= value <= kind.high and value.is_integer():
        yield Found(f"cpu.{cache}_cache.{kind.part}", cells[0].start, cell.end, value, sureness=_SURE)


def _amount(tagged: Tagged, cell: Cell) -> tuple[float, bool] | None:
    """The number of a cell, and whether it counts bytes."""
    text = tagged.statement.cell_text(cell).strip()
    plain = _NUMBER.fullmatch(text)
    if plain:
        return float(plain[1]), False
    amounts = find_amounts(text)
    if len(amounts) == 1 and amounts[0].form == "single" and amounts[0].dimension == "bytes":
        return amounts[0].values[0], True
    return None


def _cache(tagged: Tagged, named: str) -> str:
    """The cache that a parameter's name tells, else the only one that the headings name."""
    own = [cache for cache, name in _CACHE if name.search(named)]
    if own:
        return own[0]
    if re.search(r"\btlb|\bbus\b|\bfifo|\bbranch|\bbtb|\bram\b|\brom\b|\bmem", named):
        return ""
    above = " > ".join((*tagged.statement.path, tagged.text))
    told = [cache for cache, name in _CACHE if name.search(above)]
    return told[0] if len(told) == 1 else ""
