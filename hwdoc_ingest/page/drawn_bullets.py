"""Bullets that no text layer tells of: drawn as shapes, or letters of a font of symbols. They part a list's items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.page.pages import Page, Word

BULLET = "•"
REACH = 2.2
"""Sizes of the text that a bullet may stand left of it."""


SYMBOLS = frozenset("lnuvpqyØü§")
"""What the bullets of Wingdings read as where the file does not say what its glyphs mean."""
FEWEST = 3
"""Items that begin so, one below the other, before a letter is taken for a bullet."""


def mark_items(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with a bullet before each item whose mark is drawn or is a symbol."""
    return tuple(replace(page, words=_with_dots(_with_symbols(page))) if page.matters else page for page in pages)


def _with_symbols(page: Page) -> Page:
    """The page with bullets for letters that begin several lines at one place."""
    words = page.words
    begins = [at for at, word in enumerate(words[:-1]) if word.text in SYMBOLS and _begins_line(words, at)]
    places = Counter((words[at].text, round(words[at].box[0])) for at in begins)
    marks = {at for at in begins if places[words[at].text, round(words[at].box[0])] >= FEWEST}
    if not marks:
        return page
    return replace(page, words=tuple(replace(w, text=BULLET) if at in marks else w for at, w in enumerate(words)))


def _begins_line(words: Sequence[Word], at: int) -> bool:
    word, following = words[at], words[at + 1]
    beside = abs(following.base - word.base) < 0.3 * word.size and 0 < following.box[0] - word.box[2] < 3 * word.size
    return beside and (at == 0 or words[at - 1].base < word.base - 0.5 * word.size)


def _with_dots(page: Page) -> tuple[Word, ...]:
    """The words with a bullet before each line that a drawn dot stands left of; other dots belong to figures."""
    if not page.dots:
        return page.words
    before: dict[int, Word] = {}
    for dot in page.dots:
        middle = (dot[1] + dot[3]) / 2
        beside = [(at, w) for at, w in enumerate(page.words) if w.base - 0.8 * w.size < middle < w.base]
        right = [(w.box[0], at) for at, w in beside if 0 <= w.box[0] - dot[2] < REACH * w.size]
        left = any(0 <= dot[0] - w.box[2] < 2 * REACH * w.size for _, w in beside)
        if right and not left:
            at = min(right)[1]
            before[at] = Word(BULLET, dot, page.words[at].size, page.words[at].base)
    return tuple(
        each for at, word in enumerate(page.words) for each in ([before[at], word] if at in before else [word])
    )
