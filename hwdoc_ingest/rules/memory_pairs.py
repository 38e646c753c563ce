"""Sizes of memories that are written as a product or as a pair: `256 x 32 bits eFuse`, `1 MB/256 KB flash/SRAM`.

In a table `Data SRAM | 2 x 64 KB` is one memory of two banks, and 64 KB of it would be half the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, Tagged, words

_FUSES = words(r"\be-?fuses?\b|\bOTP\b|\bone[- ]time[- ]programmable\b")
_PRODUCT = re.compile(r"(?<![\w.])(\d{1,4})\s?[x×*]\s?(\d{1,3})[- ]?bits?\b", re.IGNORECASE)
_SIZE = r"(\d{1,4}(?:\.\d)?) ?([KM])(?:i?B|[ -]?bytes?)"
_KIND = r"(flash|SRAM|RAM|ROM)"
_PAIR = re.compile(
    rf"(?<![\w./]){_SIZE}\s?/\s?{_SIZE} (?:of )?(?:on-chip |embedded |internal )?{_KIND}\s?/\s?{_KIND}\b", re.IGNORECASE
)
_BANKS = re.compile(
    rf"\W*(\d{{1,2}})\s?[x×*]\s?{_SIZE}(?:[- ](?:of )?(?:on-chip |embedded |internal )?{_KIND})?\W*", re.IGNORECASE
)
_NAMED = words(rf"(?:(?!cache|buffer|external)[\w-]+ ){{0,3}}{_KIND}(?: (?:memory|size|capacity))?")
_FIELD = {"flash": "memory.flash", "sram": "memory.sram", "ram": "memory.sram", "rom": "memory.rom"}
_BYTES = {"K": 1024.0, "M": 1048576.0}


def find(tagged: Tagged) -> Iterator[Found]:
    """Fuses that are counted as rows of bits, and two sizes before two names in the same order."""
    text = tagged.text
    product = _PRODUCT.search(text) if _FUSES.search(text) else None
    if product:
        bits = float(product[1]) * float(product[2])
        yield Found("memory.otp.size_bits", *product.span(), bits, sureness=0.75)
    yield from _banks(tagged)
    for pair in _PAIR.finditer(text):
        for size, unit, kind in ((pair[1], pair[2], pair[5]), (pair[3], pair[4], pair[6])):
            field, value = f"{_FIELD[kind.lower()]}.size_bytes", float(size) * _BYTES[unit.upper()]
            yield Found(field, *pair.span(), value, sureness=0.75)


def _banks(tagged: Tagged) -> Iterator[Found]:
    """The whole size of a memory whose row gives the number of its banks and the size of each."""
    cells = tagged.statement.cells
    label = tagged.statement.cell_text(cells[0]).strip() if cells else ""
    named = _NAMED.fullmatch(label)
    for cell in cells[1:] if named else ():
        banks = _BANKS.fullmatch(tagged.statement.cell_text(cell))
        if named and banks and (banks[4] or named[1]).lower() in (named[1].lower(), "ram"):
            value = float(banks[1]) * float(banks[2]) * _BYTES[banks[3].upper()]
            yield Found(f"{_FIELD[named[1].lower()]}.size_bytes", cell.start, cell.end, value, sureness=0.75)
