"""ONNX's own node tests: the recorded outputs come out, or the model is refused with the reason."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from onnx_conformance import VERDICTS, Outcome, document, outcomes  # noqa: E402


@pytest.mark.slow
def test_every_node_test_gives_its_outputs_or_a_reason() -> None:
    found = outcomes()
    assert [each for each in found if each.verdict in ("differs", "crashed")] == []
    counts = Counter(each.verdict for each in found)
    assert counts["same"] > 1300
    assert all(each.reason for each in found if each.verdict == "refused")
    for verdict, meaning in VERDICTS.items():
        assert f"| {counts[verdict]} | {meaning} |" in (ROOT / "docs" / "reference" / "onnx_conformance.md").read_text()


def test_the_page_counts_by_verdict_and_reason() -> None:
    found = [
        Outcome("test_a", "same"),
        Outcome("test_b", "refused", "model: the value 'x' holds text.\nOnly numbers."),
        Outcome("test_c", "refused", "model: the value 'y' holds text.\nOnly numbers."),
    ]
    page = document(found)
    assert f"| 1 | {VERDICTS['same']} |" in page
    assert "| 2 | the value … holds text. | `test_b` |" in page
