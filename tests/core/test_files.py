import os

import pytest

from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes, write_bytes


def test_write_is_whole_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file.bin"
    write_bytes(path, b"first", "test file")
    assert read_bytes(path, "test file") == b"first"

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        write_bytes(path, b"second", "test file")
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.bin"]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "file.bin"

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"data", "test file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "there is no such policy"),
        (".", "this is not a file"),
        ("big", "the policy is too large"),
        ("a\0b", "cannot be a path"),
    ],
)
def test_a_path_that_cannot_be_read_is_explained(tmp_path, name, words):
    (tmp_path / "big").write_bytes(b"12345")
    with pytest.raises(InputError, match=words):
        read_bytes(tmp_path / name, "policy", limit_bytes=4)
