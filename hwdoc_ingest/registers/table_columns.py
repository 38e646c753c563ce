"""Finds the tables in rows of cells, by the words of each column's header and of the lines above it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from hwdoc_ingest.registers.cell_numbers import column_is_hex, number, offset_number, steps_are_hex

_HEADERS: Mapping[str, str] = {
    "register": r"register( name)?|reg( name)?|registers|(command|cmd)( name)?|mnemonic|acronym|寄存器(名称?)?",
    "name": r"name|symbol|名称",
    "field": r"bit ?-?field( name)?|field( name)?|bit name|fields|位域(名称?)?|位名称?",
    "offset": r"((register|reg|addr(ess)?|byte) )?offset( addr(ess)?| start)?|((register|reg|relative) )?addr(ess)?"
    r"|偏移(地址|量)?",
    "position": r"(start )?bit ?(position|offset|index)|lsb|low bit|bit low|bit start|start bit"
    r"|first bit|position|起始位",
    "last": r"msb|high bit|bit high|bit end|end bit|last bit|结束位",
    "bits": r"bits?|bit ?range|bit\(s\)|bit ?(#|no\.?|number|assignment)|range|位",
    "size": r"(bit ?)?(size|width|length)( in bits)?|(size|width) \(?bits?\)?|(number|no\.?) of bits|位宽|宽度",
    "reset": r"(default|reset|initial|init)( value| state)?|por value|复位值|默认值",
    "access": r"(host |sw |software |bus )?access( type| mode)?|r/?w|rw|attribute|读写|访问",
    "description": r"desc(ription)?|function|meaning|描述|说明",
    "block": r"(address block|block|peripheral|module|ip( block)?|unit|instance|region|slave)( name)?|模块|外设",
    "base": r"((block|module|peripheral) )?base( addr(ess)?)?|(start|from)( addr(ess)?)?|基地址|起始地址",
    "end": r"(end|to|last)( addr(ess)?)?|结束地址",
    "irq": r"irq( ?#| number| no\.?| num| id| line)?|(interrupt|vector|int)( id| number| no\.?| num| ?#| line)"
    r"|event( id| number| no\.?)|中断号",
    "source": r"interrupt( name| source)|event( name| source)?|source|中断源?",
}
_ROLES = {role: re.compile(words) for role, words in _HEADERS.items()}
_BASE_SAID = re.compile(r"\s*[(\[]?\b(?:hex(?:adecimal)?|0x)\b[)\]]?\s*", re.I)
"""How a header says that the numbers below it are hexadecimal."""
_UNIT_SAID = re.compile(r"\s*\((?:bits?|bytes?|dec(?:imal)?)\)\s*", re.I)
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*")
_BINARY_SAID = re.compile(r"\bbin(ary)?\b", re.I)
_BITS_SAID = re.compile(r"bit|width|位", re.I)
_MIN_ROLES = 2
_OF_HEADING = ("register", "name", "offset", "reset", "block", "base")


@dataclass(frozen=True)
class Row:
    """The filled cells of one row by column."""

    page: int | str
    number: int
    cells: Mapping[int, str]

    @property
    def words(self) -> str:
        """The row as text."""
        return " | ".join(" ".join(cell.split()) for cell in self.cells.values())[:300]


@dataclass
class Table:
    """One header and the rows below it."""

    columns: Mapping[str, int]
    title: str
    hex_roles: frozenset[str] = frozenset()
    """Roles whose header says that its numbers are hexadecimal."""
    heading: Mapping[str, tuple[str, Row]] = field(default_factory=dict)
    """What lines of a word and a value above the header say: `Register Name: | CTRL`."""
    says_bits: bool = False
    """Whether the header says that sizes are bits, or speaks of a width."""
    says_binary: bool = False
    """Whether the header says that reset values are binary."""
    rows: list[Row] = field(default_factory=list)

    def cell(self, row: Row, role: str) -> str:
        """The row's words in the column of a role, else empty."""
        column = self.columns.get(role)
        return row.cells.get(column, "") if column is not None else ""

    def has(self, *roles: str) -> bool:
        """Whether there is a column for each role."""
        return all(role in self.columns for role in roles)

    @property
    def counts_bytes(self) -> bool:
        """Whether the sizes of registers are bytes: most end where the next begins."""
        rows = [(offset_number(self.cell(row, "offset"), self.is_hex("offset")), row) for row in self.rows]
        places = [(place[0], number(self.cell(row, "size"), False)) for place, row in rows if place]
        if self.says_bits or len(places) < 2 or any(size not in (1, 2, 4, 8) for _, size in places):
            return False
        return sum(later[0] - first[0] == first[1] for first, later in pairwise(places)) * 2 >= len(places) - 1

    @property
    def is_vectors(self) -> bool:
        """Whether names stand beside a position and an address that grows by 4 or 8 with each position."""
        cells = [(self.cell(row, "position"), self.cell(row, "offset")) for row in self.rows if self.has("register")]
        both = [(number(first, False), number(second, False)) for first, second in cells]
        places = [(first, second) for first, second in both if first is not None and second is not None]
        if self.has("size") or self.has("bits") or len({line for line, _ in places}) < max(2, len(places)):
            return False
        return any(
            all(at - first_at == step * (line - first_line) for line, at in places[1:])
            for first_line, first_at in places[:1]
            for step in (4, 8)
        )

    @cached_property
    def may_be_binary(self) -> bool:
        """Whether all bare reset values are 0 and 1 at one length of 4 or more, so that their base is not plain."""
        bare = {cell for cell in (self.cell(row, "reset") for row in self.rows) if cell.isdigit()}
        lengths = {len(cell) for cell in bare}
        return len(lengths) == 1 and min(lengths) >= 4 and all(set(cell) <= {"0", "1"} for cell in bare)

    def reset(self, row: Row, as_hex: bool) -> int | None:
        """The reset value of a row; bare digits that may be binary count as their length fits the register's width."""
        cell = self.cell(row, "reset")
        if "reset" in self.hex_roles or not cell.isdigit() or not (self.says_binary or self.may_be_binary):
            return number(cell, as_hex)
        width = number(self.cell(row, "size"), False)
        if set(cell) <= {"0", "1"} and (self.says_binary or width == len(cell)):
            return int(cell, 2)
        return int(cell, 16) if width == 4 * len(cell) else 0 if not int(cell) else None

    def is_hex(self, role: str) -> bool:
        """Whether bare digits in the column of a role are hexadecimal."""
        cells = [self.cell(row, role) for row in self.rows]
        return role in self.hex_roles or column_is_hex(cells) or (role == "offset" and steps_are_hex(cells))


def header(row: Row) -> dict[str, int]:
    """The role of each column when `row` is a header, else nothing. The first column of a role wins."""
    columns: dict[str, int] = {}
    for at, cell in row.cells.items():
        words = _header_words(cell)
        role = next((role for role, pattern in _ROLES.items() if pattern.fullmatch(words)), None)
        if role and role not in columns:
            columns[role] = at
    if "register" not in columns and "field" not in columns and "name" in columns:
        of_field = "position" in columns or ("bits" in columns and "offset" not in columns)
        columns["field" if of_field else "register"] = columns.pop("name")
    elif {"field", "offset", "name"} <= columns.keys() and "register" not in columns:
        columns["register"] = columns.pop("name")
    return columns if len(columns) >= _MIN_ROLES and len(columns) * 3 >= len(row.cells) else {}


def _header_words(cell: str) -> str:
    """The words of a header cell that name a role: whole, without its unit, or without all in brackets."""
    words = _BASE_SAID.sub(" ", " ".join(re.sub(r"[_\n]+", " ", cell).split()))
    forms = [form.lower().strip(" :*.") for form in (words, _UNIT_SAID.sub(" ", words), _BRACKETS.sub(" ", words))]
    return next((form for form in forms if any(pattern.fullmatch(form) for pattern in _ROLES.values())), forms[1])


def find_tables(rows: Sequence[Row]) -> list[Table]:
    """Cuts rows into tables; a title is the lone cell above a header."""
    tables: list[Table] = []
    title = ""
    heading: dict[str, tuple[str, Row]] = {}
    page: int | str | None = None
    for row in rows:
        if isinstance(row.page, str) and row.page != page:
            page, title, heading = row.page, "", {}
            tables.append(Table({}, ""))
        said_above = _pairs(row)
        columns = {} if len(said_above) > 1 else header(row)
        if columns:
            said = frozenset(role for role, at in columns.items() if _BASE_SAID.search(row.cells[at]))
            bits = "size" in columns and _BITS_SAID.search(row.cells[columns["size"]]) is not None
            binary = "reset" in columns and _BINARY_SAID.search(row.cells[columns["reset"]]) is not None
            tables.append(Table(columns, title, said, heading, bits, binary))
            title, heading = "", {}
        elif said_above and _is_heading(row, said_above, tables):
            heading.update({role: (value, row) for role, value in said_above.items()})
        elif len(row.cells) == 1:
            title = next(iter(row.cells.values()))[:80]
            if tables:
                tables[-1].rows.append(row)
        elif tables:
            tables[-1].rows.append(row)
    return [table for table in tables if table.columns]


def _pairs(row: Row) -> dict[str, str]:
    """What each role is said to be, where a row is only words with their values: `Register | CTRL | Offset | 0x4`."""
    cells = list(row.cells.values())
    said: dict[str, str] = {}
    for word, value in zip(cells[::2], cells[1::2], strict=False):
        words = _header_words(word)
        role = next((role for role in _OF_HEADING if _ROLES[role].fullmatch(words)), None)
        if role is None or role in said or any(pattern.fullmatch(_header_words(value)) for pattern in _ROLES.values()):
            return {}
        said[role] = value
    numbers = [value for role, value in said.items() if role not in ("register", "name", "block")]
    fits = len(cells) == 2 * len(said) and all(number(value, False) is not None for value in numbers)
    return said if fits and (len(said) == 1 or numbers) else {}


def _is_heading(row: Row, said_above: Mapping[str, str], tables: Sequence[Table]) -> bool:
    """Whether a row of words with values is no row of the table above it."""
    if len(said_above) > 1 or next(iter(row.cells.values())).rstrip().endswith(":"):
        return True
    above = tables[-1].rows if tables and tables[-1].columns else []
    return not tables or not tables[-1].columns or (bool(above) and row.number - above[-1].number > 1)
