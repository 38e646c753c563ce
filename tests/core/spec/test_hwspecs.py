"""The specs that the product comes with: valid, traced value by value, and their documents the ones named."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path

import pytest

from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.files.yaml_file import read_spec, write_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import leaves
from metainfer_core.spec.revising.record import OF_PEOPLE

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / ".." / "shared" / "corpus"
SPECS = sorted((ROOT / "hwspecs").glob("*.yaml"))


@pytest.fixture(params=SPECS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_there_are_specs_of_twelve_chips_of_several_kinds() -> None:
    specs = [read_spec(path) for path in SPECS]
    assert len({spec.name for spec in specs}) >= 12
    assert {unit.kind for spec in specs for unit in spec.compute_units.values()} == {"cpu", "npu", "gpu", "dsp"}
    assert all(path.stem == f"{spec.name}_v{spec.version}" for path, spec in zip(SPECS, specs, strict=True))


def test_a_spec_passes_the_validator(path: Path) -> None:
    verified = read_spec(path).last_verified_date
    assert verified is not None
    found = validate(path.read_bytes(), str(path), datetime.date.fromisoformat(verified))
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []
    assert {finding.code for finding in found} <= set(CLASSES)


def origins(spec: HardwareSpec, value_path: str) -> list[str]:
    return [
        known
        for known in (*spec.provenance, *spec.assumed)
        if value_path == known or value_path.startswith(known + ".")
    ]


def test_each_value_has_exactly_one_origin(path: Path) -> None:
    spec = read_spec(path)
    for value_path in leaves(spec):
        if value_path.split(".")[0] not in OF_PEOPLE and not value_path.endswith(".kind"):
            assert len(origins(spec, value_path)) == 1, value_path


def test_a_place_in_a_document_is_a_page_and_few_words(path: Path) -> None:
    spec = read_spec(path)
    for value_path, place in spec.provenance.items():
        assert place.page is not None, value_path
        assert 0 < len(place.text) <= 160, value_path


def test_the_digests_are_those_of_the_documents(path: Path) -> None:
    spec = read_spec(path)
    assert spec.sources
    for source in spec.sources.values():
        assert source.file_name is not None
        (document,) = CORPUS.rglob(source.file_name)
        assert source.document_digest == "sha256:" + hashlib.sha256(document.read_bytes()).hexdigest()


def test_a_spec_is_written_as_it_stands(path: Path) -> None:
    assert write_spec(read_spec(path)) == path.read_bytes()


def test_what_a_run_needs_is_there(path: Path) -> None:
    spec = read_spec(path)
    for unit in spec.compute_units.values():
        if unit.macs_per_cycle:
            assert unit.clock_hz is not None
            assert set(unit.macs_per_cycle) <= set(unit.data_types)
    planned = [memory for memory in spec.memories.values() if memory.kind in ("sram", "tcm", "dram", "psram")]
    assert all(memory.size_bytes for memory in planned)
    assert any(memory.bandwidth_gbps for memory in planned)
