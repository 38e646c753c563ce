"""Computing a large kernel as the sum of its parts."""

from __future__ import annotations

import pytest
from action_bench import keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.split_kernel import SplitKernel
from metainfer_core.graph.shapes import static_shape
from metainfer_core.spec.hardware_spec import Operators
from metainfer_core.spec.operators import OperatorRule

KIND = SplitKernel()
SEVEN = """
    seven (float[1,3,16,16] x, float[4,3,7,7] w_conv, float[4] w_bias) => (float[1,4,8,8] y) {
        [conv] y = Conv <strides = [2, 2], pads = [3, 3, 3, 3]> (x, w_conv, w_bias)
    }"""
BARE = """
    bare (float[1,3,9,9] x, float[4,3,5,5] w_conv) => (float[1,4,5,5] y) {
        [conv] y = Conv (x, w_conv)
    }"""
DEPTHWISE = """
    depthwise (float[1,4,20] x, float[4,1,6] w_conv, float[4] w_bias) => (float[1,4,9] y) {
        [conv] y = Conv <group = 4, dilations = [3], pads = [2, 2], strides = [1]> (x, w_conv, w_bias)
    }"""
BORDER = """
    border (float[1,2,2,2] x, float[3,2,5,5] w_conv, float[3] w_bias) => (float[1,3,1,1] y) {
        [conv] y = Conv <pads = [3, 3, 0, 0]> (x, w_conv, w_bias)
    }"""


def chip(most: int, supported: tuple[str, ...] = ("Conv", "Add", "Slice")):
    rules = {"Conv": {name: OperatorRule(of=(name,), max=most) for name in ("kernel_h", "kernel_w")}}
    return spec_of(units={"npu": npu(operators=Operators(supported=supported, rules=rules))})


def cut(*kernel: int) -> Action:
    return Action(kind="split_kernel", nodes=("conv",), params={"kernel": kernel})


def kernels(model) -> list[tuple[int, ...]]:
    return [static_shape(node.inputs[1])[2:] for node in model.graph if node.op_type == "Conv"]


def test_a_kernel_over_the_limit_is_cut_into_the_fewest_even_parts():
    model, spec = model_of(SEVEN), chip(5)
    (action,), refusals = proposed(KIND, model, spec)
    assert refusals == []
    assert action.params == {"kernel": (4, 4), "parts": 4, "target_hw": "npu"}
    assert action.why[0].claim == (
        "conv has kernel_h 7; npu runs up to 5 (compute_units.npu.operators.rules.Conv.kernel_h)."
    )
    assert action.constraint == "4 kernels of at most 4x4 are within the limits of npu."
    assert KIND.sentence(action) == "Compute conv as the sum of convolutions with kernels of at most 4x4."
    after = rewritten(KIND, model, spec, [action])
    assert kernels(after) == [(4, 4), (4, 3), (3, 4), (3, 3)]
    assert ops(after).count("Add") == 3
    assert [len(node.inputs) for node in after.graph if node.op_type == "Conv"] == [3, 2, 2, 2]
    assert keeps_promise(KIND, model, after)
    assert proposed(KIND, after, spec) == ([], [])


def test_a_limit_of_one_axis_is_kept_by_a_cut_along_it():
    rules = {"Conv": {"low": OperatorRule(of=("kernel_h",), max=3)}}
    spec = spec_of(units={"npu": npu(operators=Operators(supported=("Conv", "Add", "Slice"), rules=rules))})
    (action,), _ = proposed(KIND, model_of(BARE), spec)
    assert action.params["kernel"] == (3, 5)


@pytest.mark.parametrize(
    ("text", "kernel", "parts"),
    [
        (SEVEN, (3, 7), [(3, 7), (3, 7), (1, 7)]),
        (SEVEN, (2, 5), [(2, 5), (2, 2), (2, 5), (2, 2), (2, 5), (2, 2), (1, 5), (1, 2)]),
        (BARE, (2, 3), [(2, 3), (2, 2), (2, 3), (2, 2), (1, 3), (1, 2)]),
        (DEPTHWISE, (4,), [(4,), (2,)]),
    ],
)
def test_any_cut_computes_the_same(text, kernel, parts):
    model = model_of(text)
    after = rewritten(KIND, model, spec_of(), [cut(*kernel)])
    assert kernels(after) == parts
    assert keeps_promise(KIND, model, after)


def test_parts_that_would_read_padding_alone_are_left_out():
    model = model_of(BORDER)
    after = rewritten(KIND, model, spec_of(), [cut(3, 3)])
    assert kernels(after) == [(2, 2)]
    assert [len(node.inputs) for node in after.graph] == [3]
    assert keeps_promise(KIND, model, after)


def test_the_number_of_parts_is_told_where_the_action_gives_their_extents_alone():
    completed = KIND.completed(model_of(BORDER), cut(3, 3), None)
    assert completed.params == {"kernel": (3, 3), "parts": 1}
    wrong = completed.with_params({"parts": 4})
    assert refusal(KIND, model_of(BORDER), spec_of(), wrong) == (
        "The kernel of conv has 1 parts of at most 3x3, not 4."
    )


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        ((7, 7), "conv has a kernel of 7x7: 7x7 takes all of it."),
        ((1, 1), "conv would be computed in 49 parts; at most 16 are allowed."),
        ((4,), "conv has 2 spatial axes, and the kernel of the action has 1."),
    ],
)
def test_what_is_no_cut_or_too_many_is_refused(kernel, told):
    assert refusal(KIND, model_of(SEVEN), spec_of(), cut(*kernel)) == told


def test_every_part_must_keep_the_limits_of_the_unit_that_is_named():
    action = cut(6, 4).with_params({"kernel": (6, 4), "target_hw": "npu"})
    assert refusal(KIND, model_of(SEVEN), chip(5), action) == (
        "conv has kernel_h 6; npu runs up to 5 (compute_units.npu.operators.rules.Conv.kernel_h)."
    )


def test_parts_whose_sum_the_unit_cannot_take_are_refused():
    actions, (reason,) = proposed(KIND, model_of(SEVEN), chip(5, supported=("Conv", "Slice")))
    assert (actions, reason) == (
        [],
        "The parts would leave npu: npu does not run Add (compute_units.npu.operators.supported does not list it), "
        "and names no fallback.",
    )


def test_a_limit_that_no_cut_keeps_is_told():
    actions, (reason,) = proposed(KIND, model_of(SEVEN), chip(1))
    assert actions == []
    assert reason.endswith("No cut of its kernel into at most 16 parts keeps the limits.")
