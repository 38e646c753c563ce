"""Words, lines and columns of small PDFs written for the test."""

import io

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.page.pages import PdfFile
from hwdoc_ingest.page.text_lines import drop_furniture, text_lines
from metainfer_core.errors import InputError


def pdf(*pages, rotate=0):
    """A PDF with a page for each drawing function."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(400, 300), invariant=1)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        if rotate:
            canvas.setPageRotation(rotate)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def words(data, number=1):
    with PdfFile(data, "test.pdf") as file:
        return file.page(number).words


def test_boxes_are_in_points_from_the_top_left():
    (word,) = words(pdf(lambda c: c.drawString(100, 200, "64KB")))
    left, top, right, bottom = word.box
    assert word.text == "64KB"
    assert (left, right) == pytest.approx((100, 100 + stringWidth("64KB", "Helvetica", 10)), abs=0.1)
    assert top < 300 - 200 < bottom + 1
    assert word.base == pytest.approx(100, abs=0.1)
    assert word.size == pytest.approx(10, abs=0.01)


def test_a_footnote_mark_is_told_from_the_number_it_is_glued_to():
    def draw(c):
        c.drawString(50, 200, "sizes 32, 48")
        end = 50 + c.stringWidth("sizes 32, 48")
        c.setFont("Helvetica", 6)
        c.drawString(end, 204, "1")
        c.setFont("Helvetica", 10)
        c.drawString(end + 3.4, 200, ", 64 KB")

    data = pdf(draw)
    assert [w.text for w in words(data) if w.raised == 1] == ["1"]
    with PdfFile(data, "t") as file:
        assert [line.text for line in text_lines(file.page(1))] == ["sizes 32, 48, 64 KB"]


def test_a_subscript_is_glued_and_an_exponent_kept():
    def draw(c):
        c.drawString(50, 200, "T")
        c.setFont("Helvetica", 6)
        c.drawString(56.1, 198, "A")
        c.setFont("Helvetica", 10)
        c.drawString(80, 200, "2")
        c.setFont("Helvetica", 6)
        c.drawString(85.6, 204, "32")

    with PdfFile(pdf(draw), "t") as file:
        assert [line.text for line in text_lines(file.page(1))] == ["TA 2^32"]


def test_sideways_watermarks_are_left_out():
    def draw(c):
        c.drawString(50, 200, "real text")
        c.saveState()
        c.rotate(45)
        c.drawString(150, 0, "CONFIDENTIAL")
        c.restoreState()

    assert [w.text for w in words(pdf(draw))] == ["real", "text"]


def test_a_rotated_page_reads_upright():
    def draw(c):
        c.saveState()
        c.translate(200, 100)
        c.rotate(90)
        c.drawString(0, 0, "upright when shown")
        c.restoreState()

    data = pdf(draw, rotate=90)
    found = words(data)
    assert [w.text for w in found] == ["upright", "when", "shown"]
    assert found[0].box[2] < found[1].box[0]


def test_two_columns_of_lists_are_read_one_after_the_other():
    def draw(c):
        for i in range(6):
            c.drawString(30, 250 - 14 * i, f"* left item {i}")
            c.drawString(220, 250 - 14 * i, f"* right item {i}")

    with PdfFile(pdf(draw), "t") as file:
        texts = [line.text for line in text_lines(file.page(1))]
    assert texts == [f"* left item {i}" for i in range(6)] + [f"* right item {i}" for i in range(6)]


def test_a_name_and_its_value_across_a_gap_are_one_line():
    with PdfFile(
        pdf(lambda c: (c.drawString(30, 200, "Storage temperature"), c.drawString(250, 200, "-55 to 125 °C"))), "t"
    ) as file:
        assert [line.text for line in text_lines(file.page(1))] == ["Storage temperature -55 to 125 °C"]


def test_running_heads_are_dropped_and_the_rest_kept():
    def page(number):
        def draw(c):
            c.drawString(30, 285, "Chip Datasheet")
            c.drawString(30, 150, f"body {'abcd'[number]}")
            c.drawString(350, 10, str(number + 1))

        return draw

    data = pdf(*[page(i) for i in range(4)])
    with PdfFile(data, "t") as file:
        pages = drop_furniture([file.page(n) for n in range(1, 5)])
    assert [[w.text for w in p.words] for p in pages] == [["body", c] for c in "abcd"]


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"not a pdf", "not a PDF"), (b"%PDF-1.7\nbroken", "cannot be opened")],
)
def test_what_is_no_pdf_ends_in_one_clear_message(data, says):
    with pytest.raises(InputError, match=says):
        PdfFile(data, "x.pdf")
