"""Where tables stand on a page and what their headers say: columns, bounds, groups of columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hwdoc_ingest.layout.table_body import fitted, is_whole, with_conditions, with_labels, with_unheaded, with_units
from hwdoc_ingest.layout.table_column import Column, Table
from hwdoc_ingest.layout.table_grids import CAPTION, COMPARED, heads_columns
from hwdoc_ingest.layout.table_groups import HEADER_WORD, groups, stands_between
from hwdoc_ingest.page.pages import Box, Page, Ruling, Word
from hwdoc_ingest.page.text_lines import Line, around, join_words
from hwdoc_ingest.statements.statement import Bound

STRONG_HEADER = re.compile(
    r"^(?:min(?:imum)?|typ(?:ical)?|max(?:imum)?|peak|nom(?:inal)?|units?|symbols?|param\w*|offset|description|details|values?|address"
    r"|最小值?|典型值?|最大值?|单位|参数(?:名称)?|描述|说明|符号|名称|偏移(?:地址|量)?"
    r"|(?:起始|开始|结束|首|基)?地址|数值|模块(?:名称)?|大小)\b",
    re.IGNORECASE,
)
BOUNDS: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (re.compile(r"\bmin(?:imum)?\d?\b|最小", re.IGNORECASE), "min"),
    (re.compile(r"\b(?:typ(?:ical)?|nom(?:inal)?)\d?\b|典型", re.IGNORECASE), "typ"),
    (re.compile(r"\b(?:max(?:imum)?|peak)\d?\b|最大", re.IGNORECASE), "max"),
    (re.compile(r"^(?:(?:values?|ratings?|limits?|数值|值)\b|ranges?$|范围$)", re.IGNORECASE), "value"),
    (re.compile(r"^[(\[]?°C/W[)\]]?(?:\(\d\))?$"), "value"),
)
SECTION = re.compile(r"^\d{1,2}(?:\.\d{1,3}){1,5}\.?\s+(?:[A-Z][^|]{3,60}|[\u4e00-\u9fff][^|]{1,60})$")
"""A numbered heading, which ends a table."""
UNIT_WORD = re.compile(r"^[mμun]?(?:A|V|W|s|Hz)$|^[kMG]?(?:Hz|B|bits?|bytes?)$|^°C(?:/W)?$|^%$")
PLACEHOLDER = re.compile(r"^(?:-+|—|N/?A|TBD|N\.A\.|\*+|\?)$", re.IGNORECASE)
NUMBER = re.compile(r"^[<>≤≥±~+-]*(?:0x[\da-f_]+|\.?\d)", re.IGNORECASE)
FOOTNOTE_GLUED = re.compile(r"(?:(?<=[A-Za-z.)])\(\d{1,2}\))+$")
"""The same without a space."""
HEAD_GAP = 2.4
"""Font sizes from one row of a header to the next."""
MAX_ROW_GAP = 3.2
"""Line pitches of white that end a table without rulings."""


QUALIFIED = re.compile(r"(?:frequency|speed|power|size|supply|range)\b", re.IGNORECASE)
"""A header's word that a bound before it belongs to: `Max. frequency` is one header, `Max Unit` is two."""
BOUNDED_AMOUNT = re.compile(r"(?:min|typ|max|nom)\w*\.?:?\s+[-+]?[\d.]+\s?[^\d\s°@(]+$", re.IGNORECASE)
"""A value with its bound, in a row of names and values: `Typ. 900 mW`."""
LIST_MARK = re.compile(r"[•●○◦▪■□◼◆◇➢➤‣⁃►▶✓★♦\uf000-\uf0ff]$")


def find_tables(page: Page, rows: list[list[Line]], open_table: Table | None) -> list[Table]:
    """The tables of a page from the top; the first may be one that was open on the page before."""
    tables: list[Table] = []
    at = 0
    if open_table and rows:
        head = list(itertools.takewhile(lambda row: not _begins_another(row), rows[:3]))
        if head and _fits_columns(head, open_table.columns):
            bottom, at = _body_end(page, rows, 0, open_table.columns, rows[0][0].box[1] - 2)
            tables.append(replace(open_table, top=rows[0][0].box[1] - 1, bottom=bottom))
    while at < len(rows):
        if _is_header(rows[at]) or _is_header_below_caption(rows, at) or heads_columns(rows, at):
            columns, first, last = _columns(rows, at, page)
            top = max(line.base for line in rows[last])
            bottom, following = _body_end(page, rows, last + 1, columns, top)
            at_foot = last + 1 == len(rows) and top > 0.8 * page.height and _is_header(rows[at])
            if following > last + 1 or at_foot:
                below = rows[last + 1 : following]
                below_head = with_conditions(columns, below[0]) or with_units(columns, below[0]) if below else None
                conditions = below_head if len(below) > 1 else None
                if conditions:
                    columns, top, below = conditions, max(piece.base for piece in below[0]), below[1:]
                columns = with_unheaded(fitted(with_labels(columns, below), below), below)
                body = [word for word in page.words if top - 2 < word.base <= bottom]
                headed = min(line.base for line in rows[first])
                tables += side_by_side(Table(columns, top, bottom, _caption(rows, at), headed), body)
                at = following
                continue
        at += 1
    return tables


def _begins_another(row: list[Line]) -> bool:
    """Whether a row is the header of a table, or stands above one."""
    return _is_header(row) or bool(CAPTION.match(row[0].text)) or (len(row) == 1 and bool(SECTION.match(row[0].text)))


def side_by_side(table: Table, body: Sequence[Word]) -> list[Table]:
    """The tables that a table is if all its headers stand in it more than once, one beside the other."""
    titles = [column.header.lower() for column in table.columns]
    width = next((n for n in range(2, len(titles)) if titles == titles[:n] * (len(titles) // n)), len(titles))
    if width == len(titles) or table.columns[0].bound:  # grades of one parameter have bounds alone
        return [table]
    parts = [table.columns[at : at + width] for at in range(0, len(titles), width)]
    cuts = [_white_between(a[-1], b[0], body) for a, b in pairwise(parts)]
    edges = [table.left, *cuts, table.right]
    return [replace(table, columns=part, left=a, right=b) for part, (a, b) in zip(parts, pairwise(edges), strict=True)]


def _white_between(last: Column, first: Column, body: Sequence[Word]) -> float:
    """The middle of the widest strip between two columns in which no word stands."""
    boxes = sorted((max(word.box[0], last.centre), min(word.box[2], first.centre)) for word in body)
    inside = [(a, b) for a, b in boxes if a < b]
    ends = [last.centre, *itertools.accumulate((b for _, b in inside), max)]
    gaps = zip(ends, [*(a for a, _ in inside), first.centre], strict=True)
    a, b = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (a + b) / 2


def _is_header(line: list[Line]) -> bool:
    """Whether a row of pieces reads like the header of a table; lists side by side do not."""
    if any(len(piece.words) > 1 and LIST_MARK.match(piece.words[0].text) for piece in line):
        return False
    words = [_bare(word) for piece in line for word in piece.words if not word.raised]
    if len(words) < 2 or len(words) > 24 or any(word.endswith(".") and len(word) > 6 for word in words):
        return False
    if len(line) >= 3 and NUMBER.match(line[-1].text) and not _bound(line[-1].text):  # `Typical power | mW | 850`
        return False
    if len(line) == 2 and BOUNDED_AMOUNT.match(line[1].text):
        return False
    words = [word for word in words if not UNIT_WORD.match(word)]
    known = sum(bool(HEADER_WORD.match(word)) for word in words)
    strong = sum(bool(STRONG_HEADER.match(word)) for word in words)
    pieces = len(_header_pieces(line))
    return pieces >= 2 and strong >= 1 and known >= 2 and known >= 0.6 * len(words)


def _bare(word: Word) -> str:
    """A header's word without brackets and the mark of a note that is glued to it: `MIN(1)`."""
    return FOOTNOTE_GLUED.sub("", word.text).strip("()[]")


def _is_header_below_caption(rows: list[list[Line]], at: int) -> bool:
    """Whether a row right below a caption heads columns, though few of its words are usual in headers."""
    titles = [" ".join(piece.text for piece in row) for row in rows[max(0, at - 3) : at]]
    words = [_bare(word) for piece in rows[at] for word in piece.words if not word.raised]
    known = sum(bool(HEADER_WORD.match(word)) for word in words)
    return (
        any(CAPTION.match(title) for title in titles)
        and len(rows[at]) >= 3
        and len(words) <= 12
        and known >= max(2, 0.3 * len(words))
        and not any(NUMBER.match(word) or PLACEHOLDER.match(word) for word in words)
    )


def _header_pieces(line: list[Line]) -> list[list[Word]]:
    """The header cells of a row: cut at gaps, and between words that are headers by themselves."""
    pieces: list[list[Word]] = []
    for piece in line:
        for word in piece.words:
            if word.raised and pieces:
                pieces[-1].append(word)
                continue
            last = pieces[-1][-1] if pieces else None
            apart = last is None or word.box[0] - last.box[2] > 0.75 * word.size
            alone = _stands_alone(word) or (last is not None and len(pieces[-1]) == 1 and _stands_alone(last))
            starts = piece.words[0] is word
            apart = apart or bool(alone and last and HEADER_WORD.match(_bare(word)) and not QUALIFIED.match(word.text))
            if apart or starts:
                pieces.append([word])
            else:
                pieces[-1].append(word)
    return pieces


def _stands_alone(word: Word) -> bool:
    """Whether a word is a header by itself; `value` may end one, such as `Reset value`."""
    return _bound(word.text) not in (None, "value")


def _bound(text: str) -> Bound | None:
    return next((bound for pattern, bound in BOUNDS if pattern.search(text)), None)


def _columns(rows: list[list[Line]], at: int, page: Page) -> tuple[tuple[Column, ...], int, int]:
    """The columns of the header at `rows[at]`, and the first and last row that belong to the header."""
    columns: list[Column] = []
    for piece in _header_pieces(rows[at]):
        columns = _with_piece(columns, piece)
    first = last = at
    while first > 0 and _is_header_part(rows[at], rows[first], rows[first - 1], columns, page):
        first -= 1
        for line in rows[first]:
            if not stands_between(line, columns):
                columns = _with_piece(columns, list(line.words), above=True)
    if first == at:
        columns, first = _with_merged_heads(rows, at, columns, page)
    while (
        last + 1 < len(rows) and last < at + 3 and _is_header_part(rows[at], rows[last], rows[last + 1], columns, page)
    ):
        last += 1
        for line in rows[last]:
            columns = _with_piece(columns, list(line.words))
    if columns[0].bound == "value":  # `Rating` over the names
        columns[0] = replace(columns[0], bound=None)
    group = groups(rows, first, at, columns)
    return tuple(replace(column, group=group[i]) for i, column in enumerate(columns)), first, last


def _with_merged_heads(rows: list[list[Line]], at: int, columns: list[Column], page: Page) -> tuple[list[Column], int]:
    """The columns with those whose header reaches over several rows, and the first row of the header.

    `Parameter` and `Unit` stand in the middle of cells as high as `Mode A` and the `Min | Max` below it together.
    """
    first = at
    bounds = [column.bound for column in columns if column.bound not in (None, "value")]
    while bounds and first and 0 < rows[first][0].base - rows[first - 1][0].base <= HEAD_GAP * rows[first][0].size:
        above = [piece for piece in rows[first - 1] if HEADER_WORD.match(piece.text) and not _over(piece, columns)]
        if len(rows[first - 1]) < 2 and not above:
            break
        if not above or not all(HEADER_WORD.match(p.text) or _over(p, columns) for p in rows[first - 1]):
            break
        size = rows[first][0].size
        for piece in above:
            if _ruled_under(page, piece, rows[at][0].base - 0.6 * size):
                return columns, at
        for piece in above:
            columns = _with_piece(columns, list(piece.words))
        first -= 1
    return columns, first


def _over(piece: Line, columns: Sequence[Column]) -> bool:
    return any(piece.box[0] < column.right and piece.box[2] > column.left for column in columns)


def _ruled_under(page: Page, piece: Line, floor: float) -> bool:
    """Whether a ruling parts a piece of a header from what stands below it."""
    centre = (piece.box[0] + piece.box[2]) / 2
    return any(r.horizontal and piece.base < r.box[1] < floor and r.box[0] < centre < r.box[2] for r in page.rulings)


def _with_piece(columns: list[Column], words: list[Word], above: bool = False) -> list[Column]:
    """The columns with the words of one more line of the header: under or over one of them, or a new column."""
    box = around(word.box for word in words)
    text = join_words(words)[0]
    for i, old in enumerate(columns):
        if min(box[2], old.right) - max(box[0], old.left) > 0.3 * min(box[2] - box[0], old.right - old.left):
            header = f"{text} {old.header}" if above else f"{old.header} {text}"
            grown = Column(header, min(old.left, box[0]), max(old.right, box[2]), _bound(header))
            return [*columns[:i], grown, *columns[i + 1 :]]
    return sorted([*columns, Column(text, box[0], box[2], _bound(text))], key=lambda column: column.left)


def _is_header_part(header: list[Line], near: list[Line], other: list[Line], columns: list[Column], page: Page) -> bool:
    """Whether a row next to the header's row belongs to the header: a few short words close by, no ruling between."""
    size = header[0].size
    if not 0 < abs(other[0].base - near[0].base) < 1.5 * size:
        return False
    top, bottom = sorted((other[0].base, near[0].base))
    if _rulings_between(page, top, bottom - 0.6 * size, columns):
        return False
    words = [word for piece in other for word in piece.words]
    if len(words) > 8 or any(NUMBER.match(word.text) or PLACEHOLDER.match(word.text) for word in words):
        return False
    known = sum(bool(HEADER_WORD.match(word.text.split("/")[0])) for word in words)
    over_several = any(sum(p.box[0] < c.centre < p.box[2] for c in columns) > 1 for p in other)
    other = [piece for piece in other if not stands_between(piece, columns)]
    if not other:
        return False
    ruled = _rulings_between(page, bottom, bottom + 2 * size, columns)
    return not over_several and (known >= 0.5 * len(words) or (ruled and len(words) <= 4 and len(other) <= 3))


def _caption(rows: list[list[Line]], at: int) -> str:
    """The nearest caption or title in the four rows above."""
    for above in reversed(rows[max(0, at - 4) : at]):
        text = " ".join(piece.text for piece in above)
        if CAPTION.match(text):
            return text
    above = rows[at - 1] if at else []
    text = " ".join(piece.text for piece in above)
    return text if len(above) == 1 and 0 < len(text) < 80 and not text.endswith(".") else ""


def _rulings_between(page: Page, top: float, bottom: float, columns: Sequence[Column]) -> bool:
    left, right = columns[0].left, columns[-1].right
    return any(r.horizontal and top < r.box[1] < bottom and r.box[0] < right and r.box[2] > left for r in page.rulings)


def _fits_columns(rows: list[list[Line]], columns: tuple[Column, ...]) -> bool:
    """Whether rows at the head of a page stand in the columns of the table that was open on the page before."""
    pieces = [piece for line in rows for piece in line]
    if len(pieces) < 3 or len(columns) < 3:
        return False
    spans = [(column.left, column.right) for column in columns]
    whole = {id(piece) for line in rows if is_whole(line, spans) for piece in line}
    fits = [id(piece) in whole or _fits(box, columns) for piece in pieces for box in _runs(piece)]
    return sum(fits) >= 0.7 * len(fits)


def _runs(piece: Line) -> list[Box]:
    """The boxes of words without a wide gap between them."""
    boxes = [piece.words[0].box]
    for word in piece.words[1:]:
        apart = word.box[0] - boxes[-1][2] > word.size
        boxes = [*boxes, word.box] if apart else [*boxes[:-1], around((boxes[-1], word.box))]
    return boxes


def _fits(box: Box, columns: tuple[Column, ...]) -> bool:
    """Whether words stand under one header."""
    left, _, right, _ = box
    near = any(c.left - 12 < (left + right) / 2 < c.right + 12 for c in columns)
    return near or sum(min(right, c.right) - max(left, c.left) > 0 for c in columns) == 1


def _body_end(
    page: Page, rows: list[list[Line]], start: int, columns: tuple[Column, ...], top: float
) -> tuple[float, int]:
    """Height of the last row of the body, and the index of the first row after it."""
    left, right = columns[0].left - 40, columns[-1].right + 60
    verticals = [r for r in page.rulings if not (r.horizontal or r.shades) and left - 20 < r.box[0] < right + 20]
    floor = _frame_floor(verticals, top)
    bottom, last_base = top, top
    for at in range(start, len(rows)):
        line = rows[at]
        size = max(piece.size for piece in line)
        text = " ".join(piece.text for piece in line)
        gap = line[0].base - last_base
        ruled = floor is not None and line[0].base < floor
        heads = _is_header(line) and not (ruled and len(line) < 0.5 * len(columns))
        titles = len(line) == 1 and at + 1 < len(rows) and len(rows[at + 1]) > 1 and _heads_comparison(rows, at + 1)
        if heads or titles or CAPTION.match(text) or (len(line) == 1 and SECTION.match(text)):
            return bottom, at
        if not ruled:
            if floor is not None or gap > MAX_ROW_GAP * size * 1.2:
                return bottom, at
            if re.match(r"^(?:notes?\b|\*|\d\.? [A-Z])", text, re.IGNORECASE) and len(line) == 1:
                return bottom, at
            if _is_prose(line, columns) or (start and _is_title(line, rows[start - 1])):
                return bottom, at
        bottom = last_base = max(piece.base for piece in line)
    return bottom, len(rows)


def _heads_comparison(rows: list[list[Line]], at: int) -> bool:
    """Whether a row begins another table: a list of parts or the like, below a title of its own."""
    return bool(COMPARED.match(rows[at][0].text)) and (_is_header(rows[at]) or heads_columns(rows, at))


def _frame_floor(verticals: Sequence[Ruling], top: float) -> float | None:
    """How far down the vertical rulings that start at the header reach without a break."""
    spans = sorted((r.box[1], r.box[3]) for r in verticals)
    floor: float | None = None
    for start, end in spans:
        if floor is None:
            if start - 3 <= top <= end + 30:
                floor = end
        elif start <= floor + 3:
            floor = max(floor, end)
    return floor if floor is not None and floor > top + 5 else None


def _is_title(line: list[Line], header: list[Line]) -> bool:
    """Whether a row without a frame is a heading: one piece, set larger than the table's header."""
    size = max(piece.size for piece in header)
    return len(line) == 1 and line[0].size > 1.12 * size and len(line[0].text) > 2


def _is_prose(line: list[Line], columns: tuple[Column, ...]) -> bool:
    """Whether a row without a frame is a sentence below the table, not a row of it."""
    if len(line) > 1:
        return False
    piece = line[0]
    covered = sum(piece.box[0] < column.centre < piece.box[2] for column in columns)
    return covered >= 2 and len(piece.words) >= 6
