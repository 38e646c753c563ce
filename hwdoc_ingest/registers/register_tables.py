"""Finds registers, bit fields, blocks and interrupts in rows of cells, by the words of each column's header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hwdoc_ingest.fields import FIELDS, address
from hwdoc_ingest.registers.cell_numbers import (
    bit_range,
    is_ambiguous_address,
    number,
    offset_number,
    size_in_bytes,
)
from hwdoc_ingest.registers.table_columns import Row, Table, find_tables
from metainfer_core.spec.drafting.draft import Candidate

_MEMORY = re.compile(r"\b\w*(ram|rom|tcm|tcdm|flash|memory)\w*\b|\b(\w+_)?mem(_\w+)?\b|^L[123]$", re.I)
_BOOT = re.compile(r"boot[ _]*addr|reset[ _]*vector|boot[ _]*vector|boot[ _]*pc", re.I)
_LONGEST_NAME = 48
"""Letters; more is a description rather than a block's name."""
LARGEST_OFFSET = 1 << 28
"""An address above it is where a register stands in the whole chip, not in its block."""


def table_candidates(rows: Sequence[Row], key: str, method: str) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """The candidates in `rows`, and notes on what is not certain."""
    tables = find_tables(rows)
    registers = _Registers(tables)
    maker = _Maker(key, method, registers)
    candidates = [candidate for table in tables for candidate in maker.of_table(table)]
    if not candidates:
        maker.notes.append("No row names its columns in words that are known here: nothing was drafted.")
    return tuple(candidates), (*maker.notes, *maker.disagreements())


def register_above(table: Table) -> str:
    """The register that the lines above a table name, else empty."""
    found = table.heading.get("register") or table.heading.get("name")
    return found[0] if found else ""


class _Registers:
    """Which register names stand in several lists, so that they need the name of their list."""

    def __init__(self, tables: Sequence[Table]) -> None:
        places: dict[str, set[str]] = {}
        for table in tables:
            if table.has("register", "offset"):
                for row in table.rows:
                    name = table.cell(row, "register")
                    if name and table.cell(row, "offset"):  # else a title, such as that of the register's fields
                        places.setdefault(name, set()).add(table.cell(row, "offset"))
        self.names = frozenset(places)
        self.ambiguous = {name for name, offsets in places.items() if len(offsets) > 1}


class _Maker:
    """Makes the candidates of tables."""

    def __init__(self, key: str, method: str, registers: _Registers) -> None:
        self.key, self.method, self.registers = key, method, registers
        self.notes: list[str] = []
        self.told: set[tuple[str, int | str]] = set()
        """Registers with their offset, and blocks with their base, of tables that repeat them in every row."""
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

    def of_table(self, table: Table) -> Iterator[Candidate]:
        """What a table says, by which columns it has."""
        yield from self.heading(table)
        if table.has("field") and (table.has("position") or table.has("bits")):
            yield from self.bit_fields(table)
        elif table.is_vectors:
            yield from self.vectors(table)
        elif table.has("register", "offset"):
            yield from self.registers_of(table)
        if table.has("base"):
            yield from self.blocks(table)
        if table.has("irq"):
            yield from self.interrupts(table)

    def heading(self, table: Table) -> Iterator[Candidate]:
        """The register or block that the lines above a table name."""
        block, base = table.heading.get("block"), table.heading.get("base")
        first = number(base[0], False) if base else None
        if block and base and first is not None and not is_ambiguous_address(base[0]):
            yield self.said("mmio.base", first, base[1], block[0])
        name, offset, reset = register_above(table), table.heading.get("offset"), table.heading.get("reset")
        read = offset_number(offset[0], False) if offset else None
        if name and offset and read and table.has("field"):
            yield self.said("register.offset", read[0], offset[1], name, read[1])
            value = number(reset[0], False) if reset else None
            if reset and value is not None:
                yield self.said("register.reset", address(value), reset[1], name)

    def registers_of(self, table: Table) -> Iterator[Candidate]:
        """A list of registers."""
        as_hex, reset_as_hex = table.is_hex("offset"), table.is_hex("reset")
        for row in table.rows:
            yield from self.register(table, row, as_hex, reset_as_hex, of_field=bool(table.cell(row, "field")))

    def register(
        self, table: Table, row: Row, as_hex: bool, reset_as_hex: bool, of_field: bool = False
    ) -> Iterator[Candidate]:
        """A register; in a row that is `of_field`, width, reset value and access are those of the field."""
        name, offset_words = table.cell(row, "register"), table.cell(row, "offset")
        if not name or not offset_words:
            return
        read = offset_number(offset_words, as_hex)
        if read is None:
            self.notes.append(f"{row.page}, row {row.number}: the offset {offset_words[:40]!r} of {name} is no number.")
            return
        offset, meaning = read
        instance = self.register_title(table, row, name)
        access = table.cell(row, "access")
        condition = "; ".join(filter(None, [f"access {access}" if access and not of_field else "", meaning]))
        if of_field and (instance, offset) in self.told:
            return
        self.told.add((instance, offset))
        if offset >= LARGEST_OFFSET:
            condition = "; ".join(filter(None, [condition, "an address in the whole chip"]))
        yield self.said("register.offset", offset, row, instance, condition, 0.6 if offset >= LARGEST_OFFSET else 0.98)
        if of_field:
            return
        width = number(table.cell(row, "size"), False)
        if width is not None and 0 < width <= 4096:
            if table.counts_bytes:
                yield self.said("register.width_bits", 8 * width, row, instance, f"{width} bytes", 0.7)
            else:
                yield self.said("register.width_bits", width, row, instance)
        reset = table.reset(row, reset_as_hex)
        if reset is not None:
            self.list_resets.setdefault(name, reset)
            yield self.said("register.reset", address(reset), row, instance)
            yield from self.boot_address(table, row, name, reset)

    def register_title(self, table: Table, row: Row, name: str) -> str:
        """The register's name, after its block's where a column or several lists with that name make it needed."""
        block = table.cell(row, "block")
        if block:
            return f"{block}.{name}"
        if name in self.registers.ambiguous:
            return f"{table.title or row.page}.{name}"
        return name

    def boot_address(self, table: Table, row: Row, name: str, reset: int) -> Iterator[Candidate]:
        """A register that holds where a core starts: its reset value is the reset address."""
        words = table.cell(row, "description")
        match = _BOOT.search(words) or _BOOT.search(name)
        if match and reset:
            owner = words[: match.start()].split() if _BOOT.search(words) else []
            condition = f"reset value of {name}"
            yield self.said("reset.vector", reset, row, owner[-1] if owner else None, condition, 0.85)

    def bit_fields(self, table: Table) -> Iterator[Candidate]:
        """Bit fields, with the registers they belong to in a column or in rows between them."""
        register = register_above(table) or self.titled(table)
        as_hex, reset_as_hex = table.is_hex("offset"), table.is_hex("reset")
        for row in table.rows:
            named = table.cell(row, "register")
            if named:
                register = named
                yield from self.register(table, row, as_hex, reset_as_hex, of_field=bool(table.cell(row, "field")))
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

    def titled(self, table: Table) -> str:
        """The one register of a list that the title of a table names, else empty."""
        found = {word for word in table.title.replace(":", " ").split() if word in self.registers.names}
        return found.pop() if len(found) == 1 else ""

    def bits_of(self, table: Table, row: Row) -> tuple[int, int] | None:
        """Lowest bit and width of the row's field."""
        between = bit_range(table.cell(row, "bits")) or bit_range(table.cell(row, "position"))
        first = number(table.cell(row, "position"), False)
        last, width = number(table.cell(row, "last"), False), number(table.cell(row, "size"), False)
        if first is not None and last is not None and last >= first:
            return first, last - first + 1
        if first is not None and width and first + width <= 4096:
            return first, width
        return between

    def blocks(self, table: Table) -> Iterator[Candidate]:
        """A memory map: blocks and memories with their first address."""
        as_hex = table.is_hex("base")
        for row in table.rows:
            name = table.cell(row, "block") or table.cell(row, "register") or table.cell(row, "description")
            base = number(table.cell(row, "base"), as_hex)
            if not name or base is None or len(name) > _LONGEST_NAME or name.lower().startswith("reserved"):
                continue
            if not as_hex and is_ambiguous_address(table.cell(row, "base")):
                words = table.cell(row, "base")[:40]
                self.notes.append(f"{row.page}, row {row.number}: {words} of {name} may be hexadecimal or decimal.")
                continue
            memory = _MEMORY.search(name) is not None
            if (name, address(base)) in self.told:
                continue
            self.told.add((name, address(base)))
            yield self.said("memory.region.base" if memory else "mmio.base", base, row, name)
            end = number(table.cell(row, "end"), as_hex)
            if memory and end is not None and end > base:
                condition = "derived from its last address"
                yield self.said("memory.region.size_bytes", end - base + 1, row, name, condition, 0.9)
            size = size_in_bytes(table.cell(row, "size"))
            if memory and size and end is None and not table.has("offset"):
                yield self.said("memory.region.size_bytes", size, row, name)

    def interrupts(self, table: Table) -> Iterator[Candidate]:
        """A list of interrupt numbers."""
        for row in table.rows:
            name = table.cell(row, "source") or table.cell(row, "block") or table.cell(row, "register")
            line = number(table.cell(row, "irq"), False)
            if name and line is not None and line < 1 << 16:
                yield self.said("interrupts.irq", line, row, name)

    def vectors(self, table: Table) -> Iterator[Candidate]:
        """A vector table: the number of each interrupt, and where its vector stands."""
        for row in table.rows:
            name, line = table.cell(row, "register"), number(table.cell(row, "position"), False)
            place = number(table.cell(row, "offset"), False)
            if name and line is not None and place is not None:
                yield self.said("interrupts.irq", line, row, name)
                yield self.said("interrupts.vector", place, row, name)

    def disagreements(self) -> Iterator[str]:
        """Registers whose reset value in the list is not what their fields make together."""
        for name, reset in self.list_resets.items():
            together, complete = 0, name in self.field_resets
            for low, width, value in self.field_resets.get(name, ()):
                complete = complete and value is not None
                together |= ((value or 0) & ((1 << width) - 1)) << low
            if complete and together != reset:
                yield f"{name}: the list gives the reset value {reset:#x}, its fields together give {together:#x}."
