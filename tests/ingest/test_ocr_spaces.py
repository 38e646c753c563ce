"""Words that OCR glued together are parted where their writing or the document shows it."""

import pytest

from hwdoc_ingest.ocr.ocr_spaces import SPACE, keep_apart, mend_spaces
from hwdoc_ingest.page.pages import Page, Word
from hwdoc_ingest.page.text_lines import join_words


def page(text, by_ocr=True):
    words = tuple(Word(t, (10.0 * i, 0.0, 10.0 * i + 8, 9.0), 9.0, 8.0) for i, t in enumerate(text.split()))
    return Page(1, 100.0, 100.0, words, by_ocr=by_ocr)


def mended(text):
    return " ".join(word.text for word in mend_spaces([page(text)])[0].words)


@pytest.mark.parametrize(
    ("seen", "meant"),
    [
        ("32KB L1instruction cache", "32KB L1 instruction cache"),
        ("InternalSRAM size", "Internal SRAM size"),
        ("MC6809,MC68A09 parts", "MC6809, MC68A09 parts"),
        ("shared by allcores; four cores, cores", "shared by all cores; four cores, cores"),
        ("stability ofthe clock; the other the", "stability of the clock; the other the"),
        ("frequency(crystal or external)", "frequency (crystal or external)"),
    ],
)
def test_glued_words_are_parted(seen, meant):
    assert mended(seen) == meant


@pytest.mark.parametrize(
    "text",
    ["forward and format", "island is land", "L1D L2 DMAC0 TensorFlow", "1,024 bytes 0x1000,0x2000", "issued and sued"],
)
def test_words_that_are_whole_stay_so(text):
    assert mended(text) == text


def test_boxes_are_parted_by_letters():
    first, second = mend_spaces([page("L1data")])[0].words
    assert (first.text, first.box[2], second.text) == ("L1", pytest.approx(8 / 3 - 0.4), "data")
    assert (second.box[0], second.box[2]) == pytest.approx((8 / 3, 8.0))


def test_a_text_layer_is_left_as_it_is():
    assert mend_spaces([page("L1data InternalSRAM", by_ocr=False)])[0].words == page("L1data InternalSRAM").words


def test_words_whose_boxes_touch_stay_two_words():
    def word(text, left, right, base=8.0):
        return Word(text, (left, 0.0, right, 9.0), 10.0, base)

    words = (word("L1", 0.0, 12.0), word("data", 12.0, 30.0), word("cache", 33.0, 50.0), word("next", 0.0, 9.0, 20.0))
    apart = keep_apart(words)
    assert [w.box[2] for w in apart] == [12.0 - SPACE * 10, 30.0, 50.0, 9.0]
    assert join_words(words)[0].startswith("L1data")
    assert join_words(apart)[0].startswith("L1 data cache")
