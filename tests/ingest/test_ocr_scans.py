"""Scans that a scanner gives: coarse and fine, pale, turned, packed as JPEG."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.ocr.ocr import default_engine
from hwdoc_ingest.reading import no_progress

LINES = (
    "1.1 Features",
    "32KB L1 instruction cache and 64KB L1 data cache",
    "1MB unified L2 cache shared by all cores",
    "Internal SRAM size 256KB",
    "One oscillator with 24MHz clock input",
)
SAID = {
    ("cpu.l1i_cache.size_bytes", 32768),
    ("cpu.l1d_cache.size_bytes", 65536),
    ("cpu.l2_cache.size_bytes", 1 << 20),
    ("memory.sram.size_bytes", 256 << 10),
    ("clock.xtal_hz", 24_000_000),
}


def picture(lines, dpi, degrees=0.0, ink=25, paper=250, noise=5.0):
    """Typed lines as a scanner gives them."""
    width, height = round(420 / 72 * dpi), round(300 / 72 * dpi)
    image = Image.new("L", (width, height), paper)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=10 / 72 * dpi)
    for at, line in enumerate(lines):
        draw.text((30 / 72 * dpi, (30 + 26 * at) / 72 * dpi), line, font=font, fill=ink)
    image = image.rotate(degrees, fillcolor=paper, resample=Image.Resampling.BICUBIC)
    grain = np.random.default_rng(11).normal(0, noise, (height, width))
    return Image.fromarray(np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8))


def jpeg(image, quality):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return Image.open(io.BytesIO(out.getvalue()))


def read(image):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(420, 300), invariant=1)
    canvas.drawImage(ImageReader(image), 0, 0, 420, 300)
    canvas.showPage()
    canvas.save()
    return read_pdf_bytes(out.getvalue(), "k", "scan.pdf", no_progress)


SCANS = {
    "150 dpi": {"dpi": 150},
    "300 dpi": {"dpi": 300},
    "turned 3 degrees": {"dpi": 200, "degrees": 3.0},
    "turned back 2 degrees": {"dpi": 200, "degrees": -2.0},
    "pale": {"dpi": 200, "ink": 150, "paper": 215},
    "grainy": {"dpi": 200, "noise": 28.0},
}


@pytest.mark.parametrize("kind", SCANS)
def test_a_scan_says_what_was_typed_and_nothing_else(kind):
    candidates = read(picture(LINES, **SCANS[kind])).candidates
    assert {(c.field, c.value) for c in candidates} == SAID
    assert all(c.method.startswith("ocr+") and c.box is not None for c in candidates)


@pytest.mark.parametrize("quarters", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_a_page_that_was_scanned_the_wrong_way_round_is_read_and_its_boxes_lie_on_the_page_as_shown(quarters):
    image = picture(LINES, 200)
    upright = {c.field: c.box for c in read(image).candidates}
    turned = image.transpose(
        (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)[quarters - 1]
    )
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(300, 420) if quarters % 2 else (420, 300), invariant=1)
    canvas.drawImage(ImageReader(turned), 0, 0, *((300, 420) if quarters % 2 else (420, 300)))
    canvas.save()
    found = read_pdf_bytes(out.getvalue(), "k", "scan.pdf", no_progress).candidates
    assert {(c.field, c.value) for c in found} == SAID
    for candidate in found:
        left, top, right, bottom = upright[candidate.field]
        expected = {
            1: (top, 420 - right, bottom, 420 - left),
            2: (420 - right, 300 - bottom, 420 - left, 300 - top),
            3: (300 - bottom, left, 300 - top, right),
        }[quarters]
        assert candidate.box == pytest.approx(expected, abs=4)


def test_a_scan_packed_as_a_small_jpeg():
    candidates = read(jpeg(picture(LINES, 200), 25)).candidates
    assert {(c.field, c.value) for c in candidates} == SAID


def test_no_value_is_read_where_the_paper_is_blank_but_dirty():
    assert read(picture((), 200, noise=40.0)).candidates == ()


def test_the_engine_is_the_one_that_ships_its_models():
    assert default_engine().name == "rapidocr"


def test_every_large_picture_of_text_on_a_page_with_text_is_read():
    filler = ["The unit answers to requests of the processor as they come."] * 9
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(600, 800), invariant=1)
    for at in range(9):
        canvas.drawString(50, 770 - 14 * at, "Plain sentences of a text layer that can be read as they are here.")
    for bottom, line in ((330, "512KB unified L2 cache shared by all cores"), (40, "Internal SRAM size 256KB")):
        text = picture([line, *filler], 200)
        canvas.drawImage(ImageReader(text), 50, bottom, 420, 280)
    canvas.showPage()
    canvas.save()
    reading = read_pdf_bytes(out.getvalue(), "k", "mixed.pdf", no_progress)
    found = {(c.field, c.value) for c in reading.candidates}
    assert found == {("cpu.l2_cache.size_bytes", 512 << 10), ("memory.sram.size_bytes", 256 << 10)}
    assert reading.source.pages_by_ocr == (1,)
