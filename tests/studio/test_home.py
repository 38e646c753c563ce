import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from studio.texts import TEXTS, text

ROOT = Path(__file__).parents[2]


def home(workspace, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(workspace))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "pages" / "home.py"), default_timeout=30).run()


def test_an_empty_workspace_says_how_to_start(tmp_path, monkeypatch):
    page = home(tmp_path, monkeypatch)
    assert not page.exception
    assert [box.value for box in page.info] == [text("workspace_empty")]
    assert str(tmp_path) in page.markdown[0].value


def test_files_are_listed_by_kind_and_links_are_not_followed(tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "chip_v1.0.0.yaml").write_bytes(b"12345")
    (tmp_path / "m.onnx").write_bytes(b"1")
    (tmp_path / "link.onnx").symlink_to(tmp_path / "m.onnx")
    (tmp_path / "notes.txt").write_text("not shown")
    page = home(tmp_path, monkeypatch)
    (table,) = page.dataframe
    assert table.value.values.tolist() == [
        ["Draft or spec", "specs/chip_v1.0.0.yaml", 5],
        ["Model", "m.onnx", 1],
    ]


def test_the_frame_opens_home(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(ROOT)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    assert not page.exception
    assert [title.value for title in page.title] == ["meta-infer"]


def test_every_text_that_is_used_exists_and_every_text_is_used():
    sources = [path.read_text() for folder in ("studio", "pages") for path in (ROOT / folder).rglob("*.py")]
    code = "\n".join(sources)
    used = set(re.findall(r"\btext\(\s*\"(\w+)\"", code))
    assert used <= set(TEXTS)
    quoted = set(re.findall(r"\"(\w+)\"", code.replace((ROOT / "studio" / "texts.py").read_text(), "")))
    assert set(TEXTS) <= quoted
