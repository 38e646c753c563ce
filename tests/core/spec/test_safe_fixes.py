"""`--fix`: what it mends, what it leaves to people, and that nothing else of the file changes."""

import datetime
import json
import os

import pytest
from spec_texts import CLEAN, FILE_NAME

from metainfer_core.cli import validator
from metainfer_core.spec.checking.safe_fixes import fixed
from metainfer_core.spec.files.yaml_file import parse_spec
from metainfer_core.spec.quantities import UNITS, parse_quantity, unambiguous

TODAY = datetime.date(2026, 6, 1)
COMMENTED = CLEAN.replace("    cores: 2\n", "    cores: 2   # of the cluster\n").replace(
    "name: tiny", "# top\nname: tiny"
)

SAFE = [
    # code, what a person wrote instead of, what is mended to
    ("HW006", "size_bytes: 256 KiB", "size_bytes: 256 KB"),
    ("HW006", "{size_bytes: 512 KiB, line", "{size_bytes: 512 KB, line"),
    ("HW002", "    cores: 2 ", "    Cores: 2 "),
    ("HW002", "  alignment_bytes: 64\npower", "  Alignment-Bytes: 64\npower"),
    ("HW003", "kind: sram", "kind: SRAM"),
    ("HW003", "sharing_mode: shared, shared_by", "sharing_mode: Shared, shared_by"),
    ("HW003", "channel_wise_quantization: true", "channel_wise_quantization: yes"),
]


@pytest.mark.parametrize(("code", "good", "bad"), SAFE)
def test_what_can_mean_one_thing_only_is_mended_in_place(code, good, bad):
    written = COMMENTED.replace(good, bad, 1)
    assert written != COMMENTED
    result = fixed(written.encode(), FILE_NAME, TODAY)
    assert result.data.decode() == COMMENTED
    assert [finding.code for finding in result.mended] == [code]


def test_one_word_becomes_a_list_of_one():
    result = fixed(CLEAN.replace("data_types: [int8, int16]", "data_types: int8").encode(), FILE_NAME, TODAY)
    assert "data_types: [int8]\n" in result.data.decode()


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("size_bytes: 256 KiB", "size_bytes: 256 Kb"),  # bits, or bytes
        ("size_bytes: 256 KiB", 'size_bytes: "256"'),  # no unit
        ("bandwidth_gbps: 12.8", "bandwidth_gbps: 12.8 Gb/s"),
        ("    cores: 2", "    core: 2"),  # a guess, though a likely one
        ("{mean: 120, std: 5, min: 100, max: 180}", "{mean: 120, std: 5, min: 180, max: 100}"),
        ("    cores: 2", "    cores: 2\n    Cores: 4"),  # which of the two?
        ("data_types: [int8, int16]", "data_types: int7"),
        ("latency_cycles: {mean: 3, std: 0.5, min: 2, max: 5}", "latency_cycles: 3"),
    ],
)
def test_what_only_people_know_is_left(good, bad):
    written = CLEAN.replace(good, bad, 1).encode()
    assert written != CLEAN.encode()
    assert fixed(written, FILE_NAME, TODAY).data == written


def test_what_stands_below_a_mended_key_is_mended_too():
    written = COMMENTED.replace("memories:", "Memories:", 1).replace("size_bytes: 256 KiB", "size_bytes: 256 KB")
    result = fixed(written.encode(), FILE_NAME, TODAY)
    assert result.data.decode() == COMMENTED
    assert [finding.code for finding in result.mended] == ["HW002", "HW006"]


def test_a_file_with_a_mark_and_windows_line_ends_keeps_them():
    written = ("\ufeff" + COMMENTED.replace("256 KiB", "256 KB")).replace("\n", "\r\n")
    result = fixed(written.encode(), FILE_NAME, TODAY)
    assert result.data.decode() == ("\ufeff" + COMMENTED).replace("\n", "\r\n")
    assert parse_spec(result.data, FILE_NAME) == parse_spec(CLEAN.encode(), FILE_NAME)


@pytest.mark.parametrize(
    "written",
    [
        b"a:\n\tb: 1\n",
        b"name: caf\xe9\n",
        "name: x\n".encode("utf-16"),
        b"name: \0\n",
        b"a: " + b"[" * 5000,
        b"a: 1\n---\n",
    ],
    ids=["tab", "Latin-1", "UTF-16", "NUL", "deep", "two documents"],
)
def test_what_is_no_yaml_stays_as_it_is(written):
    result = fixed(written, FILE_NAME, TODAY)
    assert (result.data, result.mended) == (written, ())


@pytest.mark.parametrize(
    ("text", "clear"),
    [("512 KB", "512 KiB"), ("512KB", "512 KiB"), ("16K to 64 MB", "16 KiB to 64 MiB"), ("512 KiB", ""), ("4 Kb", ""),
     ("up to 2 G", "up to 2 GiB")],
)  # fmt: skip
def test_units_that_nobody_takes_for_others(text, clear):
    assert unambiguous(text) == clear
    if clear:
        assert parse_quantity(clear, UNITS["B"]) == parse_quantity(text, UNITS["B"])


def test_the_command_mends_the_file_and_says_so(tmp_path, monkeypatch, capsys):
    spec = tmp_path / FILE_NAME
    spec.write_text(COMMENTED.replace("256 KiB", "256 KB").replace("kind: sram", "kind: SRAM"))
    os.chmod(spec, 0o640)
    monkeypatch.setattr("sys.argv", ["hwdoc-validator", str(spec), "--fix", "--json"])
    with pytest.raises(SystemExit) as ended:
        validator.main()
    answer = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert [finding["code"] for finding in answer["mended"]] == ["HW003", "HW006"]
    assert not [finding for finding in answer["findings"] if finding["severity"] == "error"]
    assert spec.read_text() == COMMENTED


def test_a_link_stays_a_link_and_what_it_leads_to_is_mended(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "specs"
    folder.mkdir()
    spec, link = folder / FILE_NAME, tmp_path / FILE_NAME
    spec.write_text(COMMENTED.replace("256 KiB", "256 KB"))
    spec.chmod(0o600)
    link.symlink_to(spec)
    monkeypatch.setattr("sys.argv", ["hwdoc-validator", str(link), "--fix"])
    with pytest.raises(SystemExit) as ended:
        validator.main()
    assert ended.value.code == 0
    assert link.is_symlink()
    assert spec.read_text() == COMMENTED
    assert spec.stat().st_mode & 0o777 == 0o600


def test_nothing_is_mended_by_a_command_that_is_refused(tmp_path, monkeypatch, capsys):
    spec = tmp_path / FILE_NAME
    written = COMMENTED.replace("256 KiB", "256 KB")
    spec.write_text(written)
    monkeypatch.setattr("sys.argv", ["hwdoc-validator", str(spec), str(tmp_path / "none.yaml"), "--fix"])
    with pytest.raises(SystemExit) as ended:
        validator.main()
    assert ended.value.code == 2
    assert spec.read_text() == written
