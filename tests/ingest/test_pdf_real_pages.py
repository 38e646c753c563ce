"""Pages of real data sheets: exactly what must be read on them."""

import io
from pathlib import Path

import pypdfium2
import pytest

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.reading import no_progress

DOCS = Path(__file__).parents[2] / ".." / "shared" / "corpus" / "dev" / "docs"


def facts(name, *pages, fields):
    """What was read on some pages of a document, for the fields that begin with one of the names."""
    part = pypdfium2.PdfDocument.new()
    whole = pypdfium2.PdfDocument((DOCS / name).read_bytes())
    part.import_pages(whole, [page - 1 for page in pages])
    out = io.BytesIO()
    part.save(out)
    found = read_pdf_bytes(out.getvalue(), "doc", name, no_progress).candidates
    return {(c.field, c.instance, c.value, c.min, c.typ, c.max) for c in found if c.field.startswith(fields)}


def test_rk3588_cores_and_caches():
    found = facts("rk3588_datasheet_v1.4.pdf", 6, fields=("cpu.cores", "cpu.l"))
    none = (None, None, None)
    assert found == {
        ("cpu.cores", "Cortex-A76", 4, *none),
        ("cpu.cores", "Cortex-A55", 4, *none),
        ("cpu.l1i_cache.size_bytes", "Cortex-A76", 65536, *none),
        ("cpu.l1d_cache.size_bytes", "Cortex-A76", 65536, *none),
        ("cpu.l2_cache.size_bytes", "Cortex-A76", 524288, *none),
        ("cpu.l1i_cache.size_bytes", "Cortex-A55", 32768, *none),
        ("cpu.l1d_cache.size_bytes", "Cortex-A55", 32768, *none),
        ("cpu.l2_cache.size_bytes", "Cortex-A55", 131072, *none),
        ("cpu.l3_cache.size_bytes", None, 3145728, *none),
    }


def test_rk3588_frequencies_stand_under_max():
    assert facts("rk3588_datasheet_v1.4.pdf", 30, fields=("npu.", "gpu.", "cpu.", "clock.", "thermal.")) == {
        ("clock.xtal_hz", None, 24e6, None, 24e6, None),
        ("cpu.clock_hz", None, None, 2.2e9, None, 2.4e9),
        ("gpu.clock_hz", None, None, None, None, 1e9),
        ("npu.clock_hz", None, None, None, None, 1e9),
        ("thermal.ambient_c", None, None, 0, None, 80),
    }


def test_esp32_ambient_limits_share_a_merged_minimum():
    found = facts("esp32s3_datasheet_v1.2.pdf", 51, fields=("thermal.ambient",))
    assert {(low, high) for *_, low, _, high in found} == {(-40, 105), (-40, 85), (-40, 65)}
    assert sum("ESP32-S3R8V" in (instance or "") for _, instance, *_ in found) == 1


def test_veer_a_footnote_mark_is_not_a_digit():
    found = facts("veer_eh1_prm_v1.9.pdf", 22, fields=("memory.tcm", "cpu.", "memory.sram"))
    assert not [value for _, _, value, *_ in found if value == 481 * 1024]


def test_microsparc_two_speed_grades_in_one_row():
    found = facts("microsparc_ii_datasheet.pdf", 10, fields=("power.supply",))
    core = {(v, low, typ, high) for _, instance, v, low, typ, high in found if "VDD1" in (instance or "")}
    assert core == {(3.3, 3.15, 3.3, 3.6), (3.5, 3.4, 3.5, 3.6)}


def test_rk3288_register_offsets_with_names_broken_over_lines():
    found = facts("rk3288_trm_ch10_dmac_bus.pdf", 3, 4, fields=("register.offset",))
    offsets = {instance: value for _, instance, value, *_ in found}
    assert offsets["DMAC_BUS_INTMIS"] == "0x28"
    assert offsets["DMAC_BUS_DSR"] == "0x0"
    assert offsets["DMAC_BUS_CCR0"] == "0x408"  # on the second page, where the header is not repeated


@pytest.mark.slow
def test_rk3399_scan_one_clock_under_three_conditions():
    found = facts("rk3399_datasheet_v1.8_scan.pdf", 4, fields=("cpu.clock", "gpu.clock", "thermal."))
    highest = {
        (instance.replace(" ", "").replace("CortexA72", "A72"), high)
        for field, instance, *_, high in found
        if field == "cpu.clock_hz" and "A72" in instance
    }
    assert {high for _, high in highest} == {1.8e9, 2.0e9}
    assert any("RK3399K" in instance and high == 2.0e9 for instance, high in highest)
    assert ("thermal.junction_c", None, None, None, None, 125) in found
