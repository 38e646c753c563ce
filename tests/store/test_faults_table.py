"""The reference page names each of the thirty faults, and the files that test each really do."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_fault_of_the_page_has_its_test_where_the_page_says():
    page = (ROOT / "docs" / "reference" / "faults.md").read_text()
    rows = re.findall(r"^\| (\d\d) \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    assert [number for number, _ in rows] == [f"{number:02}" for number in range(1, 31)]
    said = {(number, file) for number, files in rows for file in re.findall(r"`([\w/]+/test_\w+\.py)`", files)}
    assert {number for number, _ in said} == {number for number, _ in rows}
    found = {
        (number, path.relative_to(ROOT / "tests").as_posix())
        for path in (ROOT / "tests").rglob("test_*.py")
        for number in re.findall(r"^def test_fault_(\d\d)_", path.read_text(), re.MULTILINE)
    }
    assert said == found


def test_the_page_names_files_that_are_there():
    page = (ROOT / "docs" / "reference" / "faults.md").read_text()
    folders = ("metainfer_core", "hwdoc_ingest", "review_store", "studio")
    named = re.findall(rf"`((?:{'|'.join(folders)})/[\w/]+\.(?:py|js))`", page)
    code = [name for name in named if "/test_" not in name]
    assert [name for name in code if not (ROOT / name).is_file()] == []
    assert len(code) >= 25
