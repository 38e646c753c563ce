import multiprocessing
import os

import pytest

from metainfer_core.errors import InputError
from metainfer_core.files import alone, check_outputs, read_bytes, write_bytes


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


@pytest.mark.parametrize("place", ["pipe", "to_pipe", ".", "a\0b"])
def test_only_a_file_gives_way_to_a_file(tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    for refuse in (
        lambda path: write_bytes(path, b"data", "package"),
        lambda path: check_outputs([path], "package"),
    ):
        with pytest.raises(InputError, match="The package cannot be written there"):
            refuse(tmp_path / place)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    "output",
    ["model.onnx", "folder/../model.onnx", "link.onnx", "hard.onnx"],
    ids=["same", "way round", "link", "hard"],
)
def test_an_output_does_not_take_the_place_of_an_input(tmp_path, output):
    model = tmp_path / "model.onnx"
    model.write_bytes(b"model")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.onnx").symlink_to(model)
    os.link(model, tmp_path / "hard.onnx")
    with pytest.raises(InputError, match="this is the file that is read"):
        check_outputs([tmp_path / "other", tmp_path / output], "model", ["rk3588", None, "module:function", model])


def test_outputs_that_can_be_written_are_not_refused(tmp_path):
    (tmp_path / "old.bin").write_bytes(b"old")
    check_outputs([tmp_path / "old.bin", tmp_path / "new" / "folder" / "x.bin"], "package", [tmp_path / "missing"])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["old.bin"]


def test_outputs_that_cannot_be_written_are_refused_at_once(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for output in (tmp_path / "file" / "x.bin", tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="the package cannot be written"):
            check_outputs([output], "package")
    with pytest.raises(InputError, match="two files would be written there"):
        check_outputs([tmp_path / "a.policy", tmp_path / "a.policy"], "package")


def test_changes_by_many_at_once_are_all_kept(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_count, args=(path,)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert path.read_text() == "100"
    with alone(tmp_path / "new folder" / "file"):
        assert (tmp_path / "new folder").is_dir()
    with pytest.raises(InputError, match="cannot be written"), alone(path / "file"):
        pass


def _count(path):
    for _ in range(25):
        with alone(path):
            write_bytes(path, str(int(path.read_text()) + 1).encode(), "count")


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"SQLite format 3\0", "is a database"), (b"-----BEGIN ENCRYPTED PRIVATE KEY-----", "is a private key")],
)
def test_what_nothing_can_make_again_is_never_written_over(tmp_path, start, what):
    path = tmp_path / "file"
    path.write_bytes(start + b" and more")
    for attempt in (lambda: check_outputs([path], "bundle"), lambda: write_bytes(path, b"new", "bundle")):
        with pytest.raises(InputError, match=what):
            attempt()
    assert path.read_bytes() == start + b" and more"
    path.write_bytes(start[:-1])
    write_bytes(path, b"new", "bundle")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"new"]
