from __future__ import annotations

from pathlib import Path

import pytest
from spec_texts import CLEAN, FILE_NAME

from metainfer_core.errors import InputError
from metainfer_core.spec import library
from metainfer_core.spec.files.yaml_file import parse_spec
from metainfer_core.spec.revising.diff import diff


def spec_file(folder: Path, name: str, version: str) -> None:
    (folder / f"{name}_v{version}.yaml").write_text(f"name: {name}\nversion: {version}\n")


def test_the_latest_version_is_told_by_numbers(tmp_path: Path) -> None:
    for version in ("1.9.0", "1.10.0", "1.2.3"):
        spec_file(tmp_path, "npu", version)
    spec_file(tmp_path, "npu_lite", "9.0.0")
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    assert [entry.version for entry in library.entries(tmp_path)] == ["1.2.3", "1.9.0", "1.10.0", "9.0.0"]
    assert library.find("npu", tmp_path).version == "1.10.0"
    assert library.find("npu@1.2.3", tmp_path).version == "1.2.3"
    assert library.find("npu_v1.9.0", tmp_path).version == "1.9.0"
    assert library.load("npu_lite", tmp_path).version == "9.0.0"


def test_a_name_that_does_not_exist_lists_those_that_do(tmp_path: Path) -> None:
    spec_file(tmp_path, "npu", "1.0.0")
    for reference in ("gpu", "npu@2.0.0", ""):
        with pytest.raises(InputError, match=r"holds npu@1\.0\.0"):
            library.find(reference, tmp_path)
    with pytest.raises(InputError, match="holds nothing"):
        library.find("npu", tmp_path / "empty")


def test_the_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec_file(tmp_path, "npu", "1.0.0")
    monkeypatch.setenv(library.FOLDER_VARIABLE, str(tmp_path))
    assert library.load("npu").name == "npu"


def test_a_path_is_a_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such"):
        library.load(str(tmp_path / "x.yaml"))


def test_the_difference_is_in_values_not_in_spelling() -> None:
    before = parse_spec(CLEAN.encode(), FILE_NAME)
    other_words = CLEAN.replace("256 KiB", "262144").replace("clock_hz: {max: 1 GHz}", "clock_hz: {max: 1000 MHz}")
    assert diff(before, parse_spec(other_words.encode(), FILE_NAME)) == ()
    changed = (
        CLEAN.replace("mean: 120", "mean: 135")
        .replace("    cores: 2\n", "")
        .replace("version: 1.0.0", "version: 1.1.0")
    )
    assert [change.sentence for change in diff(before, parse_spec(changed.encode(), FILE_NAME))] == [
        "compute_units.npu.cores: 2 → unknown",
        "memories.dram.latency_cycles: {min: 100, typ: 120, max: 180, std: 5} → {min: 100, typ: 135, max: 180, std: 5}",
        "version: 1.0.0 → 1.1.0",
    ]


def test_an_assumption_that_became_known_is_a_change() -> None:
    assumed = b"name: a\nversion: 1.0.0\nassumed: {bandwidth_gbps: {value: 4, reason: guess}}\n"
    known = b"name: a\nversion: 1.0.0\nbandwidth_gbps: 4\n"
    (change,) = diff(parse_spec(assumed, "a.yaml"), parse_spec(known, "a.yaml"))
    assert change.sentence == "bandwidth_gbps: 4 (assumed) → 4"
