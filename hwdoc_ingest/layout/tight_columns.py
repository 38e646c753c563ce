"""Columns that stand so close that a row reads as one piece: told by where words begin in the rows around.

A typesetter that leaves 12 points between columns sets them closer than the gaps that part pieces of a line
(text_lines.WIDE_GAP). What stands after such a gap begins a cell if several rows near have a cell that begins there.
"""

from __future__ import annotations

from collections.abc import Sequence

from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.page.text_lines import Line

TIGHT_GAP = 0.8
"""A gap of this many font sizes is wider than any between words."""
NEAR_ROWS = 4
"""Rows above and below that are looked at."""
FEWEST = 2
"""Rows besides its own in which a cell must begin at the same place."""
SAME = 1.5
"""Points within which words begin at the same place."""


def cut_at_starts(rows: Sequence[list[Line]]) -> list[list[Line]]:
    """Rows of pieces, each cut where its words stand in columns of their own."""
    starts = [_starts(row) for row in rows]
    return [
        [part for piece in row for part in _cut(piece, _near(starts, at))] if starts[at] else row
        for at, row in enumerate(rows)
    ]


def _starts(row: Sequence[Line]) -> list[float]:
    """Where cells may begin in a row: its pieces but the first, and what follows a tight gap."""
    found = [piece.box[0] for piece in row[1:]]
    for piece in row:
        found += [word.box[0] for last, word in zip(piece.words, piece.words[1:], strict=False) if _is_gap(last, word)]
    return found


def _is_gap(last: Word, word: Word) -> bool:
    return not word.raised and word.box[0] - last.box[2] >= TIGHT_GAP * max(word.size, last.size)


def _near(starts: Sequence[list[float]], at: int) -> list[list[float]]:
    """Where cells begin in the rows around one."""
    return [*starts[max(0, at - NEAR_ROWS) : at], *starts[at + 1 : at + 1 + NEAR_ROWS]]


def _cut(piece: Line, near: Sequence[list[float]]) -> list[Line]:
    parts = [[piece.words[0]]]
    for last, word in zip(piece.words, piece.words[1:], strict=False):
        begins = _is_gap(last, word) and sum(any(abs(x - word.box[0]) < SAME for x in row) for row in near) >= FEWEST
        if begins:
            parts.append([])
        parts[-1].append(word)
    return [Line(tuple(part)) for part in parts]
