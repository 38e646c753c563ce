"""Drawing candidates for judging by eye: which ones no fact judges, and that a seed draws the same."""

import io
import json
import subprocess
import sys

from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.unjudged import draw, unjudged

FACTS = [
    {"field": "dma.channels", "value": 8, "unit": "count"},
    {"field": "mmio.base", "value": "0x1000", "unit": "addr", "instance": "UART"},
]


def said(field, value, page=1, instance=None):
    return {"field": field, "value": value, "page": page, "instance": instance, "confidence": 0.9}


def test_what_finds_repeats_or_contradicts_a_fact_is_judged():
    finds, repeats, contradicts = (
        said("dma.channels", 8),
        said("dma.channels", 8, page=4),
        said("mmio.base", "0x2000", instance="UART"),
    )
    another_block, another_field = said("mmio.base", "0x3000", instance="SPI"), said("cpu.cores", 2)
    assert unjudged([finds, repeats, contradicts, another_block, another_field], FACTS) == [
        another_block,
        another_field,
    ]


def test_a_seed_draws_the_same_and_each_at_most_once():
    pool = {"b.pdf": [said("cpu.cores", n, page=9 - n) for n in range(5)], "a.pdf": [said("cpu.cores", 7)]}
    drawn = draw(pool, 4, 3)
    assert drawn == draw(dict(reversed(pool.items())), 4, 3)
    assert drawn != draw(pool, 4, 4)
    everything = draw(pool, 100, 3)
    assert [(name, c["page"]) for name, c in everything] == [("a.pdf", 1), *(("b.pdf", p) for p in (5, 6, 7, 8, 9))]


def test_the_command_pictures_what_it_draws(tmp_path):
    for part in ("docs", "truth"):
        (tmp_path / part).mkdir()
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(500, 400), invariant=1)
    canvas.drawString(60, 340, "Features")
    canvas.drawString(60, 300, "DMA controller with 16 channels")
    canvas.save()
    (tmp_path / "docs" / "x.pdf").write_bytes(out.getvalue())
    (tmp_path / "truth" / "x.json").write_text(json.dumps({"doc": "x.pdf", "facts": []}))
    command = [sys.executable, "-m", "hwdoc_ingest.unjudged", str(tmp_path), "--out", str(tmp_path / "o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (only,) = json.loads((tmp_path / "o" / "drawn.json").read_text())
    assert (only["doc"], only["field"], only["value"], only["page"]) == ("x.pdf", "dma.channels", 16, 1)
    assert done.stdout.startswith("1 of 1 candidates")
    with Image.open(tmp_path / "o" / "sheet00.png") as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
    assert any(red > 200 and green < 170 and blue < 90 for red, green, blue in colours)  # the marked place
