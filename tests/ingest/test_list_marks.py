"""Bullets that are drawn, or are letters of a font of symbols; words that are broken at the end of a line."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.page.drawn_bullets import mark_items
from hwdoc_ingest.page.line_breaks import broken_off, keeps_hyphen
from hwdoc_ingest.page.pages import Page, Word
from hwdoc_ingest.page.text_lines import join_words
from hwdoc_ingest.reading import no_progress

ITEMS = ("Dual-core Cortex-A7 up to 1.2 GHz", "512 KB SRAM", "64 KB boot ROM", "0.5 TOPS NPU")


def sheet(dots: bool) -> bytes:
    """A list in a narrow column, each item as long as the column is wide."""
    out = io.BytesIO()
    canvas = Canvas(out, (595, 842), invariant=True)
    canvas.setFont("Helvetica", 10)
    for at, item in enumerate(ITEMS):
        y = 700 - 13 * at
        canvas.drawString(60, y, item)
        if dots:
            canvas.circle(52, y + 3, 1.3, stroke=0, fill=1)
    canvas.save()
    return out.getvalue()


def test_drawn_dots_part_the_items_of_a_list():
    found = read_pdf_bytes(sheet(True), "doc", "s.pdf", no_progress).candidates
    told = {(c.field, c.value if c.value is not None else c.max) for c in found}
    assert {("memory.sram.size_bytes", 512 * 1024), ("memory.rom.size_bytes", 65536), ("npu.tops", 0.5)} <= told
    assert {c.text for c in found if c.field == "memory.sram.size_bytes"} == {"512 KB SRAM"}


def word(text, left, base, size=10.0):
    return Word(text, (left, base - 8, left + 5 * len(text), base + 2), size, base)


def page(*words, dots=()):
    return Page(1, 595, 842, words, dots=tuple(dots))


def test_a_dot_with_words_left_of_it_is_no_bullet():
    dot = (100.0, 94.0, 102.5, 96.5)
    marked = mark_items([page(word("SRAM", 106, 98), dots=[dot])])[0]
    assert [each.text for each in marked.words] == ["•", "SRAM"]
    between = mark_items([page(word("3", 92, 98), word("SRAM", 106, 98), dots=[dot])])[0]
    assert [each.text for each in between.words] == ["3", "SRAM"]


@pytest.mark.parametrize(("count", "marked"), [(3, True), (2, False)])
def test_a_letter_that_begins_several_lines_at_one_place_is_a_bullet(count, marked):
    words = [w for n in range(count) for w in (word("l", 60, 100 + 14 * n), word(f"Item{n}", 75, 100 + 14 * n))]
    texts = [each.text for each in mark_items([page(*words)])[0].words]
    assert texts[0] == ("•" if marked else "l")


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("proces-", "sor", "processor"),
        ("write-", "back", "write-back"),
        ("(8-", "way,", "(8-way,"),
        ("set-", "associative", "set-associative"),
        ("DMA-", "capable", "DMA-capable"),
    ],
)
def test_a_word_broken_at_the_end_of_a_line_is_whole(first, second, whole):
    words = [word("a", 450, 100), word(first, 480, 100), word(second, 60, 112), word("unit", 120, 112)]
    text, places = join_words(words)
    assert text == f"a {whole} unit"
    assert text[slice(*places[2])] == second
    assert keeps_hyphen(first) == ("-" in whole)


def test_words_on_one_line_stay_apart():
    assert join_words([word("write-", 60, 100), word("back", 120, 100)])[0] == "write- back"
    assert not broken_off(word("Cortex-", 480, 100), word("A7", 60, 112))
