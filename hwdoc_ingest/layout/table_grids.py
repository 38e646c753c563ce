"""Headers that no list of usual words knows: what stands over columns of values, told by how the rows below align."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hwdoc_ingest.layout.table_body import is_whole
from hwdoc_ingest.page.text_lines import BULLET, Line

VALUE = re.compile(
    r"^[<>≤≥±~+-]*(?:0x[\dA-Fa-f_.]+|H'[\dA-Fa-f]+|[\dA-Fa-f]{4}[_ ][\dA-Fa-f]{4}\b|[\dA-Fa-f]{4,8}h\b|\.?\d)"
    r"|^(?:-+|—|N/?A|TBD)$"
)
"""How a cell begins that gives a value."""
CAPTION = re.compile(r"^(?:table|tab\.?|表)\s*[\dA-Z][\w.-]*", re.IGNORECASE)
SIGNAL = re.compile(r"[A-Z_]+\d[A-Z\d_\[\]:/]*|\w+\[[\d:]+\]|[A-Z]+_[A-Z_]+")
"""A signal or a pin, which stands in a table's body: `VDD2`, `DATA[31:0]`."""
_LEVEL = re.compile(r"L[0-4][ID]?")
"""The level of a cache, which is no signal."""
TELLS_A_COLUMN = re.compile(
    r"\([^()]{1,10}\)$|\b(?:value|address|number|size|irq|id|rating|vector|base|range|frequency|current|voltage|temperature"
    r"|latency|cycle|throughput)s?\b"
    r"|地址|数值|编号|大小|^值$|中断号",
    re.IGNORECASE,
)
"""What a header over values says: their unit, or what they are."""
COMPARED = re.compile(
    r"(?:features?|parameters?|attributes?|characteristics?|items?|specifications?|devices?|products?|models?|parts?"
    r"|part (?:numbers?|names?)|parts? number|functions?|symbols?|grades?|packages?"
    r"|(?:power |operating )?(?:modes?|states?|points?)|特性|参数|项目|型号)\d?$",
    re.IGNORECASE,
)
"""The first header of a table whose others may be part numbers: one column a part."""
GRADE = re.compile(r"\d{1,4}(?:\.\d{1,3})? ?(?:[MG]Hz|V|°C)(?: (?:version|grade|part))?")
"""The header of a column that is one grade of speed, supply or temperature."""
_COMPARES = re.compile(
    r"(?:instruction|data|[IDSE]|L1I|L1D|L2|L3)(?:[- ]?cache)?|(?:commercial|industrial|automotive|military)(?: grade)?"
    r"|units?",
    re.IGNORECASE,
)
"""Headers of columns that compare caches or grades, whose cells may be words as well as values."""
_PARTS = re.compile(r"[A-Z]{1,6}\d{2,}[A-Z\d]*(?:-[A-Z\d]+)*")
"""A part number; a table whose headers are nothing else has names at the left that no header stands over."""
MOST_WORDS = 6
LOOKED_AT = 5
"""Rows below a header that are looked at."""
NEAR = 4.0
"""Points that a cell may begin left or right of its header's edge or centre."""


def heads_columns(rows: Sequence[list[Line]], at: int) -> bool:
    """Whether a row of short names stands over at least two rows whose cells align with it, values in one column."""
    head = rows[at]
    titles = {piece.text for piece in head}
    graded = len(head) >= 3 and COMPARED.match(head[0].text)
    if not 2 <= len(head) == len(titles) <= 12:
        return False
    if not all(_is_name(piece) or (graded and GRADE.fullmatch(piece.text)) for piece in head):
        return False
    of_parts = all(_PARTS.fullmatch(p.text) for p in head)
    unlabelled = of_parts or all(_COMPARES.fullmatch(p.text) or GRADE.fullmatch(p.text) for p in head)
    signals = any(
        SIGNAL.fullmatch(word.text) and not _LEVEL.fullmatch(word.text) for piece in head for word in piece.words
    )
    if signals and not unlabelled and not (len(head) >= 3 and COMPARED.match(head[0].text)):
        return False
    aligned: list[dict[int, Line]] = []
    named = 0
    last = head
    for row in rows[at + 1 : at + 1 + LOOKED_AT]:
        if row[0].base - last[0].base > 3.2 * row[0].size:
            break
        beside = unlabelled and len(row) > 1 and row[0].box[2] < head[0].box[0]  # names that no header stands over
        named += beside
        cells = _aligned(row[1:] if beside else row, head)
        if cells is None:
            break
        if len(cells) >= 2:
            aligned.append(cells)
        last = row
    if of_parts:
        return named >= 2 and len(aligned) >= 2 and any(_holds_values(column, aligned) for column in range(len(head)))
    counts = len(head) == 2 and TELLS_A_COLUMN.search(head[0].text) and _holds_values(0, aligned)
    if len(head) == 2 and not counts and not TELLS_A_COLUMN.search(head[1].text):
        return False  # a name and its value, as the lines below are
    if len(aligned) >= 2 and _are_numbered(head[1:]):
        return True
    titled = at > 0 and any(CAPTION.match(piece.text) for row in rows[max(0, at - 2) : at] for piece in row)
    if titled and len(aligned) == 1:
        whole = aligned[0]
        return len(whole) == len(head) and any(VALUE.match(cell.text) for cell in whole.values())
    compared = len(head) >= 3 and COMPARED.match(head[0].text) and all(_COMPARES.fullmatch(p.text) for p in head[1:])
    if compared and len(aligned) >= 2:
        return True
    return len(aligned) >= 2 and any(_holds_values(column, aligned) for column in range(len(head)))


def _are_numbered(titles: Sequence[Line]) -> bool:
    """Whether headers are one name with one number after the other: `Channel 1`, `Channel 2`."""
    numbered = [re.fullmatch(r"(\D+?) ?(\d{1,2})", piece.text) for piece in titles]
    return len(titles) > 1 and all(numbered) and len({each[1] for each in numbered if each}) == 1


def _is_name(piece: Line) -> bool:
    text = piece.text
    return (
        len(piece.words) <= MOST_WORDS
        and bool(re.search(r"[A-Za-z\u4e00-\u9fffΘθ]{2}|^#$|^I/O$|^°C/W|^[A-Z]\d{1,2}$", text))
        and not VALUE.match(text)
        and not re.search(r"=|(?<![A-Za-z\d])\d[\d.]*\s?(?:°|[kMG]?Hz|[KMG]?B\b|m?[VAW]\b)", text)
        and not BULLET.match(piece.words[0].text)
        and not text.endswith((":", "：", "。", ",", ";"))
        and not (text.endswith(".") and len(text) > 8)
    )


def _aligned(row: list[Line], head: list[Line]) -> dict[int, Line] | None:
    """The cells of a row by the header that each aligns with, or None where one aligns with none.

    Where there are as many cells as headers and none stands under another's header, each has its own, though a header
    may be centred above cells that begin at the left.
    """
    told = any(TELLS_A_COLUMN.search(title.text) for title in (head[0], head[-1])) or all(
        _PARTS.fullmatch(title.text) for title in head
    )
    if (len(head) >= 3 or told) and is_whole(row, [(title.box[0], title.box[2]) for title in head]):
        return dict(enumerate(row))
    cells: dict[int, Line] = {}
    for piece in row:
        centre = (piece.box[0] + piece.box[2]) / 2
        under = [
            i
            for i, title in enumerate(head)
            if abs(piece.box[0] - title.box[0]) < NEAR or abs(centre - (title.box[0] + title.box[2]) / 2) < NEAR
        ]
        if len(under) != 1 or under[0] in cells:
            return None
        cells[under[0]] = piece
    return cells


def _holds_values(column: int, aligned: list[dict[int, Line]]) -> bool:
    cells = [cells[column].text for cells in aligned if column in cells]
    return len(cells) >= 2 and sum(bool(VALUE.match(text)) for text in cells) >= 0.7 * len(cells)
