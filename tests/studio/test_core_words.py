"""Sentences of the core in Chinese: names and numbers stay as they are, and so does what nobody translated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import metainfer_core
from metainfer_core.errors import InputError
from review_store.review.workspace import person_id
from studio.words.core_words import core_markup, in_chinese, sentences

HOLE = re.compile(r"\{\d(?::words)?\}")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Nothing else reads conv1/out.", "没有其他节点读取 conv1/out。"),
        ("npu runs Conv, Relu as one.", "npu 可将 Conv、Relu 作为一个整体执行。"),
        ("Alone: y has 12.3 dB; the budget is 20.0 dB.", "单独：y 为 12.3 dB；预算为 20.0 dB。"),
        (
            "Compute Conv_1 with Relu_2 in INT8: weights scaled by output channel, symmetric activations, on npu.",
            "以 INT8 在 npu 上计算 Conv_1、Relu_2：权重逐输出通道缩放，激活值对称量化。",
        ),
        (
            "sheet: K, M and G of bytes are read as 1024, 1024² and 1024³; 13 sizes are read so.",
            "sheet：字节的 K、M、G 分别按 1024、1024²、1024³ 读取；13 个大小如此读取。",
        ),
        ("Somebody else's words.", "Somebody else's words."),
        (
            "Every tensor lies in sram alone: if less of it is free on the device than the spec says, the "
            "program cannot run.",
            "所有张量都只放在 sram 中：若设备上的空闲空间比规格所述少，程序将无法运行。",
        ),
        (
            "int8 on npu, weights by tensor, asymmetric, cut ranges, activations by tensor",
            "npu 上的 int8，权重逐张量，非对称，截断范围，激活值逐张量",
        ),
        (
            "mixed with INT16, int8 on npu, weights by tensor, asymmetric, cut ranges",
            "混合精度（含 INT16），npu 上的 int8，权重逐张量，非对称，截断范围",
        ),
        ("Given by ada: measured on the board.", "由 ada 给出：measured on the board。"),
        ("npu computes in int16.", "npu 以 int16 计算。"),
        ("npu computes in int16 and runs Transpose.", "npu 以 int16 计算并支持 Transpose。"),
        ("first 8 of 32 samples of pictures.npz", "pictures.npz 的 32 个样本中的前 8 个"),
        ("sheet.pdf: reading pages", "sheet.pdf：正在读取页面"),
        ("maps.xlsx: sheet 'Registers'", "maps.xlsx：工作表 'Registers'"),
    ],
)
def test_a_sentence_is_read_in_chinese_with_its_names_and_numbers(english: str, chinese: str) -> None:
    assert in_chinese(english) == chinese


def test_a_name_that_is_a_word_stays_a_name() -> None:
    assert in_chinese("Nothing else reads tensor.") == "没有其他节点读取 tensor。"


def test_a_name_is_never_markup_and_the_recorded_words_stay_within_reach() -> None:
    assert core_markup("Nothing else reads <b>.") == "Nothing else reads &lt;b&gt;."  # outside of a window: English


def test_both_languages_have_the_same_holes() -> None:
    for english, chinese in sentences().items():
        wanted = {hole[1] for hole in HOLE.findall(english)}
        assert {hole[1] for hole in HOLE.findall(chinese)} == wanted, english


def test_words_without_an_end_are_left_alone() -> None:
    endless = "x has " * 20_000 + "y; z runs 1 (f)."
    assert in_chinese(endless) == endless


def test_what_a_prediction_does_without_is_said_in_chinese():
    code = "".join(path.read_text("utf-8") for path in Path(metainfer_core.__file__).parent.rglob("*.py"))
    endings = set(re.findall(r"\((?:[a-z]+ )*not counted\)", code))
    assert len(endings) == 5
    for ending in endings:
        said = in_chinese(f"compute_units.npu.rows {ending}", is_part=True)
        assert re.fullmatch(r"compute_units\.npu\.rows（[^A-Za-z]+）", said), said


def test_why_an_id_cannot_be_is_chinese() -> None:
    with pytest.raises(InputError) as refused:
        person_id("李伟")
    said = "".join(in_chinese(each) for each in str(refused.value).split("\n"))
    assert said.startswith("'李伟' 不能作为人员标识。标识由小写字母 a 至 z、数字和")
    assert said.endswith("`ada@example.org` 这样的标识。")
