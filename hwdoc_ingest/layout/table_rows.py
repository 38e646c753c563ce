"""The rows of a table: merged cells from drawn rulings, else rows by the baselines that carry values.

A number belongs to the column whose header its own centre stands under, whatever cell is drawn around it: data sheets
often merge Min..Max into one cell and print the value under Max.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hwdoc_ingest.layout.drawn_cells import DrawnCell, drawn_cell, own_column
from hwdoc_ingest.layout.table_body import is_whole
from hwdoc_ingest.layout.table_column import Column, Table
from hwdoc_ingest.layout.table_columns import NUMBER, PLACEHOLDER
from hwdoc_ingest.layout.table_parts import by_part, parts
from hwdoc_ingest.page.pages import Box, Page, Word
from hwdoc_ingest.page.text_lines import Line, baselines
from hwdoc_ingest.statements.statement import RowCell, Statement, row

GOES_ON_BELOW = re.compile(r"[\dA-Fa-fhH]\s*(?:-|~|\bto)$")
"""How the upper line of a range ends that is written on two."""


def table_rows(page: Page, table: Table, words: list[Word], path: tuple[str, ...]) -> Iterator[Statement]:
    """The rows of a table's body."""
    if not words:
        return
    level = [r.box for r in page.rulings if r.horizontal and table.top - 5 < r.box[1] < table.bottom + 9]
    upright = [r.box for r in page.rulings if not r.horizontal and r.box[1] <= table.bottom and r.box[3] >= table.top]
    parted = _bounds_are_parted(upright, table.columns)
    by_column: list[list[tuple[Word, bool]]] = [[] for _ in table.columns]
    for line in baselines(words):
        for piece in _cells_of(line, table.columns, upright):
            cell_drawn = drawn_cell(piece.box, _crossing(upright, line), table.columns) if parted else None
            for word, column, unsure in _place(piece, table.columns, cell_drawn):
                by_column[column].append((word, unsure))
    edges = _edges(level, table, words, framed=bool(upright))
    crossings = _crossings(level, edges)
    drawn = min((box[0] for box in level), default=0.0), max((box[2] for box in level), default=0.0)
    cell = {id(w): _cell(w, edges, crossings, drawn) for column in by_column for w, _ in column}
    for top, bottom in pairwise(edges):
        members = [[(w, u) for w, u in column if _in_row(w, top, bottom, cell[id(w)])] for column in by_column]
        if any(top < middle(w) <= bottom for column in members for w, _ in column):
            yield from _split(page, table, members, path)


def middle(word: Word) -> float:
    """Half the height of a word's small letters, in points from the top of the page."""
    return word.base - 0.3 * word.size


def _cells_of(line: list[Line], columns: tuple[Column, ...], upright: Sequence[Box]) -> Iterator[Line]:
    """The pieces of a line, cut again at vertical rulings and where a word begins under the next header."""
    verticals = _crossing(upright, line)
    for piece in line:
        part = [piece.words[0]]
        for word in piece.words[1:]:
            gap = (part[-1].box[2], word.box[0])
            ruled = any(gap[0] - 2 < (box[0] + box[2]) / 2 < gap[1] + 2 for box in verticals)
            wide = gap[1] - gap[0]
            begins = wide > 0.5 * word.size and any(_begins_under(word, c, part[0]) for c in columns)
            begins = begins or (wide > word.size and _stands_under_another(word, part[-1], columns))
            if (ruled or begins) and not word.raised:
                yield Line(tuple(part))
                part = [word]
            else:
                part.append(word)
        yield Line(tuple(part))


def _begins_under(word: Word, column: Column, first: Word) -> bool:
    """Whether a word begins the cell of a column that the first word of its piece is left of."""
    if first.box[0] > column.left - 3:
        return False
    centred = abs((word.box[0] + word.box[2]) / 2 - column.centre) < max(4.0, (column.right - column.left) / 3)
    return abs(word.box[0] - column.left) < 3 or centred


def _stands_under_another(word: Word, last: Word, columns: tuple[Column, ...]) -> bool:
    """Whether two words that follow each other stand under two headers: a value and its unit, say."""
    return _text_column(Line((last,)), columns) != _text_column(Line((word,)), columns)


def _crossing(upright: Sequence[Box], line: list[Line]) -> list[Box]:
    """The upright rulings beside the words of a line."""
    return [box for box in upright if box[1] < line[0].base < box[3] + 1]


def _bounds_are_parted(upright: Sequence[Box], columns: Sequence[Column]) -> bool:
    """Whether rulings stand between all columns of bounds somewhere in the table: then a cell without is merged."""
    bounds = [column for column in columns if column.bound]
    return len(bounds) > 0 and all(
        any(a.centre < (box[0] + box[2]) / 2 < b.centre for box in upright) for a, b in pairwise(bounds)
    )


def _place(piece: Line, columns: tuple[Column, ...], cell: DrawnCell | None = None) -> Iterator[tuple[Word, int, bool]]:
    """Each word of a piece with its column: what is drawn in a cell of bounds by that.

    Another number under a bound goes by its own centre, other text by where it starts.
    """
    text_column = _text_column(piece, columns)
    by_cell = own_column(cell, piece.box, columns) if cell else None
    for word in piece.words:
        if by_cell and len(piece.words) < 4:
            yield word, *by_cell
            continue
        centre = (word.box[0] + word.box[2]) / 2
        is_value = bool(NUMBER.match(word.text) or PLACEHOLDER.match(word.text))
        if is_value or columns[text_column].bound:
            inside = [i for i, c in enumerate(columns) if c.bound and c.left - 3 <= centre <= c.right + 3]
            if inside:
                at = min(inside, key=lambda i: abs(columns[i].centre - centre))
                yield word, at, False
                continue
        if is_value and columns[text_column].bound:
            yield word, text_column, len(piece.words) < 4
            continue
        yield word, text_column, False


def _text_column(piece: Line, columns: tuple[Column, ...]) -> int:
    """The column that a piece of text stands in: the one whose header it overlaps most, else the nearest."""
    left, _, right, _ = piece.box

    def overlap(column: Column) -> float:
        return min(right, column.right) - max(left, column.left)

    aligned = [i for i, c in enumerate(columns) if abs(c.left - left) < 4]
    if aligned:
        return aligned[0]
    best = max(range(len(columns)), key=lambda i: overlap(columns[i]))
    return best


def _edges(level: Sequence[Box], table: Table, words: list[Word], framed: bool) -> list[float]:
    """Heights between which the rows stand: rulings inside the table, else the baselines that carry values."""
    left, right = table.columns[0].left, table.columns[-1].right
    rulings = sorted(
        box[1] for box in level if table.top < box[1] < table.bottom + 6 and min(box[2], right) - max(box[0], left) > 15
    )
    lines: list[float] = []
    for height in rulings:
        if not lines or height - lines[-1] > 4:
            lines.append(height)
    first = min(word.base for word in words)
    inner = [height for height in lines if table.top < height < table.bottom]
    between = framed or any(first < height for height in inner)  # a line under the header alone parts no rows
    if between and len(inner) >= 0.2 * len(baselines(words)):
        return [table.top, *inner, table.bottom + 4]
    return _baseline_edges(table, words)


def _baseline_edges(table: Table, words: list[Word]) -> list[float]:
    """Rows by the lines that carry a value; a line without one joins the nearer of its neighbours."""
    lines = baselines(words)
    spans = [(column.left, column.right) for column in table.columns]
    valued = [_has_value(line, table.columns) or (len(spans) > 2 and is_whole(line, spans)) for line in lines]
    if not table.numeric:
        numbered = [_is_numbered(line, table.columns[0]) for line in lines]
        valued = numbered if sum(numbered) >= max(2, sum(valued)) else valued
    valued = [has and not (at and GOES_ON_BELOW.search(lines[at - 1][0].text)) for at, has in enumerate(valued)]
    bases = [max(piece.base for piece in line) for line in lines]
    if not any(valued):
        return [table.top, *[base + 2 for base in bases]]
    edges = [table.top]
    carriers = [i for i, has in enumerate(valued) if has]
    for above, below in pairwise(carriers):
        gaps = [(bases[i + 1] - bases[i], i) for i in range(above, below)]
        widest = max(gaps)[1] if max(gaps)[0] > 1.15 * min(gaps)[0] else above + (below - above - 1) // 2
        edges.append((bases[widest] + bases[widest + 1]) / 2 - 0.3 * lines[widest][0].size)
    return [*edges, table.bottom + 4]


def _is_numbered(line: list[Line], column: Column) -> bool:
    """Whether a line begins with a number or an address below the first header, as in a list of interrupts."""
    first = line[0].words[0]
    return bool(NUMBER.match(first.text)) and first.box[0] < column.right + 6


def _has_value(line: list[Line], columns: tuple[Column, ...]) -> bool:
    bounded = any(column.bound for column in columns)
    for piece in _cells_of(line, columns, ()):
        for word, at, _ in _place(piece, columns):
            value = NUMBER.match(word.text) or PLACEHOLDER.match(word.text)
            if value and (columns[at].bound or (not bounded and at > 0)):
                return True
    return False


def _crossings(level: Sequence[Box], edges: list[float]) -> list[list[tuple[float, float]]]:
    """For each edge between rows the stretches that are drawn; empty lists where nothing is drawn inside the table."""
    drawn = [[(box[0] - 2, box[2] + 2) for box in level if abs(box[1] - edge) < 4.1] for edge in edges]
    return drawn if any(drawn[1:-1]) else [[] for _ in edges]


def _cell(
    word: Word, edges: list[float], crossings: list[list[tuple[float, float]]], drawn_over: tuple[float, float]
) -> tuple[float, float]:
    """The nearest edges above and below a word that are drawn over it; what is not drawn at all parts everywhere.

    A word left or right of all that is drawn stands in no merged cell: it is prose beside or below the table.
    """
    height, x = middle(word), (word.box[0] + word.box[2]) / 2
    if not any(crossings) or not drawn_over[0] - 2 <= x <= drawn_over[1] + 2:
        return math.inf, -math.inf
    drawn = [e for e, stretches in zip(edges, crossings, strict=True) if any(a <= x <= b for a, b in stretches)]
    above = max((edge for edge in drawn if edge < height), default=-math.inf)
    return above, min((edge for edge in drawn if edge > height), default=math.inf)


def _in_row(word: Word, top: float, bottom: float, cell: tuple[float, float]) -> bool:
    """Whether a word stands in a row: between its edges, or in a cell that no ruling parts from it (a merged cell)."""
    height, (above, below) = middle(word), cell
    if top < height <= bottom:
        return True
    return above <= bottom - 1 if height > bottom else below >= top + 1


def _split(
    page: Page, table: Table, members: list[list[tuple[Word, bool]]], path: tuple[str, ...]
) -> Iterator[Statement]:
    """One ruled row as one statement, or as several where values are stacked in it, each with its own condition."""
    stacks = [_stack([w for w, _ in column]) for column, spec in zip(members, table.columns, strict=True) if spec.bound]
    levels = max(stacks, key=len, default=[])
    if len(levels) < 2:
        yield from _statements(page, table, members, path)
        return
    stacked = [_stacked(column, levels) for column in members]
    for level in levels:
        part = [
            [(w, u) for w, u in column if not own or _belongs(w, level, levels)]
            for column, own in zip(members, stacked, strict=True)
        ]
        yield from _statements(page, table, part, path)


def _stack(words: list[Word]) -> list[float]:
    """Baselines of the values that stand one above the other in a cell; the lines of one wrapped list are one value."""
    levels: list[float] = []
    goes_on = False
    for line in baselines(words):
        first, last = line[0].words[0], line[-1].words[-1]
        if not (NUMBER.match(first.text) or PLACEHOLDER.match(first.text)):
            continue
        if not goes_on and (not levels or first.base - levels[-1] > 3):
            levels.append(first.base)
        goes_on = last.text.endswith((",", "-", "~", "/"))
    return levels


def _belongs(word: Word, level: float, levels: list[float]) -> bool:
    """Whether a word stands beside a value; a word beside none of them is said of all."""
    beside = [each for each in levels if abs(word.base - each) < 3 or (word.raised and abs(word.base - each) < 8)]
    return level in beside or not beside


def _stacked(column: list[tuple[Word, bool]], levels: list[float]) -> bool:
    """Whether a column has words of its own at more than one of the levels."""
    return sum(any(abs(w.base - level) < 3 for w, _ in column) for level in levels) > 1


def _statements(
    page: Page, table: Table, members: list[list[tuple[Word, bool]]], path: tuple[str, ...]
) -> Iterator[Statement]:
    cells: list[RowCell] = []
    for column, content in zip(table.columns, members, strict=True):
        ordered = [w for line in baselines([w for w, _ in content]) for piece in line for w in piece.words]
        unsure = any(u for _, u in content)
        header = f"{column.group} {column.header}".strip()
        cells.append(RowCell(tuple(ordered), header, column.bound, column.group, unsure))
    for own, its_path in by_part(cells, parts(table.columns, path), path):
        yield row(page.number, own, its_path, page.by_ocr)
