"""Equalising the weights of two convolutions."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.equalise import Equalise
from metainfer_core.verify.reference import run_reference

KIND = Equalise()
CHAIN = """
    chain (float[1,3,8,8] x, float[4,3,3,3] w_a, float[4] w_bias, float[5,4,1,1] w_b) => (float[1,5,3,3] y) {
        [a] h = Conv (x, w_a, w_bias)
        [r] p = Relu (h)
        [m] q = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (p)
        [b] y = Conv (q, w_b)
    }"""
DEPTHWISE = """
    depthwise (float[1,3,8] x, float[4,3,3] w_a, float[4,1,3] w_b) => (float[1,4,4] y) {
        [a] h = Conv (x, w_a)
        [r] p = LeakyRelu <alpha = 0.1> (h)
        [b] y = Conv <group = 4> (p, w_b)
    }"""
BY_TENSOR = spec_of(units={"npu": npu(weight_granularity=("tensor",))})


def uneven(text: str):
    """A model whose first layer has channels of very different sizes."""
    sizes = np.array([1, 1 / 16, 1 / 64, 1 / 256])
    plain = {name: value.const_value.numpy() for name, value in model_of(text).graph.initializers.items()}
    first = plain["w_a"] / np.abs(plain["w_a"]).reshape(4, -1).max(1).reshape(4, *[1] * (plain["w_a"].ndim - 1))
    axis = 0 if plain["w_b"].shape[1] == 1 else 1
    largest = np.abs(plain["w_b"]).max(
        axis=tuple(one for one in range(plain["w_b"].ndim) if one != axis), keepdims=True
    )
    first *= sizes.reshape(4, *[1] * (first.ndim - 1))
    return model_of(text, {"w_a": first, "w_b": plain["w_b"] / largest})


def weights(model) -> list[np.ndarray]:
    return [node.inputs[1].const_value.numpy() for node in model.graph if node.op_type == "Conv"]


@pytest.mark.parametrize("text", [CHAIN, DEPTHWISE])
def test_small_channels_are_lifted_and_the_function_keeps_every_bit(text):
    model = uneven(text)
    (action,), refusals = proposed(KIND, model, BY_TENSOR)
    assert refusals == []
    assert action.nodes == ("a", "b")
    assert action.params == {"exponents": (0, -2, -3, -4), "target_hw": "npu"}
    # 1, 1/16, 1/64 and 1/256 of the greatest: 0, 4, 6 and 8 bits unused in a and none in b, then half as many in both
    assert action.why[0].claim == (
        "Under one scale for each weight, the channels between a and b leave 4.5 of 8 bits unused in the mean; "
        "equalised 2.2."
    )
    assert action.why[1].spec_field == "compute_units.npu.weight_granularity"
    after = rewritten(KIND, model, BY_TENSOR, [action])
    assert ops(after) == ops(model)
    feeds = samples_of(model).feeds
    for one, other in zip(run_reference(model, feeds), run_reference(after, feeds), strict=True):
        np.testing.assert_array_equal(one["y"], other["y"])
    assert [np.abs(weight).max() for weight in weights(after)] == [1.0, 1.0]
    assert proposed(KIND, after, BY_TENSOR) == ([], [])
    assert KIND.sentence(action) == "Equalise the weights of a and b channel by channel."


def test_where_each_channel_has_a_scale_of_its_own_nothing_is_proposed():
    assert proposed(KIND, uneven(CHAIN), spec_of(units={"npu": npu()})) == ([], [])


def test_even_layers_are_left_alone():
    even = {"w_a": np.ones((4, 3, 3, 3)), "w_b": np.full((5, 4, 1, 1), 0.01)}
    assert proposed(KIND, model_of(CHAIN, even), BY_TENSOR) == ([], [])


@pytest.mark.parametrize(
    ("text", "nodes", "exponents", "told"),
    [
        (CHAIN, ("a", "b"), (1, 2), "a makes 4 channels, and the action has 2 exponents."),
        (CHAIN, ("a", "b"), (0, 0, 0, 21), "An exponent beyond 20 would leave the range of useful weights."),
        (CHAIN, ("b", "a"), (0, 0, 0, 0),
         "a must be a Conv that alone reads the Conv b, with only Relu, LeakyRelu, MaxPool, AveragePool, "
         "GlobalAveragePool between."),
        (CHAIN.replace("Relu (h)", "Sigmoid (h)"), ("a", "b"), (0, 0, 0, 0),
         "b must be a Conv that alone reads the Conv a, with only Relu, LeakyRelu, MaxPool, AveragePool, "
         "GlobalAveragePool between."),
        (CHAIN, ("a",), (0, 0, 0, 0), "Two layers are equalised, not 1."),
    ],
)  # fmt: skip
def test_what_would_be_another_function_is_refused(text, nodes, exponents, told):
    action = Action(kind="equalise", nodes=nodes, params={"exponents": exponents})
    assert refusal(KIND, model_of(text), BY_TENSOR, action) == told


def test_a_clip_between_the_layers_would_make_another_function():
    clipped = uneven(CHAIN.replace("Relu (h)", "Clip (h, w_low, w_high)").replace(
        "float[5,4,1,1] w_b", "float[5,4,1,1] w_b, float w_low, float w_high"
    ))  # fmt: skip
    assert proposed(KIND, clipped, BY_TENSOR) == ([], [])


def test_a_factor_that_only_one_layer_gets_would_be_seen():
    model = uneven(CHAIN)
    (action,), _ = proposed(KIND, model, BY_TENSOR)
    after = rewritten(KIND, model, BY_TENSOR, [action])
    last = after.graph[-1]
    last.inputs[1].const_value = ir.tensor(weights(model)[1])
    assert not keeps_promise(KIND, model, after)
