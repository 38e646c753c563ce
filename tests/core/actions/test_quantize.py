from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, effect, model_of, npu, ops, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.quantize_dequantize import pair_of, parameters_of
from metainfer_core.actions.rewiring import FROM, add_constant, node, numbers_of, set_input
from metainfer_core.policy.objective import worst_sqnr_db
from metainfer_core.spec.hardware_spec import IntSupport, Operators
from metainfer_core.verify.reference import run_reference

KIND, SPEC = Quantize(), spec_of()
CONV = """
    m (float[1,3,8,8] x, float[8,3,3,3] w_c, float[8] w_bias) => (float[1,8,6,6] y) {
        [conv] c = Conv (x, w_c, w_bias) [relu] y = Relu (c)
    }"""
CHAIN = (
    """
    m (float[1,3,8,8] x, float[8,3,3,3] w_a, float[8] w_bias, float[8,1,3,3] w_d, float[4,8,1,1] w_p, float[40,5] w_g)
        => (float[1,5] y) <int64[2] shape = {1, 40}> {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
        [d] d = Conv <group = 8, pads = [1,1,1,1]> (a, w_d)
        [add] s = Add (a, d)
        [pool] p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (s)
        [cut] c = AveragePool <kernel_shape = [2,2], strides = [2,2]> (p)
        [gate] g = Sigmoid (c)
        [mul] m = Mul (c, g)
        [flat] f = Flatten (m)
        [head] h = Gemm (f, w_head)
        [soft] y = Softmax (h)
    }""".replace("float[40,5] w_g", "float[32,5] w_head")
    .replace(" <int64[2] shape = {1, 40}>", "")
    .replace(", float[4,8,1,1] w_p", "")
)


def quantized(text: str, spec: Any = SPEC, kind: Quantize = KIND, **weights: np.ndarray) -> tuple[ir.Model, ir.Model]:
    model = model_of(text, weights)
    actions, _ = proposed(kind, model, spec, calibrated(model))
    return model, rewritten(kind, model, spec, actions)


def sqnr(model: ir.Model, adapted: ir.Model) -> float:
    return worst_sqnr_db(effect(model, adapted, samples_of(model)))


@pytest.mark.parametrize(
    ("kind", "option", "reason"),
    [
        (
            KIND,
            "weights scaled by tensor",
            "One scale for all channels rounds those with small weights more coarsely, ",
        ),
        (
            Quantize({"scheme": "tensor_wise"}),
            "weights scaled by channel",
            "The candidate with one scale for each tensor",
        ),
    ],
)
def test_what_is_proposed_is_not_among_what_was_turned_down(kind: Quantize, option: str, reason: str) -> None:
    model = model_of(CONV)
    rejected = proposed(kind, model, SPEC, calibrated(model))[0][0].alternatives
    assert [each.option for each in rejected] == ["float32", option]
    assert rejected[1].reason.startswith(reason)


def test_one_conv_by_channel() -> None:
    model = model_of(CONV)
    actions, refusals = proposed(KIND, model, SPEC, calibrated(model))
    assert [action.nodes for action in actions] == [("conv",), ("relu",)]
    assert refusals == []
    assert actions[0].params["scheme"] == "channel_wise"
    assert sorted(actions[0].params["ranges"]) == ["c", "x"]
    adapted = rewritten(KIND, model, SPEC, actions)
    weight = node(adapted, "conv").inputs[1].producer()
    bias = node(adapted, "conv").inputs[2].producer()
    assert (weight.op_type, weight.attributes.get_int("axis", -9)) == ("DequantizeLinear", 0)
    codes, scales, zeros = map(numbers_of, weight.inputs)
    assert (codes.dtype, codes.shape, scales.shape, zeros.any()) == (np.int8, (8, 3, 3, 3), (8,), False)
    assert np.abs(codes).reshape(8, -1).max(axis=1).tolist() == [127] * 8
    product = numbers_of(bias.inputs[1])
    input_scale = parameters_of(pair_of(adapted.graph.inputs[0])).scale
    assert numbers_of(bias.inputs[0]).dtype == np.int32
    assert np.array_equal(product, input_scale * scales)
    assert adapted.graph.outputs[0].name == "y"
    assert adapted.graph.outputs[0].producer().op_type == "DequantizeLinear"
    assert 30 < sqnr(model, adapted) < 60
    assert KIND.sentence(actions[0]) == (
        "Compute conv in INT8: weights scaled by output channel, asymmetric activations, on cpu."
    )


def test_each_tensor_has_one_pair_that_all_readers_share() -> None:
    model, adapted = quantized(CHAIN)
    pairs = Counter(str(other.inputs[0].name) for other in adapted.graph if other.op_type == "QuantizeLinear")
    assert set(pairs.values()) == {1}
    assert set(pairs) == {"x", "a", "d", "s", "p", "c", "g", "m", "f", "h"}
    readers = {
        reader.name for reader, _ in ((use.node, 0) for use in pair_of(node(adapted, "a").outputs[0]).outputs[0].uses())
    }
    assert readers == {"d", "add"}
    assert sqnr(model, adapted) > 20


def test_what_moves_values_keeps_their_scale() -> None:
    _, adapted = quantized(CHAIN)
    for mover in ("pool", "flat"):
        before = parameters_of(node(adapted, mover).inputs[0].producer())
        after = parameters_of(pair_of(node(adapted, mover).outputs[0]))
        assert before == after


def test_a_float_operator_ends_the_integer_island() -> None:
    model = model_of(CHAIN)
    actions, refusals = proposed(KIND, model, SPEC, calibrated(model))
    assert "soft" not in {name for action in actions for name in action.nodes}
    assert refusals == ["Softmax has no integer kernel."]
    assert node(quantized(CHAIN)[1], "soft").inputs[0].producer().op_type == "DequantizeLinear"


def test_symmetric_output_keeps_its_relu() -> None:
    """F04: with zero point 0 the integer range reaches below 0, so a dropped Relu would leak negatives."""
    model, adapted = quantized(CONV, kind=Quantize({"symmetric": True}))
    assert parameters_of(pair_of(node(adapted, "relu").outputs[0])).zero_point == 0
    assert ops(adapted).count("Relu") == 1
    leaky = adapted.clone()
    relu = node(leaky, "relu")
    relu.outputs[0].replace_all_uses_with(relu.inputs[0], replace_graph_outputs=True)
    assert sqnr(model, adapted) > 30 > 10 > sqnr(model, leaky)


def test_one_scale_on_a_depthwise_layer_with_spread_channels_is_refused() -> None:
    """F02: channel ranges 4000 apart leave most channels without codes."""
    text = "m (float[1,64,8,8] x, float[64,1,3,3] w_d) => (float[1,64,6,6] y) { [dw] y = Conv <group = 64> (x, w_d) }"
    spread = np.random.default_rng(0).normal(size=(64, 1, 3, 3)) * np.geomspace(1e-3, 4.0, 64).reshape(-1, 1, 1, 1)
    model = model_of(text, {"w_d": spread})
    actions, refusals = proposed(Quantize({"scheme": "tensor_wise"}), model, SPEC, calibrated(model))
    assert actions == []
    assert refusals[0].startswith("One scale for all of w_d leaves ")
    assert refusals[0].endswith(
        " of 64 channels fewer than 2 codes: their ranges lie too far apart (scale by channel, or keep float)."
    )
    assert len(proposed(KIND, model, SPEC, calibrated(model))[0]) == 1  # by channel it is fine
    healthy = model_of(text)
    assert len(proposed(Quantize({"scheme": "tensor_wise"}), healthy, SPEC, calibrated(healthy))[0]) == 1


def test_deep_negative_logits_do_not_take_the_codes() -> None:
    """F09: the sigmoid has a second reader behind it; logits of -40 must not make the confidence a staircase."""
    text = """
        m (float[1,4,16,16] x, float[2,4,1,1] w_c, float[2] w_bias) => (float[1,2,16,16] y, float[1,2,1,1] z)
            <int64[2] axes = {2, 3}> {
            [conv] c = Conv (x, w_c, w_bias) [gate] y = Sigmoid (c) [count] z = ReduceSum (y, axes) }"""
    gains = np.array([20.0, 0.5]).reshape(2, 1, 1, 1) * np.ones((2, 4, 1, 1))  # background, objects
    weights = {"w_c": gains, "w_bias": np.array([-60.0, 0.0])}
    model, adapted = quantized(text, **weights)
    low = calibrated(model).ranges["c"].low
    scale = float(parameters_of(pair_of(node(adapted, "conv").outputs[0])).scale)
    assert low < -100
    assert scale == pytest.approx(16 * (1 + 4 / 255) / 255, rel=1e-6)  # -8 to 8, and two steps at each end
    whole = {"x": (-5.0, 5.0), "c": (low, calibrated(model).ranges["c"].high)}
    coarse = rewritten(KIND, model, SPEC, [Action(kind="quantize", nodes=("conv",), params={"ranges": whole})])
    feeds = samples_of(model).feeds
    before = run_reference(model, feeds)

    def worst(after: ir.Model) -> float:
        runs = zip(before, run_reference(after, feeds), strict=True)
        return max(float(np.abs(one["y"] - other["y"])[:, 1].max()) for one, other in runs)

    assert worst(adapted) < 0.02
    assert worst(coarse) > 4 * worst(adapted)


BRANCHES = """
    m (float[1,3,6,6] x, float[4,3,1,1] w_box, float[8,3,1,1] w_score) => (float[1,12,6,6] y) <float big = {FACTOR}> {
        [box] b = Conv (x, w_box) [far] f = Mul (b, big) [score] s = Conv (x, w_score) [prob] p = Sigmoid (s)
        [join] y = Concat <axis = 1> (f, p)
    }"""


def test_a_concat_of_boxes_and_scores_stays_float() -> None:
    """F01: one scale for pixels and probabilities zeroes every score while the cosine looks perfect."""
    model = model_of(BRANCHES.replace("FACTOR", "640.0"))
    actions, refusals = proposed(KIND, model, SPEC, calibrated(model))
    assert "join" not in {action.nodes[0] for action in actions}
    assert refusals[0].startswith("join gives all of its inputs one scale: p spans 0 to 0.")
    adapted = rewritten(KIND, model, SPEC, actions)
    assert node(adapted, "join").outputs[0].name == "y"  # no pair after it, so both branches keep their codes
    assert sqnr(model, adapted) > 30
    healthy = model_of(BRANCHES.replace("FACTOR", "1.0"))
    assert "join" in {action.nodes[0] for action in proposed(KIND, healthy, SPEC, calibrated(healthy))[0]}


def test_a_fused_clamp_or_hard_swish_reads_the_sum_and_other_curves_read_codes() -> None:
    for activation, pairs in (("Relu", {"x", "y"}), ("Sigmoid", {"x", "c", "y"}), ("HardSwish", {"x", "y"})):
        model = model_of(CONV.replace("Relu", activation))
        fused = rewritten(Fuse(), model, SPEC, proposed(Fuse(), model, SPEC)[0])
        (action,), _ = proposed(KIND, fused, SPEC, calibrated(model))
        assert action.nodes == ("conv", "relu")
        adapted = rewritten(KIND, fused, SPEC, [action])
        found = {
            other.inputs[0].name.removesuffix(".raw") for other in adapted.graph if other.op_type == "QuantizeLinear"
        }
        assert found == pairs
        assert sqnr(model, adapted) > 30
        # a reviewer who switches the fusion off leaves the same action legal: both nodes are quantized by themselves
        apart = rewritten(KIND, model, SPEC, [action])
        assert sqnr(model, apart) > 30


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"units": {"cpu": cpu(data_types=("float32",))}}, "cpu has no int8: compute_units.cpu.data_types is float32."),
        (
            {"units": {"cpu": cpu(data_types=())}},
            "The spec does not say that cpu has int8: compute_units.cpu.data_types is missing.",
        ),
        (
            {"sensitive_layers": ("conv",)},
            "conv is one of the spec's sensitive_layers: its precision must not be lowered.",
        ),
        (
            {"units": {"cpu": cpu(operators=Operators(unavailable=("Conv",)))}},
            "cpu does not run Conv (compute_units.cpu.operators.unavailable lists it as unavailable), "
            "and names no fallback.",
        ),
        (
            {"units": {"cpu": cpu(accumulator_bits=16)}},
            "A sum of conv can need 20 bits; the accumulator has 16 (compute_units.cpu.accumulator_bits).",
        ),
        (
            {"units": {"cpu": cpu(operators=Operators(limits={"Conv": {"kernel_h": {"min": 1, "max": 2}}}))}},
            "conv has kernel_h 3; cpu runs 1 to 2 (compute_units.cpu.operators.limits.Conv.kernel_h).",
        ),
    ],
)  # fmt: skip
def test_laws_of_the_spec(fields: dict[str, Any], reason: str) -> None:
    model = model_of(CONV)
    actions, refusals = proposed(KIND, model, spec_of(**fields), calibrated(model))
    assert [action.nodes[0] for action in actions] == []
    assert refusals == [reason]


def test_granularity_is_the_units() -> None:
    model = model_of(CONV)
    coarse = spec_of(units={"npu": npu(weight_granularity=("tensor",))})
    action = proposed(KIND, model, coarse, calibrated(model))[0][0]
    assert action.params["scheme"] == "tensor_wise"
    finer = action.with_params({"scheme": "channel_wise"})
    reason = "npu does not scale weights by channel: compute_units.npu.weight_granularity allows tensor."
    assert refusal(KIND, model, coarse, finer) == reason
    silent = spec_of(units={"npu": npu(weight_granularity=())})
    assert proposed(KIND, model, silent, calibrated(model))[0][0].params["scheme"] == "tensor_wise"
    told = spec_of(
        units={"npu": npu(weight_granularity=())}, npu_int_support=IntSupport(channel_wise_quantization=True)
    )
    assert proposed(KIND, model, told, calibrated(model))[0][0].params["scheme"] == "channel_wise"


OVERRIDES: list[tuple[dict[str, Any], str]] = [
    ({"bit_width": 6}, "cpu has no INT6: compute_units.cpu.data_types and npu_int_support give INT8."),
    ({"target_hw": "npu_int6"}, "The spec has no compute unit named npu_int6 (compute_units); it has cpu."),
    ({"ranges": {"x": (0.0, 1.0)}}, "The range of c is not known: INT8 needs calibration data that reaches it."),
    ({"ranges": {"x": (2.0, 1.0), "c": (0.0, 1.0)}}, "The range of x is empty: 2 is above 1."),
    (
        {"ranges": {"x": (1.0, 2.0), "c": (0.0, 1.0)}},
        "The range of x, 1 to 2, does not hold 0, so its zero point is no int8 number; zero_point_clip widens it.",
    ),
    ({"group_size": 32}, "params: group_size is not right. Extra inputs are not permitted. Got 32."),
]


@pytest.mark.parametrize(("params", "reason"), OVERRIDES)
def test_overrides_meet_the_same_laws(params: dict[str, Any], reason: str) -> None:
    model = model_of(CONV)
    action = proposed(KIND, model, SPEC, calibrated(model))[0][0]
    assert refusal(KIND, model, SPEC, action) is None
    assert refusal(KIND, model, SPEC, action.with_params(params)) == reason


def test_zero_point_clip_widens_the_range() -> None:
    model = model_of(CONV)
    params = {"ranges": {"x": (1.0, 2.0), "c": (-9.0, 9.0)}, "zero_point_clip": True}
    action = Action(kind="quantize", nodes=("conv",), params=params)
    assert refusal(KIND, model, SPEC, action) is None
    adapted = rewritten(KIND, model, SPEC, [action])
    assert parameters_of(pair_of(adapted.graph.inputs[0])).zero_point == -128


def test_a_width_that_the_chip_has_but_no_kernel() -> None:
    model = model_of(CONV)
    spec = spec_of(units={"cpu": cpu(), "npu": npu()}, npu_int_support=IntSupport(bit_widths=(8, 12)))
    action = proposed(KIND, model, spec, calibrated(model))[0][0].with_params({"bit_width": 12})
    reason = "The chip has INT12, but this version has integer kernels of 4, 6, 8 and 16 bits only."
    assert refusal(KIND, model, spec, action) == reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[n] y = MatMul (x, z)", "z is not a constant: a product of two activations has no integer kernel."),
        ("[n] y = Gemm <alpha = 0.5> (x, w_m)", "n scales its sum (alpha, beta), which the integer kernel does not."),
        ("[n] y = Gemm <transA = 1> (x, w_m)", "n transposes its input, which the integer kernel does not."),
    ],
)
def test_forms_without_an_integer_kernel(body: str, reason: str) -> None:
    model = model_of(f"m (float[4,4] x, float[4,4] z, float[4,4] w_m) => (float[4,4] y) {{ {body} }}")
    assert proposed(KIND, model, SPEC, calibrated(model)) == ([], [reason])


def test_recurrent_layers_stay_float() -> None:
    text = "m (float[3,1,4] x, float[1,8,4] w_x, float[1,8,2] w_h) => (float[3,1,1,2] y) "
    model = model_of(text + "{ [lstm] y = LSTM <hidden_size = 2> (x, w_x, w_h) }")
    reason = "LSTM carries state from step to step, where rounding adds up: it stays float."
    assert proposed(KIND, model, SPEC, calibrated(model)) == ([], [reason])


@pytest.mark.parametrize("mistake", ["zero point", "scale", "weight axis", "bias scale"])
def test_planted_mistakes_cost_signal(mistake: str) -> None:
    """The obligation of this kind is a budget: the measured effect must fall far below it."""
    model, adapted = quantized(CONV)
    wrong = adapted.clone()
    conv = node(wrong, "conv")
    pair = pair_of(wrong.graph.inputs[0])
    if mistake == "zero point":
        set_input(pair, 2, add_constant(wrong, "planted", numbers_of(pair.inputs[2]) + np.int8(20)))
    elif mistake == "scale":
        set_input(pair, 1, add_constant(wrong, "planted", numbers_of(pair.inputs[1]) * np.float32(1.3)))
    elif mistake == "weight axis":
        scales = conv.inputs[1].producer().inputs[1]
        set_input(conv.inputs[1].producer(), 1, add_constant(wrong, "planted", np.roll(numbers_of(scales), 1)))
    else:
        bias = conv.inputs[2].producer()
        set_input(bias, 1, add_constant(wrong, "planted", numbers_of(bias.inputs[1]) * np.float32(100)))
    assert sqnr(model, adapted) > 30
    assert sqnr(model, wrong) < 20


def test_pairs_tell_who_asked_for_them() -> None:
    _, adapted = quantized(CONV)
    assert node(adapted, "x.quantize").metadata_props[FROM] == "conv"
    assert node(adapted, "conv.weight.dequantize").metadata_props[FROM] == "conv"
