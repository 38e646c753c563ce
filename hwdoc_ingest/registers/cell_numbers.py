"""Numbers as register tables write them: decimal, C, Verilog and assembler hex, bit ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKS = str.maketrans({"’": "'", "‘": "'", "`": "'", "_": None, " ": None, "\u00a0": None})
_FORMS = (
    (re.compile(r"0x([0-9a-f]+)", re.I), 16),
    (re.compile(r"0b([01]+)", re.I), 2),
    (re.compile(r"(?:\d+)?'s?h([0-9a-f]+)", re.I), 16),
    (re.compile(r"(?:\d+)?'s?d(\d+)", re.I), 10),
    (re.compile(r"(?:\d+)?'s?b([01]+)", re.I), 2),
    (re.compile(r"(?:\d+)?'s?o([0-7]+)", re.I), 8),
    (re.compile(r"([0-9][0-9a-f]*)h", re.I), 16),
    (re.compile(r"([0-9A-F]*[0-9][0-9A-Fa-f]*|(?:[0-9A-F]{2})+)[hH]"), 16),  # `A5h`, but no word such as `each`
    (re.compile(r"\$([0-9a-f]+)", re.I), 16),
)
_FROM_BASE = re.compile(r"[A-Za-z]\w*\s*\+\s*(.+)")
_BETWEEN = re.compile(r"\s*(?:-|–|~|\.\.|\bto\b)\s*")
_IN_STEPS = re.compile(r"(\w+)\s*\+\s*(?:\(?[A-Za-z]\)?\s*[*x×]\s*(\w+)|(\w+)\s*[*×]\s*\(?[A-Za-z]\)?)", re.ASCII)
_BYTES = re.compile(r"([\d.]+)\s*([KMG])?(?:i?B|bytes?)?", re.I)
_BARE_HEX = re.compile(r"[0-9a-f]{1,16}", re.I)
_RANGE = re.compile(r"\[?\s*(\d{1,4})\s*(?::|-|–|~|\.\.)\s*(\d{1,4})\s*\]?")
_ONE_BIT = re.compile(r"\[?\s*(\d{1,4})\s*\]?")
MAX_LETTERS = 80


def number(cell: str, bare_is_hex: bool) -> int | None:
    """The number in a cell, None when it holds none or more than one; `1C` counts only where `bare_is_hex`."""
    words = cell.translate(_MARKS)
    if not words or len(words) > MAX_LETTERS:
        return None
    for pattern, base in _FORMS:
        match = pattern.fullmatch(words)
        if match:
            return int(match[1], base)
    if bare_is_hex and _BARE_HEX.fullmatch(words):
        return int(words, 16)
    return int(words) if words.isascii() and words.isdigit() else None


def column_is_hex(cells: Iterable[str]) -> bool:
    """Whether a column's bare digits are hexadecimal: one cell without a prefix holds a letter, and none a prefix."""
    bare = [cell.translate(_MARKS) for cell in cells if cell]
    if any(pattern.fullmatch(cell) for cell in bare for pattern, _ in _FORMS[:1]):
        return False
    fitting = [cell for cell in bare if _BARE_HEX.fullmatch(cell)]
    return len(fitting) * 10 >= len(bare) * 9 and any(not cell.isdigit() for cell in fitting)


def steps_are_hex(cells: Iterable[str]) -> bool:
    """Whether bare digits are hexadecimal offsets: 0, 4, 8, 10, 14 step by 4 only so."""
    bare = [cell.translate(_MARKS) for cell in cells if cell]
    if len(bare) < 3 or not all(cell.isascii() and cell.isdigit() for cell in bare):
        return False
    return all(int(cell, 16) % 4 == 0 for cell in bare) and any(int(cell) % 4 for cell in bare)


def is_ambiguous_address(cell: str) -> bool:
    """Whether bare digits may be an address in hex as well as in decimal: `40010000`, `4001_0000`."""
    words = cell.translate(_MARKS)
    return len(words) >= 6 and words.isascii() and words.isdigit()


def bit_range(cell: str) -> tuple[int, int] | None:
    """Lowest bit and width of `[7:0]`, `7:0`, `0-7` or `5`."""
    both = _RANGE.fullmatch(cell.strip())
    if both:
        low, high = sorted((int(both[1]), int(both[2])))
        return low, high - low + 1
    one = _ONE_BIT.fullmatch(cell.strip())
    return (int(one[1]), 1) if one else None


def offset_number(cell: str, bare_is_hex: bool) -> tuple[int, str] | None:
    """An offset and what it stands for, also as `BASE + 0x04` or, for the first of many, `0x104 + n*0x20`."""
    plain = number(cell, bare_is_hex)
    if plain is not None:
        return plain, ""
    steps = _IN_STEPS.fullmatch(cell.strip()) if len(cell) <= MAX_LETTERS else None
    if steps:
        first, step = number(steps[1], bare_is_hex), number(steps[2] or steps[3], bare_is_hex)
        return None if first is None or not step else (first, f"the first of an array, every {step:#x} bytes")
    ends = [number(end, bare_is_hex) for end in _BETWEEN.split(cell)] if len(cell) <= MAX_LETTERS else []
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
        return ends[0], f"the first of an array up to {ends[1]:#x}"
    from_base = _FROM_BASE.fullmatch(cell.strip()) if len(cell) <= MAX_LETTERS else None
    behind = number(from_base[1], bare_is_hex) if from_base else None
    return None if behind is None else (behind, "")


def size_in_bytes(cell: str) -> int | None:
    """A size of memory: `0x1000`, `64K`, `8 KiB`, `512 bytes`; a bare decimal may count anything and is none."""
    words = cell.strip()
    if words[:2].lower() == "0x":
        return number(words, False)
    match = _BYTES.fullmatch(words) if len(words) <= MAX_LETTERS else None
    if not match or words == match[1] or match[1].count(".") > 1 or match[1] == ".":
        return None
    size = float(match[1]) * (1 << {"": 0, "k": 10, "m": 20, "g": 30}[(match[2] or "").lower()])
    return int(size) if size.is_integer() and size > 0 else None
