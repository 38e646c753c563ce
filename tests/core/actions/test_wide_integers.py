from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from action_bench import calibrated, cpu, model_of, npu, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.rewiring import UNIT, node
from metainfer_core.actions.stored_tensors import stored_tensors
from metainfer_core.numerics.lower import lower
from metainfer_core.spec.hardware_spec import HardwareSpec

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
    model = model_of("m (float[4] x, float[4] z) => (float[4] y) { [add] y = Add (x, z) }")
    action = Action(kind="quantize", nodes=("add",), params={"bit_width": 16, "symmetric": True, "target_hw": "npu"})
    assert refusal(WIDE, model, wide_spec(), action) == (
        "INT16 kernels exist for Conv, Gemm and MatMul with constant weights, not for Add."
    )


def test_what_is_stored_in_8_bits_is_not_widened() -> None:
    model, spec = model_of(CHAIN), wide_spec()
    calibration = calibrated(model)
    eight, _ = proposed(Quantize(), model, spec, calibration)
    wide, _ = proposed(WIDE, model, spec, calibration)
    mixed = rewritten(Quantize(), model, spec, eight[:2])
    (second,) = [action for action in wide if action.nodes[0] == "second"]
    assert refusal(WIDE, mixed, spec, second) == (
        "r is stored in 8 bits by an earlier action, so 16 bits would begin too late."
    )
