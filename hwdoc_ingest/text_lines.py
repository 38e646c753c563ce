"""Words into lines in reading order: baselines, gaps, and columns of prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from hwdoc_ingest.pages import Box, Page, Word

WIDE_GAP = 1.4
"""A gap of this many font sizes parts two pieces of a line (a cell, a column, a dot leader)."""
LEADING_MARK = re.compile(r"^(?:\W{1,2}|\d{1,2}[.)]|\d{1,2}(?:\.\d{1,2}){1,5}\.?|[ivx]{1,4}[.)])$")
"""A bullet or a number that a heading or list item begins with."""
CJK = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
DOT_LEADER = re.compile(r"(?:\.\s?){4,}|…+|_{4,}")


@dataclass(frozen=True)
class Line:
    """Words that stand side by side on one baseline with no wide gap between them."""

    words: tuple[Word, ...]

    @cached_property
    def box(self) -> Box:
        """The box around all words."""
        return around(word.box for word in self.words)

    @cached_property
    def size(self) -> float:
        """Font size of the largest word."""
        return max(word.size for word in self.words)

    @cached_property
    def base(self) -> float:
        """Baseline of the first word that is neither raised nor lowered."""
        return next((word.base for word in self.words if not word.raised), self.words[0].base)

    @cached_property
    def text(self) -> str:
        """The words with spaces between them."""
        return join_words(self.words)[0]


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around the boxes."""
    every = list(boxes)
    return (
        min(box[0] for box in every),
        min(box[1] for box in every),
        max(box[2] for box in every),
        max(box[3] for box in every),
    )


def join_words(words: Sequence[Word]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text of the words, and where each word stands in it.

    A subscript is glued to what it stands at. A footnote mark is left out, an exponent is written `^n`.
    """
    text = ""
    places: list[tuple[int, int]] = []
    for index, word in enumerate(words):
        piece, glue = DOT_LEADER.sub(" … ", word.text).strip(), False
        if piece == "." and text.endswith((".", "…")):
            piece = ""
        if word.raised and index:
            before = words[index - 1].text
            glue = True
            if word.raised > 0:
                piece = _raised_text(before, word.text)
            elif word.text == "16" and set(before) <= set("0123456789ABCDEFabcdef"):
                piece = "h"  # FFFE with a small 16 below is hexadecimal
        elif index and words[index - 1].raised and word.text[0] in ",.;:)":
            glue = True
        elif (
            index
            and word.box[0] - words[index - 1].box[2] < 0.02 * word.size
            and abs(word.base - words[index - 1].base) < 0.1 * word.size
        ):
            glue = not words[index - 1].raised
        if text and piece and not glue and not (CJK.match(text[-1]) and CJK.match(piece[0])):
            text += " "
        places.append((len(text), len(text) + len(piece)))
        text += piece
    return text, tuple(places)


def _raised_text(before: str, raised: str) -> str:
    """What a superscript after `before` says: an exponent, the end of an ordinal, or nothing (a footnote mark)."""
    if raised in ("st", "nd", "rd", "th", "TM", "®", "™", "o", "°"):
        return {"o": "°", "TM": "", "®": "", "™": ""}.get(raised, raised)
    if raised.lstrip("-").isdigit() and (
        before in ("2", "10", "cm", "mm", "m", "in") or before.endswith(("x10", "×10"))
    ):
        return "^" + raised
    return ""


def text_lines(page: Page) -> tuple[Line, ...]:
    """The lines of a page in reading order: left to right and down; prose in two columns column by column."""
    rows = baselines(page.words)
    return tuple(line for band in _bands(rows, page.width) for line in band)


def baselines(words: Sequence[Word]) -> list[list[Line]]:
    """Words grouped by baseline from the top, each group cut into lines at wide gaps."""
    upright = sorted((word for word in words if not word.raised), key=lambda word: (word.base, word.box[0]))
    groups: list[list[Word]] = []
    for word in upright:
        if groups and word.base - _middle_base(groups[-1]) < 0.4 * min(word.size, groups[-1][0].size):
            groups[-1].append(word)
        else:
            groups.append([word])
    for word in words:  # a raised or lowered word belongs to the line of the word it stands at
        if word.raised and groups:
            near = min(groups, key=lambda group: min(_distance(word, other) for other in group))
            near.append(word)
    return [_cut(sorted(group, key=lambda word: word.box[0])) for group in groups]


def _middle_base(group: list[Word]) -> float:
    return sum(word.base for word in group[-3:]) / len(group[-3:])


def _distance(word: Word, other: Word) -> float:
    return abs(word.box[0] - other.box[2]) + 2 * abs(word.base - other.base)


def _cut(words: list[Word]) -> list[Line]:
    pieces = [[words[0]]]
    reach = words[0].box[2]
    for word in words[1:]:
        gap = word.box[0] - reach
        leads = len(pieces[-1]) == 1 and LEADING_MARK.match(pieces[-1][0].text) and gap < 6 * word.size
        if gap > WIDE_GAP * max(word.size, pieces[-1][-1].size) and not leads and not word.text.startswith(":"):
            pieces.append([word])
        else:
            pieces[-1].append(word)
        reach = max(reach, word.box[2])
    return [Line(tuple(piece)) for piece in pieces]


def _bands(rows: list[list[Line]], width: float) -> list[list[Line]]:
    """Lines in reading order, in bands: a row across the page, or two columns one after the other."""
    gutter = _gutter(rows, width)
    if gutter is None:
        return rows
    bands: list[list[Line]] = []
    left: list[Line] = []
    right: list[Line] = []
    for row in rows:
        if any(line.box[0] < gutter < line.box[2] for line in row):
            bands += [left, right, row]
            left, right = [], []
        else:
            left += [line for line in row if line.box[2] <= gutter]
            right += [line for line in row if line.box[0] >= gutter]
    return [band for band in (*bands, left, right) if band]


def _gutter(rows: list[list[Line]], width: float) -> float | None:
    """Where the white strip between two columns of prose runs, or None if the page has one column.

    Prose fills its column; the cells of a table do not. So most lines on both sides must be nearly as wide as
    the widest of their side.
    """
    best: tuple[int, float] | None = None
    lines = [line for row in rows for line in row]
    for step in range(35, 66):
        x = width * step / 100
        crossing = sum(line.box[0] < x < line.box[2] for line in lines)
        left = [line for line in lines if line.box[2] <= x]
        right = [line for line in lines if line.box[0] >= x]
        if min(len(left), len(right)) < 6 or crossing > 0.4 * min(len(left), len(right)):
            continue
        if all(_fills(side, width) for side in (left, right)) and (best is None or crossing < best[0]):
            best = crossing, x
    return best[1] if best else None


def _fills(side: list[Line], width: float) -> bool:
    widths = sorted(line.box[2] - line.box[0] for line in side)
    widest = widths[int(len(widths) * 0.9)]
    full = sum(each > 0.8 * widest for each in widths)
    return widest > 0.25 * width and full >= 0.4 * len(widths)


def drop_furniture(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages without their running heads and feet: what stands at the same height on a third of the pages."""
    if len(pages) < 3:
        return tuple(pages)
    seen: dict[tuple[int, str], int] = {}
    for page in pages:
        for key in {_furniture_key(word, page) for word in page.words if _at_edge(word, page)}:
            seen[key] = seen.get(key, 0) + 1
    often = {key for key, count in seen.items() if count >= max(3, len(pages) / 4)}
    kept = []
    for page in pages:
        words = tuple(w for w in page.words if not (_at_edge(w, page) and _furniture_key(w, page) in often))
        kept.append(replace(page, words=words))
    return tuple(kept)


def _at_edge(word: Word, page: Page) -> bool:
    return word.box[1] < 0.1 * page.height or word.box[3] > 0.9 * page.height


def _furniture_key(word: Word, page: Page) -> tuple[int, str]:
    text = "#" if word.text.strip("-.").isdigit() else word.text
    return round(word.base / page.height * 250), text


def is_continued(line: Line, following: Line, right_edge: float) -> bool:
    """Whether the text of a line goes on in the next: the line reaches the right edge of its column."""
    return line.box[2] > right_edge - 0.12 * (right_edge - line.box[0]) or following.text[:1].islower()


def line_pitch(lines: Sequence[Line]) -> float:
    """The usual distance between baselines."""
    steps = sorted(b.base - a.base for a, b in pairwise(lines) if 0 < b.base - a.base < 4 * a.size)
    return steps[len(steps) // 2] if steps else 12.0
