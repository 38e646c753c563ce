"""The cell that is drawn around words of a table, and which of the columns below bounds it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hwdoc_ingest.layout.table_column import Column
from hwdoc_ingest.page.pages import Box, Ruling
from hwdoc_ingest.page.text_lines import Line

SIDE = 0.6
"""How much less room a value has on the side that it is set to, at most, in a cell over several columns."""


@dataclass(frozen=True)
class DrawnCell:
    """From ruling to ruling, at the height of one line."""

    left: float
    right: float
    covered: tuple[int, ...]
    """The columns whose headers' middles lie between the rulings."""


def drawn_cell(box: Box, verticals: Sequence[Box], columns: Sequence[Column]) -> DrawnCell | None:
    """The cell around a box; None where no ruling stands on one of its sides.

    Args:
        box: Words on one line.
        verticals: The upright rulings that cross the line.
        columns: Of the table.
    """
    middle = (box[0] + box[2]) / 2
    places = [(each[0] + each[2]) / 2 for each in verticals]
    left = max((place for place in places if place < middle), default=None)
    right = min((place for place in places if place > middle), default=None)
    if left is None or right is None:
        return None
    return DrawnCell(left, right, tuple(i for i, column in enumerate(columns) if left < column.centre < right))


def own_column(cell: DrawnCell, box: Box, columns: Sequence[Column]) -> tuple[int, bool] | None:
    """The column of a value in its cell, and whether it may as well be another; None where the cell does not tell.

    A cell over one column tells. In one over several, the value is set to the side of the first or the last of them;
    where it stands in the middle nobody can tell.
    """
    bounds = [i for i in cell.covered if columns[i].bound]
    if not bounds or len(bounds) != len(cell.covered):
        return None
    if len(bounds) == 1:
        return bounds[0], False
    before, after = box[0] - cell.left, cell.right - box[2]
    if before < SIDE * after:
        return bounds[0], before > after / 3
    if after < SIDE * before:
        return bounds[-1], after > before / 3
    middle = (box[0] + box[2]) / 2
    return min(bounds, key=lambda i: abs(columns[i].centre - middle)), True


def cut_at_rulings(rows: Sequence[list[Line]], rulings: Sequence[Ruling]) -> list[list[Line]]:
    """The rows of a page with their pieces cut where an upright ruling stands between two words.

    Columns that are fitted to their cells leave less white between them than there is between words elsewhere.
    """
    upright = [ruling.box for ruling in rulings if not ruling.horizontal]
    return [[part for piece in row for part in _cut(piece, upright)] for row in rows] if upright else list(rows)


def _cut(piece: Line, upright: Sequence[Box]) -> list[Line]:
    left, top, right, bottom = piece.box
    middle = (top + bottom) / 2
    places = [(box[0] + box[2]) / 2 for box in upright if left < box[0] < right and box[1] < middle < box[3]]
    parts = [[piece.words[0]]]
    for word in piece.words[1:]:
        last = parts[-1][-1]
        if any(last.box[2] - 1 < place < word.box[0] + 1 for place in places) and not word.raised:
            parts.append([word])
        else:
            parts[-1].append(word)
    return [Line(tuple(part)) for part in parts]
