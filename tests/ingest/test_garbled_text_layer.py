"""A text layer whose fonts do not say what their glyphs mean: the page is read from its image instead."""

import pytest
from unseen_sheets import Block, Sheet, pdf

from hwdoc_ingest.ocr.ocr_pages import read_page
from hwdoc_ingest.page.pages import PdfFile, plain_text

LINES = ("16 KB instruction cache and 8 KB data cache", "Supply voltage 3.3 V", "Operating temperature -40 to 85 °C")


@pytest.fixture(scope="module")
def whole():
    blocks = (Block("heading", "Features"), *(Block("text", line) for line in LINES))
    return pdf(Sheet("garbled", "html", blocks, ()))


def without_meanings(data):
    """The PDF without the tables that give its fonts' glyphs a meaning; every object keeps its place."""
    assert data.count(b"/ToUnicode")
    return data.replace(b"/ToUnicode", b"/NoUnicode")


def test_a_page_is_garbled_when_its_glyphs_have_no_characters(whole):
    for data, garbled in ((whole, False), (without_meanings(whole), True)):
        with PdfFile(data, "sheet.pdf") as file:
            assert file.page(1).garbled is garbled


def test_a_garbled_page_is_read_from_its_image_alone(whole):
    with PdfFile(without_meanings(whole), "sheet.pdf") as file:
        page, _ = read_page(file, 1)
    said = " ".join(word.text for word in page.words)
    assert page.by_ocr
    assert "instruction" in said
    assert "3.3" in said
    assert "\x13" not in said  # what the text layer gives for some of the letters


@pytest.mark.parametrize(
    ("printed", "plain"),
    [("\u2f40持", "支持"), ("\u3392", "MHz"), ("１６ＫＢ", "16KB"), ("85 º", "85 °"), ("con\ufb01gured", "configured")],
)
def test_other_shapes_of_a_character_are_that_character(printed, plain):
    assert plain_text(printed) == plain
