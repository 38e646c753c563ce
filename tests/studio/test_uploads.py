import pytest

from metainfer_core.errors import InputError
from studio.manuals.uploads import keep_beside, keep_upload, safe_stem, take_in


@pytest.mark.parametrize(
    ("stem", "safe"),
    [
        ("模型 v2", "模型_v2"),
        ('<b>bold"quote', "b_bold_quote"),
        ("../../etc/passwd", "etc_passwd"),
        ("cafe\u0301", "café"),
        ("...", "document"),
        ("n" * 200, "n" * 100),
        ("模" * 200, "模" * 50),
        ("a\nb\x00c\u202ed", "a_b_c_d"),
    ],
)
def test_names_that_are_kept(stem, safe):
    assert safe_stem(stem) == safe
    assert len(f"{safe}.onnx".encode()) < 200  # a file system takes 255 bytes, and numbers and endings are added


def test_a_manual_in_chinese_keeps_its_name(tmp_path):
    assert take_in("芯片手册.csv", b"a,b\n", tmp_path).name == "芯片手册.csv"


def test_another_file_of_the_same_name_is_kept_beside_the_first(tmp_path):
    assert keep_upload(tmp_path, "net.ONNX", b"first") == tmp_path / "net.onnx"
    assert keep_upload(tmp_path, "net.onnx", b"other") == tmp_path / "net-2.onnx"
    assert keep_upload(tmp_path, "net.onnx", b"third!") == tmp_path / "net-3.onnx"
    assert keep_upload(tmp_path, "net.onnx", b"other") == tmp_path / "net-2.onnx"
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {"net.onnx": b"first", "net-2.onnx": b"other", "net-3.onnx": b"third!"}


def test_a_second_bundle_of_one_number_is_kept_beside_the_first(tmp_path):
    first = tmp_path / "bundles" / "net_1.bundle"
    assert keep_beside(first, b"signed by ada", "bundle") == first
    assert keep_beside(first, b"signed by bob", "bundle") == first.with_name("net_1-2.bundle")
    assert keep_beside(first, b"signed by ada", "bundle") == first
    assert first.read_bytes() == b"signed by ada"


def test_an_empty_file_is_not_kept(tmp_path):
    with pytest.raises(InputError, match=r"^zero\.onnx: the file is empty\."):
        keep_upload(tmp_path, "zero.onnx", b"")
    assert list(tmp_path.iterdir()) == []
