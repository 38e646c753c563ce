"""The reference page names every attack, and every attack has its test."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_attack_of_the_page_has_its_test_and_the_other_way_round():
    page = (ROOT / "docs" / "reference" / "attacks.md").read_text()
    rows = re.findall(r"^\| (\d\d) \|", page, re.MULTILINE)
    tests = [*(ROOT / "tests" / "store").glob("test_*.py"), *(ROOT / "tests" / "core" / "bundle").glob("test_*.py")]
    found = {number for path in tests for number in re.findall(r"^def test_attack_(\d\d)_", path.read_text(), re.M)}
    assert rows == [f"{number:02}" for number in range(1, 49)]
    assert found == set(rows)
