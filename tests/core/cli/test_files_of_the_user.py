"""No command writes over what it reads, or over anything but a file; and it says so before it works."""

import os

import numpy as np
import pytest

MODEL = ["--model", "in", "--hw-spec", "rk3588"]
COMMANDS = [
    ["preprocess", "--model", "in"],
    ["adapt", *MODEL],
    ["explain", "--policy", "in", "--hw-spec", "rk3588"],
    ["explain", "--policy", "in", "--hw-spec", "rk3588", "--format", "html"],
    ["build", *MODEL],
    ["build", "--model", "other", "--hw-spec", "rk3588", "--calib", "in"],
    ["compile", *MODEL, "--policy", "other"],
    ["compile", "--model", "other", "--hw-spec", "rk3588", "--policy", "in"],
    ["run", "in", "--input", "other"],
    ["run", "other", "--input", "in"],
    ["ingest", "other", "in", "--chip", "x"],
    ["spec", "accept", "in", "--all"],
    ["spec", "import", "in"],
    ["review", "export", "in"],
    ["review", "export", "other", "--model", "in"],
    ["sign", "other", "--model", "in", "--hw-spec", "rk3588", "--key", "other"],
    ["sign", "other", "--model", "other", "--hw-spec", "rk3588", "--key", "in"],
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in", "other"):
        (tmp_path / name).write_bytes(b"precious")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize("output", ["in", "./in", "pipe", "."])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_is_read_is_never_written_over(folder, arguments, output, meta_infer):
    status, _, err = meta_infer(*arguments, "--output", output)
    assert status == 2
    wanted = "this is the file that is read" if output.endswith("in") else "cannot be written there"
    assert wanted in err
    assert (folder / "in").read_bytes() == (folder / "other").read_bytes() == b"precious"
    assert (folder / "pipe").is_fifo()
    assert sorted(entry.name for entry in folder.iterdir()) == ["in", "other", "pipe"]


def test_a_package_cannot_be_named_like_its_policy(folder, meta_infer):
    status, _, err = meta_infer("build", *MODEL, "--output", "x.policy")
    assert status == 2
    assert "two files would be written there" in err


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400"])
@pytest.mark.parametrize("option", ["--min-sqnr-db", "--target-latency-ms"])
def test_a_goal_is_a_finite_number(folder, option, value, meta_infer):
    status, _, err = meta_infer("adapt", *MODEL, option, value)
    assert status == 2
    assert option in err


def test_numbers_that_json_does_not_have_are_shown_as_text():
    from metainfer_core.cli.build_commands import _head

    assert _head(np.array([np.nan, np.inf, -np.inf, 0.5])) == ["nan", "inf", "-inf", 0.5]


def test_a_folder_of_specs_that_is_not_there_is_said(folder, meta_infer):
    status, _, err = meta_infer("spec", "list", "--folder", "in")
    assert status == 2
    assert "there is no such folder" in err
