"""Pages without a text layer: which pages are read from the image, and what is read there."""

import io
import math

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.ocr.ocr import default_engine, skew
from hwdoc_ingest.ocr.ocr_engine import SeenWord
from hwdoc_ingest.ocr.ocr_pages import as_shown, read_page, turned
from hwdoc_ingest.ocr.ocr_spelling import mend_names
from hwdoc_ingest.ocr.page_image import render_page
from hwdoc_ingest.page.pages import Page, PdfFile, Word
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError

LINES = [
    "1.2 Features",
    "Integrated 32KB L1 instruction cache and 16KB L1 data cache",
    "512KB unified L2 Cache shared by all cores",
    "Internal SRAM size 64KB",
    "Support 8 DMA channels",
    "One oscillator with 24MHz clock input",
]
DPI = 200


def scan(lines=LINES, degrees=0.0, speckle=True):
    """A picture of typed lines, as a scanner gives it: gray, speckled, a little turned."""
    width, height = int(420 / 72 * DPI), int(300 / 72 * DPI)
    picture = Image.new("L", (width, height), 250)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=11 / 72 * DPI)
    for i, line in enumerate(lines):
        draw.text((25 / 72 * DPI, (25 + 24 * i) / 72 * DPI), line, font=font, fill=25)
    picture = picture.rotate(degrees, fillcolor=250, resample=Image.Resampling.BICUBIC)
    if speckle:
        noise = np.random.default_rng(7).normal(0, 6, (height, width))
        picture = Image.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8))
    return picture


def pdf_of(*pages):
    """A PDF whose pages are pictures (PIL) or drawing functions."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(420, 300), invariant=1)
    for page in pages:
        canvas.setFont("Helvetica", 10)
        if isinstance(page, Image.Image):
            canvas.drawImage(ImageReader(page), 0, 0, 420, 300)
        else:
            page(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def no_engine():
    raise AssertionError("this page needs no OCR")


def prose(canvas):
    for i in range(12):
        canvas.drawString(30, 270 - 14 * i, "Plain sentences of a text layer that can be read as they are.")


def test_a_page_with_a_text_layer_is_not_read_from_its_image():
    with PdfFile(pdf_of(prose), "t") as file:
        page, _ = read_page(file, 1, no_engine)
    assert not page.by_ocr


def test_an_empty_page_and_a_drawing_are_not_read():
    def drawing(canvas):
        canvas.rect(40, 40, 300, 200)
        canvas.rect(90, 80, 100, 60)
        canvas.line(40, 40, 340, 240)

    with PdfFile(pdf_of(lambda c: None, drawing), "t") as file:
        assert [read_page(file, n, no_engine)[0].by_ocr for n in (1, 2)] == [False, False]


def test_a_scan_is_read_and_its_values_are_bound():
    reading = read_pdf_bytes(pdf_of(prose, scan()), "k", "scan.pdf", no_progress)
    assert reading.source.pages_by_ocr == (2,)
    found = {(c.field, c.value, c.page) for c in reading.candidates}
    assert {
        ("cpu.l1i_cache.size_bytes", 32768, 2),
        ("cpu.l1d_cache.size_bytes", 16384, 2),
        ("cpu.l2_cache.size_bytes", 524288, 2),
        ("dma.channels", 8, 2),
        ("clock.xtal_hz", 24_000_000, 2),
    } <= found
    cache = next(c for c in reading.candidates if c.field == "cpu.l2_cache.size_bytes")
    assert cache.method == "ocr+sentence-rule"
    assert cache.sharing == "shared"
    assert cache.box is not None
    assert 25 + 48 - 6 < cache.box[1] < cache.box[3] < 25 + 48 + 22


def test_a_turned_scan_gives_boxes_on_the_page_as_shown():
    data = pdf_of(scan(degrees=2.0))
    reading = read_pdf_bytes(data, "k", "scan.pdf", no_progress)
    cache = next(c for c in reading.candidates if c.field == "cpu.l2_cache.size_bytes")
    assert cache.box is not None
    # the picture was turned by 2 degrees about its middle: the third line's start moves down by about 7 points
    left, top = 25 - 210, 25 + 48 - 150
    down = -left * math.sin(math.radians(2.0)) + top * math.cos(math.radians(2.0)) + 150
    assert cache.box[3] == pytest.approx(down + 12, abs=6)


def test_text_painted_as_a_picture_beside_bullets_of_a_text_layer_is_read():
    picture = scan(LINES[1:])

    def page(canvas):
        canvas.drawImage(ImageReader(picture), 0, 0, 420, 300)
        for i in range(6):
            canvas.drawString(14, 268 - 24 * i, "•")

    with PdfFile(pdf_of(page), "t") as file:
        read, _ = read_page(file, 1)
    assert read.by_ocr
    assert "512KB" in [word.text for word in read.words]
    assert any(word.text == "•" for word in read.words)


def test_skew_is_the_slope_of_the_long_lines():
    slope = math.radians(1.5)
    lines = [
        SeenWord("x" * 20, ((0, y), (300, y + 300 * math.tan(slope)), (300, y + 20), (0, y + 20)), 0.9)
        for y in (0, 50, 90)
    ]
    assert skew(lines) == pytest.approx(slope, abs=1e-9)
    assert skew([]) == 0.0


def test_straightening_and_back_is_the_identity():
    page = Page(1, 400, 300, (), skew=0.02)
    corner = turned((30.0, 40.0), page, 0.02)
    left, top, right, bottom = as_shown((*corner, *corner), page)
    assert (left, top, right, bottom) == pytest.approx((30, 40, 30, 40), abs=1e-9)


def test_the_default_engine_reads_units_and_signs():
    picture = np.asarray(scan(["Supply current 170 mA at +5V ±5%"], speckle=False).convert("RGB"))[:, :, ::-1]
    words = " ".join(word.text for word in default_engine().read(np.ascontiguousarray(picture)))
    assert "170 mA" in words
    assert "±5%" in words


def test_a_page_picture_has_marks_where_the_boxes_are():
    data = pdf_of(prose)
    plain = np.asarray(Image.open(io.BytesIO(render_page(data, 1, 72))))
    marked = np.asarray(Image.open(io.BytesIO(render_page(data, 1, 72, [(300.0, 200.0, 350.0, 220.0)]))))
    assert plain.shape == marked.shape == (300, 420, 3)
    changed = np.argwhere((plain != marked).any(axis=2))
    (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
    assert (left, top, right, bottom) == pytest.approx((298, 198, 352, 222), abs=2)


@pytest.mark.parametrize(("page", "dpi", "says"), [(2, 100, "no page 2"), (0, 100, "no page 0"), (1, 5000, "5000 dpi")])
def test_a_page_that_cannot_be_drawn_is_told(page, dpi, says):
    with pytest.raises(InputError, match=says):
        render_page(pdf_of(prose), page, dpi)


def test_a_zero_read_as_a_letter_is_mended_where_the_document_counts_on():
    def page(*texts, by_ocr=True):
        return Page(1, 100, 100, tuple(Word(t, (0, 0, 9, 9), 9, 8, sure=0.9) for t in texts), by_ocr=by_ocr)

    (mended,) = mend_names([page("DMACO", "features:", "DMAC1", "VIDEO")])
    assert [w.text for w in mended.words] == ["DMAC0", "features:", "DMAC1", "VIDEO"]
    (text_layer,) = mend_names([page("DMACO", "DMAC1", by_ocr=False)])
    assert [w.text for w in text_layer.words] == ["DMACO", "DMAC1"]
