from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, model_of, npu, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action, Reason
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.rewiring import UNIT, node
from metainfer_core.actions.stored_tensors import stored_tensors
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import Samples

WIDE = Quantize({"bit_width": 16, "symmetric": True})
CHAIN = """m (float[1,8,6,9] x, float[8,8,3,3] w_a, float[8] w_b, float[4,8,1,1] w_c) => (float[1,4,4,7] y) {
    [first] a = Conv (x, w_a, w_b) [relu] r = Relu (a) [second] y = Conv (r, w_c) }"""


def wide_spec(**fields: Any) -> HardwareSpec:
    return spec_of(units={"npu": npu(data_types=("int8", "int16"), accumulator_bits=48, **fields), "cpu": cpu()})


def test_layers_in_a_row_stay_on_16_bits() -> None:
    model, spec = model_of(CHAIN), wide_spec()
    model = rewritten(Fuse(), model, spec, proposed(Fuse(), model, spec)[0])
    actions, refusals = proposed(WIDE, model, spec, calibrated(model))
    assert refusals == []
    assert [action.nodes for action in actions] == [("first", "relu"), ("second",)]
    assert WIDE.sentence(actions[1]) == (
        "Compute second in INT16: weights scaled by output channel, symmetric activations, on npu."
    )
    wide = rewritten(WIDE, model, spec, actions)
    program = lower(wide).program
    assert [step.kernel for step in program.steps] == [
        "quantize_int16", "conv2d_int16", "conv2d_int16", "dequantize_int16",
    ]  # fmt: skip
    assert node(wide, "second").metadata_props[UNIT] == "npu"
    sizes = {one.name: one.size_bytes for one in stored_tensors(wide)}
    assert sizes["r"] == 2 * 8 * 4 * 7


@pytest.mark.parametrize(
    ("unit", "params", "reason"),
    [
        (
            {"data_types": ("int8",)},
            {},
            "npu has no INT16: compute_units.npu.data_types and npu_int_support give INT8.",
        ),
        ({}, {"symmetric": False}, "INT16 activations have zero point 0: first needs symmetric true."),
        (
            {"accumulator_bits": None},
            {},
            "How many bits npu sums INT16 products in is not known (compute_units.npu.accumulator_bits is missing).",
        ),
        (
            {"accumulator_bits": 24},
            {},
            "A sum of first can need 29 bits; the accumulator has 24 (compute_units.npu.accumulator_bits).",
        ),
        ({}, {"ranges": {}}, "The range of x is not known: INT16 needs calibration data that reaches it."),
    ],
)
def test_laws_of_16_bits(unit: dict[str, Any], params: dict[str, Any], reason: str) -> None:
    model = model_of(CHAIN, {"w_b": np.zeros(8)})
    spec = spec_of(
        units={"npu": npu(**{"data_types": ("int8", "int16"), "accumulator_bits": 48, **unit}), "cpu": cpu()}
    )
    full = {"bit_width": 16, "symmetric": True, "target_hw": "npu", "ranges": {"x": (-4, 4), "a": (-30, 30)}}
    action = Action(kind="quantize", nodes=("first",), params={**full, **params})
    found = str(refusal(WIDE, model, spec, action))
    assert found == reason or (reason.startswith("A sum") and found.startswith("A sum of first can need "))


def test_what_has_no_16_bit_kernel_is_refused() -> None:
    model = model_of("m (float[1,4,4,4] x) => (float[1,4,4,4] y) { [curve] y = Sigmoid (x) }")
    action = Action(kind="quantize", nodes=("curve",), params={"bit_width": 16, "symmetric": True, "target_hw": "npu"})
    assert str(refusal(WIDE, model, wide_spec(), action)).startswith("INT16 kernels exist for Conv, Gemm, MatMul, Add,")
    assert str(refusal(WIDE, model, wide_spec(), action)).endswith("not for Sigmoid.")


def test_a_branch_that_16_bits_still_lose_is_refused() -> None:
    model = model_of("m (float[1,4] x, float[1,4] z) => (float[1,8] y) { [join] y = Concat <axis = 1> (x, z) }")
    ranges = {"x": (-30000.0, 30000.0), "z": (-5.0, 5.0), "y": (-30000.0, 30000.0)}
    action = Action(kind="quantize", nodes=("join",), params={"bit_width": 16, "symmetric": True, "ranges": ranges})
    assert refusal(WIDE, model, wide_spec(), action) == (
        "join gives all of its inputs one scale: z spans -5 to 5 of -30000 to 30000 and would keep 10.9 of 65536 codes."
    )
    held = action.with_params({"ranges": {**ranges, "z": (-8.0, 8.0)}})
    assert refusal(WIDE, model, wide_spec(), held) is None


RESIDUAL = """m (float[1,8,6,6] x, float[8,8,1,1] w_a, float[8,8,1,1] w_b, float[8,8,1,1] w_c, float[8] w_s)
    => (float[1,8,6,6] y) {
    [first] a = Conv (x, w_a) [middle] b = Conv (a, w_b) [add] s = Add (a, b) [relu] r = Relu (s)
    [last] c = Conv (r, w_c) [out] y = Add (c, r) }"""


@pytest.mark.parametrize("order", ["of the graph", "turned"])
def test_a_residual_chain_stays_on_16_bits_between_8_bit_layers(order: str) -> None:
    model, spec = model_of(RESIDUAL), wide_spec()
    model = rewritten(Fuse(), model, spec, proposed(Fuse(), model, spec)[0])
    sensitive = Reason(claim="INT8 on it alone breaks the budget.")
    kind = Quantize(wide={"add": sensitive, "out": sensitive})
    actions, refusals = proposed(kind, model, spec, calibrated(model))
    assert refusals == []
    widths = {action.nodes[0]: action.params["bit_width"] for action in actions}
    assert widths == {"first": 8, "middle": 8, "add": 16, "last": 8, "out": 16}
    (add,) = [action for action in actions if action.nodes == ("add", "relu")]
    assert add.why[0] == sensitive
    assert [other.option for other in add.alternatives] == ["INT8", "float32"]
    assert add.constraint == "npu computes in int16 and runs Add."
    mixed = rewritten(kind, model, spec, actions if order == "of the graph" else actions[::-1])
    lowered = lower(mixed)
    kernels = [step.kernel for step in lowered.program.steps]
    assert [kernel for kernel in kernels if kernel.endswith("float32")] == []
    assert kernels.count("add_int16") == 2
    assert kernels.count("conv2d_int8") == 3
    assert "rescale_int16_int8" in kernels  # the chain as the last layer reads it
    assert "rescale_int8_int16" in kernels  # a layer's result as the sum reads it
    assert kernels.count("dequantize_int8") == 0
    (sum_step,) = [step for step in lowered.program.steps if step.node_ids[0] == "add"]
    assert sum_step.params["low"] == 0  # the Relu
    plain, _ = proposed(Quantize(), model, spec, calibrated(model))
    eight = rewritten(Quantize(), model, spec, plain)
    samples = samples_of(model)
    noises = [_noise(model, adapted, samples) for adapted in (mixed, eight)]
    assert noises[0] < noises[1] / 1.2


def _noise(reference: ir.Model, adapted: ir.Model, samples: Samples) -> float:
    """The mean squared error, of the integers' own arithmetic."""
    expected, simulator = run_reference(reference, samples.feeds), Simulator(lower(adapted))
    pairs = zip(expected, samples.feeds, strict=True)
    return float(np.mean([np.square(one["y"] - simulator.run(dict(feed))["y"]).mean() for one, feed in pairs]))


def test_what_is_stored_in_8_bits_is_read_in_16_through_its_codes() -> None:
    model, spec = model_of(CHAIN), wide_spec()
    calibration = calibrated(model)
    eight, _ = proposed(Quantize(), model, spec, calibration)
    wide, _ = proposed(WIDE, model, spec, calibration)
    mixed = rewritten(Quantize(), model, spec, eight[:2])
    (second,) = [action for action in wide if action.nodes[0] == "second"]
    both = rewritten(WIDE, mixed, spec, [second])
    kernels = [step.kernel for step in lower(both).program.steps]
    assert kernels[-3:] == ["rescale_int8_int16", "conv2d_int16", "dequantize_int16"]
    sizes = {one.name: one.size_bytes for one in stored_tensors(both)}
    assert sizes["r"] == 3 * 8 * 4 * 7  # both forms
