"""Scales by channel before depthwise convolutions, and hard-swish of unrounded sums: laws and gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, effect, model_of, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.channel_activations import channel_affine
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.quantize_dequantize import pair_of, parameters_of
from metainfer_core.actions.rewiring import node
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.policy.objective import worst_sqnr_db
from metainfer_core.verify.reference import run_reference

KIND, SPEC = Quantize(), spec_of()
REACH = 2.0 ** np.linspace(-5, 4, 8)
"""Of the channels between the two layers: one scale for all would leave the smallest under one code."""
TWO = """
    m (float[1,3,12,12] x, float[8,3,3,3] w_a, float[8] w_bias, float[8,1,3,3] w_d) => (float[1,8,12,12] y) {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
        [s] s = Relu (a)
        [d] y = Conv <group = 8, pads = [1,1,1,1]> (s, w_d)
    }"""


def weights() -> dict[str, np.ndarray]:
    """A first layer whose channels reach differently far, and a second one that makes them equal again."""
    chance = np.random.default_rng(4)
    first = chance.normal(size=(8, 3, 3, 3)) * REACH.reshape(-1, 1, 1, 1) / 5
    second = chance.normal(size=(8, 1, 3, 3)) / REACH.reshape(-1, 1, 1, 1) / 3
    return {"w_a": first, "w_bias": np.zeros(8), "w_d": second}


def adapted(text: str, **preferred: object) -> tuple[ir.Model, ir.Model, list[Action]]:
    """The model, the same in INT8, and the actions."""
    model = model_of(text, weights())
    fused = rewritten(Fuse(), model, SPEC, proposed(Fuse(), model, SPEC)[0])
    kind = Quantize(preferred)
    actions, _ = proposed(kind, fused, SPEC, calibrated(model))
    return model, rewritten(kind, fused, SPEC, actions), actions


def worst_channel_db(model: ir.Model, changed: ir.Model) -> float:
    """Of the output's channels, the one with most noise for its signal, in the simulator."""
    feeds = samples_of(model).feeds
    simulator = Simulator(lower(changed))
    exact = np.stack([one["y"] for one in run_reference(model, feeds)]).astype(np.float64)
    wrong = exact - np.stack([simulator.run(feed)["y"] for feed in feeds])
    axes = (0, 1, 3, 4)
    return float(10 * np.log10((exact**2).sum(axis=axes) / (wrong**2).sum(axis=axes)).min())


@pytest.mark.parametrize(("activation", "least_db"), [("Relu", 33), ("HardSwish", 27)])
def test_small_channels_keep_their_precision(activation: str, least_db: float) -> None:
    text = TWO.replace("Relu", activation)
    model, finer, actions = adapted(text)
    by_tensor = adapted(text, activation_scheme="tensor_wise")[1]
    assert [sorted(action.params["channel_ranges"]) for action in actions] == [["s"], ["s"]]
    assert worst_channel_db(model, finer) > least_db
    assert worst_channel_db(model, by_tensor) < 15  # the planted one scale for all
    assert worst_sqnr_db(effect(model, finer, samples_of(model))) > 33  # and in ONNX Runtime, as exported


def test_each_channel_has_the_scale_of_its_range_and_all_one_zero_point() -> None:
    _, finer, actions = adapted(TWO)
    pair = pair_of(node(finer, "s").outputs[0])
    assert pair is not None
    found = parameters_of(pair)
    ranges = actions[0].params["channel_ranges"]["s"]
    assert isinstance(found.scale, np.ndarray)
    np.testing.assert_allclose(found.scale, [high / 255 for _, high in ranges], rtol=1e-6)
    assert found.zero_point == -128
    assert pair.attributes.get_int("axis", -1) == 1
    assert "Each channel of s has a scale of its own." in KIND.sentence(actions[0])
    claims = [reason.claim for reason in actions[0].why]
    assert any(claim.startswith("The 8 channels of s span ") for claim in claims)


def test_the_zero_point_is_the_one_that_gives_the_least_scales() -> None:
    symmetric = channel_affine(((-1.0, 2.0), (-4.0, 1.0)), symmetric=True)
    np.testing.assert_allclose(symmetric.scale, [2 / 127, 4 / 127], rtol=1e-6)
    assert symmetric.zero_point == 0
    dip = channel_affine(((-0.375, 3.0), (-0.375, 6.0), (0.0, 0.0)), symmetric=False)
    assert isinstance(dip.scale, np.ndarray)
    point = dip.zero_point
    assert -128 < point < -90
    expected = [max(high / (127 - point), 0.375 / (point + 128)) for high in (3.0, 6.0)]
    np.testing.assert_allclose(dip.scale[:2], expected, rtol=1e-6)
    assert dip.scale[2] == np.float32(dip.scale.max() * 2.0**-20)  # always 0: no scale that leaves the factors' range
    assert channel_affine(((0.0, 0.0), (0.0, 0.0)), symmetric=False).scale.tolist() == [1.0, 1.0]


def asked(action: Action, **params: Any) -> Action:
    return action.with_params(params)


def test_what_cannot_have_a_scale_a_channel_is_refused_with_the_numbers() -> None:
    model = model_of(TWO, weights())
    first, _, second = proposed(KIND, model, SPEC, calibrated(model))[0]
    ranges = calibrated(model).by_channel["s"]
    wide = {"activation_scheme": "channel_wise", "fused_input_bits": 8}
    assert refusal(KIND, model, SPEC, asked(first, **wide, channel_ranges={})) == (
        "No ranges of channels are known for x, a (channel_ranges): calibration data gives them where depthwise "
        "convolutions alone read a tensor."
    )
    assert refusal(KIND, model, SPEC, asked(first, **wide, channel_ranges={"a": ranges})) == (
        "s (Relu) reads the 8 channels of a together or passes them on: only depthwise convolutions can read a scale "
        "a channel."
    )
    assert refusal(KIND, model, SPEC, asked(second, **wide, channel_ranges={"s": ranges[:7]})) == (
        "s has 8 channels, but there are ranges for 7."
    )
    assert refusal(KIND, model, SPEC, asked(second, **wide, channel_ranges={"y": ranges})) == (
        "y is an output of the model, which has one scale."
    )
    upside_down = tuple((high, low) for low, high in ranges)
    assert refusal(KIND, model, SPEC, asked(second, **wide, channel_ranges={"s": upside_down})) == (
        "A range of a channel of s is empty or leaves float32."
    )


def test_a_maker_with_one_factor_and_a_unit_without_factors_by_channel_keep_one_scale() -> None:
    text = TWO.replace("[s] s = Relu (a)", "[s] s = Add (a, a)")
    model = model_of(text, weights())
    actions, _ = proposed(KIND, model, SPEC, calibrated(model))
    assert not any("channel_ranges" in action.params for action in actions)
    ranges = calibrated(model).by_channel["s"]
    by_force = asked(actions[1], activation_scheme="channel_wise", channel_ranges={"s": ranges})
    assert refusal(KIND, model, SPEC, by_force) == (
        "s (Add) makes s and rounds all of its 8 channels by one factor; only a convolution has one a channel "
        "(activation_scheme tensor_wise does without)."
    )
    coarse = spec_of(units={"cpu": cpu(weight_granularity=("tensor",))})
    model = model_of(TWO, weights())
    fused = rewritten(Fuse(), model, coarse, proposed(Fuse(), model, coarse)[0])
    (first, _), _ = proposed(KIND, fused, SPEC, calibrated(model))
    forced = asked(first, scheme="tensor_wise")
    assert refusal(KIND, fused, coarse, forced) == (
        "a would round the 8 channels of s by a factor each, which cpu does not have: "
        "compute_units.cpu.weight_granularity allows tensor."
    )


def test_only_hard_swish_behind_a_layer_reads_unrounded_sums() -> None:
    model = model_of(TWO.replace("Relu", "Sigmoid"), weights())
    fused = rewritten(Fuse(), model, SPEC, proposed(Fuse(), model, SPEC)[0])
    (first, _), _ = proposed(KIND, fused, SPEC, calibrated(model))
    assert "fused_input_bits" not in first.params
    assert refusal(KIND, fused, SPEC, asked(first, fused_input_bits=16)) == (
        "a (Conv) has Sigmoid fused behind it: 16 bits between (fused_input_bits) exist for HardSwish behind Conv, "
        "Gemm and MatMul."
    )
    assert "not 12" in str(refusal(KIND, fused, SPEC, asked(first, fused_input_bits=12)))


def test_hard_swish_of_the_sum_is_nearer_to_float() -> None:
    text = """
        m (float[1,3,12,12] x, float[8,3,3,3] w_a, float[8] w_bias) => (float[1,8,12,12] y) {
            [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
            [s] y = HardSwish (a)
        }"""
    model, once, actions = adapted(text)
    twice = adapted(text, fused_input_bits=8)[1]
    assert "HardSwish reads unrounded sums." in KIND.sentence(actions[0])
    assert [reason.law for reason in actions[0].why if reason.claim.startswith("HardSwish reads the sum in 16 bits")]
    assert pair_of(node(once, "a").outputs[0]) is None
    assert pair_of(node(twice, "a").outputs[0]) is not None
    assert (
        worst_sqnr_db(effect(model, once, samples_of(model)))
        > worst_sqnr_db(effect(model, twice, samples_of(model))) + 1
    )
