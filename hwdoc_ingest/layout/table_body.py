"""What the rows of a table tell about its columns: how wide they are, and which of them hold numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.layout.table_column import Column
from hwdoc_ingest.page.pages import Box
from hwdoc_ingest.page.text_lines import Line

_NUMBERED = re.compile(r"^\W*(?:0x)?\.?\d|^(?:-+|—|\.\.|N/?A|TBD)$", re.IGNORECASE)


def fitted(columns: tuple[Column, ...], rows: Sequence[list[Line]]) -> tuple[Column, ...]:
    """The columns as their rows fill them.

    A row with as many pieces as there are headers, each under its own, shows where the columns stand: a header is often
    set in the middle of a column whose cells begin at its left edge. A column called `Rating` or `Value` that holds
    names has no bound.
    """
    whole = [row for row in rows if is_whole(row, [(c.left, c.right) for c in columns])]
    grown = tuple(_widened(column, [row[at].box for row in whole]) for at, column in enumerate(columns))
    apart = all(a.right < b.left for a, b in itertools.pairwise(grown))
    if apart:
        columns = grown
    return tuple(_by_content(column, [row[at].text for row in whole]) for at, column in enumerate(columns))


def with_labels(columns: tuple[Column, ...], rows: Sequence[list[Line]]) -> tuple[Column, ...]:
    """The columns with one for the names left of them, if most rows have one piece more than there are headers."""
    spans = [(column.left, column.right) for column in columns]
    labels = [
        row[0].box
        for row in rows
        if len(row) == len(columns) + 1 and row[0].box[2] < columns[0].left and is_whole(row[1:], spans)
    ]
    if len(labels) < max(2, 0.5 * len(rows)):
        return columns
    return (Column("", min(box[0] for box in labels), max(box[2] for box in labels)), *columns)


def with_unheaded(columns: tuple[Column, ...], rows: Sequence[list[Line]]) -> tuple[Column, ...]:
    """The columns with those that no header stands over: often the names, left of a header that begins with `MIN`.

    Pieces stand in such a column if they overlap no header and the next header has a piece of its own beside them.
    """
    found = []
    edges = [(-math.inf, None, columns[0]), *((a.right, a.bound, b) for a, b in itertools.pairwise(columns))]
    for left, bound, after in edges:
        if bound:  # a number beside its bound is that bound's
            continue
        inside = [[p.box for p in row if left + 2 < p.box[0] and p.box[2] < after.left - 2] for row in rows]
        beside = [any(p.box[0] < after.right and p.box[2] > after.left for p in row) for row in rows]
        filled = [boxes for boxes, has in zip(inside, beside, strict=True) if boxes and has]
        enough = len(filled) >= max(2, 0.5 * sum(beside)) or (after.bound and left == -math.inf and filled)
        if enough:
            boxes = list(itertools.chain(*filled))
            found.append(Column("", min(box[0] for box in boxes), max(box[2] for box in boxes)))
    return tuple(sorted([*columns, *found], key=lambda column: column.left))


_CONDITION = re.compile(r"@?\s*[-+]?\d[\d.]*\s?(?:°C|V|[MG]Hz)", re.IGNORECASE)
"""What a column of numbers may be headed by below its bound: `Typ` over `25 °C` and `85 °C`."""


def with_conditions(columns: tuple[Column, ...], row: Sequence[Line]) -> tuple[Column, ...] | None:
    """The columns of bounds parted by the conditions in a second row of headers; None for a row of another kind."""
    bounded = [column for column in columns if column.bound]
    if len(row) < 2 or not bounded or not all(_CONDITION.fullmatch(piece.text) for piece in row):
        return None
    parted, headed = [], set()
    for piece in row:
        centre = (piece.box[0] + piece.box[2]) / 2
        over = min(bounded, key=lambda column: abs(column.centre - centre))
        headed.add(over)
        parted.append(replace(over, left=piece.box[0], right=piece.box[2], group=piece.text))
    if len(headed) < len(bounded):
        return None
    return tuple(sorted([*(c for c in columns if not c.bound), *parted], key=lambda column: column.left))


_UNIT = re.compile(
    r"[(\[]?([µμmkMG]?(?:Hz|V|A|W|s|B)|[KMG]i?(?:B|bit|byte)s?|bits?|bytes?|°C|℃|TOPS|ns|MT/s|%)[)\]]?", re.I
)


def with_units(columns: tuple[Column, ...], row: Sequence[Line]) -> tuple[Column, ...] | None:
    """The columns with the units that a second row of headers gives them; None for a row of another kind."""
    units = [(_UNIT.fullmatch(piece.text), piece.box) for piece in row]
    if not units or not all(unit for unit, _ in units):
        return None
    headed = list(columns)
    for unit, box in units:
        over = min(range(len(columns)), key=lambda at: abs(columns[at].centre - (box[0] + box[2]) / 2))
        if unit and "(" not in headed[over].header:
            headed[over] = replace(headed[over], header=f"{headed[over].header} ({unit[1]})")
    return tuple(headed) if len(units) > 1 else None


def is_whole(row: Sequence[Line], spans: Sequence[tuple[float, float]]) -> bool:
    """Whether a row has one piece for each header, and none stands under another header than its own."""
    return len(row) == len(spans) and all(
        at == other or not (piece.box[0] < right and piece.box[2] > left)
        for at, piece in enumerate(row)
        for other, (left, right) in enumerate(spans)
    )


def _widened(column: Column, boxes: Sequence[Box]) -> Column:
    left = min([column.left, *(box[0] for box in boxes)])
    right = max([column.right, *(box[2] for box in boxes)])
    return replace(column, left=left, right=right)


def _by_content(column: Column, texts: Sequence[str]) -> Column:
    if column.bound == "value" and len(texts) >= 2 and not any(_NUMBERED.match(text) for text in texts):
        return replace(column, bound=None)
    return column
