"""Finds registers, bit fields, blocks and interrupts in rows of cells, by the words of each column's header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hwdoc_ingest.fields import FIELDS, address
from hwdoc_ingest.registers.cell_numbers import bit_range, column_is_hex, is_ambiguous_address, number, steps_are_hex
from metainfer_core.spec.draft import Candidate

_HEADERS: Mapping[str, str] = {
    "register": r"register( name)?|reg( name)?|registers|(command|cmd)( name)?|mnemonic|acronym|寄存器(名称?)?",
    "name": r"name|symbol|名称",
    "field": r"bit ?-?field( name)?|field( name)?|bit name|fields|位域(名称?)?|位名称?",
    "offset": r"((register|reg|addr(ess)?|byte) )?offset( addr(ess)?)?|(register |relative )?addr(ess)?|偏移(地址|量)?",
    "position": r"(start )?bit ?(position|offset|index)|lsb|start bit|first bit|position|起始位",
    "last": r"msb|end bit|last bit|结束位",
    "bits": r"bits?|bit ?range|bit\(s\)|range|位",
    "size": r"(bit ?)?(size|width|length)( in bits)?|(size|width) \(?bits?\)?|number of bits|位宽|宽度",
    "reset": r"(default|reset|initial|init)( value| state)?|por value|复位值|默认值",
    "access": r"(host |sw |software |bus )?access( type| mode)?|r/?w|rw|attribute|读写|访问",
    "description": r"desc(ription)?|function|meaning|描述|说明",
    "block": r"(block|peripheral|module|ip( block)?|unit|instance|region|slave)( name)?|模块|外设",
    "base": r"base( addr(ess)?)?|(start|from)( addr(ess)?)?|基地址|起始地址",
    "end": r"(end|to|last)( addr(ess)?)?|结束地址",
    "irq": r"irq( ?#| number| no\.?| num| id| line)?|(interrupt|vector|int)( id| number| no\.?| num| ?#| line)|中断号",
    "source": r"interrupt( name| source)|source|中断源?",
}
_ROLES = {role: re.compile(words) for role, words in _HEADERS.items()}
_MEMORY = re.compile(r"\b\w*(ram|rom|tcm|tcdm|flash|memory)\w*\b", re.I)
_BOOT = re.compile(r"boot[ _]*addr|reset[ _]*vector|boot[ _]*vector|boot[ _]*pc", re.I)
_BASE_SAID = re.compile(r"\s*[(\[]?\b(?:hex(?:adecimal)?|0x)\b[)\]]?\s*", re.I)
"""How a header says that the numbers below it are hexadecimal."""
_UNIT_SAID = re.compile(r"\s*\((?:bits?|bytes?|dec(?:imal)?)\)\s*", re.I)
_MIN_ROLES = 2
LARGEST_OFFSET = 1 << 28
"""An address above it is where a register stands in the whole chip, not in its block."""


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
class _Table:
    """One header and the rows below it."""

    columns: Mapping[str, int]
    title: str
    hex_roles: frozenset[str] = frozenset()
    """Roles whose header says that its numbers are hexadecimal."""
    rows: list[Row] = field(default_factory=list)

    def cell(self, row: Row, role: str) -> str:
        column = self.columns.get(role)
        return row.cells.get(column, "") if column is not None else ""

    def has(self, *roles: str) -> bool:
        return all(role in self.columns for role in roles)

    def is_hex(self, role: str) -> bool:
        cells = [self.cell(row, role) for row in self.rows]
        return role in self.hex_roles or column_is_hex(cells) or (role == "offset" and steps_are_hex(cells))


def table_candidates(rows: Sequence[Row], key: str, method: str) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """The candidates in `rows`, and notes on what is not certain."""
    tables = _tables(rows)
    registers = _Registers(tables)
    maker = _Maker(key, method, registers)
    candidates = [candidate for table in tables for candidate in maker.of_table(table)]
    if not candidates:
        maker.notes.append("No row names its columns in words that are known here: nothing was drafted.")
    return tuple(candidates), (*maker.notes, *maker.disagreements())


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
    return columns if len(columns) >= _MIN_ROLES and len(columns) * 3 >= len(row.cells) else {}


def _header_words(cell: str) -> str:
    words = _BASE_SAID.sub(" ", " ".join(re.sub(r"[_\n]+", " ", cell).split()))
    whole = words.lower().strip(" :*.")
    plain = _UNIT_SAID.sub(" ", words).lower().strip(" :*.")
    return whole if any(pattern.fullmatch(whole) for pattern in _ROLES.values()) else plain


def _tables(rows: Sequence[Row]) -> list[_Table]:
    """Cuts rows into tables; a title is the lone cell above a header."""
    tables: list[_Table] = []
    title = ""
    page: int | str | None = None
    for row in rows:
        if isinstance(row.page, str) and row.page != page:
            page, title = row.page, ""
            tables.append(_Table({}, ""))
        columns = header(row)
        if columns:
            said = frozenset(role for role, at in columns.items() if _BASE_SAID.search(row.cells[at]))
            tables.append(_Table(columns, title, said))
            title = ""
        elif len(row.cells) == 1:
            title = next(iter(row.cells.values()))[:80]
            if tables:
                tables[-1].rows.append(row)
        elif tables:
            tables[-1].rows.append(row)
    return [table for table in tables if table.columns]


class _Registers:
    """Which register names stand in several lists, so that they need the name of their list."""

    def __init__(self, tables: Sequence[_Table]) -> None:
        places: dict[str, set[str]] = {}
        for table in tables:
            if table.has("register", "offset"):
                for row in table.rows:
                    name = table.cell(row, "register")
                    if name:
                        places.setdefault(name, set()).add(table.cell(row, "offset"))
        self.ambiguous = {name for name, offsets in places.items() if len(offsets) > 1}


class _Maker:
    """Makes the candidates of tables."""

    def __init__(self, key: str, method: str, registers: _Registers) -> None:
        self.key, self.method, self.registers = key, method, registers
        self.notes: list[str] = []
        self.list_resets: dict[str, int] = {}
        self.field_resets: dict[str, list[tuple[int, int, int | None]]] = {}

    def said(
        self,
        field_name: str,
        value: int | str | tuple[int, int],
        row: Row,
        instance: str | None,
        condition: str = "",
        confidence: float = 0.98,
    ) -> Candidate:
        unit = FIELDS[field_name].unit
        return Candidate(
            field=field_name,
            value=address(value) if unit == "addr" and isinstance(value, int) else value,
            unit=unit,
            instance=instance,
            condition=condition or None,
            source=self.key,
            page=row.page,
            text=row.words,
            confidence=confidence,
            method=f"{self.method}, row {row.number}",
        )

    def of_table(self, table: _Table) -> Iterator[Candidate]:
        """What a table says, by which columns it has."""
        if table.has("field") and (table.has("position") or table.has("bits")):
            yield from self.bit_fields(table)
        elif table.has("register", "offset"):
            yield from self.registers_of(table)
        if table.has("base"):
            yield from self.blocks(table)
        if table.has("irq"):
            yield from self.interrupts(table)

    def registers_of(self, table: _Table) -> Iterator[Candidate]:
        """A list of registers."""
        as_hex, reset_as_hex = table.is_hex("offset"), table.is_hex("reset")
        for row in table.rows:
            yield from self.register(table, row, as_hex, reset_as_hex)

    def register(self, table: _Table, row: Row, as_hex: bool, reset_as_hex: bool) -> Iterator[Candidate]:
        name, offset_words = table.cell(row, "register"), table.cell(row, "offset")
        if not name or not offset_words:
            return
        offset = number(offset_words, as_hex)
        if offset is None:
            self.notes.append(f"{row.page}, row {row.number}: the offset {offset_words[:40]!r} of {name} is no number.")
            return
        instance = self.register_title(table, row, name)
        access = table.cell(row, "access")
        condition = f"access {access}" if access else ""
        if offset >= LARGEST_OFFSET:
            condition = "; ".join(filter(None, [condition, "an address in the whole chip"]))
        yield self.said("register.offset", offset, row, instance, condition, 0.6 if offset >= LARGEST_OFFSET else 0.98)
        width = number(table.cell(row, "size"), False)
        if width is not None and 0 < width <= 4096:
            yield self.said("register.width_bits", width, row, instance)
        reset = number(table.cell(row, "reset"), reset_as_hex)
        if reset is not None:
            self.list_resets.setdefault(name, reset)
            yield self.said("register.reset", address(reset), row, instance)
            yield from self.boot_address(table, row, name, reset)

    def register_title(self, table: _Table, row: Row, name: str) -> str:
        """The register's name, after its block's where a column or several lists with that name make it needed."""
        block = table.cell(row, "block")
        if block:
            return f"{block}.{name}"
        if name in self.registers.ambiguous:
            return f"{table.title or row.page}.{name}"
        return name

    def boot_address(self, table: _Table, row: Row, name: str, reset: int) -> Iterator[Candidate]:
        """A register that holds where a core starts: its reset value is the reset address."""
        words = table.cell(row, "description")
        match = _BOOT.search(words) or _BOOT.search(name)
        if match and reset:
            owner = words[: match.start()].split() if _BOOT.search(words) else []
            condition = f"reset value of {name}"
            yield self.said("reset.vector", reset, row, owner[-1] if owner else None, condition, 0.85)

    def bit_fields(self, table: _Table) -> Iterator[Candidate]:
        """Bit fields, with the registers they belong to in a column or in rows between them."""
        register = ""
        as_hex, reset_as_hex = table.is_hex("offset"), table.is_hex("reset")
        for row in table.rows:
            named = table.cell(row, "register")
            if named:
                register = named
                yield from self.register(table, row, as_hex, reset_as_hex and not table.cell(row, "field"))
            name = table.cell(row, "field")
            place = self.bits_of(table, row)
            if not name or place is None:
                continue
            owner = self.register_title(table, row, register) if register else ""
            access = table.cell(row, "access")
            condition = f"access {access}" if access else ""
            yield self.said("register.field", place, row, f"{owner}.{name}" if owner else name, condition)
            reset = number(table.cell(row, "reset"), False)
            self.field_resets.setdefault(register, []).append((*place, reset))
            if reset is not None and place[1] >= 16:
                yield from self.boot_address(table, row, name, reset)

    def bits_of(self, table: _Table, row: Row) -> tuple[int, int] | None:
        """Lowest bit and width of the row's field."""
        between = bit_range(table.cell(row, "bits")) or bit_range(table.cell(row, "position"))
        first = number(table.cell(row, "position"), False)
        last, width = number(table.cell(row, "last"), False), number(table.cell(row, "size"), False)
        if first is not None and last is not None and last >= first:
            return first, last - first + 1
        if first is not None and width and first + width <= 4096:
            return first, width
        return between

    def blocks(self, table: _Table) -> Iterator[Candidate]:
        """A memory map: blocks and memories with their first address."""
        as_hex = table.is_hex("base")
        for row in table.rows:
            name = table.cell(row, "block") or table.cell(row, "register")
            base = number(table.cell(row, "base"), as_hex)
            if not name or base is None:
                continue
            if not as_hex and is_ambiguous_address(table.cell(row, "base")):
                words = table.cell(row, "base")[:40]
                self.notes.append(f"{row.page}, row {row.number}: {words} of {name} may be hexadecimal or decimal.")
                continue
            memory = _MEMORY.search(name) is not None
            yield self.said("memory.region.base" if memory else "mmio.base", base, row, name)
            end = number(table.cell(row, "end"), as_hex)
            if memory and end is not None and end > base:
                condition = "derived from its last address"
                yield self.said("memory.region.size_bytes", end - base + 1, row, name, condition, 0.9)

    def interrupts(self, table: _Table) -> Iterator[Candidate]:
        """A list of interrupt numbers."""
        for row in table.rows:
            name = table.cell(row, "source") or table.cell(row, "block") or table.cell(row, "register")
            line = number(table.cell(row, "irq"), False)
            if name and line is not None and line < 1 << 16:
                yield self.said("interrupts.irq", line, row, name)

    def disagreements(self) -> Iterator[str]:
        """Registers whose reset value in the list is not what their fields make together."""
        for name, reset in self.list_resets.items():
            together, complete = 0, name in self.field_resets
            for low, width, value in self.field_resets.get(name, ()):
                complete = complete and value is not None
                together |= ((value or 0) & ((1 << width) - 1)) << low
            if complete and together != reset:
                yield f"{name}: the list gives the reset value {reset:#x}, its fields together give {together:#x}."
