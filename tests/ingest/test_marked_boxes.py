"""A marked box must hold the value that it is marked for."""

import io
import json

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.evaluate import BoxCheck, evaluate
from hwdoc_ingest.intake.document_pages import PageWords, words_in
from hwdoc_ingest.judging.marked_boxes import holds
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.sureness.confidence import weigh
from metainfer_core.spec.drafting.draft import Candidate

PAGE = PageWords(
    page=1,
    words=("L2", "cache:", "512KB", "L3", "cache:", "1MB"),
    boxes=tuple(
        (10.0 + 20 * (i % 3), 10.0 + 15 * (i // 3), 28.0 + 20 * (i % 3), 20.0 + 15 * (i // 3)) for i in range(6)
    ),
)


def test_words_whose_middle_is_inside():
    assert words_in(PAGE, (10.0, 10.0, 70.0, 20.0)) == "L2 cache: 512KB"
    assert words_in(PAGE, (45.0, 24.0, 70.0, 36.0)) == "1MB"
    assert words_in(PAGE, (200.0, 200.0, 300.0, 300.0)) == ""


@pytest.mark.parametrize(
    ("text", "entry", "printed_as"),
    [
        ("L2 cache: 512KB", {"value": 524288}, ""),
        ("16-KByte, direct mapped", {"value": 1}, ""),
        ("Supply voltage | 3.0 | 3.3 | 3.6 | V", {"value": 3.3, "min": 3.0, "max": 3.6}, ""),
        ("32 | 64", {"value": [32768, 65536]}, ""),
        ("quad-core", {"value": 4}, ""),
        ("SRAM 0x2000_0000 - 0x2000_FFFF", {"value": "0x20000000"}, ""),
        ("SRAM 0x2000_0000 - 0x2000_FFFF", {"value": 65536}, ""),
        ("RST 7.5 3CH", {"value": "0x3c"}, ""),
        ("LPDDR4X and DDR3L", {"value": ["DDR3L", "LPDDR4X"]}, ""),
        ("internal buffer 384KBx3", {"value": 1179648}, "384KBx3"),
        ("-40 to 85 °C", {"value": [-40, 85]}, ""),
    ],
)
def test_a_box_that_holds_the_value(text, entry, printed_as):
    assert holds(text, entry, printed_as)


@pytest.mark.parametrize(
    ("text", "entry", "printed_as"),
    [
        ("", {"value": 524288}, ""),
        ("L2 cache: 512KB", {"value": 262144}, ""),
        ("L2 cache: 512KB", {"value": 512}, "512 MB"),
        ("Supply voltage | 3.0 | 3.3 | V", {"value": 3.3, "min": 3.0, "max": 3.6}, ""),
        ("LPDDR4X", {"value": ["DDR3L", "LPDDR4X"]}, ""),
        ("nothing is said", {}, ""),
    ],
)
def test_a_box_that_does_not(text, entry, printed_as):
    assert not holds(text, entry, printed_as)


def chip(tmp_path):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(420, 300), invariant=1)
    for lines in (("1 Features", "512KB unified L2 cache"), ("2 Memory", "The L2 cache has 512KB.", "SRAM of 64 KB")):
        for at, line in enumerate(lines):
            canvas.drawString(30, 270 - 30 * at, line)
        canvas.showPage()
    canvas.save()
    for name in ("docs", "truth"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/c.pdf").write_bytes(out.getvalue())
    fact = {"field": "cpu.l2_cache.size_bytes", "value": 524288, "unit": "B", "page": 2, "raw": "512KB"}
    (tmp_path / "truth/c.json").write_text(json.dumps({"doc": "c.pdf", "kind": "pdf", "facts": [fact]}))
    return tmp_path


def test_evaluate_tells_pages_and_boxes(tmp_path):
    report = evaluate(chip(tmp_path), "", "", 0.98, 1, no_progress)
    assert (report["found"], report["page_right"], report["boxed"], report["box"]) == (1, 1.0, 1, 1.0)
    assert report["documents"][0]["empty_boxes"] == report["documents"][0]["other_page"] == []


def test_a_box_elsewhere_on_the_page_is_told_with_its_words(tmp_path):
    candidate = {"field": "cpu.l2_cache.size_bytes", "value": 524288, "page": 2, "box": [25.0, 80.0, 200.0, 100.0]}
    (missed,) = BoxCheck(chip(tmp_path) / "docs", no_progress)("c.pdf", [(candidate, {"raw": "512KB"})])
    assert missed["words"] == "SRAM of 64 KB"


def said(page, value=524288, confidence=0.9, **more):
    box = (1.0, 1.0, 9.0, 9.0 + page)
    text = f"L2 of {value} on page {page}"
    fixed = {"field": "cpu.l2_cache.size_bytes", "unit": "B", "source": "c", "method": "sentence-rule"}
    return Candidate(**fixed, value=value, page=page, box=box, text=text, confidence=confidence, **more)


def test_a_value_keeps_every_page_that_says_it():
    weighed = weigh([said(3), said(9, confidence=0.8), said(9, confidence=0.7), said(12, confidence=0.6)])
    assert [(c.page, c.text, c.box[3]) for c in weighed] == [
        (3, "L2 of 524288 on page 3", 12.0),
        (9, "L2 of 524288 on page 9", 18.0),
        (12, "L2 of 524288 on page 12", 21.0),
    ]
    assert {c.confidence for c in weighed} == {0.975}


def test_a_bare_value_bears_out_the_same_with_its_bounds():
    weighed = weigh([said(3, typ=524288.0, confidence=0.95), said(9, confidence=0.8)])
    assert [(c.page, c.confidence) for c in weighed] == [(3, 0.988), (9, 0.988)]
    contested = weigh([said(3, confidence=0.95), said(9, value=262144, confidence=0.94)])
    assert [(c.value, c.confidence) for c in contested] == [(524288, 0.6), (262144, 0.6)]
