"""Each sentence that the core can say of a policy is translated."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import metainfer_core
from hwdoc_ingest.fields import FIELDS
from metainfer_core.memory.greedy import ORDERS
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.library import default_folder, entries
from metainfer_core.verify.report import Headline
from studio.drafts.desk_places import title
from studio.words.core_words import in_chinese

CORE = Path(metainfer_core.__file__).parent
SPEAKING = ("actions", "policy/choose.py", "policy/objective.py", "policy/risk.py", "policy/what_if.py",
            "policy/search/integer_search.py", "policy/search/placing.py", "policy/search/range_reasons.py",
            "policy/search/search.py", "policy/structure",
            "pipeline/what_if.py", "explain/what_if_words.py", "cost",
            "bundle", "spec/checking/consistency.py", "spec/checking/plausibility.py",
            "spec/revising/record.py")  # fmt: skip
"""Where the sentences come from that cards, queues, reports and the findings of a spec show."""
AFTER_A_LETTER = {
    "Check the unit: a bare number is read in.",
    'Add "v: what changed, and why".',
    "The change log has no line for v.",
}
"""What is left of those whose number or unit stands right behind a letter; as they are said they are translated."""
NAMES = re.compile("esp32s3|psram|Runtime")


def test_each_sentence_that_the_core_can_say_of_a_policy_is_translated() -> None:
    said = {sentence for place in SPEAKING for sentence in _sentences(CORE / place)}
    assert len(said) > 150
    assert sorted(sentence for sentence in said - AFTER_A_LETTER if in_chinese(sentence) == sentence) == []
    assert in_chinese("The change log has no line for v1.0.0.") == "变更记录中没有 v1.0.0 的条目。"


def test_each_way_to_plan_memory_that_the_report_names_is_translated() -> None:
    planners = [*ORDERS, "hill climb"]
    assert sorted(name for name in planners if in_chinese(name, is_part=True) == name) == []
    assert in_chinese("hill climb", is_part=True) == "（爬山法规划）"


def test_why_values_of_the_library_are_assumed_is_translated() -> None:
    reasons = {reason for each in entries(default_folder()) for reason in read_spec(each.path).assumed.values()}
    assert len(reasons) > 100
    assert sorted(reason for reason in reasons if in_chinese(reason, is_part=True) == reason) == []


def test_every_field_of_a_document_has_its_title_and_meaning() -> None:
    said = {title(name) for name in FIELDS} | {each.meaning for each in FIELDS.values() if each.meaning}
    assert len(said) > 200
    same = {"USB FIFO"}
    assert sorted(words for words in said - same if in_chinese(words, is_part=True) == words) == []


def test_the_report_is_translated_whatever_it_found() -> None:
    size, time = "2,304 of 8,192 bytes of psram", "predicted 0.02 to 0.1 ms on esp32s3"
    measured = "measured 0.001 ms on this machine, 0.21 times what ONNX Runtime takes"
    headlines = [
        *typing.get_args(Headline.model_fields["question"].annotation),
        f"Yes: {size}; {size}.",
        f"{time}; {measured}.",
        f"{time}.",
        f"unknown on esp32s3 (the spec lacks what a prediction needs); {measured}.",
        "Nothing.",
        "Nothing technical. Nobody has reviewed or signed it: it is a development package.",
        "2 violations of the spec, first n1: It needs approval. 3 differences from what was approved, first n2.",
    ]
    assert [words for words in headlines if re.search("[a-z]{4,}", NAMES.sub("", in_chinese(words)))] == []


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
