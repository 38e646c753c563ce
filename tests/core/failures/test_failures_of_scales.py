"""Known failures of one scale for unlike values: predicted, mended by an action, refused by force, silent when healthy.

Each graph is the smallest one that shows what people reported in public; see the comment on each.
"""

from __future__ import annotations

import numpy as np
import pytest
from failure_bench import SAMPLES, Case, case, chip, normal, try_case
from onnx import numpy_helper
from onnx.helper import make_node

from metainfer_core.numerics.simulator import Simulator


def detector_head(pixels: float) -> Case:
    """Boxes in pixels and probabilities behind one Concat (ultralytics/ultralytics PR 25524)."""
    return case(
        [
            make_node("Conv", ["x", "box_weight", "box_bias"], ["offset"], "box"),
            make_node("Mul", ["offset", "stride"], ["boxes"], "to_pixels"),
            make_node("Conv", ["x", "score_weight", "score_bias"], ["logits"], "score"),
            make_node("Sigmoid", ["logits"], ["scores"], "sigmoid"),
            make_node("Concat", ["boxes", "scores"], ["y"], "concat", axis=1),
        ],
        {"x": normal(SAMPLES, 8, 20, 20)},
        {"y": (1, 84, 20, 20)},
        {
            "box_weight": normal(4, 8, 1, 1, scale=0.1),
            "box_bias": np.full(4, 0.5, np.float32),
            "score_weight": normal(80, 8, 1, 1, scale=0.5),
            "score_bias": np.full(80, -2.0, np.float32),
            "stride": np.float32(pixels),
        },
    )


def depthwise(spread: float, activation: str = "Relu") -> Case:
    """Channels whose folded weights lie `spread` times apart (microsoft/onnxruntime 11415)."""
    channels = 64
    by_channel = np.geomspace(4.0 / spread, 4.0, channels, dtype=np.float32).reshape(-1, 1, 1, 1)
    return case(
        [
            make_node("Conv", ["x", "weight", "bias"], ["d"], "depthwise", group=channels),
            make_node(activation, ["d"], ["r"], "activation"),
            make_node("Conv", ["r", "pointwise_weight"], ["y"], "pointwise"),
        ],
        {"x": normal(SAMPLES, channels, 12, 12)},
        {"y": (1, 16, 10, 10)},
        {
            "weight": normal(channels, 1, 3, 3) * by_channel,
            "bias": np.zeros(channels, np.float32),
            "pointwise_weight": normal(16, channels, 1, 1),
        },
    )


def conv_relu() -> Case:
    """A Relu that symmetric codes do not replace (microsoft/onnxruntime 9425)."""
    return case(
        [make_node("Conv", ["x", "weight", "bias"], ["c"], "conv"), make_node("Relu", ["c"], ["y"], "relu")],
        {"x": normal(SAMPLES, 8, 10, 10)},
        {"y": (1, 8, 8, 8)},
        {"weight": normal(8, 8, 3, 3), "bias": np.zeros(8, np.float32)},
    )


def sigmoid_read_twice(deepest: float) -> Case:
    """Logits down to `deepest` before a Sigmoid that two outputs read (airockchip/rknn_model_zoo PR 450)."""
    return case(
        [
            make_node("Conv", ["x", "weight", "bias"], ["logits"], "conv"),
            make_node("Sigmoid", ["logits"], ["scores"], "sigmoid"),
            make_node("ReduceSum", ["scores", "channels"], ["total"], "sum", keepdims=1),
            make_node("Clip", ["total", "zero", "one"], ["any"], "clip"),
        ],
        {"x": normal(SAMPLES, 8, 20, 20)},
        {"scores": (1, 16, 20, 20), "any": (1, 1, 20, 20)},
        {
            "weight": normal(16, 8, 1, 1, scale=0.3),
            "bias": np.where(np.arange(16) < 8, deepest, 1.0).astype(np.float32),
            "channels": np.array([1], np.int64),
            "zero": np.float32(0),
            "one": np.float32(1),
        },
    )


def test_failure_F01_one_scale_for_pixels_and_probabilities(tmp_path):
    tried = try_case(detector_head(640.0), tmp_path, chip())
    sentence = tried.refusals("quantize")["concat"]
    assert sentence.startswith("concat gives all of its inputs one scale: scores spans 0 to 0.99")
    assert sentence.endswith("and would keep 0.2 of 256 codes.")
    kept = tried.actions("keep_float")
    assert list(kept) == ["concat"]
    assert kept["concat"].why[0].claim == sentence
    assert sorted(tried.actions("quantize")) == ["box", "score", "to_pixels"]
    forced = tried.forced("concat", {"bit_width": 8, "scheme": "tensor_wise", "ranges": {}, "target_hw": "npu"})
    assert "concat was decided to stay float by a keep_float action" in tried.reason_against(forced)


def test_failure_F01_scores_survive_what_the_policy_does(tmp_path):
    tried = try_case(detector_head(640.0), tmp_path, chip())
    outputs = [Simulator(tried.compiled().lowered).run(dict(feed))["y"] for feed in tried.samples.feeds]
    scores = np.stack(outputs)[:, :, 4:]
    assert (scores != 0).mean() > 0.95  # under one scale none would be left


def test_failure_F01_is_silent_on_branches_of_one_size(tmp_path):
    tried = try_case(detector_head(1.0), tmp_path, chip())
    assert tried.actions("keep_float") == {}
    assert "concat" in tried.actions("quantize")
    assert tried.refusals("quantize") == {}


def test_failure_F02_one_scale_for_channels_far_apart(tmp_path):
    tried = try_case(depthwise(4000.0, "Sigmoid"), tmp_path, chip(weight_granularity=("tensor",)))
    sentence = tried.refusals("quantize")["depthwise"]
    assert sentence.startswith("One scale for all of weight leaves 28 of 64 channels fewer than 2 codes")
    assert tried.actions("keep_float")["depthwise"].why[0].claim == sentence
    assert tried.actions("quantize")["pointwise"].params["scheme"] == "tensor_wise"


def test_failure_F02_is_mended_by_equalised_weights_where_there_is_one_scale(tmp_path):
    tried = try_case(depthwise(4000.0), tmp_path, chip(weight_granularity=("tensor",)))
    assert tried.actions("equalise")["depthwise"].nodes == ("depthwise", "pointwise")
    assert tried.actions("quantize")["depthwise"].params["scheme"] == "tensor_wise"
    assert tried.actions("keep_float") == {}
    assert tried.refusals("quantize") == {}


def test_failure_F02_is_mended_by_scales_for_each_channel(tmp_path):
    tried = try_case(depthwise(4000.0), tmp_path, chip())
    assert tried.actions("quantize")["depthwise"].params["scheme"] == "channel_wise"
    assert tried.actions("keep_float") == {}
    params = tried.actions("quantize")["depthwise"].params
    reason = tried.reason_against(tried.forced("depthwise", {**params, "scheme": "tensor_wise"}))
    assert "One scale for all of weight leaves 28 of 64 channels fewer than 2 codes" in reason


def test_failure_F02_is_silent_on_channels_of_one_size(tmp_path):
    tried = try_case(depthwise(1.0), tmp_path, chip(weight_granularity=("tensor",)))
    assert tried.actions("keep_float") == {}
    assert tried.refusals("quantize") == {}
    assert tried.actions("quantize")["depthwise"].params["scheme"] == "tensor_wise"


@pytest.mark.parametrize("symmetric", [False, True])
def test_failure_F04_no_negative_number_passes_a_fused_relu(tmp_path, symmetric):
    tried = try_case(conv_relu(), tmp_path, chip())
    params = {**tried.actions("quantize")["conv"].params, "symmetric": symmetric}
    compiled = tried.compiled(tried.forced("conv", params))
    assert compiled.differences == ()
    outputs = np.stack([Simulator(compiled.lowered).run(dict(feed))["y"] for feed in tried.samples.feeds])
    assert outputs.min() == 0.0
    assert outputs.max() > 5.0


def test_failure_F09_deep_logits_do_not_take_the_codes_of_the_scores(tmp_path):
    tried = try_case(sigmoid_read_twice(-40.0), tmp_path, chip())
    action = tried.actions("quantize")["conv"]
    low, high = action.params["ranges"]["logits"]
    assert -8.2 < low < -8.0  # where an 8-bit sigmoid no longer changes, not the -42 that calibration saw
    assert 4.0 < high < 8.0
    scores = action.evidence.alone.outputs[0]
    assert scores.output == "scores"
    assert scores.max_abs_error < 0.02


def test_failure_F09_shows_when_all_logits_are_given_codes(tmp_path):
    tried = try_case(sigmoid_read_twice(-40.0), tmp_path, chip())
    params = tried.actions("quantize")["conv"].params
    wide = {**params, "ranges": {**params["ranges"], "logits": [-44.0, 8.0]}}
    compiled = tried.compiled(tried.forced("conv", wide))
    scores = np.stack([Simulator(compiled.lowered).run(dict(feed))["scores"] for feed in tried.samples.feeds])
    expected = np.stack([outputs["scores"] for outputs in tried.adapted.reference])
    assert np.abs(scores - expected).max() > 0.02


def test_failure_F09_leaves_shallow_logits_alone(tmp_path):
    shallow = sigmoid_read_twice(-2.0)
    tried = try_case(shallow, tmp_path, chip())
    weight, bias = (numpy_helper.to_array(array) for array in shallow.model.graph.initializer[:2])
    logits = np.einsum("sihw,oi->sohw", shallow.inputs["x"], weight[:, :, 0, 0]) + bias[:, None, None]
    low, high = tried.actions("quantize")["conv"].params["ranges"]["logits"]
    assert 1.001 * logits.min() < low < 0.75 * logits.min()  # whole, or less what costs more codes than it is worth
    assert 0.75 * logits.max() < high < 1.001 * logits.max()
    assert -7.5 < low < high < 7.5
    assert tried.actions("keep_float") == {}
