"""Bytes as people read them: in the largest unit that fits, with the exact number where one points at it."""

from __future__ import annotations

import math
import re

UNKNOWN = "unknown"
_NUMBER = r"\d{1,3}(?:,\d{3})+"
_AMOUNT = re.compile(rf"(?<![\w,.])({_NUMBER})(?: of ({_NUMBER}))?(?: ?(bytes|字节)| (?=for tensors|too many))")
"""`2,147,295,168 bytes`, `1,024 of 4,096 bytes`; and amounts that the core says without the unit, after one with it."""
_TAG = re.compile(r"(<[^>]*>)")
_AS_WRITTEN = ("<code", "<title", "<style", "<pre")
"""What begins an element whose text stays to the letter, or cannot hold another element."""


def size(count: float | None, sign: bool = False) -> str:
    """Bytes in the largest binary unit that keeps them above 1."""
    if count is None:
        return UNKNOWN
    amount, units = abs(float(count)), ["B", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    mark = "−" if count < 0 else "+" if sign and count > 0 else ""
    return f"{mark}{three_digits(amount) if units[0] != 'B' else f'{amount:.0f}'} {units[0]}"


def sized_text(sentence: str) -> str:
    """A sentence with its large amounts of bytes in units: `Needed 2.00 GiB, available 1.00 GiB`."""
    return _AMOUNT.sub(lambda found: _replaced(found, "{size}"), sentence)


def sized_html(page: str) -> str:
    """The same for a piece of HTML: in its text alone, the exact number as each amount's title."""
    if "bytes" not in page and "字节" not in page:
        return page
    pieces = _TAG.split(page)
    for at in range(0, len(pieces), 2):
        if at == 0 or not pieces[at - 1].startswith(_AS_WRITTEN):
            pieces[at] = _AMOUNT.sub(lambda found: _replaced(found, '<abbr title="{exact}">{size}</abbr>'), pieces[at])
    return "".join(pieces)


def three_digits(amount: float) -> str:
    """A number with three digits that count."""
    if amount == 0 or not math.isfinite(amount):
        return f"{amount:.0f}"
    return f"{amount:.{max(0, 2 - math.floor(math.log10(amount)))}f}" if amount >= 0.001 else f"{amount:.2g}"


def _replaced(found: re.Match[str], shape: str) -> str:
    def one(number: str) -> str:
        return shape.format(exact=f"{number} {found[3] or 'bytes'}", size=size(int(number.replace(",", ""))))

    words = one(found[1]) if found[2] is None else f"{one(found[1])} of {one(found[2])}"
    return words if found[3] else words + " "
