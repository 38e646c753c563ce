"""Which pages are laid out: those on which a rule may find something, and no others."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.page.pages import PdfFile, Word
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.rules.page_filter import can_matter


def words(text: str) -> list[Word]:
    return [Word(each, (0.0, 0.0, 1.0, 1.0), 10.0, 1.0) for each in text.split()]


@pytest.mark.parametrize(
    "text",
    [
        "The L2 cache is 512 KB.",
        "SRAM 0x2000_0000 to 0x2001_FFFF",
        "The area from H'E000 0000 to H'E3FF FFFF is reserved",
        "TRAP 24H",
        "Name Offset Size CTRL 0x0004 W",
        "four-way set associative",
        "supports LPDDR4 and DDR3L",
        "INT8, INT16 and FP16",
        "Quad-core Cortex-A55",
        "169-ball BGA",
        "Device Flash (KB) Pins QX10 128 48",
        "On-chip memory KB 128",
        "0x1000.0000 - 0x10FF.FFFF Control space",
        "Base address of UART0 0x50005000",
        "Operation Latency Load 2",
        "IRQ Source 4 UART0",
        "Runs models of ONNX",
        "典型功耗 1.2 W",
        "最大 256KB 程序存储区",
        "QFN56 package",
        "storage temperature -40 to 125 °C",
        "L2 缓存 1 MB",
        "8 ch DMA",
        "After reset the core starts at 0x1C",
        "Position Acronym Address 0 WWDG 0x0000 0040 5 RCC 0x0000 0054 6 EXTI 0x0000 0058",
    ],
)
def test_a_page_with_something_to_find_matters(text: str) -> None:
    assert can_matter(words(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All rights reserved. Printed in 1998.",
        "The request is sampled at the rising edge of the clock; see Figure 7-12.",
        "MOV R1, R2 moves the second register to the first.",
        "Address: 0x1A10_0004 Reset value: 0x0000_0000",
        "The branch is taken in which 2 slots follow",
        "Address: 0x1A10_0004 Address: 0x1A10_0008",
        "本章说明图 3 与第 12 步",
        "See page 12 for 4 KB of them",
    ],
)
def test_a_page_without_does_not(text: str) -> None:
    assert not can_matter(words(text))


def manual(*pages: tuple[str, ...]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=1)
    for lines in pages:
        for at, line in enumerate(lines):
            canvas.setFont("Helvetica-Bold" if line[0].isdigit() else "Helvetica", 16 if line[0].isdigit() else 10)
            canvas.drawString(72, 760 - 22 * at, line)
        canvas.rect(72, 100, 300, 40)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_headings_of_a_page_that_does_not_matter_still_hold_for_the_next() -> None:
    data = manual(
        ("1 Overview", "This manual is about a chip."),
        ("2 Neural processing unit", "The unit is described below."),
        ("Data types are INT8, INT16 and FP16.",),
    )
    with PdfFile(data, "m.pdf") as file:
        pages = [file.page(number, can_matter) for number in (1, 2, 3)]
    assert [page.matters for page in pages] == [False, False, True]
    assert [len(page.rulings) for page in pages] == [0, 0, 4]
    read = read_pdf_bytes(data, "m", "m.pdf", no_progress)
    assert [(c.field, c.value, c.page) for c in read.candidates] == [("npu.data_types", ("INT8", "INT16", "FP16"), 3)]
