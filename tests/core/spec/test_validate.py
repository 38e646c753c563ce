"""One planted mistake for each class of error, in an otherwise faultless spec."""

from __future__ import annotations

import datetime

import pytest
from spec_texts import CLEAN, FILE_NAME, line_of

from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.findings import Finding

TODAY = datetime.date(2026, 6, 1)


def findings(text: str, name: str = FILE_NAME, today: datetime.date = TODAY) -> tuple[Finding, ...]:
    return validate(text.encode(), f"specs/{name}", today)


def test_the_clean_spec_has_no_finding() -> None:
    assert findings(CLEAN) == ()


PLANTED = [
    # code, severity, what is replaced, by what, words in message or fix
    ("HW001", "error", "    kind: npu\n", "", "`kind` is missing"),
    ("HW001", "error", "name: tiny\n", "", "`name` is missing"),
    ("HW002", "error", "    cores: 2", "    core: 2", "Did you mean `cores`?"),
    ("HW002", "error", "l1_cache:\n  latency_cycles: {mean: 3, std: 0.5, min: 2, max: 5}",
     "l1_latency_cycles: 3", "l1_cache: {latency_cycles: {mean: 3"),
    ("HW002", "error", "  burst_length_optimal: 16", "  dma_burst_length: 256",
     "dma: {burst_length_optimal: 256"),
    ("HW003", "error", "    cores: 4", "    cores: four", "not a number"),
    ("HW003", "error", "    cores: 4", "    cores: [4]", "cores must be a number"),
    ("HW003", "error", "kind: sram", "kind: srm", "Did you mean sram?"),
    ("HW003", "error", "latency_cycles: {mean: 120, std: 5, min: 100, max: 180}", "latency_cycles: [100, 180]", "{min"),
    ("HW004", "error", "size_bytes: 256 KiB", 'size_bytes: "256"', "has no unit"),
    ("HW004", "error", "size_bytes: 256 KiB", "size_bytes: 256 kibbles", "not a known unit"),
    ("HW004", "error", "  burst_unit: beats\n", "", "burst_unit: beats or bytes"),
    ("HW005", "error", "size_bytes: 256 KiB", "size_bytes: 256 MHz", "is a frequency"),
    ("HW006", "error", "size_bytes: 256 KiB", "size_bytes: 256 Kb", "8 times"),
    ("HW006", "note", "size_bytes: 256 KiB", "size_bytes: 256 KB", "1,000 B elsewhere"),
    ("HW006", "error", "bandwidth_gbps: 12.8", "bandwidth_gbps: 12.8 Gb/s", "8 times"),
    ("HW007", "error", "size_bytes: 32 KiB", "size_bytes: 32", "a value from 64"),
    ("HW007", "error", "clock_hz: {max: 1 GHz}", "clock_hz: {max: 1}", "Check the unit"),
    ("HW008", "error", "{mean: 120, std: 5, min: 100, max: 180}", "{mean: 90, std: 5, min: 100, max: 180}", "in order"),
    ("HW008", "error", "{mean: 120, std: 5, min", "{mean: 120, std: -5, min", "negative"),
    ("HW008", "error", "{mean: 120, std: 5, min: 100, max: 180}", "{mean: 120, std: 500, min: 100, max: 180}", "wider"),
    ("HW009", "warning", "latency_cycles: {mean: 3, std: 0.5, min: 2, max: 5}", "latency_cycles: 3", "{mean: 3, std:"),
    ("HW010", "warning", "  size_bytes: 512 KiB\n  sharing_mode: shared\n", "  size_bytes: 512 KiB\n", "sharing_mode:"),
    ("HW010", "error", "sharing_mode: shared, shared_by: 4", "sharing_mode: per_core, shared_by: 4", "shared by 4"),
    ("HW011", "error", "strength: must", "strength: recommended", "its source says 'must'"),
    ("HW011", "error", "{max: 5 W, strength: must}", "{typ: 5 W, strength: must}", "no bound"),
    ("HW011", "error", "text: must not exceed 5 W", "text: recommended below 5 W", "says 'recommend'"),
    ("HW012", "error", "bandwidth_gbps: 12.8", "bandwidth_gbps: 25.6", "width times rate gives 12.8"),
    ("HW012", "error", "    channels: 2", "    channels: 4", "make 64"),
    ("HW012", "error", "tops: {max: 1}", "tops: {max: 6}", "MACs x clock x 2"),
    ("HW012", "error", "{size_bytes: 512 KiB, line_bytes: 64, sharing_mode: shared",
     "{size_bytes: 16 KiB, line_bytes: 64, sharing_mode: shared", "is larger than L2"),
    ("HW012", "error", "sets: 128", "sets: 256", "make 65,536"),
    ("HW012", "error", "burst_length_optimal: 16", "burst_length_optimal: 128", "more than burst_length_max"),
    ("HW012", "error", "sram, size_bytes: 256 KiB", "sram, size_bytes: 256 KiB, reserved_bytes: 262145",
     "more than its size"),
    ("HW012", "warning", "sram, size_bytes: 256 KiB",
     "sram, size_bytes: {min: 4 KiB, max: 1 MiB}, reserved_bytes: 4097",
     "reserved_bytes is 4,097, more than the least size, 4,096 bytes"),
    ("HW012", "error", "local_memory: sram", "local_memory: tcm", "does not have"),
    ("HW012", "error", "fallback: cpu", "fallback: gpu", "Write one of: npu, cpu"),
    ("HW012", "error", "bit_widths: [8, 16]", "bit_widths: [4, 8]", "no NPU has int4"),
    ("HW012", "error", "\ncompute_units:\n", "\nknown_issues: {one: {verdict: fails, operators: [Conv], unit: dsp, "
     "evidence: page 3}}\ncompute_units:\n", "known_issues.one.unit names the compute unit 'dsp'"),
    ("HW013", "error", "alignment_bytes: 64, base", "alignment_bytes: 48, base", "power of two"),
    ("HW013", "note", "alignment_bytes: 64, base", "alignment_bytes: 32, base", "share a line"),
    ("HW013", "error", "  alignment_bytes: 64\npower", "  alignment_bytes: 100\npower", "power of two"),
    ("HW015", "error", "l2_cache: {source: sheet, page: 2}", "l2_cache: {source: sheets, page: 2}", "not among"),
    ("HW015", "error", "  dma: {source", "  dmas: {source", "no such value"),
    ("HW016", "warning", 'last_verified_date: "2026-01-31"\n', "", "last_verified_date is missing"),
    ("HW016", "warning", '"2026-01-31"', '"2024-01-31"', "stale"),
    ("HW016", "error", '"2026-01-31"', '"2027-01-31"', "future"),
    ("HW016", "error", '"2026-01-31"', '"last week"', "not a date"),
    ("HW016", "error", "version: 1.0.0", "version: 1.0.1", "The file is called tiny_v1.0.0.yaml"),
    ("HW016", "warning", "verification_method: read on the page\n", "", "verification_method is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "severity", "old", "new", "words"), PLANTED)
def test_a_planted_mistake_is_found(code: str, severity: str, old: str, new: str, words: str) -> None:
    assert CLEAN.count(old) == 1, f"{old!r} must name one place"
    found = [finding for finding in findings(CLEAN.replace(old, new)) if finding.code == code]
    told = [finding for finding in found if words in f"{finding.message} {finding.fix}"]
    assert [finding.severity for finding in told] == [severity]
    assert told[0].fix


def test_every_class_without_a_document_has_its_planted_mistake() -> None:
    assert {code for code, *_ in PLANTED} == set(CLASSES) - {"HW000", "HW014", "HW017"}


def test_a_finding_stands_at_the_line_of_its_value() -> None:
    text = CLEAN.replace("bandwidth_gbps: 12.8", "bandwidth_gbps: 25.6")
    finding = next(finding for finding in findings(text) if finding.code == "HW012")
    assert (finding.line, finding.column) == (line_of(text, "bandwidth_gbps: 25.6"), 5)
    assert finding.path == "memories.dram.bandwidth_gbps"


def test_a_finding_on_an_assumed_value_stands_in_the_assumed_block() -> None:
    text = CLEAN.replace("    bandwidth_gbps: 12.8\n", "") + (
        "assumed:\n  memories.dram.bandwidth_gbps:\n    value: 25.6\n    reason: a guess\n"
    )
    finding = next(finding for finding in findings(text) if finding.code == "HW012")
    assert finding.line == line_of(text, "  memories.dram.bandwidth_gbps:")


def test_values_without_any_origin_are_told_once() -> None:
    text = CLEAN.replace("  dma: {source: sheet, page: 3}\n", "")
    found = [finding for finding in findings(text) if finding.code == "HW015"]
    assert len(found) == 1
    assert found[0].message.startswith("5 values have neither")
    assert found[0].severity == "warning"


def test_two_memories_at_one_address_contradict() -> None:
    text = CLEAN.replace("    kind: dram\n", "    kind: dram\n    base_address: 0x20010000\n")
    assert any("overlap" in finding.message for finding in findings(text) if finding.code == "HW012")


def test_a_file_that_is_no_yaml_is_one_finding_with_its_place() -> None:
    (finding,) = findings("name: a\nname: b\n")
    assert (finding.code, finding.line, finding.column) == ("HW000", 2, 1)


def test_a_spec_that_cannot_be_built_still_reports_what_was_read() -> None:
    text = CLEAN.replace("    kind: npu\n", "").replace("cores: 4", "cores: four")
    assert {finding.code for finding in findings(text)} == {"HW001", "HW003"}
