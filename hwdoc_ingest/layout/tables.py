"""Tables into rows, page by page, with headers carried over to the next page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hwdoc_ingest.layout.drawn_cells import cut_at_rulings
from hwdoc_ingest.layout.table_column import Table
from hwdoc_ingest.layout.table_columns import find_tables
from hwdoc_ingest.layout.table_rows import middle, table_rows
from hwdoc_ingest.layout.tight_columns import cut_at_starts
from hwdoc_ingest.layout.turned_headers import with_turned_headers
from hwdoc_ingest.page.pages import Box, Page, Word
from hwdoc_ingest.page.ruled_columns import ruled_gutter
from hwdoc_ingest.page.text_lines import baselines, regions
from hwdoc_ingest.statements.statement import Statement

_Tables = tuple[list[Statement], frozenset[int], Table | None]
_NONE: _Tables = ([], frozenset(), None)


def read_tables(page: Page, open_table: Table | None) -> _Tables:
    """The rows of all tables on a page; those of two columns of text are looked for column by column."""
    page = with_turned_headers(page)
    parts = regions(page)
    apart = len(parts) > 1 and ruled_gutter(page) is not None
    whole = _NONE if apart else _read_tables(page, open_table)
    if len(parts) == 1:
        return whole
    place = {id(word): at for at, word in enumerate(page.words)}
    found, used, still_open = list(whole[0]), set(whole[1]), whole[2]
    for words in parts:
        part = replace(page, words=tuple(word for word in words if place[id(word)] not in used))
        rows, taken, _ = _read_tables(part, None)
        found += rows
        used |= {place[id(part.words[at])] for at in taken}
    return found, frozenset(used), still_open


def _read_tables(page: Page, open_table: Table | None) -> _Tables:
    """The rows of all tables whose rows run across all words of a page.

    Args:
        page: The page.
        open_table: A table of the page before that reached its foot.

    Returns:
        The rows; which words (by position in page.words) they and the headers used; the table that is still open.
    """
    rows = cut_at_starts(cut_at_rulings(baselines(page.words), page.rulings))
    used: set[int] = set()
    found: list[Statement] = []
    tables = find_tables(page, rows, open_table)
    index = {id(word): at for at, word in enumerate(page.words)}
    for table in tables:
        body = [
            w
            for w in _within(page, table)
            if table.top < middle(w) and w.base <= table.bottom + (w.size if w.raised else 0)
        ]
        header = [w for line in rows for piece in line for w in piece.words if _in_header(w, table)]
        used |= {index[id(word)] for word in (*body, *header)}
        path = (table.caption,) if table.caption else ()
        found += table_rows(page, table, body, path)
    last = tables[-1] if tables else None
    still_open = last if last and last.bottom > 0.8 * page.height else None
    return found, frozenset(used), still_open


def _within(page: Page, table: Table) -> tuple[Word, ...]:
    """The words of a page without the prose that stands beside a table: right of its last header and of its rulings."""
    header = table.columns[-1].right
    level = (ruling.box for ruling in page.rulings if ruling.horizontal and table.top < ruling.box[1] < table.bottom)
    edge = max([header, *(box[2] for box in level if box[0] < header < box[2])])
    beside = {
        id(word)
        for line in baselines([w for w in page.words if table.top < w.base <= table.bottom])
        for piece in line
        if piece.box[0] > edge + 1.5 * piece.size and len(piece.words) >= 3
        for word in piece.words
    }
    return tuple(
        word for word in page.words if id(word) not in beside and table.left < word.box[0] and word.box[2] < table.right
    )


class PathAt:
    """The path of headings above a place on one page; in two columns, of those that stand in the same column."""

    def __init__(
        self, first: tuple[str, ...], marks: Sequence[tuple[Box, tuple[str, ...]]], right: tuple[float, float]
    ) -> None:
        self.first = first
        self.marks = sorted(marks, key=lambda mark: mark[0][1])
        self.edge, self.head = right
        """Where the right column begins, and how high; zeros on a page of one column."""

    def __call__(self, box: Box | None) -> tuple[str, ...]:
        """The path above a box."""
        left, top, right, _ = box or (0.0, 0.0, 0.0, 0.0)
        path = self.first
        for at, here in self.marks:
            elsewhere = at[2] < self.edge - 1 <= left or right < self.edge - 1 <= at[0]
            if at[1] <= top and not (elsewhere and at[3] > self.head):
                path = here
        return path


def _in_header(word: Word, table: Table) -> bool:
    size = word.size
    return min(table.top, table.head) - 0.2 * size <= word.base <= table.top and any(
        column.left - size <= word.box[0] <= column.right + size for column in table.columns
    )
