"""The reference page names every feature of the review, and the files that test each really do."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_feature_of_the_page_has_its_test_where_the_page_says():
    page = (ROOT / "docs" / "reference" / "review_features.md").read_text()
    rows = re.findall(r"^\| (\d\d) \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    assert [number for number, _ in rows] == [f"{number:02}" for number in range(1, 18)]
    said = {(number, file) for number, files in rows for file in re.findall(r"`(\w+/test_\w+\.py)`", files)}
    tests = [path for area in ("store", "studio") for path in (ROOT / "tests" / area).glob("test_*.py")]
    found = {
        (number, f"{path.parent.name}/{path.name}")
        for path in tests
        for name in re.findall(r"^def test_(feature_\w+)", path.read_text(), re.MULTILINE)
        for number in re.findall(r"feature_(\d\d)_", name)  # one test can show two
    }
    assert said == found
