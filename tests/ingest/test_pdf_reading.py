"""From a PDF to candidates: exact candidates from data sheets that the test writes."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.fields import FIELDS
from hwdoc_ingest.intake.pdf_reading import read_pdf, read_pdf_bytes
from hwdoc_ingest.reading import no_progress


def sheet(*lines, title="1.2 Features"):
    """A one-page PDF: a heading and list items."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(600, 800), invariant=1)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(50, 750, title)
    canvas.setFont("Helvetica", 10)
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        canvas.drawString(60 + 12 * indent, 725 - 16 * i, line.strip())
    canvas.save()
    return out.getvalue()


def candidates(data):
    return read_pdf_bytes(data, "doc", "sheet.pdf", no_progress).candidates


def facts(data):
    return {(c.field, c.instance, c.value, c.min, c.typ, c.max) for c in candidates(data)}


def values(data, field):
    return [c.value if c.value is not None else (c.min, c.max) for c in candidates(data) if c.field == field]


def test_caches_of_two_clusters_are_bound_to_their_cores():
    data = sheet(
        "* Dual-core Cortex-A72 processor and quad-core Cortex-A53 processor",
        "* 48KB L1 instruction cache, 32KB L1 data cache and 1MB L2 cache for each Cortex-A72",
        "* 32KB L1 instruction cache, 16KB L1 data cache for each Cortex-A53",
    )
    assert facts(data) == {
        ("cpu.cores", "Cortex-A72", 2, None, None, None),
        ("cpu.cores", "Cortex-A53", 4, None, None, None),
        ("cpu.l1i_cache.size_bytes", "Cortex-A72", 49152, None, None, None),
        ("cpu.l1d_cache.size_bytes", "Cortex-A72", 32768, None, None, None),
        ("cpu.l2_cache.size_bytes", "Cortex-A72", 1048576, None, None, None),
        ("cpu.l1i_cache.size_bytes", "Cortex-A53", 32768, None, None, None),
        ("cpu.l1d_cache.size_bytes", "Cortex-A53", 16384, None, None, None),
    }


def test_a_candidate_says_where_it_stands_and_how_it_was_read():
    (found,) = candidates(sheet("* 512 KB L2 cache shared by four cores"))
    assert (found.field, found.value, found.unit, found.page, found.sharing) == (
        "cpu.l2_cache.size_bytes", 524288, "B", 1, "shared",
    )  # fmt: skip
    assert found.text == "512 KB L2 cache shared by four cores"
    assert found.method == "sentence-rule"
    assert found.source == "doc"
    assert found.box is not None
    left, top, right, bottom = found.box
    assert 60 < left < right < 160
    assert 800 - 725 - 12 < top < bottom < 800 - 725 + 4
    assert 0.9 < found.confidence < 1.0


def test_features_under_their_headings():
    data = sheet(
        "* Dynamic Memory Interface",
        " * Compatible with JEDEC standards LPDDR4/LPDDR4X/LPDDR5",
        " * Totally up to 32GB address space",
        "* DMAC",
        " * Support 8 channels",
        " * 32 hardware request from peripherals",
        "* Neural network acceleration engine with processing performance up to 6 TOPS",
        "* One oscillator with 24MHz clock input",
    )
    assert facts(data) == {
        ("memory.dram.types", None, ("LPDDR4", "LPDDR4X", "LPDDR5"), None, None, None),
        ("memory.dram.max_size_bytes", None, None, None, None, 1 << 35),
        ("dma.channels", "DMAC", 8, None, None, None),
        ("dma.requests", "DMAC", 32, None, None, None),
        ("npu.tops", None, None, None, None, 6),
        ("clock.xtal_hz", None, 24_000_000, None, None, None),
    }


def test_a_table_gives_bounds_and_a_placeholder_gives_nothing():
    out = io.BytesIO()
    c = Canvas(out, pagesize=(600, 400), invariant=1)
    c.setFont("Helvetica-Bold", 14)
    c.drawString(50, 370, "3.1 Absolute Maximum Ratings")
    c.setFont("Helvetica", 10)
    xs = (50, 250, 320, 380, 440, 500)
    for y, cells in (
        (340, ("Parameter", "Symbol", "Min", "Typ", "Max", "Unit")),
        (324, ("Storage temperature", "Tstg", "-40", "", "125", "°C")),
        (308, ("Max CPU frequency", "", "NA", "NA", "TBD", "GHz")),
        (292, ("Max NPU frequency", "", "NA", "NA", "1000", "MHz")),
    ):
        for x, text in zip(xs, cells, strict=True):
            c.drawString(x, y, text)
    c.save()
    found = candidates(out.getvalue())
    assert [(x.field, x.min, x.max, x.strength) for x in found] == [
        ("thermal.storage_c", -40, 125, "must"),
        ("npu.clock_hz", None, 1e9, "must"),
    ]
    assert {x.method for x in found} == {"table-rule"}


@pytest.mark.parametrize(
    "line",
    [
        "* Programmable DMA burst length",
        "* The reset vector must be supplied by the SoC",
        "* Support H.265 up to L5.1 with 8MB buffers",
        "* fill rate 1600Mpix/s when 800MHz clock frequency",
        "* Measured at 25 °C ambient temperature",
        "* CPU clock frequency TBD MHz",
    ],
)
def test_what_is_not_said_is_not_drafted(line):
    drafted = {c.field for c in candidates(sheet(line))}
    assert not drafted & {"dma.max_burst_beats", "reset.vector", "memory.sram.size_bytes", "cpu.clock_hz",
                          "thermal.ambient_c", "cpu.l1d_cache.size_bytes"}  # fmt: skip


def test_register_bits_are_no_features():
    data = sheet(
        "* b010 = 3 channels", "* [7:4] number of DMA channels, 0 = 8 channels", title="10.4 Register Description"
    )
    assert values(data, "dma.channels") == []


def test_contradictions_stay_side_by_side_and_unsure():
    data = sheet("* 64 KB L1 data cache", "* The 32 KB L1 data cache is direct mapped")
    both = [c for c in candidates(data) if c.field == "cpu.l1d_cache.size_bytes"]
    assert {c.value for c in both} == {65536, 32768}
    assert all(c.confidence <= 0.6 for c in both)


def test_a_unit_that_is_not_the_base_unit_leaves_no_crumbs():
    assert values(sheet("* Made in a 22 nm process"), "chip.process_nm") == [22.0]


def test_agreement_in_two_places_makes_surer():
    lines = ("* 321-pin PGA package", "* It comes in a 321-pin PGA package")
    once = candidates(sheet(lines[0]))[0].confidence
    twice = [c for c in candidates(sheet(*lines)) if c.field == "chip.package"]
    assert len(twice) == 1
    assert twice[0].confidence > once


def test_chinese_sentences():
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    out = io.BytesIO()
    c = Canvas(out, pagesize=(600, 400), invariant=1)
    c.setFont("STSong-Light", 12)
    c.drawString(50, 350, "32KB 指令缓存")
    c.drawString(50, 320, "16KB 数据缓存")
    c.save()
    assert facts(out.getvalue()) == {
        ("cpu.l1i_cache.size_bytes", None, 32768, None, None, None),
        ("cpu.l1d_cache.size_bytes", None, 16384, None, None, None),
    }


def test_a_memory_map_gives_addresses_as_hex_text():
    data = sheet("Cluster L1 RAM 0x10000000 - 0x1001FFFF", "SoC Control 0x1A104000 - 0x1A104FFF", title="4 Memory map")
    assert facts(data) == {
        ("memory.region.base", "Cluster L1 RAM", "0x10000000", None, None, None),
        ("memory.region.size_bytes", "Cluster L1 RAM", 131072, None, None, None),
        ("mmio.base", "SoC Control", "0x1a104000", None, None, None),
    }


def test_every_field_is_known_and_in_its_unit():
    data = sheet("* 64 KB L1 data cache", "* up to 240 MHz CPU clock", "* 4 Kbit eFuse")
    for candidate in candidates(data):
        assert candidate.unit == FIELDS[candidate.field].unit


def test_same_bytes_give_the_same_reading(tmp_path):
    data = sheet("* 64 KB L1 data cache", "* 512KB L2 cache", "* Support 8 DMA channels")
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    first, again = read_pdf(path, "k", no_progress), read_pdf_bytes(data, "k", "a.pdf", no_progress)
    assert first.digest == again.digest
    assert first.source.document_digest.startswith("sha256:")
    assert first.source.pages == 1


def test_progress_is_told_for_each_page():
    told = []
    read_pdf_bytes(sheet("* text"), "k", "a.pdf", lambda step, done, total: told.append((step, done, total)))
    assert told == [("reading pages", 1, 1), ("reading sentences and tables", 1, 1)]
