"""Each sentence that the core can say of a policy is translated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import metainfer_core
from studio.core_words import in_chinese

CORE = Path(metainfer_core.__file__).parent
SPEAKING = ("actions", "policy/choose.py", "policy/integer_search.py", "policy/objective.py", "policy/placing.py",
            "policy/risk.py", "policy/search.py", "policy/what_if.py", "pipeline/what_if.py",
            "explain/what_if_words.py", "cost")  # fmt: skip
"""Where the sentences come from that cards, queues and reports of a policy show."""


def test_each_sentence_that_the_core_can_say_of_a_policy_is_translated() -> None:
    said = {sentence for place in SPEAKING for sentence in _sentences(CORE / place)}
    assert len(said) > 150
    assert sorted(sentence for sentence in said if in_chinese(sentence) == sentence) == []


def _sentences(place: Path) -> Iterator[str]:
    """Sentences in the code, with a word of its own in each place that the program fills."""
    for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        tree = ast.parse(file.read_text("utf-8"))
        apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        apart |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if id(node) in apart or not isinstance(node, ast.Constant | ast.JoinedStr):
                continue
            sentence = _said(node)
            if (
                sentence[:1].isupper()
                and sentence.rstrip().endswith(".")
                and len(re.findall(r"[a-z]+ ", sentence)) >= 3
            ):
                yield sentence


def _said(node: ast.Constant | ast.JoinedStr) -> str:
    """The sentence; a hole right behind a word or a hole is one for words that may be missing, and is left out."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    said = ""
    for index, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            said += str(part.value)
        elif not said or not (said[-1].islower() or said[-1].isdigit() or said[-1] == ")"):
            said += f"N{index}"
    return said
