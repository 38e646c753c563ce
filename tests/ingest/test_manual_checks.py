"""A spec beside its document: nothing is found where they agree, and each planted mistake where they do not."""

import io
import json
import re
from pathlib import Path

import openpyxl
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.checking.manual_checks import check_against
from hwdoc_ingest.checking.manual_values import agree, verdict
from hwdoc_ingest.intake.intake import read_safely
from hwdoc_ingest.reading import no_progress
from metainfer_core.cli import validator
from metainfer_core.errors import InputError
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.findings import Finding

LINES = (
    "Features",
    "Dual-core Arm Cortex-A55 processor, up to 1.8 GHz",
    "32KB L1 instruction cache and 64KB L1 data cache for each core",
    "512KB unified L2 cache",
    "Internal SRAM size is 256 KB",
    "NPU with 2 TOPS of computing power",
    "The maximum power dissipation is 5 W when the supply is 3.3 V",
)


def manual_pdf(*pages):
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4, invariant=True)
    for lines in pages:
        canvas.setFont("Helvetica", 10)
        for at, line in enumerate(lines):
            canvas.drawString(72, 760 - 20 * at, line)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("manuals")
    (place / "tarn.pdf").write_bytes(manual_pdf(["Tarn data sheet", "This page says nothing."], LINES))
    return place


@pytest.fixture(scope="module")
def manual(folder):
    return folder / "tarn.pdf"


@pytest.fixture(scope="module")
def clean(manual):
    """A spec that says what the manual says, with the reader's own boxes."""
    reading = read_safely(manual, "tarn", no_progress)

    def box(field):
        return list(next(candidate.box for candidate in reading.candidates if candidate.field == field))

    return f"""\
name: tarn
version: 1.0.0
compute_units:
  cortex_a55:
    kind: cpu
    cores: 2
    clock_hz: {{max: 1.8 GHz}}
    l2_cache: {{size_bytes: 512 KiB}}
  npu: {{kind: npu, tops: 2}}
memories:
  sram: {{kind: sram, size_bytes: 256 KiB}}
power_max_w: {{max: 5 W}}
assumed:
  compute_units.npu.launch_overhead_us: {{value: 50, reason: to be measured}}
sources:
  tarn: {{title: Tarn, document_digest: "{reading.source.document_digest}", file_name: tarn.pdf}}
provenance:
  compute_units.cortex_a55.cores: {{source: tarn, page: 2, text: Dual-core Arm Cortex-A55 processor}}
  compute_units.cortex_a55.clock_hz: {{source: tarn, page: 2, text: up to 1.8 GHz}}
  compute_units.cortex_a55.l2_cache.size_bytes:
    {{source: tarn, page: 2, text: 512KB unified L2 cache, box: {box("cpu.l2_cache.size_bytes")}}}
  compute_units.npu.tops: {{source: tarn, page: 2, text: NPU with 2 TOPS of computing power}}
  memories.sram.size_bytes: {{source: tarn, page: 2, text: Internal SRAM size is 256 KB}}
  power_max_w:
    {{source: tarn, page: 2, text: The maximum power dissipation is 5 W, condition: when the supply is 3.3 V}}
"""


def against(text: str, document: Path) -> tuple[Finding, ...]:
    return check_against(text.encode(), "tarn_v1.0.0.yaml", document, no_progress)


def test_a_spec_that_says_what_its_manual_says_has_no_finding(clean, manual):
    assert against(clean, manual) == ()


PLANTED = [
    # code, severity, what is replaced, by what, words of the message, line that is named
    ("HW014", "error", "size_bytes: 512 KiB", "size_bytes: 1 MiB", "is 1 MiB, but the words", "size_bytes: 1 MiB"),
    ("HW014", "error", "clock_hz: {max: 1.8 GHz}", "clock_hz: {max: 2.4 GHz}", "up to 1.8 GHz", "clock_hz: {max"),
    ("HW014", "error", "cores: 2", "cores: 4", "'Dual-core Arm Cortex-A55 processor'", "cores: 4"),
    ("HW014", "error", "tops: 2}", "tops: 20}", "'NPU with 2 TOPS of computing power'", "tops: 20"),
    ("HW014", "warning", "assumed:\n", "assumed:\n  compute_units.cortex_a55.l1d_cache.size_bytes: "
     "{value: 16 KiB, reason: guess}\n", "assumed to be 16 KiB, but page 2 of tarn.pdf says 64 KiB", "guess"),
    ("HW015", "error", "page: 2, text: up to", "page: 1, text: up to", "do not stand on page 1", "page: 1, text: up"),
    ("HW015", "error", "page: 2, text: up to", "page: 7, text: up to", "has no page 7", "page: 7"),
    ("HW015", "error", "Internal SRAM size is 256 KB}", "On-chip buffers hold 256 KB}", "do not stand on page 2",
     "On-chip buffers"),
    ("HW015", "warning", "  sram: {kind: sram, size_bytes: 256 KiB}",
     "  sram: {kind: sram, size_bytes: 256 KiB}\n  rom: {kind: rom, size_bytes: 48 KiB}",
     "memories.rom.size_bytes, 48 KiB, was not found", "kind: rom"),
    ("HW017", "warning", ", condition: when the supply is 3.3 V", "", "when the supply is 3.3 V", "power_max_w:\n"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "severity", "old", "new", "words", "line"), PLANTED)
def test_a_planted_mistake_is_found(clean, manual, code, severity, old, new, words, line):
    planted = clean.replace(old, new, 1)
    assert planted != clean
    (found,) = against(planted, manual)
    assert (found.code, found.severity) == (code, severity), found
    assert words in found.message
    assert found.fix
    lines = planted.splitlines()
    assert line.strip() in "\n".join(lines[found.line - 1 : found.line + 1]), found


def test_another_revision_of_the_document_is_told_by_its_digest(clean, manual):
    digest = clean[clean.index("sha256:") :][:71]
    (found,) = against(clean.replace(digest, "sha256:" + "0" * 64), manual)
    assert (found.code, found.severity, found.path) == ("HW015", "error", "sources.tarn.document_digest")
    assert digest in found.message


def test_a_document_that_is_no_source_is_told_and_still_read(clean, manual, tmp_path):
    other = tmp_path / "brief.pdf"
    other.write_bytes(manual_pdf(["Features", "512KB unified L2 cache", "NPU with 4 TOPS of computing power"]))
    codes = [(finding.code, finding.severity) for finding in against(clean, other)]
    assert codes == [("HW015", "warning")]
    assumed = clean.replace("  npu: {kind: npu, tops: 2}", "  npu: {kind: npu}").replace(
        "assumed:\n", "assumed:\n  compute_units.npu.tops: {value: 2, reason: hearsay}\n"
    )
    assumed = "\n".join(line for line in assumed.splitlines() if "NPU with 2 TOPS" not in line) + "\n"
    told = [finding.message for finding in against(assumed, other) if finding.code == "HW014"]
    assert len(told) == 1
    assert "assumed to be 2, but page 1 of brief.pdf says 4" in told[0]


@pytest.mark.parametrize(
    ("box", "holds"), [("[300.0, 700.0, 400.0, 720.0]", "nothing"), ("[70.0, 90.0, 330.0, 105.0]", "Dual-core Arm")]
)
def test_a_box_beside_the_quoted_words_is_found(clean, manual, box, holds):
    (found,) = against(re.sub(r"box: \[[^]]*\]", f"box: {box}", clean), manual)
    assert (found.code, found.severity) == ("HW015", "error")
    assert f"holds {holds}" in found.message.replace("'", "")
    assert "512KB unified L2 cache" in found.fix


def test_where_misquoted_words_really_stand_is_said(clean, manual):
    (found,) = against(clean.replace("page: 2, text: up to", "page: 1, text: up to"), manual)
    assert found.fix == "They stand on page 2."


def test_a_file_that_is_no_yaml_is_left_to_the_other_checks(manual):
    assert against("name: [", manual) == ()


def test_a_hostile_document_ends_in_one_message(clean, tmp_path):
    hostile = tmp_path / "tarn.pdf"
    hostile.write_bytes(b"MZ not a manual")
    with pytest.raises(InputError, match="Windows program"):
        against(clean, hostile)


# Other kinds of document --------------------------------------------------------------------------------------------

TREE = """\
/dts-v1/;
/ {
	compatible = "tarn,board";
	#address-cells = <1>;
	#size-cells = <1>;
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		cpu@0 {
			device_type = "cpu";
			compatible = "arm,cortex-a55";
			reg = <0>;
			d-cache-size = <0x8000>;
			d-cache-line-size = <64>;
		};
	};
};
"""
SVD = """\
<?xml version="1.0"?>
<device schemaVersion="1.3">
  <name>TARN</name>
  <peripherals>
    <peripheral>
      <name>DMA</name>
      <baseAddress>0x40001000</baseAddress>
      <interrupt><name>DMA</name><value>5</value></interrupt>
    </peripheral>
  </peripherals>
</device>
"""
TABLE = "Register,Offset,Width,Reset value\nCTRL,0x10,32,0x0\nSTATUS,0x14,32,0x1\n"


def spec_of(document: Path, body: str, places: str) -> str:
    reading = read_safely(document, "doc", no_progress)
    return (
        f"name: tarn\nversion: 1.0.0\n{body}sources:\n  doc: {{title: Tarn, document_digest: "
        f'"{reading.source.document_digest}"}}\nprovenance:\n{places}'
    )


@pytest.mark.parametrize(
    ("name", "data", "body", "places", "mistakes"),
    [
        (
            "board.dts", TREE,
            "compute_units:\n  cortex_a55: {kind: cpu, l1d_cache: {size_bytes: 32 KiB, line_bytes: 64}}\n",
            "  compute_units.cortex_a55.l1d_cache.size_bytes:\n"
            "    {source: doc, page: 13, text: d-cache-size = <0x8000>;}\n"
            "  compute_units.cortex_a55.l1d_cache.line_bytes:\n"
            "    {source: doc, page: 14, text: d-cache-line-size = <64>;}\n",
            [("32 KiB", "64 KiB", "HW014"), ("line_bytes: 64", "line_bytes: 128", "HW014"),
             ("page: 13", "page: 3", "HW015"), ("page: 14", "page: 400", "HW015"),
             ("d-cache-line-size = <64>", "d-cache-line-size = <32>", "HW015")],
        ),
        (
            "tarn.svd", SVD,
            "mmio_bases: {dma: 0x40001000}\n",
            "  mmio_bases.dma: {source: doc, page: 7, text: <baseAddress>0x40001000</baseAddress>}\n",
            [("dma: 0x40001000", "dma: 0x40002000", "HW014"), ("page: 7", "page: 2", "HW015")],
        ),
        (
            "registers.csv", TABLE,
            "other: {register.offset: 16}\n",
            '  other.register.offset: {source: doc, page: 2, text: "CTRL | 0x10 | 32 | 0x0"}\n',
            [("page: 2", "page: 3", "HW015"), ("CTRL | 0x10", "CTRL | 0x18", "HW015")],
        ),
    ],
)  # fmt: skip
def test_other_kinds_of_document(tmp_path, name, data, body, places, mistakes):
    document = tmp_path / name
    document.write_text(data)
    clean = spec_of(document, body, places)
    assert against(clean, document) == ()
    for old, new, code in mistakes:
        assert [finding.code for finding in against(clean.replace(old, new, 1), document)] == [code], (old, new)


def test_a_workbook(tmp_path):
    document = tmp_path / "registers.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "regs"
    for row in TABLE.splitlines():
        book.active.append(row.split(","))
    book.save(document)
    place = '  other.ctrl: {source: doc, page: regs, text: "CTRL | 0x10 | 32 | 0x0"}\n'
    clean = spec_of(document, "other: {ctrl: 16}\n", place)
    assert against(clean, document) == ()
    assert [finding.code for finding in against(clean.replace("page: regs", "page: rags"), document)] == ["HW015"]
    assert [finding.code for finding in against(clean.replace("CTRL |", "DATA |"), document)] == ["HW015"]


@pytest.mark.slow
def test_a_scan(clean, manual, tmp_path):
    """The manual printed, scanned and read by OCR."""
    import pypdfium2
    from reportlab.lib.utils import ImageReader

    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4)
    with pypdfium2.PdfDocument(manual) as printed:
        for page in printed:
            picture = page.render(scale=200 / 72).to_pil()
            canvas.drawImage(ImageReader(picture), 0, 0, *A4)
            canvas.showPage()
    canvas.save()
    scan = tmp_path / "tarn.pdf"
    scan.write_bytes(data.getvalue())
    digest = read_safely(scan, "tarn", no_progress).source.document_digest
    of_scan = clean.replace(clean[clean.index("sha256:") :][:71], digest)
    assert against(of_scan, scan) == ()
    (found,) = against(of_scan.replace("size_bytes: 512 KiB", "size_bytes: 1 MiB"), scan)
    assert (found.code, found.severity) == ("HW014", "error")


# What comes with the product ----------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / ".." / "shared" / "corpus"
SET_ASIDE = ("bl808", "strongarm_sa110", "v853_brief", "imx8mp", "pulp_cl_dma")
PAIRS = [
    (path, source.file_name)
    for path in sorted((ROOT / "hwspecs").glob("*.yaml"))
    for source in read_spec(path).sources.values()
    if source.file_name and not source.file_name.startswith(SET_ASIDE) and any(DOCUMENTS.rglob(source.file_name))
]


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "document"), PAIRS, ids=lambda each: getattr(each, "stem", each))
def test_the_specs_of_the_product_agree_with_their_documents(spec, document):
    (found,) = DOCUMENTS.rglob(document)
    assert check_against(spec.read_bytes(), str(spec), found, no_progress) == ()


def test_the_command_takes_documents(clean, manual, tmp_path, monkeypatch, capsys):
    spec = tmp_path / "tarn_v1.0.0.yaml"
    spec.write_text(clean.replace("tops: 2}", "tops: 20}"))
    monkeypatch.setattr("sys.argv", ["hwdoc-validator", str(spec), "--manual", str(manual), "--json"])
    with pytest.raises(SystemExit) as ended:
        validator.main()
    answer = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1
    assert answer["with_manual"] is True
    assert [finding["code"] for finding in answer["findings"] if finding["severity"] == "error"] == ["HW014"]


@pytest.mark.parametrize(
    ("text", "path", "value", "said"),
    [
        ("512KB L2", "l2_cache.size_bytes", {"typ": 524288.0}, "says it"),
        ("512KB L2", "l2_cache.size_bytes", {"typ": 1048576.0}, "says another"),
        ("Embedded 384KBx3 internal buffer", "memories.npu_sram.size_bytes", {"typ": 1179648.0}, "says it"),
        ("Max frequency | RK3399 | 1.4 | GHz", "compute_units.a53.clock_hz", {"max": 1.4e9}, "says it"),
        ("Max frequency | RK3399 | 1.4 | GHz", "compute_units.a53.clock_hz", {"max": 1.8e9}, "does not tell"),
        ("cache-size = <0x80000>;", "l2_cache.size_bytes", {"typ": 524288.0}, "says it"),
        ("2.2-2.4 GHz", "compute_units.a76.clock_hz", {"min": 2.2e9, "max": 2.4e9}, "says it"),
        ("2.2-2.4 GHz", "compute_units.a76.clock_hz", {"min": 2.0e9, "max": 2.4e9}, "says another"),
        ("dual-core Cortex-A72", "compute_units.a72.cores", 2, "says it"),
        ("an embedded microprocessor", "compute_units.cpu.cores", 1, "says it"),
        ("height ∈ (0, 7]", "compute_units.npu.operators.limits.MaxPool.in_height", {"min": 1, "max": 7}, "says it"),
        ("height ∈ (0, 7]", "compute_units.npu.operators.limits.MaxPool.in_height", {"min": 1, "max": 8},
         "does not tell"),
        ("0 wait state memory access", "memories.l1.latency_cycles", {"typ": 1.0}, "says it"),
        ("reg = <0x0 0xff6d0000 0x0 0x4000>;", "mmio_bases.dma", "0xff6d0000", "says it"),
        ('compatible = "arm,cortex-a53";', "compute_units.a53.core_type", "Cortex-A53", "says it"),
        ("DDR3/DDR3L/LPDDR3", "memories.dram.types", ["DDR3", "LPDDR3"], "says it"),
        ("DDR3/DDR3L/LPDDR3", "memories.dram.types", ["DDR3", "LPDDR5"], "does not tell"),
        ("12±1 cycles", "l1_cache.latency_cycles", {"min": 11.0, "typ": 12.0, "max": 13.0}, "says it"),
        ("32 bits wide", "memories.dram.width_bits", 32, "says it"),
        ("32 bytes wide", "memories.dram.width_bits", 32, "says another"),
    ],
)  # fmt: skip
def test_what_quoted_words_say_of_a_value(text, path, value, said):
    assert verdict(text, path, value) == said


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ({"typ": 3.0}, {"min": 2.0, "max": 4.0}, True),
        ({"typ": 5.0}, {"min": 2.0, "max": 4.0}, False),
        ({"max": 1.8e9}, {"max": 1.8e9, "min": 1e6}, True),
        ({"max": 1.8e9}, {"max": 2.0e9}, False),
        (["int8"], ["int8", "int16"], True),
        (["int8"], ["int16"], False),
        ("Cortex-A53", "cortex a53", True),
        (4, 4.0, True),
        (4, 5, False),
    ],
)
def test_readings_that_agree(ours, theirs, same):
    assert agree(ours, theirs) is same
