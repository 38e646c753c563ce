"""The cell that is drawn around words of a table, and which of the columns below bounds it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hwdoc_ingest.pages import Box
from hwdoc_ingest.table_column import Column

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
