"""Kinds, parameters and steps of jobs are named in both languages, whichever are added."""

import ast
import typing
from pathlib import Path

import pytest

import metainfer_core
from metainfer_core.actions.catalog import KINDS
from studio.words.action_words import kind_words, parameter_words, parameters_in_words
from studio.words.core_words import in_chinese
from studio.words.texts import TEXTS

ROOT = Path(metainfer_core.__file__).parents[1]
NO_STEPS = ("N: N",)
"""Two names of the document that is read."""


def test_each_kind_and_parameter_has_its_name_in_both_languages():
    kinds = {f"kind_{each.name}" for each in KINDS}
    parameters = {f"parameter_{one.alias or name}" for each in KINDS for name, one in each.Params.model_fields.items()}
    named = {key for key in TEXTS if key.startswith(("kind_", "parameter_"))}
    assert named == kinds | parameters
    assert (kind_words("fold_batch_norm"), parameter_words("bit_width")) == ("fold batch norm", "bit width")
    assert (kind_words("my_kind"), parameter_words("my_own")) == ("my kind", "my own")


def test_each_choice_of_a_parameter_has_its_name():
    choices = {
        f"value_{one.alias or name}_{choice}"
        for each in KINDS
        for name, one in each.Params.model_fields.items()
        if typing.get_origin(one.annotation) is typing.Literal
        for choice in typing.get_args(one.annotation)
        if isinstance(choice, str) and choice not in ("float16", "bfloat16")
    }
    named = {key for key in TEXTS if key.startswith("value_")} - {"value_in_field"}
    assert named == choices | {"value_true", "value_false"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_parameter_or_choice_has_the_name_that_a_command_line_takes(language):
    said = {key: TEXTS[key][language] for key in TEXTS if key.startswith(("parameter_", "value_"))}
    assert [key for key, words in said.items() if "_" in words] == []
    assert (said["parameter_target_hw"], said["parameter_units"]) == {
        "en": ("compute unit", "compute units of the parts"), "zh": ("计算单元", "各部分的计算单元"),
    }[language]  # fmt: skip


def test_parameters_are_read_in_the_language_of_the_moment(monkeypatch):
    assert parameters_in_words({"bit_width": 4, "with": ["a", "b"]}) == "bit width: 4; together with: a, b"
    assert parameters_in_words({"symmetric": True, "on": {"a": False}}) == "symmetric: yes; on: a: no"
    monkeypatch.setattr("studio.words.texts.language", lambda: "zh")
    assert parameters_in_words({"scheme": "channel_wise", "symmetric": False}) == "权重粒度：逐通道；对称：否"
    assert parameters_in_words({"memory": {"True": "channel_wise"}}) == "内存：True：channel_wise"  # names stay names
    assert parameters_in_words({"bit_width": 4, "my_own": 1.5}) == "位宽：4；my own：1.5"


def steps():
    """The first words of calls such as `progress("reading pages", ...)`, with N where the program fills a place."""
    for package in ("metainfer_core", "hwdoc_ingest", "review_store"):
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if not isinstance(node, ast.Call) or len(node.args) != 3 or not isinstance(node.func, ast.Name):
                    continue
                if node.func.id in ("progress", "report") and isinstance(node.args[0], ast.Constant | ast.JoinedStr):
                    parts = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else [node.args[0]]
                    said = "".join(str(each.value) if isinstance(each, ast.Constant) else "N" for each in parts)
                    yield said


def test_each_step_of_a_job_is_said_in_chinese():
    found = sorted(set(steps()))
    assert len(found) >= 40
    assert [each for each in found if in_chinese(each, is_part=True) == each and each not in NO_STEPS] == []


@pytest.mark.parametrize(("step", "chinese"), [("sheet 'Clocks'", "工作表 'Clocks'"), ("timing", "正在计时")])
def test_a_step_with_a_name_keeps_the_name(step, chinese):
    assert in_chinese(step, is_part=True) == chinese


def test_who_signed_a_bundle_is_said_in_chinese():
    one = "9 actions, all approved: ada signed for 9."
    assert in_chinese(one) == "9 个动作，全部已批准：ada 为其中 9 个签名。"
    two = "9 actions, all approved: ada signed for 9; bob signed for 2."
    assert in_chinese(two) == "9 个动作，全部已批准：ada 为其中 9 个签名；bob 为其中 2 个签名。"
