"""Comparison tables: a column for each part number, grade or mode, and a row for each of their properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hwdoc_ingest.layout.table_column import Column
from hwdoc_ingest.layout.table_grids import COMPARED, GRADE
from hwdoc_ingest.layout.table_groups import HEADER_WORD
from hwdoc_ingest.statements.statement import RowCell

PART = re.compile(
    r"(?=\S*\d)[A-Z][\w/.()-]*\d[\w/.()-]*(?: [A-Z]?[\w-]+)?|-[A-Z\d]{1,6}"
    r"|(?:eco|low[- ]power|nominal|normal|standard|turbo|boost|overdrive|underdrive|performance|high[- ]speed"
    r"|commercial|industrial|automotive|extended|military)(?: (?:mode|grade))?"
    r"|[A-Z][\w-]*(?: [\w-]+)? (?:cores?|cluster|CPUs?|processor)|(?:big|little|BIG|LITTLE)",
    re.IGNORECASE,
)
"""The header of a column that is one part, grade, mode or kind of core."""
LEVEL = re.compile(
    r"(?:low|medium|mid|middle|high|max(?:imum)?|light|full|idle|active|fast|slow|balanced|economy"
    r"|sleep|deep sleep|run)(?: power)?",
    re.IGNORECASE,
)
"""The header of a column that is one mode, in a table whose first header says that its columns are modes."""
_MODES = re.compile(r"(?:(?:power|operating) )?(?:modes?|states?|(?:operating )?points?)$", re.IGNORECASE)
CACHE = re.compile(r"\b(?:instruction|data)\b|\b[ID]?-?cache\b|\bL[123]\b", re.IGNORECASE)
"""A header that names a cache, or one of two kinds of it."""
_ONE_KIND = re.compile(r"(?:instruction|data)$", re.IGNORECASE)


def parts(columns: Sequence[Column], path: Sequence[str]) -> tuple[int, ...]:
    """Which columns are parts: two at least, beside a first one of properties; none in another table."""
    if not (COMPARED.match(columns[0].header) or not columns[0].header) or any(column.bound for column in columns[:2]):
        return ()
    cached = any(re.search(r"\bcaches?\b", each, re.IGNORECASE) for each in path[-2:])
    modes = bool(_MODES.match(columns[0].header))
    found = tuple(
        at
        for at, column in enumerate(columns)
        if at
        and (
            PART.fullmatch(column.header)
            or GRADE.fullmatch(column.header)
            or (modes and LEVEL.fullmatch(column.header))
            or (CACHE.search(column.header) and (cached or "ache" in column.header))
        )
    )
    if len(found) < 2:
        return ()
    return tuple(at for at, column in enumerate(columns) if at in found or (at > found[0] and _heads_part(column)))


def _heads_part(column: Column) -> bool:
    """Whether a header beside those of parts is a part's as well: none of its words is usual in headers."""
    return bool(column.header) and not any(HEADER_WORD.match(word) for word in column.header.split())


def by_part(
    cells: Sequence[RowCell], of_parts: Sequence[int], path: tuple[str, ...]
) -> Iterator[tuple[list[RowCell], tuple[str, ...]]]:
    """The cells of a row as one row for each part, with its path: what holds for all parts, and its own value.

    A row with one value for all parts stays as it is.
    """
    filled = [at for at in of_parts if cells[at].words]
    if len(filled) < 2 or not cells[0].words:
        yield list(cells), path
        return
    for at in filled:
        header = cells[at].header
        named = f"{header} cache" if _ONE_KIND.match(header) else header
        own = RowCell(cells[at].words, header, "value", named, cells[at].ambiguous)
        shared = [
            own if other == at else cell for other, cell in enumerate(cells) if other == at or other not in of_parts
        ]
        yield shared, (*path, named) if CACHE.search(header) else path
