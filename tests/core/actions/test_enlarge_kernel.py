"""Writing a convolution's kernel larger, with zeros."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.enlarge_kernel import EnlargeKernel
from metainfer_core.spec.hardware_spec import Operators, Quantity
from metainfer_core.spec.operators import OperatorRule

KIND = EnlargeKernel()
DILATED = """
    dilated (float[1,3,12,12] x, float[4,3,3,3] w_conv, float[4] w_bias) => (float[1,4,12,12] y) {
        [conv] y = Conv <dilations = [2, 2], pads = [2, 2, 2, 2]> (x, w_conv, w_bias)
    }"""
THREE = """
    three (float[1,3,9,9] x, float[4,3,3,3] w_conv) => (float[1,4,5,5] y) {
        [conv] y = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w_conv)
    }"""
DEPTHWISE = """
    depthwise (float[1,4,20] x, float[4,1,3] w_conv) => (float[1,4,14] y) {
        [conv] y = Conv <group = 4, dilations = [3]> (x, w_conv)
    }"""
FAR = """
    far (float[1,3,60,60] x, float[4,3,3,3] w_conv) => (float[1,4,12,12] y) {
        [conv] y = Conv <dilations = [24, 24]> (x, w_conv)
    }"""
AUTO = """
    auto (float[1,3,9,9] x, float[4,3,3,3] w_conv) => (float[1,4,9,9] y) {
        [conv] y = Conv <dilations = [2, 2], auto_pad = "SAME_UPPER"> (x, w_conv)
    }"""


def chip(**rule):
    operators = Operators(supported=("Conv", "Add"), rules={"Conv": {"law": OperatorRule(**rule)}})
    return spec_of(units={"npu": npu(operators=operators)})


NO_DILATION = chip(of=("dilation",), max=1)
ONLY_5X5 = chip(of=("kernel_shape",), one_of=("1x1", "5x5"))


def weight_of(model):
    (conv,) = model.graph
    return conv.inputs[1].const_value.numpy()


def test_a_dilated_kernel_is_written_with_zeros_between_its_taps():
    model = model_of(DILATED)
    (action,), refusals = proposed(KIND, model, NO_DILATION)
    assert refusals == []
    assert action.params == {"kernel": (5, 5), "target_hw": "npu"}
    assert action.why[0].claim == (
        "conv has dilation 2; npu runs up to 1 (compute_units.npu.operators.rules.Conv.law)."
    )
    assert action.why[0].spec_field == "compute_units.npu.operators.rules.Conv.law"
    assert action.constraint == "A kernel of 5x5 without dilation is within the limits of npu."
    assert action.alternatives[0].reason == "Its data would leave npu; here it has 25 products in place of 9."
    assert KIND.sentence(action) == "Write the kernel of conv as 5x5, with zeros."
    after = rewritten(KIND, model, NO_DILATION, [action])
    np.testing.assert_array_equal(weight_of(after)[:, :, ::2, ::2], weight_of(model))
    assert np.count_nonzero(weight_of(after)) == weight_of(model).size
    assert list(after.graph[0].attributes["pads"].as_ints()) == [2, 2, 2, 2]
    assert keeps_promise(KIND, model, after)
    assert proposed(KIND, after, NO_DILATION) == ([], [])


def test_a_kernel_of_an_extent_that_the_unit_lacks_grows_around_its_taps():
    model = model_of(THREE)
    (action,), _ = proposed(KIND, model, ONLY_5X5)
    assert action.params["kernel"] == (5, 5)
    after = rewritten(KIND, model, ONLY_5X5, [action])
    np.testing.assert_array_equal(weight_of(after)[:, :, 1:4, 1:4], weight_of(model))
    assert list(after.graph[0].attributes["pads"].as_ints()) == [2, 2, 2, 2]
    assert keeps_promise(KIND, model, after)


@pytest.mark.parametrize(("text", "kernel"), [(THREE, (4, 5)), (THREE, (3, 6)), (DEPTHWISE, (7,)), (DEPTHWISE, (10,))])
def test_any_larger_kernel_computes_the_same(text, kernel):
    model, action = model_of(text), Action(kind="enlarge_kernel", nodes=("conv",), params={"kernel": kernel})
    after = rewritten(KIND, model, spec_of(), [action])
    assert weight_of(after).shape[2:] == kernel
    assert ops(after) == ["Conv"]
    assert keeps_promise(KIND, model, after)


@pytest.mark.parametrize(
    ("text", "kernel", "told"),
    [
        (THREE, (2, 3), "The kernel of conv reaches over 3x3: 2x3 does not hold it."),
        (DILATED, (4, 5), "The kernel of conv reaches over 5x5: 4x5 does not hold it."),
        (THREE, (3, 3), "conv has a kernel of 3x3 already."),
        (THREE, (5,), "conv has 2 spatial axes, and the kernel of the action has 1."),
        (THREE, (13, 13),
         "A kernel of 13x13 has 169 products in place of 9; at most 16 times as many are allowed."),
        (AUTO, (5, 5), "conv derives its pads from its kernel (auto_pad), which would be another one."),
    ],
)  # fmt: skip
def test_what_would_not_be_the_same_or_costs_too_much_is_refused(text, kernel, told):
    action = Action(kind="enlarge_kernel", nodes=("conv",), params={"kernel": kernel})
    assert refusal(KIND, model_of(text), spec_of(), action) == told


def test_the_larger_kernel_must_keep_the_limits_of_the_unit_that_is_named():
    action = Action(kind="enlarge_kernel", nodes=("conv",), params={"kernel": (7, 7), "target_hw": "npu"})
    assert refusal(KIND, model_of(THREE), ONLY_5X5, action) == (
        "conv has kernel_shape 7x7; npu runs 1x1 or 5x5 (compute_units.npu.operators.rules.Conv.law)."
    )
    elsewhere = action.with_params({"kernel": (5, 5), "target_hw": "gpu"})
    assert refusal(KIND, model_of(THREE), ONLY_5X5, elsewhere) == (
        "The spec has no compute unit named gpu (compute_units); it has npu."
    )


def test_a_far_dilation_is_too_dear_and_says_so():
    assert proposed(KIND, model_of(FAR), NO_DILATION) == (
        [],
        ["conv has dilation 24; npu runs up to 1 (compute_units.npu.operators.rules.Conv.law). "
         "No larger kernel with at most 16 times the products keeps the limits."],
    )  # fmt: skip


def test_a_limit_that_speaks_of_something_else_is_no_matter_of_the_kernel():
    few = Operators(supported=("Conv",), limits={"Conv": {"out_channels": Quantity(max=2)}})
    assert proposed(KIND, model_of(DILATED), spec_of(units={"npu": npu(operators=few)})) == ([], [])
    named = DILATED.replace("[conv]", "[kernel_1]")
    assert proposed(KIND, model_of(named), spec_of(units={"npu": npu(operators=few)})) == ([], [])
    assert proposed(KIND, model_of(DILATED), spec_of()) == ([], [])


def test_a_tap_in_the_wrong_place_would_be_seen():
    model, action = model_of(THREE), Action(kind="enlarge_kernel", nodes=("conv",), params={"kernel": (5, 5)})
    after = rewritten(KIND, model, spec_of(), [action])
    shifted = np.roll(weight_of(after), 1, axis=3)
    after.graph[0].inputs[1].const_value = ir.tensor(shifted)
    assert not keeps_promise(KIND, model, after)
