"""Headers that run upwards head the columns below them; other turned words do not."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.layout.turned_headers import with_turned_headers
from hwdoc_ingest.page.pages import Page, PdfFile, Word
from hwdoc_ingest.reading import no_progress

HEADS = ("Flash (Kbyte)", "SRAM (Kbyte)", "DMA channels", "Max. CPU|frequency (MHz)")
ROWS = (("TQ12", "128", "40", "8", "64"), ("TQ14", "256", "64", "16", "96"))
KB = 1024


def sheet(turn=90, upright="Device"):
    """A table whose headers are turned by an angle; a name broken at `|` stands on two lines."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(500, 400), invariant=1)
    canvas.setFont("Helvetica", 9)
    canvas.drawString(40, 370, "Table 1. Features of the devices")
    canvas.drawString(40, 300, upright)
    for at, head in enumerate(HEADS):
        for line, words in enumerate(head.split("|")):
            canvas.saveState()
            canvas.translate(130 + 70 * at + (11 * line if turn > 0 else -11 * line), 262 if turn > 0 else 322)
            canvas.rotate(turn)
            canvas.drawString(0, 0, words)
            canvas.restoreState()
    for line, row in enumerate(ROWS):
        for at, cell in enumerate(row):
            canvas.drawString(40 if at == 0 else 50 + 70 * at, 240 - 14 * line, cell)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


@pytest.mark.parametrize("turn", [90, -90])
def test_turned_headers_head_their_columns(turn):
    found = read_pdf_bytes(sheet(turn), "d", "d.pdf", no_progress).candidates
    told = {(c.field, c.instance, c.max if c.value is None else c.value) for c in found}
    assert told >= {
        ("memory.flash.size_bytes", "TQ12", 128 * KB),
        ("memory.sram.size_bytes", "TQ14", 64 * KB),
        ("dma.channels", "TQ14", 16),
        ("cpu.clock_hz", "TQ12", 64e6),
        ("cpu.clock_hz", "TQ14", 96e6),
    }


def test_without_them_the_numbers_are_of_nothing():
    with PdfFile(sheet(45), "d.pdf") as file:  # a slant is a watermark
        assert file.page(1).turned == ()
    assert not read_pdf_bytes(sheet(45), "d", "d.pdf", no_progress).candidates


def test_a_lone_turned_line_and_one_of_digits_are_left_alone():
    mark = Word("PRELIMINARY", (5, 100, 15, 300), 9, 300)
    ticks = tuple(Word(str(n), (20 * n, 100, 20 * n + 9, 130), 9, 130) for n in range(4))
    page = Page(1, 500, 400, (Word("Text", (40, 90, 60, 99), 9, 98),), turned=(mark,))
    assert with_turned_headers(page) is page
    axis = Page(1, 500, 400, page.words, turned=ticks)
    assert with_turned_headers(axis) is axis


def test_headers_stand_on_one_line_with_the_upright_ones():
    with PdfFile(sheet(), "d.pdf") as file:
        page = with_turned_headers(file.page(1))
    bases = {round(word.base) for word in page.words if word.text in ("Device", "Flash (Kbyte)", "DMA channels")}
    assert len(bases) == 1
    assert "Max. CPU frequency (MHz)" in [word.text for word in page.words]
