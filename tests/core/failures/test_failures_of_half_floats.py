"""Known failures of 16-bit floats: predicted, mended by staying float32, refused by force, silent when healthy.

Each graph is the smallest one that shows what people reported in public; see the comment on each.
"""

from __future__ import annotations

import numpy as np
import pytest
from failure_bench import SAMPLES, Case, Tried, case, chip, normal, try_case
from onnx.helper import make_node

from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.run import run_package
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import ObligationFailed
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.steps import approved_actions
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec

FP16 = Objective(precision=Precision.FP16)


def layer_norm(outlier: float, channels: int = 64) -> Case:
    """LayerNorm in single operators; one channel at `outlier` (NVIDIA/TensorRT 2564, 4505, 3889).

    That its variance is an output too keeps it in single operators: else it would be fused into one.
    """
    data = normal(SAMPLES, 8, channels)
    data[:, :, 3] += outlier
    return case(
        [
            make_node("ReduceMean", ["x"], ["mean"], "mean", axes=[-1]),
            make_node("Sub", ["x", "mean"], ["deviation"], "sub"),
            make_node("Pow", ["deviation", "two"], ["square"], "pow"),
            make_node("ReduceMean", ["square"], ["variance"], "variance", axes=[-1]),
            make_node("Add", ["variance", "epsilon"], ["shifted"], "add_epsilon"),
            make_node("Sqrt", ["shifted"], ["root"], "sqrt"),
            make_node("Div", ["deviation", "root"], ["normal"], "div"),
            make_node("Mul", ["normal", "gain"], ["scaled"], "mul"),
            make_node("Add", ["scaled", "shift"], ["y"], "add"),
        ],
        {"x": data},
        {"y": (1, 8, channels), "variance": (1, 8, 1)},
        {
            "two": np.float32(2),
            "epsilon": np.float32(1e-3),
            "gain": normal(channels, seed=1) + 2,
            "shift": normal(channels, seed=2),
        },
    )


def half_chip(half: str = "float16", **fields: object) -> HardwareSpec:
    """A chip that computes 16-bit floats fast, and sums them as the fields say."""
    rates = {"int8": 64, half: 32}
    return chip(data_types=("int8", half), tops=None, clock_hz=1e9, macs_per_cycle=rates, **fields)


def wide_sums(**fields: object) -> HardwareSpec:
    """A chip that computes FP16 with sums in float32."""
    return half_chip(float16_accumulator="float32", **fields)


def forced(tried: Tried, node_id: str, **params: object) -> Policy:
    """The policy with a reviewer's half_precision action on a node in place of what stood there."""
    lines = [
        line for line in tried.policy.plain()["actions"] if line["node_id"] != node_id or line["action"] == "place"
    ]
    lines.append(
        {"node_id": node_id, "action": "half_precision", "params": {"half_sums": False, "target_hw": "npu", **params}}
    )
    return Policy.from_plain({**tried.policy.plain(), "actions": lines})


def test_failure_F05_squares_of_a_layer_norm_leave_fp16(tmp_path):
    tried = try_case(layer_norm(900.0), tmp_path, wide_sums(), FP16)
    sentence = tried.refusals("half_precision")["pow"]
    assert sentence.startswith("square of pow reaches 7")
    assert sentence.endswith("on calibration data; FP16 ends at 65,504, so it would become infinite.")
    kept = tried.actions("keep_float")
    assert sorted(kept) == ["pow", "variance"]
    assert kept["pow"].why[0].claim == sentence
    assert kept["pow"].alternatives[0].option == "FP16"
    assert {"mean", "sub", "div", "mul", "add"} <= set(tried.actions("half_precision"))


def test_failure_F05_the_mended_layer_norm_computes_what_it_should(tmp_path):
    tried = try_case(layer_norm(900.0), tmp_path, wide_sums(), FP16)
    compiled = tried.compiled()
    assert compiled.differences == ()
    assert compiled.violations == ()
    assert validate_package(compiled.package).equal
    run = [run_package(compiled.package, dict(feed))["y"] for feed in tried.samples.feeds]
    expected = [outputs["y"] for outputs in tried.adapted.reference]
    assert np.abs(np.stack(run) - np.stack(expected)).max() < 0.02


def test_failure_F05_is_refused_when_forced(tmp_path):
    tried = try_case(layer_norm(900.0), tmp_path, wide_sums(), FP16)
    reason = tried.reason_against(forced(tried, "pow", ranges={"deviation": [-5, 889], "square": [0, 79e4]}))
    assert "square of pow reaches 790000" in reason
    assert "FP16 ends at 65,504" in reason


def test_failure_F05_stops_the_program_where_it_overflows(tmp_path):
    tried = try_case(layer_norm(900.0), tmp_path, wide_sums(), FP16)
    compiled = tried.compiled(forced(tried, "pow", allow_overflow=True))
    with pytest.raises(ObligationFailed, match="pow: its result left the range of 16-bit floats"):
        validate_package(compiled.package)
    healthy = dict(tried.samples.feeds[0])
    healthy["x"] = normal(1, 8, 64)
    assert np.isfinite(run_package(compiled.package, healthy)["y"]).all()


@pytest.mark.parametrize("outlier", [0.0, 200.0])
def test_failure_F05_is_silent_on_a_healthy_layer_norm(tmp_path, outlier):
    tried = try_case(layer_norm(outlier), tmp_path, wide_sums(), FP16)
    assert tried.refusals("half_precision") == {}
    assert tried.actions("keep_float") == {}
    assert len(tried.actions("half_precision")) == 9
    assert validate_package(tried.compiled().package).equal


def one_layer_norm(outlier: float) -> Case:
    """The same as one operator, whose inside no range of calibration shows (microsoft/onnxruntime PR 29043)."""
    data = normal(SAMPLES, 8, 64)
    data[:, :, 3] += outlier
    node = make_node("LayerNormalization", ["x", "gain", "shift"], ["y"], "norm", axis=-1)
    weights = {"gain": normal(64, seed=1) + 2, "shift": normal(64, seed=2)}
    return case([node], {"x": data}, {"y": (1, 8, 64)}, weights)


def test_failure_F05_inside_one_operator_by_the_sums_of_the_unit(tmp_path):
    narrow = half_chip()
    tried = try_case(one_layer_norm(900.0), tmp_path, narrow, FP16)
    assert tried.refusals("half_precision")["norm"] == (
        "The square of the largest deviation in norm, 906.054, can reach 820933; FP16, in which it is summed, "
        "ends at 65,504."
    )
    assert list(tried.actions("keep_float")) == ["norm"]
    wide = try_case(one_layer_norm(900.0), tmp_path, wide_sums(), FP16)
    assert list(wide.actions("half_precision")) == ["norm"]


def test_failure_F05_inside_one_operator_stops_the_program(tmp_path):
    narrow = half_chip()
    tried = try_case(one_layer_norm(900.0), tmp_path, narrow, FP16)
    compiled = tried.compiled(forced(tried, "norm", allow_overflow=True, half_sums=True))
    out = compiled.lowered.program.steps
    assert [step.kernel for step in out] == [
        "narrow_float16",
        "normalize_float16",
        "affine_float16",
        "widen_float16",
    ]
    assert out[1].params["half_sums"] == 1
    simulated = Simulator(compiled.lowered).run(dict(tried.samples.feeds[0]))["y"]
    assert np.abs(simulated - tried.adapted.reference[0]["y"]).max() > 0.5  # all that is not the outlier is gone
    healthy = try_case(one_layer_norm(0.0), tmp_path, narrow, FP16)
    assert list(healthy.actions("half_precision")) == ["norm"]


def attention_scores(mask: float, reach: float = 1.0) -> Case:
    """Scores with a mask constant before a softmax (the usual export of attention)."""
    hidden = np.where(np.triu(np.ones((8, 8)), 1) > 0, mask, 0.0).astype(np.float32)
    return case(
        [
            make_node("MatMul", ["x", "weight"], ["scores"], "scores"),
            make_node("Add", ["scores", "mask"], ["masked"], "add_mask"),
            make_node("Softmax", ["masked"], ["y"], "softmax", axis=-1),
        ],
        {"x": normal(SAMPLES, 1, 8, 16)},
        {"y": (1, 1, 8, 8)},
        {"weight": normal(16, 8, scale=reach), "mask": hidden.reshape(1, 1, 8, 8)},
    )


def test_mask_constants_that_fp16_does_not_hold_stay_float32(tmp_path):
    tried = try_case(attention_scores(-1e9), tmp_path, wide_sums(), FP16)
    assert tried.refusals("half_precision") == {
        "add_mask": "The constant mask of add_mask holds -1e+09; FP16 ends at 65,504, so it would become -infinity.",
        "softmax": "masked of softmax reaches -1e+09 on calibration data; FP16 ends at 65,504, so it would become "
        "infinite.",
    }
    assert validate_package(tried.compiled().package).equal
    lowest = try_case(attention_scores(-65504.0), tmp_path, wide_sums(), FP16)
    assert lowest.refusals("half_precision") == {}
    steep = try_case(attention_scores(-65504.0, 20.0), tmp_path, wide_sums(), FP16)  # score + mask rounds to infinity
    assert "masked of add_mask reaches -65" in steep.refusals("half_precision")["add_mask"]
    healthy = try_case(attention_scores(-1e4), tmp_path, wide_sums(), FP16)
    assert healthy.refusals("half_precision") == {}


def test_bf16_reaches_as_far_as_float32(tmp_path):
    spec = half_chip("bfloat16")
    tried = try_case(attention_scores(-1e9), tmp_path, spec, FP16)
    assert tried.refusals("half_precision") == {}
    formats = {line.params["format"] for line in tried.actions("half_precision").values()}
    assert formats == {"bfloat16"}
    assert validate_package(tried.compiled().package).equal


def exponential(reach: float) -> Case:
    """A softmax written out without subtracting the greatest score; its sum is an output, so it stays written out."""
    return case(
        [
            make_node("Mul", ["x", "factor"], ["scores"], "scale"),
            make_node("Exp", ["scores"], ["powers"], "exp"),
            make_node("ReduceSum", ["powers", "axis"], ["total"], "total", keepdims=1),
            make_node("Div", ["powers", "total"], ["y"], "div"),
        ],
        {"x": np.clip(normal(SAMPLES, 4, 32), -3, 3)},
        {"y": (1, 4, 32), "total": (1, 4, 1)},
        {"factor": np.float32(reach), "axis": np.array([-1], np.int64)},
    )


def test_exponentials_beyond_fp16_stay_float32(tmp_path):
    tried = try_case(exponential(5.0), tmp_path, wide_sums(), FP16)
    refused = tried.refusals("half_precision")
    assert sorted(refused) == ["div", "exp", "total"]  # what comes before them may have 16 bits
    assert refused["exp"].startswith("powers of exp reaches ")
    assert try_case(exponential(2.0), tmp_path, wide_sums(), FP16).refusals("half_precision") == {}


def test_sums_over_long_axes_leave_fp16_where_the_unit_sums_so(tmp_path):
    long_mean = case(
        [make_node("GlobalAveragePool", ["x"], ["y"], "mean")],
        {"x": np.abs(normal(SAMPLES, 4, 64, 64)) + 20},
        {"y": (1, 4, 1, 1)},
        {},
    )
    narrow = try_case(long_mean, tmp_path, half_chip(), FP16)
    assert narrow.refusals("half_precision")["mean"].startswith("The sum over 4,096 elements of mean can reach 100052;")
    assert try_case(long_mean, tmp_path, wide_sums(), FP16).refusals("half_precision") == {}


def tiny_factor(factor: float) -> Case:
    """A scale factor below the least normal number of FP16, undone by the next layer."""
    return case(
        [
            make_node("Mul", ["x", "factor"], ["small"], "shrink"),
            make_node("Gemm", ["small", "weight"], ["y"], "gemm"),
        ],
        {"x": normal(SAMPLES, 16)},
        {"y": (1, 8)},
        {"factor": np.float32(factor), "weight": normal(16, 8, scale=1 / factor if factor > 1e-3 else 100.0)},
    )


def test_factors_that_become_denormal_stay_float32(tmp_path):
    tried = try_case(tiny_factor(1e-8), tmp_path, wide_sums(), FP16)
    assert tried.refusals("half_precision")["shrink"] == (
        "The constant factor of shrink holds 1e-08, below 6.1e-05, the least normal number of FP16: it would become 0."
    )
    assert try_case(tiny_factor(0.01), tmp_path, wide_sums(), FP16).refusals("half_precision") == {}
    kept = try_case(tiny_factor(3e-5), tmp_path, wide_sums(), FP16)  # a denormal with enough digits
    assert "shrink" in kept.actions("half_precision")
    flushing = wide_sums(flushes_denormals=True)
    lost = try_case(tiny_factor(3e-5), tmp_path, flushing, FP16)
    assert "shrink holds 3e-05" in lost.refusals("half_precision")["shrink"]


def test_failure_F22_a_layer_asked_for_in_float32_is_built_in_float32(tmp_path):
    tried = try_case(layer_norm(0.0), tmp_path, wide_sums(), FP16)
    lines = [line for line in tried.policy.plain()["actions"] if line["action"] != "place" and line["node_id"] != "pow"]
    lines.append({"node_id": "pow", "action": "keep_float", "params": {}})
    policy = Policy.from_plain({**tried.policy.plain(), "actions": lines})
    compiled = tried.compiled(policy)
    assert compiled.differences == ()
    (step,) = [step for step in compiled.realised.steps if "pow" in step.node_ids]
    assert step.kernel == "square_float32"
    both = Policy.from_plain(
        {**policy.plain(), "actions": [*lines, {"node_id": "pow", "action": "half_precision", "params": {}}]}
    )
    assert "pow was decided to stay float32 by a keep_float action" in tried.reason_against(both)


def test_failure_F22_what_was_built_in_fp16_against_float32_is_a_difference(tmp_path):
    tried = try_case(layer_norm(0.0), tmp_path, wide_sums(), FP16)
    compiled = tried.compiled()
    op_types = {str(node.name): node.op_type for node in tried.prepared.model.graph}
    actions = approved_actions(tried.policy)
    assert differences(actions, compiled.realised, op_types) == ()
    without = [action for action in actions if action.nodes[0] != "pow"]
    (found,) = differences(without, compiled.realised, op_types)
    assert (found.node_id, found.approved, found.realised) == ("pow", "float32", "square_float16 on float16")
    kept = [*without, next(a for a in actions if a.nodes[0] == "pow").model_copy(update={"kind": "keep_float"})]
    assert any(
        one.realised.startswith("square_float16 on float16") for one in differences(kept, compiled.realised, op_types)
    )
    other = [a.with_params({"format": "bfloat16"}) if a.nodes[0] == "pow" else a for a in actions]
    assert [one.approved for one in differences(other, compiled.realised, op_types)] == ["a bfloat16 step"]
