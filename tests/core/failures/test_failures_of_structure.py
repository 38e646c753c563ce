"""Known failures of sums, fusions, alignment, shapes and promises: predicted, mended, refused by force, silent if not.

Each graph is the smallest one that shows what people reported in public; see the comment on each.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from failure_bench import SAMPLES, Case, case, chip, normal, try_case
from onnx.helper import make_node

from metainfer_core.codegen.differences import differences
from metainfer_core.errors import InputError
from metainfer_core.pipeline.steps import approved_actions, prepare
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators
from metainfer_core.spec.operators import OperatorRule
from metainfer_core.verify.check_legal import check_legal

ANY_CLASS = Objective(max_argmax_flips=1.0)
"""For layers of random weights, whose greatest result stands for nothing."""


def three_layers(width: int) -> Case:
    """Dense layers whose sums outgrow a narrow accumulator (fastmachinelearning/hls4ml PR 68)."""
    names = ("first", "second", "third")
    nodes, weights, source = [], {}, "x"
    for name in names:
        nodes.append(make_node("Gemm", [source, f"{name}_weight"], [f"{name}_sum"], name))
        weights[f"{name}_weight"] = normal(width, width, scale=0.1)
        source = f"{name}_sum"
    return case(nodes, {"x": normal(SAMPLES, width)}, {source: (1, width)}, weights)


def conv_read_twice(second_reader: bool) -> Case:
    """A producer with a second consumer beside its activation (pytorch/executorch PR 6894)."""
    nodes = [make_node("Conv", ["x", "weight"], ["c"], "conv"), make_node("Relu", ["c"], ["r"], "relu")]
    last = ["c", "r"] if second_reader else ["r", "r"]
    nodes.append(make_node("Add", last, ["y"], "add"))
    return case(nodes, {"x": normal(SAMPLES, 3, 8, 8)}, {"y": (1, 4, 6, 6)}, {"weight": normal(4, 3, 3, 3)})


def odd_channels() -> Case:
    """Channel counts 3, 5 and 7, so that INT8 tensors end off every boundary (tensorflow/tflite-micro 418)."""
    return case(
        [
            make_node("Conv", ["x", "a"], ["five"], "to_five"),
            make_node("Relu", ["five"], ["r"], "relu"),
            make_node("Conv", ["r", "b"], ["seven"], "to_seven"),
            make_node("Conv", ["seven", "c"], ["y"], "to_three"),
        ],
        {"x": normal(SAMPLES, 3, 7, 7)},
        {"y": (1, 3, 5, 5)},
        {"a": normal(5, 3, 3, 3), "b": normal(7, 5, 1, 1), "c": normal(3, 7, 1, 1)},
    )


def open_dimensions() -> onnx.ModelProto:
    """A batch and an image size that are open, and a Reshape that is computed from them (openvino 26357)."""
    return onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        open (float[N,3,H,W] x) => (float[N,K] y)
            <float[4,3,1,1] weight = {1,2,3,4,5,6,7,8,9,10,11,12}, int64 zero = {0}, int64[1] rest = {-1},
             int64[1] axis = {0}> {
            [conv] c = Conv (x, weight)
            [shape] s = Shape (c)
            [gather] n = Gather (s, zero)
            [unsqueeze] u = Unsqueeze (n, axis)
            [concat] t = Concat <axis = 0> (u, rest)
            [reshape] y = Reshape (c, t)
        }""")


def large_weights(largest: float) -> Case:
    """Neighbouring weights of one sign, all near the greatest code or not (microsoft/onnxruntime 6004)."""
    signs = np.sign(normal(8, 16)).repeat(2, axis=1)  # by pairs, so that no few factors make up the layer
    weight = (0.9 * largest * signs).astype(np.float32)
    weight[range(8), range(0, 32, 4)] = 0.9
    return case(
        [make_node("Gemm", ["x", "weight"], ["y"], "dense", transB=1)],
        {"x": np.abs(normal(SAMPLES, 32))},
        {"y": (1, 8)},
        {"weight": weight},
    )


def test_failure_F07_sums_of_two_products_that_saturate_take_weights_of_seven_bits(tmp_path):
    tried = try_case(large_weights(1.0), tmp_path, chip(pair_sum_bits=16), ANY_CLASS)
    action = tried.actions("quantize")["dense"]
    assert action.params["weight_bits"] == 7
    sentence = (
        "Two products of dense can sum to 17 bits; npu keeps 16 of them (compute_units.npu.pair_sum_bits), "
        "so results would saturate. Weights of 7 bits need one less."
    )
    assert ("weights of 8 bits", sentence) in [(other.option, other.reason) for other in action.alternatives]
    assert "weights of 7 bits scaled by output channel" in action.sentence
    forced = tried.forced("dense", {**action.params, "weight_bits": 8})
    assert sentence in tried.reason_against(forced)
    adapted = tried.compiled().adapted
    codes = adapted.graph.initializers["dense.weight.quantized"].const_value.numpy()
    assert int(np.abs(codes).max()) == 63


def test_failure_F07_is_silent_where_no_two_weights_reach_the_limit_or_the_unit_sums_wide(tmp_path):
    quiet = try_case(large_weights(0.01), tmp_path, chip(pair_sum_bits=16), ANY_CLASS)
    assert "weight_bits" not in quiet.actions("quantize")["dense"].params
    wide = try_case(large_weights(1.0), tmp_path, chip(), ANY_CLASS)
    assert "weight_bits" not in wide.actions("quantize")["dense"].params


def test_failure_F10_a_sum_that_outgrows_the_accumulator(tmp_path):
    tried = try_case(three_layers(64), tmp_path, chip(accumulator_bits=16), ANY_CLASS)
    reasons = tried.refusals("quantize")
    assert reasons["first"] == (
        "A sum of first can need 21 bits; the accumulator has 16 (compute_units.npu.accumulator_bits)."
    )
    wide = try_case(three_layers(64), tmp_path, chip(), ANY_CLASS)
    params = {**wide.actions("quantize")["first"].params, "target_hw": "npu"}
    forced = tried.forced("first", params)
    off = [line for line in forced.plain()["actions"] if line["action"] != "keep_float"]
    reason = tried.reason_against(Policy.from_plain({**forced.plain(), "actions": off}))
    assert "A sum of first can need 21 bits; the accumulator has 16" in reason


def test_failure_F10_is_silent_on_a_wide_accumulator(tmp_path):
    tried = try_case(three_layers(64), tmp_path, chip(accumulator_bits=32), ANY_CLASS)
    assert sorted(tried.actions("quantize")) == ["first", "second", "third"]
    assert tried.refusals("quantize") == {}


def test_failure_F14_a_producer_that_others_read_is_not_fused_away(tmp_path):
    tried = try_case(conv_read_twice(True), tmp_path, chip())
    assert tried.refusals("fuse")["conv"] == "c is also read by add (Add), which needs the values before Relu."
    assert "conv" not in tried.actions("fuse")
    lines = [*tried.policy.plain()["actions"]]
    lines.insert(0, {"node_id": "conv", "action": "fuse", "params": {"with": ["relu"], "target_hw": "npu"}})
    reason = tried.reason_against(Policy.from_plain({**tried.policy.plain(), "actions": lines}))
    assert "c is also read by add (Add), which needs the values before Relu." in reason


def test_failure_F14_is_silent_on_a_single_consumer(tmp_path):
    tried = try_case(conv_read_twice(False), tmp_path, chip())
    assert tried.actions("fuse")["conv"].params["with"] == ("relu",)
    assert "conv" not in tried.refusals("fuse")


@pytest.mark.parametrize("alignment", [16, 64, 256])
def test_failure_F17_every_buffer_starts_on_its_memorys_boundary(tmp_path, alignment):
    spec = chip()
    plain = spec.plain()
    for memory in plain["memories"].values():
        memory["alignment_bytes"] = alignment
    tried = try_case(odd_channels(), tmp_path, type(spec).from_plain(plain))
    compiled = tried.compiled()
    stored = [tensor for tensor in compiled.realised.tensors if tensor.memory is not None]
    assert len(stored) >= 4
    assert any(tensor.size_bytes % 16 for tensor in stored)  # odd sizes, or the test would show nothing
    assert [tensor.name for tensor in stored if tensor.offset_bytes % alignment] == []
    assert all(arena.alignment_bytes >= alignment for arena in compiled.realised.arenas.values())
    moved = compiled.realised.plain()
    index = next(i for i, tensor in enumerate(moved["tensors"]) if "memory" in tensor)
    moved["tensors"][index]["offset_bytes"] += 4
    broken = check_legal(type(compiled.realised).from_plain(moved), tried.spec, {})
    assert any("align" in violation.law.lower() for violation in broken)


def test_failure_F18_open_dimensions_are_named_and_bound(tmp_path):
    path = tmp_path / "open.onnx"
    path.write_bytes(open_dimensions().SerializeToString())
    with pytest.raises(InputError) as refused:
        prepare(path)
    assert refused.value.what == "The model leaves the shape of its inputs open: 'x' [N, 3, H, W]."
    assert "--input-shape" in (refused.value.fix or "")
    bound = prepare(path, {"x": (1, 3, 6, 5)})
    assert [node.op_type for node in bound.model.graph] == ["Conv", "Reshape"]
    assert tuple(bound.model.graph.outputs[0].shape) == (1, 120)


def wide_convolution() -> Case:
    """A kernel of 4,608 entries an output (airockchip/rknn-toolkit2 163)."""
    return case(
        [make_node("Conv", ["x", "weight", "bias"], ["c"], "conv"), make_node("Relu", ["c"], ["y"], "relu")],
        {"x": normal(SAMPLES, 512, 5, 5)},
        {"y": (1, 16, 3, 3)},
        {"weight": normal(16, 512, 3, 3, scale=0.05), "bias": normal(16)},
    )


def buffered(entries: int) -> HardwareSpec:
    """The chip with an input buffer of so many entries in front of its multipliers."""
    rule = OperatorRule(of=("kernel_h", "kernel_w", "in_channels"), max=entries)
    return chip(operators=Operators(rules={"Conv": {"input_buffer": rule}}))


def test_failure_F20_a_layer_beyond_a_buffer_is_cut_by_the_stated_limit(tmp_path):
    tried = try_case(wide_convolution(), tmp_path, buffered(2048))
    action = tried.actions("split")["conv"]
    assert action.params["channels"] == (227, 227, 58)
    assert action.why[0].claim == (
        "conv has kernel_h x kernel_w x in_channels 4608; npu runs up to 2048 "
        "(compute_units.npu.operators.rules.Conv.input_buffer)."
    )
    compiled = tried.compiled()
    assert (compiled.differences, compiled.violations) == ((), ())
    parts = [step for step in compiled.realised.steps if step.kernel.startswith("conv2d") and step.unit == "npu"]
    assert len(parts) == 3
    whole = {"action": "quantize", "node_id": "conv", "params": {"bit_width": 8, "target_hw": "npu"}}
    reason = tried.reason_against(Policy.from_plain({"actions": [whole]}))
    assert "kernel_h x kernel_w x in_channels 4608; npu runs up to 2048" in reason


def test_failure_F20_is_silent_on_a_layer_that_fits(tmp_path):
    tried = try_case(wide_convolution(), tmp_path, buffered(4608))
    assert tried.actions("split") == {}
    assert tried.refusals("split") == {}


OF_INTEGERS = ("quantize", "round_weights", "correct_bias")


def test_failure_F22_a_layer_that_was_asked_to_stay_float_is_held_against_what_was_built(tmp_path):
    tried = try_case(three_layers(32), tmp_path, chip(), ANY_CLASS)
    built = tried.compiled()
    assert built.differences == ()
    lines = [
        {**line, "override": False} if line["node_id"] == "second" and line["action"] in OF_INTEGERS else line
        for line in tried.policy.plain()["actions"]
    ]
    lines.append({"node_id": "second", "action": "keep_float", "params": {"cause": "chosen"}})
    asked = Policy.from_plain({**tried.policy.plain(), "actions": lines})
    op_types = {str(node.name): node.op_type for node in tried.prepared.model.graph}
    found = differences(approved_actions(asked), built.realised, op_types)
    assert {difference.node_id for difference in found} == {"second"}
    as_asked = tried.compiled(asked)
    assert as_asked.differences == ()
    kernels = {step.node_ids[0]: step.kernel for step in as_asked.realised.steps if "second" in step.node_ids}
    assert all("int8" not in kernel for kernel in kernels.values())


BUILD_AND_HASH = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from failure_bench import chip, try_case
from test_failures_of_structure import three_layers
import hashlib
tried = try_case(three_layers(32), Path({folder!r}), chip())
print(tried.policy.digest, hashlib.sha256(tried.compiled().data).hexdigest())
"""


def test_failure_F24_two_processes_with_other_hash_seeds_build_the_same_bytes(tmp_path):
    found = set()
    for seed in ("1", "4242"):
        folder = tmp_path / seed
        folder.mkdir()
        paths = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))]
        done = subprocess.run(
            [sys.executable, "-c", BUILD_AND_HASH.format(paths=paths, folder=str(folder))],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert len(found.pop().split()) == 2
