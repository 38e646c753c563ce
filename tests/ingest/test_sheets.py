import zipfile

import openpyxl
import pytest

from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.registers import sheets
from hwdoc_ingest.registers.cell_numbers import bit_range, column_is_hex, number
from hwdoc_ingest.registers.sheets import read_csv, read_workbook
from metainfer_core.errors import InputError


def workbook(tmp_path, **tables):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in tables.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    path = tmp_path / "registers.xlsx"
    book.save(path)
    return path


def said(reading):
    return {(c.field, c.instance): (c.value, c.page) for c in reading.candidates}


INFO = [["Document Information"], ["Author", "N. N."], ["Version", 2], [], ["Status", "Draft"]]
LIST = [
    ["", "Register list of the timer"],
    [],
    ["", "Address Offset", "Description", "Register Name", "Width", "Reset Value", "R/W"],
    ["", "0x00", "Control", "CTRL", 32, "0x5", "R/W"],
    ["", "0x4", "Boot address of the core", "BOOT", 32, "0x1A000080", "R/W"],
    ["", "see note", "Odd", "ODD", 32, "?", "R"],
]
FIELDS = [
    ["Register", "Bit Field", "Bits", "Reset", "Description"],
    ["CTRL", "EN", "[0]", "1'b1", "Enable"],
    ["CTRL", "MODE", "[3:1]", "3'h1", "Mode"],
    ["BOOT", "ADDR", "31-0", "32'h1A000080", "Where to start"],
]


def test_registers_and_fields_of_a_workbook(tmp_path):
    reading = read_workbook(workbook(tmp_path, Info=INFO, Regs=LIST, Map=FIELDS), "w", no_progress)
    assert said(reading) == {
        ("register.offset", "CTRL"): ("0x0", "Regs"),
        ("register.width_bits", "CTRL"): (32, "Regs"),
        ("register.reset", "CTRL"): ("0x5", "Regs"),
        ("register.offset", "BOOT"): ("0x4", "Regs"),
        ("register.width_bits", "BOOT"): (32, "Regs"),
        ("register.reset", "BOOT"): ("0x1a000080", "Regs"),
        ("reset.vector", None): ("0x1a000080", "Regs"),
        ("register.field", "CTRL.EN"): ((0, 1), "Map"),
        ("register.field", "CTRL.MODE"): ((1, 3), "Map"),
        ("register.field", "BOOT.ADDR"): ((0, 32), "Map"),
    }
    assert reading.notes == (
        "Regs, row 6: the offset 'see note' of ODD is no number.",
        "CTRL: the list gives the reset value 0x5, its fields together give 0x3.",
    )
    one = reading.candidates[0]
    assert (one.text, one.condition, one.method) == (
        "0x00 | Control | CTRL | 32 | 0x5 | R/W",
        "access R/W",
        "workbook, row 4",
    )


def test_fields_between_their_registers(tmp_path):
    rows = [
        ["Register", "Offset", "Field", "LSB", "MSB", "Access"],
        ["STATUS", "0x8", None, None, None, "R"],
        [None, None, "BUSY", 0, 0, "R"],
        [None, None, "LEVEL", 4, 11, "R"],
    ]
    fields = said(read_workbook(workbook(tmp_path, A=rows), "w", no_progress))
    assert fields == {
        ("register.offset", "STATUS"): ("0x8", "A"),
        ("register.field", "STATUS.BUSY"): ((0, 1), "A"),
        ("register.field", "STATUS.LEVEL"): ((4, 8), "A"),
    }


def test_one_name_in_two_lists_takes_the_name_of_its_list(tmp_path):
    head = ["Name", "Address", "Description"]
    one, other = [head, ["ID", "0x0", ""], ["CTRL", "0x4", ""]], [head, ["ID", "0x10", ""]]
    fields = said(read_workbook(workbook(tmp_path, UART=one, SPI=other), "w", no_progress))
    assert set(fields) == {("register.offset", name) for name in ("UART.ID", "CTRL", "SPI.ID")}


def test_a_thousand_empty_columns(tmp_path):
    path = workbook(tmp_path, A=[["Register", "Address", "Description"], ["X", 16, "decimal"]])
    book = openpyxl.load_workbook(path)
    book["A"].cell(1, 1017).number_format = "0.00"
    book["A"].cell(2, 1017).number_format = "0.00"
    book.save(path)
    assert said(read_workbook(path, "w", no_progress)) == {("register.offset", "X"): ("0x10", "A")}


def test_a_memory_map_and_interrupts_in_csv(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text(
        "Block;Base address;End address;IRQ\nSRAM;1000_0000h;1000_FFFFh;\nUART;4000_0000h;4000_0FFFh;12\n\nbad;;;x\n"
    )
    assert said(read_csv(path, "c", no_progress)) == {
        ("memory.region.base", "SRAM"): ("0x10000000", 2),
        ("memory.region.size_bytes", "SRAM"): (0x10000, 2),
        ("mmio.base", "UART"): ("0x40000000", 3),
        ("interrupts.irq", "UART"): (12, 3),
    }


def test_a_table_without_known_words_drafts_nothing(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("Fruit,Price\nApple,0x10\nName,Price\n")
    reading = read_csv(path, "c", no_progress)
    assert reading.candidates == ()
    assert reading.notes == ("No row names its columns in words that are known here: nothing was drafted.",)


def test_bare_hex_columns(tmp_path):
    path = tmp_path / "regs.csv"
    path.write_text("Register,Offset,Description\nA,0,first\nB,10,second\nC,1C,third\n")
    values = {instance: value for (_, instance), (value, _) in said(read_csv(path, "c", no_progress)).items()}
    assert values == {"A": "0x0", "B": "0x10", "C": "0x1c"}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0x1A00_0080", 0x1A000080),
        ("32’h1A000080", 0x1A000080),
        ("5'b00101", 5),
        ("'d12", 12),
        ("1Ch", 28),
        ("12", 12),
        ("1C", None),
        ("0x10 - 0x1C", None),
        ("-4", None),
        ("", None),
        ("²", None),
    ],
)
def test_numbers(cell, value):
    assert number(cell, bare_is_hex=False) == value


def test_a_column_with_prefixes_is_not_bare_hex():
    assert column_is_hex(["0", "4", "1C"])
    assert not column_is_hex(["0", "4", "8"])
    assert not column_is_hex(["0x0", "1C"])


@pytest.mark.parametrize(
    ("cell", "place"), [("[7:0]", (0, 8)), ("0-3", (0, 4)), ("5", (5, 1)), ("[31..16]", (16, 16)), ("res.", None)]
)
def test_bit_ranges(cell, place):
    assert bit_range(cell) == place


def rewrite(path, change):
    """The workbook with some parts changed by `change(name, data)`."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, change(name, data))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = workbook(tmp_path, A=LIST)
    rewrite(path, lambda name, data: data + b" " * 3_000_000 if "sheet1" in name else data)
    monkeypatch.setattr(sheets, "MAX_UNPACKED_BYTES", 2_000_000)
    with pytest.raises(InputError, match="unpacks to more than is read"):
        read_workbook(path, "w", no_progress)


def test_entities_in_a_sheet_are_refused(tmp_path):
    path = workbook(tmp_path, A=LIST)
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaa">]><worksheet>&a;</worksheet>'
    rewrite(path, lambda name, data: bomb if "sheet1" in name else data)
    with pytest.raises(InputError, match="declares a document type"):
        read_workbook(path, "w", no_progress)


@pytest.mark.parametrize("damage", [b"<worksheet><sheetData><row", b"", b"\x00\x01"])
def test_a_broken_sheet_is_one_message(tmp_path, damage):
    path = workbook(tmp_path, A=LIST)
    rewrite(path, lambda name, data: damage if "sheet1" in name or "workbook.xml" in name else data)
    with pytest.raises(InputError, match="broken"):
        read_workbook(path, "w", no_progress)
