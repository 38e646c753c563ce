"""Mends what OCR misreads where the grammar of a quantity, or the document itself, shows how it is meant.

`24MH2` can only be 24 MHz and `0xFFOO` only 0xFF00; `09V` may be 0.9 V or a part of something else: it is doubted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.page.pages import Page, Word

NUMBERED_NAME = re.compile(r"^(?P<stem>[A-Z][A-Z_]{1,14})(?P<number>[1-9])\W*$")
MISREAD_ZERO = re.compile(r"^(?P<stem>[A-Z][A-Z_]{1,14})O(?P<rest>\W*)$")

_MISREAD_UNITS = {
    "MH2": "MHz", "MHZ": "MHz", "GH2": "GHz", "GHZ": "GHz", "KH2": "kHz", "KHZ": "kHz", "kH2": "kHz", "kHZ": "kHz",
    "H2": "Hz", "rnV": "mV", "rnA": "mA", "rnW": "mW",
}  # fmt: skip
"""Units that no document writes so: the 2 or Z is a z, and rn is m."""
_LONG_UNITS = (
    r"[kKMG]?Hz|[KkMG]i?B|[KMG]bits?|[KkMG]?bytes?|bits?|MT/s|[KMG]B/s|[MG]bps|[TG]OPS|D?MIPS|[munp]s|[munp]F|[mμ][VAW]"
)
"""Units that a misread digit may stand before: none that ends a name, as V and A do."""
_AMOUNT = re.compile(
    r"^(?P<open>[(\[~<>≤≥±+-]*)(?P<digits>[\dOolIS]*(?:[.,][\dOolIS]+)?)-?"
    rf"(?P<unit>{'|'.join(_MISREAD_UNITS)}|{_LONG_UNITS})(?P<close>[)\],.;:]*)$"
)
_DIGITS = str.maketrans("OolIS", "00115")
_HEX = re.compile(r"^(?P<open>\W*)[0O][xX](?P<digits>[\dA-Fa-fOol_]+)(?P<close>\W*)$")
_BARE_NUMBER = re.compile(r"^[(~<>≤≥±+-]*\d[\d.,]*$")
_LOST_POINT = re.compile(r"^[+-]?0\d+(?:V|A|W|mm|ns|μs)$")
MENDED = 0.9
"""What remains of the sureness of a word that was mended."""
DOUBTED = 0.5
"""Most that a word can have whose decimal point seems lost."""


def mend_quantities(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words of an image in reading order, with numbers and units as they can only be meant.

    Dots that lead to a value become one word, so that they end no sentence.
    """
    mended: list[Word] = []
    for word in words:
        if set(word.text) == {"."}:
            if mended and mended[-1].text == LEADER and abs(mended[-1].base - word.base) < 0.5 * word.size:
                word = replace(word, box=(mended.pop().box[0], *word.box[1:]))
            mended.append(replace(word, text=LEADER))
            continue
        before = mended[-1].text if mended else ""
        if before == LEADER and re.match(r"\.+[+-]", word.text):
            word = replace(word, text=word.text.lstrip("."))
        mended.append(_as_quantity(word, before))
    return tuple(mended)


LEADER = "...."


def _as_quantity(word: Word, before: str) -> Word:
    if _LOST_POINT.match(word.text):
        return replace(word, sure=min(word.sure, DOUBTED))
    text = word.text.replace("°°", "°")
    address, amount = _HEX.match(text), _AMOUNT.match(text)
    if address:
        text = f"{address['open']}0x{address['digits'].translate(_DIGITS)}{address['close']}"
    elif amount and _follows_number(amount["digits"], before):
        unit = _MISREAD_UNITS.get(amount["unit"], amount["unit"])
        text = text[: amount.start("digits")] + amount["digits"].translate(_DIGITS) + text[amount.end("digits") :]
        text = text[: amount.start("unit")] + unit + amount["close"]
    return word if text == word.text else replace(word, text=text, sure=word.sure * MENDED)


def _follows_number(digits: str, before: str) -> bool:
    """Whether a unit has a number: in its own word with a plain digit in it, else in the word before."""
    return any(c.isdigit() for c in digits) if digits else bool(_BARE_NUMBER.match(before))


def mend_names(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with `DMACO` as `DMAC0` where a `DMAC1` stands somewhere: a row of blocks is counted from zero."""
    stems = {m["stem"] for page in pages for word in page.words if (m := NUMBERED_NAME.match(word.text))}
    return tuple(
        replace(page, words=tuple(_mended(word, stems) for word in page.words)) if page.by_ocr else page
        for page in pages
    )


def _mended(word: Word, stems: set[str]) -> Word:
    found = MISREAD_ZERO.match(word.text)
    if found is None or found["stem"] not in stems:
        return word
    return replace(word, text=f"{found['stem']}0{found['rest']}")
