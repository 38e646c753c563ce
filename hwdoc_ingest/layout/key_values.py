"""Tables of two columns without a header: on the left what is told of, on the right what is said of it.

Feature tables of product briefs are drawn so (`CPU | dual-core, 1.2 GHz`), the name in the middle of its row's height
and the right cell on several lines. Line by line they read as nonsense; here each line of the right cell is read with
its own name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hwdoc_ingest.page.pages import Page, Word
from hwdoc_ingest.page.text_lines import BULLET, Line, baselines, is_continued
from hwdoc_ingest.statements.statement import Statement, sentence

FEWEST_ROWS = 3
MOST_LABEL = 6
"""Words of a name."""
SHARE = 0.3
"""Share of a page's width that a table is at least wide."""
NEAR = 3.0
"""Points within which edges are the same."""
NAME = re.compile(r"[A-Za-z]{2}|[\u4e00-\u9fff]{2}")


def read_key_values(page: Page) -> tuple[list[Statement], frozenset[int]]:
    """What such tables of a page say, each statement below the name of its row, and which words they are made of."""
    said: list[Statement] = []
    used: set[int] = set()
    place = {id(word): at for at, word in enumerate(page.words)}
    for bands, right in _tables(page):
        for label, lines in bands:
            name = Line(tuple(label)).text
            said += [sentence(page.number, (*label, *words), (name,), page.by_ocr) for words in _items(lines, right)]
            used |= {place[id(word)] for word in (*label, *(word for line in lines for word in line.words))}
    return said, frozenset(used)


_Band = tuple[list[Word], list[Line]]
"""The words of a row's name, and the lines of its right cell."""


def _tables(page: Page) -> Iterator[tuple[list[_Band], float]]:
    """The rows of each table, and its right edge."""
    for left, right, heights in _ladders(page):
        bands: list[_Band | None] = []
        words = [word for word in page.words if left - NEAR < word.box[0] and word.box[2] < right + NEAR]
        gutter = _gutter(page, left, right, heights, words)
        if gutter is None:
            continue
        highest = heights[0] - max(bottom - top for top, bottom in pairwise(heights))
        for top, bottom in pairwise([highest, *heights]):  # the first row may have no ruling above it
            inside = [word for word in words if top < (word.box[1] + word.box[3]) / 2 < bottom]
            bands.append(_band(_lowest(inside) if top == highest else inside, gutter))
        run: list[_Band] = []
        for band in [*bands, None]:
            if band is not None:
                run.append(band)
            elif run:
                if len(run) >= FEWEST_ROWS:
                    yield run, right
                run = []


def _lowest(words: Sequence[Word]) -> list[Word]:
    """The words of the lowest lines that stand close to each other and are of one size."""
    kept: list[Word] = []
    for word in sorted(words, key=lambda each: -each.base):
        if kept and (kept[-1].base - word.base > 1.6 * word.size or word.size > 1.1 * kept[0].size):
            break
        kept.append(word)
    return kept


def _ladders(page: Page) -> Iterator[tuple[float, float, list[float]]]:
    """Left edge, right edge and heights of rulings that lie over each other like the rungs of a ladder."""
    rungs: dict[int, list[tuple[float, float]]] = {}
    for ruling in page.rulings:
        if ruling.horizontal:
            rungs.setdefault(round(ruling.box[1] / 2), []).append((ruling.box[0], ruling.box[2]))
    whole = sorted((key * 2.0, span) for key, parts in rungs.items() for span in _joined(parts))
    ladders: list[tuple[float, float, list[float]]] = []
    for height, (left, right) in whole:
        if right - left < SHARE * page.width:
            continue
        for known_left, known_right, heights in ladders:
            if abs(left - known_left) < NEAR and abs(right - known_right) < NEAR:
                if height - heights[-1] > 2 * NEAR:
                    heights.append(height)
                break
        else:
            ladders.append((left, right, [height]))
    yield from (ladder for ladder in ladders if len(ladder[2]) > FEWEST_ROWS)


def _joined(parts: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Stretches of one height, those that touch as one."""
    whole: list[tuple[float, float]] = []
    for left, right in sorted(parts):
        if whole and left <= whole[-1][1] + NEAR:
            whole[-1] = whole[-1][0], max(right, whole[-1][1])
        else:
            whole.append((left, right))
    return whole


def _gutter(page: Page, left: float, right: float, heights: list[float], words: Sequence[Word]) -> float | None:
    """Where the right column begins: at the only vertical ruling inside, else where most right cells begin."""
    inner = {
        round(ruling.box[0] / NEAR)
        for ruling in page.rulings
        if not ruling.horizontal
        and left + 2 * NEAR < ruling.box[0] < right - 2 * NEAR
        and heights[0] - NEAR < ruling.box[1]
        and ruling.box[3] < heights[-1] + NEAR
    }
    edges = [at for at in sorted(inner) if at - 1 not in inner]
    if len(edges) > 1:
        return None
    if edges:
        return edges[0] * NEAR
    rows = baselines([word for word in words if heights[0] < word.base < heights[-1]])
    if any(len(row) > 2 for row in rows):
        return None
    lines = [line for row in rows for line in row]
    first = min((line.box[0] for line in lines), default=0.0)
    starts = Counter(round(line.box[0]) for line in lines if line.box[0] > first + 2 * line.size)
    edge, count = max(starts.items(), key=lambda each: (each[1], -each[0]), default=(0, 0))
    crossed = any(line.box[0] < edge - NEAR and line.box[2] > edge - 1 for line in lines)
    return edge - 1.0 if count >= FEWEST_ROWS and not crossed else None


def _band(words: Sequence[Word], gutter: float) -> _Band | None:
    """A row of such a table, or None where its words are no name with what is said of it."""
    label = [word for word in words if (word.box[0] + word.box[2]) / 2 < gutter]
    rest = [word for word in words if (word.box[0] + word.box[2]) / 2 >= gutter]
    if not label or not rest or len(label) > MOST_LABEL or any(word.box[2] > gutter + NEAR for word in label):
        return None
    rows = baselines(rest)
    if any(len(row) > 1 for row in rows):
        return None
    named = [word for row in baselines(label) for line in row for word in line.words]
    return (named, [row[0] for row in rows]) if NAME.search(Line(tuple(named)).text) else None


def _items(lines: Sequence[Line], edge: float) -> Iterator[tuple[Word, ...]]:
    """The words of the lines of a cell that ends at an edge, those that go on with the line before together."""
    run: list[Word] = []
    for line, before in zip(lines, [None, *lines], strict=False):
        bullet = bool(BULLET.match(line.words[0].text)) and len(line.words) > 1
        words = line.words[1:] if bullet else line.words
        if run and (bullet or before is None or not is_continued(before, line, edge)):
            yield tuple(run)
            run = []
        run += words
    if run:
        yield tuple(run)
