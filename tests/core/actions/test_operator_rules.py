"""Typed rules of an operator table held against nodes: which law is broken, with the numbers of both sides."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
import pydantic
import pytest

from metainfer_core.actions.node_properties import extents
from metainfer_core.actions.operator_rules import broken_rule
from metainfer_core.actions.units import limits_against
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec, Operators
from metainfer_core.spec.operators import OperatorRule

CONV = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[1,8,9,12] x, float[8,{weights},5,9] w) => (float[1,8,5,4] y) {{
  y = Conv<group={group}, kernel_shape=[5,9], strides=[1,3], pads=[0,1,2,3], dilations=[2,1]>(x, w)
}}
"""
SOFTMAX = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[1,8,9,12] x) => (float[1,8,9,12] y) { y = Softmax<axis=-3>(x) }
"""
TRANSPOSE = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[1,8,9,12] x) => (float[1,9,12,8] y) { y = Transpose<perm=[0,2,3,1]>(x) }
"""
POW = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[4] x) => (float[4] y) <float e = {4.0}> { y = Pow(x, e) }
"""


def against(text: str, rule: dict[str, Any], data_type: str | None = "int8") -> str | None:
    node = ir.from_onnx_text(text).graph[0]
    node.name = "n"
    operators = Operators.from_plain({"rules": {node.op_type: {"law": rule}}})
    spec = HardwareSpec(
        name="chip", version="1.0.0", compute_units={"npu": ComputeUnit(kind="npu", operators=operators)}
    )
    broken = broken_rule(spec, "npu", node, data_type)
    told = broken and broken.sentence
    assert told == limits_against(spec, "npu", node, data_type)
    return told


def conv(group: int = 1) -> str:
    return CONV.format(group=group, weights=8 // group)


@pytest.mark.parametrize(
    ("text", "rule", "told"),
    [
        (conv(), {"of": ["kernel_h"], "min": 1, "max": 4}, "n has kernel_h 5; npu runs 1 to 4"),
        (conv(), {"of": ["stride"], "one_of": ["1", "2"]}, "n has stride 3; npu runs 1 or 2"),
        (conv(), {"of": ["pad_right"], "max": 2}, "n has pad_right 3; npu runs up to 2"),
        (conv(), {"of": ["dilated_kernel_h"], "max": 8}, "n has dilated_kernel_h 9; npu runs up to 8"),
        (conv(), {"of": ["kernel_h", "kernel_w"], "max": 44}, "n has kernel_h x kernel_w 45; npu runs up to 44"),
        (
            conv(),
            {"of": ["in_channels"], "multiple_of": 16},
            "n has in_channels 8; npu runs multiples of 16",
        ),
        (conv(), {"of": ["kernel_shape"], "one_of": ["3x3"]}, "n has kernel_shape 5x9; npu runs 3x3"),
        (conv(), {"of": ["width"], "operand": "output0", "min": 5}, "n has width 4 of y; npu runs from 5"),
        (conv(), {"operand": "input1", "constant": True}, "n computes w; npu runs Conv only where it is a constant"),
        (conv(), {"data_types": ["float16"]}, "n would have x in int8; npu runs Conv in float16"),
        (conv(), {"of": ["dilations"], "unset": True}, "n has dilations; npu runs Conv only without it"),
        (
            conv(8),
            {"of": ["kernel_w"], "max": 8, "when": [{"of": ["depthwise"], "one_of": ["1"]}]},
            "n has kernel_w 9; npu runs up to 8, where depthwise is 1",
        ),
        (
            TRANSPOSE,
            {"unavailable": True, "when": [{"of": ["perm"], "one_of": ["[0, 2, 3, 1]"]}]},
            "npu does not run Transpose as in n, where perm is [0, 2, 3, 1]",
        ),
        (
            SOFTMAX,
            {"of": ["height", "width"], "max": 100, "when": [{"of": ["axis"], "one_of": ["1"]}]},
            "n has height x width 108; npu runs up to 100, where axis is 1",
        ),
        (
            POW,
            {"of": ["value"], "operand": "input1", "one_of": ["2", "0.5"]},
            "n has value 4 of e; npu runs 2 or 0.5",
        ),
    ],
)
def test_a_broken_law_is_told_with_both_numbers(text: str, rule: dict[str, Any], told: str) -> None:
    op_type = ir.from_onnx_text(text).graph[0].op_type
    assert against(text, rule) == f"{told} (compute_units.npu.operators.rules.{op_type}.law)."


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (conv(), {"of": ["kernel_h"], "min": 1, "max": 5}),
        (conv(), {"of": ["in_channels"], "multiple_of": 4}),
        (conv(), {"of": ["kernel_h", "kernel_w"], "max": 45}),
        (conv(), {"of": ["kernel_w"], "max": 8, "when": [{"of": ["depthwise"], "one_of": ["1"]}]}),
        (SOFTMAX, {"of": ["axis"], "one_of": ["-3"]}),
        (SOFTMAX, {"of": ["axis"], "one_of": ["1", "3"]}),
        (POW, {"of": ["value"], "operand": "input1", "one_of": ["4"]}),
        (POW, {"operand": "input1", "constant": True}),
        (POW, {"operand": "input1", "data_types": ["float16"], "constant_data_types": ["float32"]}),
        (conv(), {"of": ["never_heard_of"], "max": 1}),
        (conv(), {"of": ["kernel_h"], "max": 1, "when": [{"of": ["never_heard_of"], "one_of": ["1"]}]}),
        (conv(), {"of": ["kernel_h"], "multiple_of": 8, "strength": "recommended"}),
        (conv(), {"understood": False, "words": "kernel_h < 5 on Sundays"}),
    ],
)
def test_a_kept_law_and_one_that_says_nothing_of_the_node_refuse_nothing(text: str, rule: dict[str, Any]) -> None:
    assert against(text, rule) is None


def test_equal_scales_bind_only_int8_and_only_operators_that_scale_each_operand() -> None:
    concat = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (float[4] a, float[4] b) => (float[8] y) { y = Concat<axis=0>(a, b) }
    """
    told = against(concat, {"equal_scale": True})
    assert told is not None
    assert "one scale for all its operands" in told
    assert against(concat, {"equal_scale": True}, "float32") is None
    assert against(TRANSPOSE, {"equal_scale": True}) is None


def test_the_default_of_onnx_counts_where_an_attribute_is_not_there() -> None:
    node = ir.from_onnx_text(SOFTMAX.replace("<axis=-3>", "")).graph[0]
    assert extents(node, "axis") == (-1,)
    assert against(SOFTMAX.replace("<axis=-3>", ""), {"of": ["axis"], "one_of": ["3"]}) is None
    assert against(SOFTMAX.replace("<axis=-3>", ""), {"of": ["axis"], "one_of": ["1"]}) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"of": ("kernel_h",)},
        {"max": 3.0},
        {"of": ("kernel_h",), "max": 3.0, "understood": False, "words": "x"},
        {"understood": False},
        {"unavailable": True},
    ],
)
def test_a_rule_says_something_or_keeps_its_words(wrong: dict[str, Any]) -> None:
    with pytest.raises(pydantic.ValidationError):
        OperatorRule(**wrong)
