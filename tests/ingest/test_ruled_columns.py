"""Two columns of a page that only their ruled tables tell apart, and memories in rows of several cells."""

from __future__ import annotations

from drawn_tables import Cell, Sheet

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

KB = 1024
PROSE = [
    "The X700 joins two cores. The main core,",
    "a Cortex-M7, sits in the upper domain and",
    "operates up to 420 MHz. The second one,",
    "a Cortex-M4, sits in the lower domain and",
    "operates up to 210 MHz. Three domains can",
    "be powered down by themselves, so that a",
    "sensor hub needs little when it sleeps.",
]
MEMORIES = [
    ["Item", "Spec", "Notes"],
    ["Flash", "2 MB", "Two banks"],
    ["ITCM", "48 KB", "No wait states"],
    ["DTCM", "96 KB", "No wait states"],
    ["AXI SRAM", "384 KB", "Upper domain"],
    ["SRAM4", "24 KB", "Lower domain"],
]


def read(sheet):
    found = read_pdf_bytes(sheet.done(), "doc", "sheet.pdf", no_progress).candidates
    return {(c.field, c.instance, c.value if c.value is not None else c.max) for c in found}


def table(sheet, x, y, widths, rows):
    sheet.table(x, y, widths, [[Cell(each) for each in row] for row in rows], True, pitch=15)


def test_a_table_in_the_right_column_is_read_apart_from_the_text_beside_it():
    sheet = Sheet(width=560)
    for at, line in enumerate(PROSE):
        sheet.words(30, 62 + 13 * at, line)
    table(sheet, 300, 50, (70, 60, 100), MEMORIES)
    found = read(sheet)
    assert {each for each in found if each[0] == "memory.tcm.size_bytes"} == {
        ("memory.tcm.size_bytes", "ITCM", 48 * KB),
        ("memory.tcm.size_bytes", "DTCM", 96 * KB),
    }
    assert ("memory.sram.size_bytes", "AXI SRAM", 384 * KB) in found
    assert ("memory.sram.size_bytes", "SRAM4", 24 * KB) in found
    assert ("memory.flash.size_bytes", None, 2048 * KB) in found
    clocks = {each for each in found if each[0] == "cpu.clock_hz"}
    assert clocks == {("cpu.clock_hz", "Cortex-M7", 420e6), ("cpu.clock_hz", "Cortex-M4", 210e6)}


def test_one_table_across_the_page_is_no_two_columns():
    sheet = Sheet(width=560)
    table(sheet, 30, 50, (240, 250), [["Item", "Spec"], *([row[0], row[1]] for row in MEMORIES[1:])])
    found = read(sheet)
    assert ("memory.tcm.size_bytes", "ITCM", 48 * KB) in found
    assert ("memory.sram.size_bytes", "AXI SRAM", 384 * KB) in found


def test_a_list_of_memories_with_more_cells_than_a_name_and_its_size():
    sheet = Sheet(width=560)
    rows = [
        ["Region", "Size", "Type", "Access"],
        ["Main ROM", "96 KB", "Mask ROM", "Read-only. Boot code and ROM routines."],
        ["Aux ROM", "24 KB", "Mask ROM", "Read-only. Boot code of the second core."],
        ["Sleep SRAM", "20 KB", "SRAM", "Read and write. Kept when asleep."],
    ]
    table(sheet, 30, 50, (100, 60, 80, 240), rows)
    found = read(sheet)
    assert ("memory.rom.size_bytes", "Main ROM", 96 * KB) in found
    assert ("memory.rom.size_bytes", "Aux ROM", 24 * KB) in found
    assert ("memory.sram.size_bytes", "Sleep SRAM", 20 * KB) in found


def test_rails_in_rows_of_their_own():
    sheet = Sheet(width=560)
    rows = [
        ["Parameter", "Value"],
        ["Core power supply", "2.4 V"],
        ["I/O power supply", "3.3 V"],
        ["Die size", "4 mm2"],
    ]
    table(sheet, 30, 50, (200, 120), rows)
    found = read(sheet)
    assert ("power.supply_v", "Core", 2.4) in found
    assert ("power.supply_v", "I/O", 3.3) in found
