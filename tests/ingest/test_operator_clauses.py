"""The words of one cell: read into exactly one meaning, or kept as words. Never a limit that the words do not state."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hwdoc_ingest.operators.operator_clauses import read_text
from hwdoc_ingest.operators.operator_names import operators_of
from hwdoc_ingest.operators.operator_subjects import Context

FREE = Context()
KERNEL = Context(about=("kernel",), bare=True)
TRANSPOSED = Context(
    names={"n1": "batch", "c1": "channel", "h1": "height", "w1": "width"},
    numbers={"p": 8192, "q": 2048},
    types={"T1": ("int8",), "T2": ("int16", "float16")},
)


def read(text: str, context: Context = FREE) -> list[dict[str, Any]]:
    return [rule.model_dump(mode="json", exclude_defaults=True) for rule in read_text(text, context)]


@pytest.mark.parametrize(
    ("text", "context", "rules"),
    [
        ("kernel_h ∈ [1, 31]", FREE, [{"of": ["kernel_h"], "min": 1, "max": 31}]),
        ("channel ∈ (0, 8192]", FREE, [{"of": ["channel"], "min": 1, "max": 8192}]),
        ("height ∗ width < 16384", FREE, [{"of": ["height", "width"], "max": 16383}]),
        ("2*height*width < 2048", FREE, [{"of": ["height", "width"], "max": 1023}]),
        ("1 <= stride <= 4", FREE, [{"of": ["stride"], "min": 1, "max": 4}]),
        ("axis ∈ {0, 1, 2, 3}", FREE, [{"of": ["axis"], "one_of": ["0", "1", "2", "3"]}]),
        ("stride_h 仅支持 1,2,4,8", FREE, [{"of": ["stride_h"], "one_of": ["1", "2", "4", "8"]}]),
        ("input channels must be a multiple of 8", FREE, [{"of": ["in_channels"], "multiple_of": 8}]),
        ("group is at most 64", FREE, [{"of": ["group"], "max": 64}]),
        ("1–64", KERNEL, [{"of": ["kernel"], "min": 1, "max": 64}]),
        ("1x1, 3x3, 5x5 only", KERNEL, [{"of": ["kernel_shape"], "one_of": ["1x1", "3x3", "5x5"]}]),
        ("≤ 11", KERNEL, [{"of": ["kernel"], "max": 11}]),
        (
            "Stride values for both width and height must be between 1 and 3",
            FREE,
            [{"of": ["stride"], "min": 1, "max": 3}],
        ),
        (
            "Dilated kernel height must be in the range [1, 64]",
            FREE,
            [{"of": ["dilated_kernel_h"], "min": 1, "max": 64}],
        ),
        (
            "Product of dilated kernel width and height must be in the range [1, 4096]",
            FREE,
            [{"of": ["dilated_kernel_w", "dilated_kernel_h"], "min": 1, "max": 4096}],
        ),
        ("IFM Tensor batch size must be 1", FREE, [{"of": ["batch"], "one_of": ["1"]}]),
        ("Weights must be constant", FREE, [{"operand": "input1", "constant": True}]),
        ("Bias must be int32", FREE, [{"operand": "input2", "data_types": ["int32"]}]),
        ("Data types: INT8/INT16, FP16", FREE, [{"data_types": ["int8", "int16", "float16"]}]),
        ("All inputs and outputs must have the same scale", FREE, [{"equal_scale": True}]),
        (
            "axis=3/-1,channel ∗ height < 16384",
            FREE,
            [{"of": ["channel", "height"], "max": 16383, "when": [{"of": ["axis"], "one_of": ["3", "-1"]}]}],
        ),
        (
            "kernel size up to 11 when stride is 1",
            FREE,
            [{"of": ["kernel"], "max": 11, "when": [{"of": ["stride"], "one_of": ["1"]}]}],
        ),
        (
            "T1: h1%16=0, w1*c1<p*16",
            TRANSPOSED,
            [
                {"of": ["height"], "multiple_of": 16, "when": [{"of": ["data_type"], "one_of": ["int8"]}]},
                {"of": ["width", "channel"], "max": 131071, "when": [{"of": ["data_type"], "one_of": ["int8"]}]},
            ],
        ),
        (
            "单元中的长度,无限制,建议 8 对齐",
            Context(about=("hidden_size",)),
            [{"of": ["hidden_size"], "multiple_of": 8, "strength": "recommended"}],
        ),
        ("目前不支持设置", Context(about=("antialias",), default="0"), [{"of": ["antialias"], "one_of": ["0"]}]),
        ("目前不支持设置", Context(about=("axes",)), [{"of": ["axes"], "unset": True}]),
        (
            "epsilon ∈ (0, ∞]",
            Context(about=("epsilon",), names={"epsilon": "epsilon"}, is_whole=False),
            [{"of": ["epsilon"], "above": 0}],
        ),
        (
            "axis=1, height < 16384, 且受限于 transpose 的规格限制",
            FREE,
            [
                {"of": ["height"], "max": 16383, "when": [{"of": ["axis"], "one_of": ["1"]}]},
                {
                    "when": [{"of": ["axis"], "one_of": ["1"]}],
                    "understood": False,
                    "words": "受限于 transpose 的规格限制",
                },
            ],
        ),
        ("no restrictions", FREE, []),
        ("无限制", FREE, []),
        ("the moving average of training", FREE, []),
    ],
)
def test_what_a_cell_says(text: str, context: Context, rules: list[dict[str, Any]]) -> None:
    assert read(text, context) == rules


@pytest.mark.parametrize(
    "text",
    [
        "kernel_h or kernel_w must be 1",
        "batch must be 1 unless the model is a sequence",
        "kernel up to 7, except in the first layer",
        "Only when stride is 1, dilation up to 16",
        "when the weights are sparse, kernel up to 3",
        "height * width < 16384 且 height * width 等于 1 或大于 8",
        "group : 仅支持 1, 当且仅当 num_input=num_output 时支持 num_output",
        "当 dilation 不等于 (1, 1) 时,只支持 kernel=(1,1)",
        "proj_size ∈ [0, hiddensize]",
        "kernel must be 3, 5 or as the firmware allows",
        "kernel 1x1 to 7x7",
        "stride < n",
        "The sum of the weights cannot exceed 8323072",
        "kernel_h <= 3, and kernel_w as the firmware allows it, at most 5 of them",
        "stride must not be 3",
    ],
)
def test_what_is_not_wholly_understood_stays_words(text: str) -> None:
    assert read(text) == [{"understood": False, "words": read(text)[0]["words"]}]
    assert all(rule.get("understood") is False for rule in read(text, KERNEL))


def test_no_text_is_too_strange_to_be_read_in_time() -> None:
    words = (
        "kernel height of the product must be [1, 31] < 16*p and when if axis=1 ( { % 8=0 至少 仅支持 当 时 , ; * x _"
    )
    dice = random.Random(3)
    for _ in range(400):
        text = " ".join(dice.choices(words.split(), k=dice.randint(1, 60)))
        for rule in read_text(text, KERNEL):
            assert rule.understood is (rule.words is None)
    assert read("kernel <= 3, " * 40)[0]["understood"] is False


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("Convolution", ["Conv"]),
        ("Depthwise Convolution", ["Conv"]),
        ("CONV_2D", ["Conv"]),
        ("Clip/ReLU6", ["Clip"]),
        ("ConvolutionPRelu/LeakyRelu", ["Conv+PRelu", "Conv+LeakyRelu"]),
        ("ConvTranposeHardSigmoid", ["ConvTranspose+HardSigmoid"]),
        ("exMatMul", ["exMatMul"]),
        ("exStreaming/LeakyRelu", ["exStreaming"]),
    ],
)
def test_names_of_operators(name: str, keys: list[str]) -> None:
    assert [operator.key for operator in operators_of(name)] == keys


def test_other_words_are_no_operators() -> None:
    assert not any(
        operator.is_known for name in ("Introduction", "Normal operation") for operator in operators_of(name)
    )
