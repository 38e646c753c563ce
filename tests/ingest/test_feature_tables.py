"""Feature tables of two columns without a header, and lists that go on in the next column."""

import re

import pytest
from invented_sheets import HEIGHT, Paper
from phrase_reading import between

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.layout.key_values import read_key_values
from hwdoc_ingest.layout.sections import Outline, statements
from hwdoc_ingest.layout.tables import read_tables
from hwdoc_ingest.page.pages import PdfFile
from hwdoc_ingest.page.text_lines import text_lines
from hwdoc_ingest.reading import no_progress

ROWS = (
    ("CPU", ("Dual Cortex-A7 @ 1.3 GHz", "32 KB I-cache + 32 KB D-cache per core")),
    ("Process", ("22 nm",)),
    ("Operating temperature", ("0 to 70 °C (commercial)", "-40 to 85 °C (industrial)")),
    ("DMA", ("16 channels",)),
)


def drawn(upright=True, rungs=True):
    """The rows with their names in the middle of the height of their cells."""
    paper = Paper(9)
    paper.heading("Specifications")
    paper.y += 10
    top, heights = paper.y - 12, []
    for name, lines in ROWS:
        heights.append(paper.y - 12)
        paper.text(60, name, bold=True, size=9)
        for at, line in enumerate(lines):
            paper.canvas.setFont("Helvetica", 9)
            paper.canvas.drawString(180, HEIGHT - (paper.y + 12 * (at - (len(lines) - 1) / 2)), line)
        paper.y += 14 + 12 * len(lines)
    heights.append(paper.y - 12)
    for height in heights if rungs else ():
        paper.canvas.line(50, HEIGHT - height, 500, HEIGHT - height)
    if upright:
        paper.canvas.line(170, HEIGHT - top, 170, HEIGHT - heights[-1])
    return paper.done()


def said(data):
    found = read_pdf_bytes(data, "doc", "sheet.pdf", no_progress).candidates
    return {(c.field, c.value if c.value is not None else (c.min, c.typ, c.max), c.instance) for c in found}


@pytest.mark.parametrize("upright", [True, False])
def test_each_line_of_a_cell_is_read_with_the_name_of_its_row(upright):
    with PdfFile(drawn(upright), "t") as file:
        pairs, used = read_key_values(file.page(1))
    assert [(pair.path, pair.text) for pair in pairs] == [
        ((name,), f"{name} {line}") for name, lines in ROWS for line in lines
    ]
    assert len(used) == sum(len(f"{name} {' '.join(lines)}".split()) for name, lines in ROWS)


def test_what_such_a_table_says_is_read():
    found = said(drawn())
    assert {
        ("cpu.cores", 2, "Cortex-A7"),
        ("chip.process_nm", 22, None),
        ("thermal.ambient_c", between(0, 70), "commercial"),
        ("thermal.ambient_c", between(-40, 85), "industrial"),
        ("dma.channels", 16, "DMA"),
    } <= found


def test_without_rulings_it_is_no_such_table():
    with PdfFile(drawn(upright=False, rungs=False), "t") as file:
        assert read_key_values(file.page(1)) == ([], frozenset())


def parents(lists):
    """The parent of each item of two columns: lists of (depth, text), the left column first."""
    paper = Paper(9)
    start = paper.y
    for x, items in zip((50, 310), lists, strict=True):
        paper.y = start
        for depth, text in items:
            paper.line(x + 12 * depth, f"{'•' if depth else '–'} {text}" if depth else text)
    outline = Outline()
    with PdfFile(paper.done(), "t") as file:
        found = [*statements(1, text_lines(file.page(1)), outline, 9.0, False)]
    return {each.text: each.path[-1] if each.path else "" for each in found}


def test_a_list_goes_on_in_the_next_column_below_the_same_parent():
    above = parents(
        [
            [
                (0, "Processor"),
                *((1, f"core number {n} of it is small") for n in range(5)),
                (0, "Memory"),
                (1, "first bank of it"),
            ],
            [
                (1, "second bank of it"),
                (1, "third bank of it"),
                (0, "Clocks"),
                *((1, f"clock number {n} of it") for n in range(4)),
            ],
        ]
    )
    assert {above[f"{which} bank of it"] for which in ("first", "second", "third")} == {"Memory"}
    assert {parent for text, parent in above.items() if re.match("clock", text)} == {"Clocks"}


def test_a_chinese_paragraph_goes_on_below_its_indented_first_line():
    paper = Paper(10)
    paper.line(70, "The processor has a pipeline with out-of-order execution, and it has in all the units a depth of")
    paper.line(50, "12 stages from the first to the last of them, which is more than the one before it had in its own.")
    found = said(paper.done())
    assert ("cpu.pipeline_stages", 12, None) in found


def test_bullets_side_by_side_are_no_header():
    paper = Paper(9)
    for left, right in (
        ("175 MHz maximum frequency", "High level of integration"),
        ("230 dhrystone MIPS", "16 KB instruction cache"),
        ("Low power operation", "32-entry TLB"),
    ):
        paper.text(310, f"• {right}")
        paper.line(50, f"• {left}")
    with PdfFile(paper.done(), "t") as file:
        assert read_tables(file.page(1), None)[0] == []


def test_headings_of_their_own_tell_columns_from_cells():
    paper = Paper(9)
    start = paper.y
    for x, lists in (
        (
            50,
            (
                ("Applications", ("Gateways", "Meters")),
                ("Overview", ("One family", "Two domains", "Three cores", "Small")),
            ),
        ),
        (
            310,
            (
                ("Learning", ("2 TOPS in all", "Local memory", "Two engines", "One bus")),
                ("Memory", ("64 KB of SRAM", "DDR4")),
            ),
        ),
    ):
        paper.y = start
        for title, items in lists:
            paper.line(x, title, bold=True, size=13)
            for item in items:
                paper.line(x, f"• {item}" if x > 300 else item)
    with PdfFile(paper.done(), "t") as file:
        read = [line.text.removeprefix("• ") for line in text_lines(file.page(1))]
    assert read == [
        *("Applications", "Gateways", "Meters", "Overview", "One family", "Two domains", "Three cores", "Small"),
        *("Learning", "2 TOPS in all", "Local memory", "Two engines", "One bus", "Memory", "64 KB of SRAM", "DDR4"),
    ]
