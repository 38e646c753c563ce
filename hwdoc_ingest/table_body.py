"""What the rows of a table tell about its columns: how wide they are, and which of them hold numbers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.pages import Box
from hwdoc_ingest.table_column import Column
from hwdoc_ingest.text_lines import Line

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
