"""Layouts of register tables: a row for each field, sizes in bytes, vector tables, words above the header."""

import pytest
from sheet_readings import read, said

from hwdoc_ingest.registers.cell_numbers import number, offset_number, size_in_bytes


def test_what_stands_beside_a_field_is_the_fields_and_not_its_registers(tmp_path):
    table = (
        "Address Block,Block Base Address,Register,Register Offset,Field,Bit Offset,Bit Width,Access,Reset Value\n"
        "uart,0x40000000,CTRL,0x0,EN,0,1,read-write,0x0\n"
        "uart,0x40000000,CTRL,0x0,MODE,1,3,read-write,0x2\n"
        "uart,0x40000000,STAT,0x4,BUSY,0,1,read-only,0x0\n"
    )
    reading = read(tmp_path, table)
    assert said(reading, "mmio.base") == [("uart", "0x40000000")]
    assert said(reading, "register.offset") == [("uart.CTRL", "0x0"), ("uart.STAT", "0x4")]
    fields = [("uart.CTRL.EN", (0, 1)), ("uart.CTRL.MODE", (1, 3)), ("uart.STAT.BUSY", (0, 1))]
    assert said(reading, "register.field") == fields
    assert said(reading, "register.width_bits") == said(reading, "register.reset") == []
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("header", "rows", "widths"),
    [
        ("Length", ((0, 4), (4, 4), (8, 2), (10, 2)), [(32, 0.7), (32, 0.7), (16, 0.7), (16, 0.7)]),
        ("Size", ((0, 8), (4, 8), (8, 8)), [(8, 0.98)] * 3),
        ("Width", ((0, 4), (4, 4), (8, 4)), [(4, 0.98)] * 3),
        ("Size", ((0, 32), (4, 32)), [(32, 0.98)] * 2),
    ],
)
def test_a_size_that_ends_where_the_next_register_begins_is_in_bytes(tmp_path, header, rows, widths):
    lines = "".join(f"R{at},{hex(offset)},{size}\n" for at, (offset, size) in enumerate(rows))
    found = read(tmp_path, f"Name,Offset,{header}\n{lines}").candidates
    assert [(c.value, c.confidence) for c in found if c.field == "register.width_bits"] == widths


def test_a_vector_table_is_no_list_of_registers(tmp_path):
    rows = "0,WWDG,Watchdog,0x40\n1,PVD,Voltage,0x44\n3,RTC,Clock,0x4C\n"
    reading = read(tmp_path, f"Position,Acronym,Description,Address\n{rows}")
    assert said(reading, "interrupts.irq") == [("WWDG", 0), ("PVD", 1), ("RTC", 3)]
    assert said(reading, "interrupts.vector") == [("WWDG", "0x40"), ("PVD", "0x44"), ("RTC", "0x4c")]
    assert said(reading, "register.offset") == []
    other = read(tmp_path, "Position,Acronym,Description,Address\n0,A,a,0x40\n1,B,b,0x50\n2,C,c,0x54\n")
    assert [name for name, _ in said(other, "register.offset")] == ["A", "B", "C"]


def test_a_register_named_above_the_table_of_its_fields(tmp_path):
    table = (
        "Block:,DMA\nBase Address:,0x40020000\n\n"
        "Register Name:,CTRL\nRegister Offset:,0x10\nReset Value:,0x1\nBit,Name,Access\n31:1,RSVD,RO\n0,EN,RW\n\n"
        "Register,STAT\nOffset,0x14\nBit,Name,Access\n0,BUSY,RO\n"
    )
    reading = read(tmp_path, table)
    assert said(reading, "mmio.base") == [("DMA", "0x40020000")]
    assert said(reading, "register.offset") == [("CTRL", "0x10"), ("STAT", "0x14")]
    assert said(reading, "register.reset") == [("CTRL", "0x1")]
    fields = [("CTRL.RSVD", (1, 31)), ("CTRL.EN", (0, 1)), ("STAT.BUSY", (0, 1))]
    assert said(reading, "register.field") == fields


LIST = "Register,Offset\nCTRL,0x0\nSTAT,0x4\n\n"
FIELDS = "Bit #,Name,R/W\n31:16,HIGH,R\n15,FLAG,R\n"


@pytest.mark.parametrize(
    ("title", "owner"),
    [
        ("CTRL\n", "CTRL."),
        ("Register CTRL: control\n", "CTRL."),
        ("Register,CTRL,Address,0x0\n", "CTRL."),
        ("Legend\n", ""),
        ("CTRL and STAT\n", ""),
    ],
)
def test_the_fields_of_a_register_of_the_list_named_in_their_title(tmp_path, title, owner):
    reading = read(tmp_path, LIST + title + FIELDS)
    assert said(reading, "register.field") == [(f"{owner}HIGH", (16, 16)), (f"{owner}FLAG", (15, 1))]
    assert set(said(reading, "register.offset")) == {("CTRL", "0x0"), ("STAT", "0x4")}


def test_headers_with_remarks_in_brackets_and_in_other_words(tmp_path):
    table = "Register,Address (offset),No. of bits,Reset value (hex)\nA,0h,8,1F\nB,1h,8,A0\n"
    reading = read(tmp_path, table)
    assert said(reading, "register.offset") == [("A", "0x0"), ("B", "0x1")]
    assert said(reading, "register.width_bits") == [("A", 8), ("B", 8)]
    assert said(reading, "register.reset") == [("A", "0x1f"), ("B", "0xa0")]
    events = read(tmp_path, "Event ID,Event Name,Source\n8,dma_event,DMA\n22,timer_lo,Timer\n")
    assert said(events, "interrupts.irq") == [("dma_event", 8), ("timer_lo", 22)]


def test_a_row_of_names_without_numbers_is_a_header_and_no_heading(tmp_path):
    reading = read(tmp_path, "Register,Reads as,Offset,Seen\nCTRL,zero,0x8,yes\n")
    assert said(reading, "register.offset") == [("CTRL", "0x8")]


@pytest.mark.parametrize(
    ("columns", "rows", "resets"),
    [
        ("Width,Default", "8,01101010;8,00000111", ["0x6a", "0x7"]),
        ("Width,Default", "32,00000010;32,00000001", ["0x10", "0x1"]),
        ("Access,Default", "RW,01101010;RW,00000000", [None, "0x0"]),
        ("Access,Default (binary)", "RW,0101;RW,1", ["0x5", "0x1"]),
        ("Width,Default (hex)", "8,0010;8,0001", ["0x10", "0x1"]),
        ("Width,Default", "32,10;32,16", ["0xa", "0x10"]),
    ],
)
def test_reset_values_of_noughts_and_ones(tmp_path, columns, rows, resets):
    lines = "".join(f"R{at},0x{at},{row}\n" for at, row in enumerate(rows.split(";")))
    found = dict(said(read(tmp_path, f"Register,Offset,{columns}\n{lines}"), "register.reset"))
    assert [found.get(f"R{at}") for at in range(2)] == resets


@pytest.mark.parametrize(
    "header",
    ["Name,Offset Address,Bit Field Name,Bit Assignment,Initial Value", "Register,Offset Start,Field,Bit No.,Reset"],
)
def test_a_list_with_a_row_for_each_field_under_its_register(tmp_path, header):
    reading = read(tmp_path, f"{header}\nr0,0x0,a,3,1\n,,b,0,0\nr1,0x4,c,1,1\n")
    assert said(reading, "register.offset") == [("r0", "0x0"), ("r1", "0x4")]
    assert said(reading, "register.field") == [("r0.a", (3, 1)), ("r0.b", (0, 1)), ("r1.c", (1, 1))]
    assert said(reading, "register.reset") == []


def test_fields_by_their_highest_and_lowest_bit(tmp_path):
    reading = read(tmp_path, "Register,Addr,Field,High Bit,Low Bit,Reset\nCFG,0x8,MODE,3,0,0x2\nCFG,0x8,EN,4,4,0x1\n")
    assert said(reading, "register.field") == [("CFG.MODE", (0, 4)), ("CFG.EN", (4, 1))]
    unread = read(tmp_path, "Register,Addr,Field,Where,Reset\nCFG,0x8,MODE,low,0x2\n")
    assert [c.field for c in unread.candidates] == ["register.offset"]


def test_a_memory_map_that_names_its_blocks_by_description_alone(tmp_path):
    rows = "0x0,0x1FFFF,Boot ROM\n0x20000,0x2FFFF,Reserved\n0x40000000,0x40000FFF,UART0\n"
    reading = read(tmp_path, f"Start address,End address,Description\n{rows}")
    assert said(reading, "memory.region.size_bytes") == [("Boot ROM", 0x20000)]
    assert said(reading, "mmio.base") == [("UART0", "0x40000000")]


def test_a_memory_map_with_sizes_in_words(tmp_path):
    rows = "L2,0x1C000000,512K\nROM,0x1A000000,8 KiB\nSRAM,0x20000000,64\nUDMA,0x1A102000,4K\n"
    reading = read(tmp_path, f"Region Name,Base Address,Size\n{rows}")
    assert said(reading, "memory.region.size_bytes") == [("L2", 512 << 10), ("ROM", 8 << 10)]
    assert said(reading, "mmio.base") == [("UDMA", "0x1a102000")]


@pytest.mark.parametrize(
    ("cell", "offset"),
    [
        ("BASE + 0x04", (4, "")),
        ("BASE+10h", (16, "")),
        ("0x104 + n*0x20", (0x104, "the first of an array, every 0x20 bytes")),
        ("0x104 + 0x20*n", (0x104, "the first of an array, every 0x20 bytes")),
        ("0x8", (8, "")),
        ("0x100-0x11C", (0x100, "the first of an array up to 0x11c")),
        ("0x11C-0x100", None),
        ("0x104 + n*m", None),
        ("see BASE + 4", None),
        ("BASE + later", None),
    ],
)
def test_offsets(cell, offset):
    assert offset_number(cell, bare_is_hex=False) == offset


@pytest.mark.parametrize(
    ("cell", "size"),
    [
        ("0x1000", 4096),
        ("64K", 65536),
        ("8 KiB", 8192),
        ("1.5 MB", 3 << 19),
        ("512 bytes", 512),
        ("64", None),
        ("K", None),
    ],
)
def test_sizes(cell, size):
    assert size_in_bytes(cell) == size


@pytest.mark.parametrize(("cell", "value"), [("A5h", 0xA5), ("FFh", 0xFF), ("0Ah", 10), ("EACH", None), ("each", None)])
def test_hexadecimal_by_a_letter_behind_it(cell, value):
    assert number(cell, bare_is_hex=False) == value
