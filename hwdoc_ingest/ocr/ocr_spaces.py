"""Puts back spaces that OCR lost between words: `L1instruction`, `InternalSRAM`, `allcores`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from hwdoc_ingest.page.pages import Page, Word

_GLUED = re.compile(
    r"(?<=\bL\d)(?=[a-z]{3})"  # a level before a word
    r"|(?<=[a-z]{2})(?=[A-Z]{3,}\d*(?:\b|s\b))"  # a word before an abbreviation
    r"|(?<=[\w)][,;:])(?=[A-Za-z]{2})"  # a mark that a space follows
    r"|(?<=[a-zA-Z]{3})(?=\([A-Za-z]{3})"
)
_SMALL = re.compile(r"(?:the|of|is|if|all|and|for|by|are|has|from|at)(?=[a-z]{3})", re.IGNORECASE)
"""Words that another is glued to most often."""


SPACE = 0.12
"""Least space between two words, in font sizes: what stands closer is taken for one word later on."""


def keep_apart(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words that an engine saw as two, with a space between them: the boxes that it draws often touch."""
    apart = list(words)
    for at, (word, following) in enumerate(pairwise(words)):
        edge = following.box[0] - SPACE * word.size
        if abs(word.base - following.base) < 0.1 * word.size and word.box[0] < edge < word.box[2] < following.box[2]:
            apart[at] = replace(word, box=(word.box[0], word.box[1], edge, word.box[3]))
    return tuple(apart)


def mend_spaces(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with glued words of images apart: by how they are written, or since the document has them apart."""
    count = Counter(_plain(word.text) for page in pages for word in page.words)
    return tuple(
        replace(page, words=tuple(part for word in page.words for part in _parts(word, count))) if page.by_ocr else page
        for page in pages
    )


def _plain(text: str) -> str:
    return text.lower().strip(".,;:()")


def _parts(word: Word, count: Mapping[str, int]) -> list[Word]:
    cuts = [match.start() for match in _GLUED.finditer(word.text)]
    small = _SMALL.match(word.text)
    if not cuts and small and _plain(word.text).isalpha():
        rest = _plain(word.text[small.end() :])
        if count[rest] > count[_plain(word.text)]:  # a word of its own stands in a document as often as its end does
            cuts = [small.end()]
    return _cut(word, cuts)


def _cut(word: Word, cuts: Sequence[int]) -> list[Word]:
    """The word cut before these letters, its box in proportion, with a space between."""
    left, top, right, bottom = word.box
    step = (right - left) / max(1, len(word.text))
    parts = []
    for start, end in pairwise([0, *cuts, len(word.text)]):
        space = 0.3 * step if end < len(word.text) else 0.0
        box = (left + start * step, top, left + end * step - space, bottom)
        parts.append(replace(word, text=word.text[start:end], box=box))
    return parts
