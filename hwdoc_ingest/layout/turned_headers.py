"""Headers that are written from the foot to the top to save width: each is set upright above its column.

A single line that runs upwards is a label along an axis or a mark in the margin; two beside each other, over the same
height, head columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hwdoc_ingest.page.pages import Page, Word
from hwdoc_ingest.page.text_lines import around

BESIDE = 0.6
"""Of the font's size: the most white between two lines of one header."""


@dataclass(frozen=True)
class _Strip:
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def with_turned_headers(page: Page) -> Page:
    """The page with its turned headers as upright words at its end, each above its column, on one line at their foot.

    The upright headers beside them are moved to that line as well; a cell's words often stand half way up.
    """
    strips = _strips(page.turned)
    words, added = list(page.words), []
    while strips:
        heads = [strips[0], *(each for each in strips[1:] if _same_height(each, strips[0]))]
        strips = [each for each in strips if each not in heads]
        if len(heads) < 2:
            continue
        _, top, _, foot = around(word.box for each in heads for word in each.words)
        at = [i for i, word in enumerate(words) if top < word.box[1] and word.box[3] < foot + 0.5 * word.size]
        down = foot - max((words[i].base for i in at), default=foot)
        for i in at:
            words[i] = _moved(words[i], down)
        added += [_upright(each, foot) for each in heads]
    return replace(page, words=(*words, *added)) if added else page


def _strips(turned: Sequence[Word]) -> list[_Strip]:
    """The turned words by the header that they belong to, each as it is read."""
    lines: list[list[Word]] = []
    for word in turned:
        if lines and _goes_on(lines[-1][-1], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    headers: list[list[list[Word]]] = []
    for line in lines:
        if headers and _is_beside(headers[-1][-1], line):
            headers[-1].append(line)
        else:
            headers.append([line])
    strips = [_Strip(tuple(word for line in _in_order(header) for word in line)) for header in headers]
    return [strip for strip in strips if any(letter.isalpha() for letter in strip.text)]


def _goes_on(last: Word, word: Word) -> bool:
    """Whether a word stands in the same line as the last one."""
    common = min(last.box[2], word.box[2]) - max(last.box[0], word.box[0])
    apart = max(last.box[1] - word.box[3], word.box[1] - last.box[3])
    return common > 0.5 * (word.box[2] - word.box[0]) and apart < word.size


def _is_beside(line: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two lines belong to one header: close beside each other, over the same height."""
    a, b = around(word.box for word in line), around(word.box for word in other)
    apart = max(a[0] - b[2], b[0] - a[2])
    return apart < BESIDE * other[0].size and min(a[3], b[3]) > max(a[1], b[1])


def _in_order(lines: Sequence[Sequence[Word]]) -> list[Sequence[Word]]:
    """The lines of a header: from left to right where they run upwards, from right to left where downwards."""
    downwards = any(first.box[1] < second.box[1] for first, second, *_ in (line for line in lines if len(line) > 1))
    return sorted(lines, key=lambda line: line[0].box[0], reverse=downwards)


def _same_height(strip: _Strip, other: _Strip) -> bool:
    """Whether two headers stand beside each other: what they cover in height is mostly the same."""
    a, b = around(word.box for word in strip.words), around(word.box for word in other.words)
    common = min(a[3], b[3]) - max(a[1], b[1])
    return common > 0.5 * min(a[3] - a[1], b[3] - b[1])


def _moved(word: Word, down: float) -> Word:
    left, top, right, bottom = word.box
    return replace(word, box=(left, top + down, right, bottom + down), base=word.base + down)


def _upright(strip: _Strip, base: float) -> Word:
    """A header as one word on a line."""
    left, _, right, _ = around(word.box for word in strip.words)
    size = strip.words[0].size
    return Word(strip.text, (left, base - 0.8 * size, right, base + 0.2 * size), size, base)
