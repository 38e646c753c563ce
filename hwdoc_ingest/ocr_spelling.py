"""Mends names that OCR misreads where the document itself shows how they are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.pages import Page, Word

NUMBERED_NAME = re.compile(r"^(?P<stem>[A-Z][A-Z_]{1,14})(?P<number>[1-9])\W*$")
MISREAD_ZERO = re.compile(r"^(?P<stem>[A-Z][A-Z_]{1,14})O(?P<rest>\W*)$")


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
