"""Operator tables that are set as tables: a row for each operator, or for each limit of one, under a header line.

Columns are parted by drawn lines where there are such, else by where the header's words begin. An operator's cell that
is drawn over several rows, or left empty below a filled one, holds for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from hwdoc_ingest.operators.operator_clauses import normal, read_text
from hwdoc_ingest.operators.operator_names import Operator, operators_of
from hwdoc_ingest.operators.operator_outline import chips_in
from hwdoc_ingest.operators.operator_rules import TableRule
from hwdoc_ingest.operators.operator_subjects import Context, named_property
from hwdoc_ingest.operators.operator_words import ANYTHING, UNSUPPORTED, data_types
from hwdoc_ingest.page.pages import Page, Word
from hwdoc_ingest.page.text_lines import Line, around, baselines, join_words
from metainfer_core.spec.operators import Condition, OperatorRule

Role = Literal["operator", "types", "supported", "property", "attribute", "limits", "other"]


def _role_words(words: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\s*\n\s*", "", words), re.IGNORECASE)


_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "operator",
        _role_words(
            r"""(?:onnx |tflite )?(?:operators?|ops?|layers?|operations?)(?: names?| types?)?
            |算子(?:名称?)?"""
        ),
    ),
    (
        "types",
        _role_words(
            r"""(?:supported )?(?:data ?types?|dtypes?|precisions?|types?)(?: support(?:ed)?)?
            |数据类型|精度"""
        ),
    ),
    ("supported", _role_words(r"support(?:ed)?|status|available|hardware|npu(?: support)?|(?:是否)?支持")),
    ("attribute", _role_words(r"attributes?|parameters?|properties|property|属性|参数")),
    (
        "limits",
        _role_words(
            r"""(?:constraints?|limitations?|limits?|restrictions?|conditions?|notes?|remarks?|comments?|ranges?
            |(?:supported |allowed )?values?)(?:(?:,| and| /) ?\w+)?
            |约束|限制|说明|备注|取值范围"""
        ),
    ),
)
_NO = re.compile(r"no|n|✗|✘|×|x|unsupported|not supported|software|sw|cpu|不支持|否", re.IGNORECASE)
_YES = re.compile(r"yes|y|✓|✔|√|supported|hardware|hw|npu|full|支持|是", re.IGNORECASE)
MIN_ROWS = 2


@dataclass(frozen=True)
class _Column:
    role: Role
    header: str
    left: float
    right: float
    properties: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Grid:
    """A table's columns and where its body stands on one page."""

    columns: tuple[_Column, ...]
    top: float
    bottom: float


@dataclass(frozen=True)
class _Row:
    page: int
    cells: tuple[tuple[Word, ...], ...]
    """The words under each column."""
    begins: bool
    """Whether the operator's own cell begins here; else it goes on from the row above."""


def grid_rules(pages: Sequence[Page]) -> Iterator[TableRule]:
    """The rules in all operator tables of a document."""
    still_open: _Grid | None = None
    header: tuple[str, ...] = ()
    operators: tuple[Operator, ...] = ()
    for page in pages:
        grids = _grids(page, baselines(page.words), still_open)
        still_open = None
        for grid in grids:
            names = tuple(column.header for column in grid.columns)
            if names != header:
                header, operators = names, ()
            body = list(_rows(page, grid))
            if not operators and sum(bool(_operators_in(row, grid)) for row in body) < MIN_ROWS:
                continue
            for row in body:
                if row.begins:
                    operators = _operators_in(row, grid)
                for operator in operators:
                    yield from _row_rules(row, grid, operator)
            still_open = grid if grid.bottom > 0.75 * page.height else None


def _operators_in(row: _Row, grid: _Grid) -> tuple[Operator, ...]:
    at = next(index for index, column in enumerate(grid.columns) if column.role == "operator")
    return tuple(operator for operator in operators_of(_text(row.cells[at])) if operator.is_known)


def _grids(page: Page, rows: list[list[Line]], still_open: _Grid | None) -> list[_Grid]:
    """The operator tables of a page from the top; the first may be one that was open on the page before."""
    headers = [(index, columns) for index, row in enumerate(rows) if (columns := _header(row, page)) is not None]
    found = []
    for position, (index, columns) in enumerate(headers):
        until = rows[headers[position + 1][0]][0].box[1] if position + 1 < len(headers) else page.height
        top = max(piece.box[3] for piece in rows[index])
        below = [edge for edge in _horizontals(page, columns) if edge > top - 2]
        top = below[0] if below and below[0] - top < 3 * rows[index][0].size else top
        found.append(_Grid(columns, top, _bottom(page, rows, columns, top, until)))
    if still_open is not None and rows:
        first = rows[0][0].box[1] - 2
        until = found[0].top - 20 if found else page.height
        if not found or rows[0][0].base < found[0].top - 30:
            bottom = _bottom(page, rows, still_open.columns, first, until)
            if bottom > first + 5:
                found.insert(0, _Grid(still_open.columns, first, bottom))
    return found


def _header(row: list[Line], page: Page) -> tuple[_Column, ...] | None:
    """The columns that a line names; None where it is no header of an operator table."""
    named = [(piece, *_role(piece.text)) for piece in row]
    roles = [role for _, role, _, _ in named]
    if roles.count("operator") != 1 or len(row) < 2 or all(role in ("operator", "other") for role in roles):
        return None
    edges = [*_verticals(page, row)]
    columns = []
    for index, (piece, role, properties, chips) in enumerate(named):
        left, right = piece.box[0] - 3, page.width
        if index + 1 < len(named):
            right = named[index + 1][0].box[0] - 3
        drawn_left = [edge for edge in edges if edge <= piece.box[0] + 2]
        drawn_right = [edge for edge in edges if edge >= piece.box[2] - 2]
        left = max(drawn_left) if drawn_left else left
        right = min(drawn_right) if drawn_right else right
        columns.append(_Column(role, piece.text, left, right, properties, chips))
    return tuple(columns)


def _role(text: str) -> tuple[Role, tuple[str, ...], tuple[str, ...]]:
    text = normal(text).strip()
    for role, words in _ROLES:
        if words.fullmatch(text):
            return role, (), ()
    chips = chips_in(text)
    if chips:
        return "supported", (), chips
    name = named_property(re.sub(r"(?i)\s*(?:range|limits?|constraints?|\(.*\))$", "", text))
    return ("property", (name,), ()) if name else ("other", (), ())


def _verticals(page: Page, row: list[Line]) -> list[float]:
    top, bottom = min(piece.box[1] for piece in row), max(piece.box[3] for piece in row)
    middle = (top + bottom) / 2
    edges = [(r.box[0] + r.box[2]) / 2 for r in page.rulings if not r.horizontal and r.box[1] <= middle <= r.box[3]]
    return _distinct(edges)


def _horizontals(page: Page, columns: tuple[_Column, ...]) -> list[float]:
    """Heights of the lines drawn across the last column."""
    last = columns[-1]
    centre = (last.left + min(last.right, last.left + 60)) / 2
    return _distinct(
        [(r.box[1] + r.box[3]) / 2 for r in page.rulings if r.horizontal and r.box[0] <= centre <= r.box[2]]
    )


def _distinct(numbers: list[float]) -> list[float]:
    found: list[float] = []
    for number in sorted(numbers):
        if not found or number - found[-1] > 2:
            found.append(number)
    return found


def _bottom(page: Page, rows: list[list[Line]], columns: tuple[_Column, ...], top: float, until: float) -> float:
    """Where the body ends: at the last drawn line, else at the first gap or line that is no row of it."""
    drawn = [edge for edge in _horizontals(page, columns) if top - 2 <= edge <= until]
    if len(drawn) >= 3:
        return drawn[-1]
    bottom = last = top
    for row in rows:
        if not top <= row[0].base < until:
            continue
        size = row[0].size
        crosses = any(_crosses(piece, columns) for piece in row)
        if crosses or row[0].box[1] - last > 2.5 * size or row[0].box[0] < columns[0].left - 2 * size:
            break
        bottom = last = max(piece.box[3] for piece in row)
    return bottom


def _crosses(piece: Line, columns: tuple[_Column, ...]) -> bool:
    """Whether a piece of text runs from one column far into the next: prose, no cell."""
    for column in columns[:-1]:
        if column.left <= piece.box[0] < column.right:
            return piece.box[2] > column.right + 2 * piece.size
    return False


def _rows(page: Page, grid: _Grid) -> Iterator[_Row]:
    words = [word for word in page.words if grid.top - 1 < word.base <= grid.bottom + 1]
    edges = [edge for edge in _horizontals(page, grid.columns) if grid.top - 3 <= edge <= grid.bottom + 3]
    at = next(index for index, column in enumerate(grid.columns) if column.role == "operator")
    if len(edges) >= 3:
        own = _own_edges(page, grid.columns[at], edges)
        for top, bottom in pairwise(edges):
            inside = [word for word in words if top < _middle(word) <= bottom]
            cells = [_under(inside, column) for column in grid.columns]
            group = [(a, b) for a, b in pairwise(own) if a - 2 <= top and bottom <= b + 2]
            begins = bool(cells[at])
            if group and (group[0][0] < top - 2 or group[0][1] > bottom + 2):  # the operator's cell spans several rows
                cells[at] = _under([w for w in words if group[0][0] < _middle(w) <= group[0][1]], grid.columns[at])
                begins = bool(cells[at])
            if any(cells):
                yield _Row(page.number, tuple(cells), begins)
        return
    held: list[list[Word]] | None = None
    begins = False
    for line in baselines(words):
        cells = [_under([w for piece in line for w in piece.words], column) for column in grid.columns]
        if cells[at] or held is None:
            if held is not None:
                yield _Row(page.number, tuple(tuple(cell) for cell in held), begins)
            held, begins = [list(cell) for cell in cells], bool(cells[at])
        else:
            for cell, more in zip(held, cells, strict=True):
                cell += more
    if held is not None:
        yield _Row(page.number, tuple(tuple(cell) for cell in held), begins)


def _own_edges(page: Page, column: _Column, edges: list[float]) -> list[float]:
    """The drawn lines that part the operators' own cells."""
    centre = (column.left + column.right) / 2
    own = [(r.box[1] + r.box[3]) / 2 for r in page.rulings if r.horizontal and r.box[0] <= centre <= r.box[2]]
    return [edge for edge in edges if any(abs(edge - each) < 2 for each in own)]


def _middle(word: Word) -> float:
    return word.base - 0.3 * word.size


def _under(words: Sequence[Word], column: _Column) -> tuple[Word, ...]:
    return tuple(
        word for word in words if column.left <= (word.box[0] + min(word.box[2], word.box[0] + 4)) / 2 < column.right
    )


def _text(words: Sequence[Word]) -> str:
    """The words of a cell, line by line."""
    lines = [[word for piece in line for word in piece.words] for line in baselines(words)]
    return " ".join(join_words(line)[0] for line in lines).strip()


def _row_rules(row: _Row, grid: _Grid, operator: Operator) -> Iterator[TableRule]:
    families = [column.chips for column in grid.columns if column.chips] or [()]
    attribute = next(
        (_text(cell) for cell, column in zip(row.cells, grid.columns, strict=True) if column.role == "attribute"), ""
    )
    when = (Condition(of=("depthwise",), one_of=("1",)),) if operator.depthwise else ()
    at = next(index for index, column in enumerate(grid.columns) if column.role == "operator")
    place = around(word.box for cell in row.cells[at:] for word in cell)
    base = TableRule(operator, None, row.page, place, _text(row.cells[at]) or operator.key)
    refused: set[tuple[str, ...]] = set()
    found: list[TableRule] = []
    for words, column in zip(row.cells, grid.columns, strict=True):
        text = _text(words)
        if not text or column.role in ("operator", "attribute", "other"):
            continue
        here = replace(base, box=around(word.box for word in words), text=text, families=column.chips)
        if column.role == "supported":
            if _NO.fullmatch(text):
                refused.add(column.chips)
                found.append(replace(here, runs=False))
                continue
            if _YES.fullmatch(text):
                found.append(here)
                continue
        for rule in _cell_rules(text, column, attribute, when):
            for chips in [column.chips] if column.chips else families:
                found.append(replace(here, rule=rule, families=chips))
    if row.begins:
        yield from (replace(base, families=chips) for chips in families if chips not in refused)
    yield from (rule for rule in found if rule.rule is None or rule.families not in refused)


def _cell_rules(text: str, column: _Column, attribute: str, when: tuple[Condition, ...]) -> Iterator[OperatorRule]:
    if ANYTHING.fullmatch(normal(text)):
        return
    if column.role == "types":
        types = data_types(normal(text))
        if types:
            yield OperatorRule(data_types=types, when=when)
        else:
            yield OperatorRule(understood=False, words=normal(text)[:160], when=when)
        return
    about = column.properties
    if attribute:
        plain = normal(attribute)
        name = named_property(plain) or (plain if re.fullmatch(r"[A-Za-z_]\w*", plain) else None)
        about = (name,) if name else ()
        if name is None:
            yield OperatorRule(understood=False, words=f"{plain}: {normal(text)}"[:160], when=when)
            return
    if about and UNSUPPORTED.fullmatch(normal(text)):
        yield OperatorRule(understood=False, words=f"{about[0]}: {normal(text)}"[:160], when=when)
        return
    context = Context(about=about, bare=bool(about), when=when)
    yield from read_text(text, context)
