"""Headers that stand apart from their cells: centred, with glued notes, with the unit in the title."""

from __future__ import annotations

import pytest
from drawn_tables import Cell, Sheet

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

WIDTHS = (130, 120, 60, 60, 60, 60)


def read(title: str, widths: tuple[float, ...], rows: list[list[str]], ruled: bool, above: str = ""):
    """What is read of a table whose headers are centred over cells that begin at the left."""
    sheet = Sheet()
    if above:
        sheet.words(30, 20, above, 14)
    sheet.words(30, 45, title)
    cells = [[Cell(text, align="left" if at else "centre") for text in row] for at, row in enumerate(rows)]
    sheet.table(30, 55, widths, cells, ruled)
    sheet.words(30, 380, "Maximum CPU clock frequency: 100 MHz, supply voltage 3.3 V, 64 KB SRAM")
    sheet.canvas.save()
    return read_pdf_bytes(sheet.out.getvalue(), "doc", "sheet.pdf", no_progress).candidates


def supplies(candidates):
    return {(c.instance.split()[0], c.min, c.max) for c in candidates if c.field == "power.supply_v" and c.max}


@pytest.mark.parametrize(("least", "most"), [("Min(1)", "Max(2)"), ("Min1", "Max1"), ("Min", "Max")])
@pytest.mark.parametrize("ruled", [True, False])
def test_a_note_glued_to_a_bound_leaves_it_a_bound(least, most, ruled):
    rows = [
        ["Supply name", "Description", least, "Nom", most, "Unit"],
        ["VDDCORE", "Core rail", "0.76", "0.80", "0.84", "V"],
        ["VDDAUX", "Analog rail", "1.71", "1.80", "1.89", "V"],
    ]
    found = supplies(read("Table 4. Recommended operating conditions", WIDTHS, rows, ruled))
    assert found == {("VDDCORE", 0.76, 0.84), ("VDDAUX", 1.71, 1.89)}


def test_the_title_gives_the_unit_of_its_rows_and_decides_over_the_heading():
    rows = [
        ["Power domain", "Pin name", "Minimum", "Typical", "Maximum"],
        ["Core power", "VDDC", "0.81", "0.9", "0.99"],
        ["DDR I/O power", "VDDQ", "1.43", "1.5", "1.57"],
    ]
    said = "Recommended operating conditions (unit: V)"
    found = read(said, WIDTHS[:5], rows, False, above="2.1 Absolute maximum ratings")
    assert {(c.min, c.max) for c in found if c.field == "power.supply_v" and c.max} == {(0.81, 0.99), (1.43, 1.57)}
    limits = read("Absolute maximum ratings (unit: V)", WIDTHS[:5], rows, False)
    assert not [c for c in limits if c.field == "power.supply_v" and c.max]


def test_numbers_of_interrupts_stand_left_below_a_centred_header():
    rows = [["INT #", "Interrupt source", "Kind"], ["31", "mailbox_done", "level"], ["52", "dma_error", "edge"]]
    found = read("Table 8. Interrupt map", (120, 160, 120), rows, False)
    assert {(c.instance, c.value) for c in found if c.field == "interrupts.irq"} == {
        ("mailbox_done", 31),
        ("dma_error", 52),
    }


def test_a_current_keeps_the_mode_that_its_parameter_names():
    rows = [
        ["Parameter", "Symbol", "Typ", "Max", "Unit"],
        ["Supply current, standby mode", "ICC", "2.5", "40", "mA"],
        ["Supply current, snooze mode", "ICC", "9.5", "42", "mA"],
    ]
    found = [c for c in read("Table 6. Currents", (180, 60, 60, 60, 60), rows, True) if c.field == "power.current_a"]
    assert [("standby" in (c.instance or ""), c.max) for c in found] == [(True, 0.04), (False, 0.042)]
