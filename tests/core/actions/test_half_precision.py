from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from action_bench import (
    calibrated,
    cpu,
    effect,
    model_of,
    npu,
    proposed,
    refusal,
    rewritten,
    samples_of,
    spec_of,
)

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.half_precision import HalfPrecision
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.rewiring import HALF, UNIT
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators
from metainfer_core.verify.reference import run_reference

KIND = HalfPrecision()
CHAIN = """m (float[1,8,6,6] x, float[8,8,3,3] w_a, float[4,8,1,1] w_b) => (float[1,4,4,4] y) {
    [first] a = Conv (x, w_a) [relu] r = Relu (a) [second] y = Conv (r, w_b) }"""


def half_spec(half: str = "float16", **fields: Any) -> HardwareSpec:
    return spec_of(units={"npu": npu(data_types=("int8", half), **fields), "cpu": cpu()})


def test_a_chain_in_fp16_converts_at_its_borders_alone() -> None:
    model, spec = model_of(CHAIN), half_spec(float16_accumulator="float32")
    actions, refusals = proposed(KIND, model, spec, calibrated(model))
    assert refusals == []
    assert [action.nodes for action in actions] == [("first",), ("relu",), ("second",)]
    assert actions[0].params["half_sums"] is False
    assert KIND.sentence(actions[0]) == "Compute first in FP16, sums in float32, on npu."
    half = rewritten(KIND, model, spec, actions)
    assert [one.op_type for one in half.graph] == ["Cast", "Conv", "Relu", "Conv", "Cast"]
    assert {one.metadata_props[UNIT] for one in half.graph} == {"npu"}
    assert {one.metadata_props.get(HALF) for one in half.graph if one.op_type != "Cast"} == {"float16"}
    onnx.checker.check_model(onnx.load_from_string(model_bytes(half)), full_check=True)
    program = lower(half).program
    kernels = [step.kernel for step in program.steps]
    assert kernels[0] == "narrow_float16"
    assert kernels[-1] == "widen_float16"
    assert all(kernel.endswith("_float16") for kernel in kernels)
    assert program.tensor("a").size_bytes * 2 == lower(model).program.tensor("a").size_bytes


@pytest.mark.parametrize(("half", "least_db"), [("float16", 55.0), ("bfloat16", 35.0)])
def test_its_effect_is_measured(half: str, least_db: float) -> None:
    model, spec = model_of(CHAIN), half_spec(half, float16_accumulator="float32")
    actions, _ = proposed(HalfPrecision(half), model, spec, calibrated(model))
    adapted = rewritten(KIND, model, spec, actions)
    simulator = Simulator(lower(adapted))
    feeds = samples_of(model).feeds
    expected = np.stack([outputs["y"] for outputs in run_reference(model, feeds)])
    got = np.stack([simulator.run(dict(feed))["y"] for feed in feeds])
    noise = ((got - expected) ** 2).sum()
    assert noise > 0
    assert 10 * np.log10((expected**2).sum() / noise) > least_db


def test_other_runtimes_read_it() -> None:
    model, spec = model_of(CHAIN), half_spec(float16_accumulator="float32")
    actions, _ = proposed(KIND, model, spec, calibrated(model))
    found = effect(model, rewritten(KIND, model, spec, actions), samples_of(model))
    assert found.outputs[0].sqnr_db is not None
    assert found.outputs[0].sqnr_db > 50


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        (
            {"cpu": cpu()},
            "cpu has no float16: compute_units.cpu.data_types is int8, float32.",
        ),
        (
            {"npu": npu(data_types=("float16",), operators=Operators(supported=("Relu",)))},
            "npu does not run Conv (compute_units.npu.operators.supported does not list it), and names no fallback.",
        ),
    ],
)
def test_no_unit_has_it(units: dict[str, Any], reason: str) -> None:
    model = model_of(CHAIN)
    actions, refusals = proposed(KIND, model, spec_of(units=units), calibrated(model))
    assert reason in refusals
    assert [action.nodes for action in actions if "first" in action.nodes] == []


def test_sums_and_denormals_are_those_of_the_unit() -> None:
    model = model_of(CHAIN)
    spec = half_spec(flushes_denormals=True)
    (first, *_), _ = proposed(KIND, model, spec, calibrated(model))
    assert (first.params["half_sums"], first.params["flush_denormals"]) == (True, True)
    assert "How npu sums is not known: float16 is taken." in [reason.claim for reason in first.why]
    step = lower(rewritten(KIND, model, spec, [first])).program.steps[1]
    assert (step.params["half_sums"], step.params["flush"]) == (1, 1)
    wide = first.with_params({"half_sums": False})
    assert refusal(KIND, model, spec, wide) == (
        "npu is not known to sum float16 in float32 (compute_units.npu.float16_accumulator is not given)."
    )
    kept = first.with_params({"flush_denormals": False})
    assert refusal(KIND, model, spec, kept) == (
        "npu takes denormals for zero (compute_units.npu.flushes_denormals), so flush_denormals cannot be false."
    )


def test_bf16_always_sums_in_float32() -> None:
    model, spec = model_of(CHAIN), half_spec("bfloat16")
    (first, *_), _ = proposed(HalfPrecision("bfloat16"), model, spec, calibrated(model))
    assert KIND.sentence(first) == "Compute first in BF16, sums in float32, on npu."
    assert first.alternatives[1].reason == "cpu has no float16: compute_units.cpu.data_types is int8, float32."


def test_earlier_decisions_stay() -> None:
    model = model_of(CHAIN)
    spec = half_spec()
    (first, *_), _ = proposed(KIND, model, spec, calibrated(model))
    kept = rewritten(KeepFloat(), model, spec, [Action(kind="keep_float", nodes=("first",))])
    assert refusal(KIND, kept, spec, first) == "first was decided to stay float32 by a keep_float action."
    quantized, _ = proposed(Quantize(), model, spec, calibrated(model))
    integer = rewritten(Quantize(), model, spec, quantized[:1])
    assert refusal(KIND, integer, spec, first) == (
        "first is computed on integers by its quantize action: switch that one off first."
    )
    sensitive = half_spec().model_copy(update={"sensitive_layers": ("first",)})
    assert "sensitive_layers" in str(refusal(KIND, model, sensitive, first))
    half = rewritten(KIND, model, spec, [first])
    assert refusal(KIND, half, spec, first) == "first is computed in float16 already."


def test_unknown_ranges_are_refused_for_fp16_alone() -> None:
    model = model_of(CHAIN)
    first = Action(kind="half_precision", nodes=("first",))
    assert refusal(KIND, model, half_spec(), first) == (
        "The range of x is not known: FP16 needs calibration data that reaches it."
    )
    completed = KIND.completed(model, first, calibrated(model))
    assert refusal(KIND, model, half_spec(), completed) is None
    assert refusal(KIND, model, half_spec("bfloat16"), first.with_params({"format": "bfloat16"})) is None


def test_a_fused_activation_is_rounded_once() -> None:
    model, spec = model_of(CHAIN), half_spec(float16_accumulator="float32")
    fused, _ = proposed(Fuse(), model, spec)
    together = rewritten(Fuse(), model, spec, fused)
    actions, _ = proposed(KIND, together, spec, calibrated(model))
    assert [action.nodes for action in actions] == [("first", "relu"), ("second",)]
    half = rewritten(KIND, together, spec, actions)
    steps = lower(half).program.steps
    assert [step.kernel for step in steps][1:3] == ["conv2d_rows_float16"] * 2
    assert steps[1].node_ids == ("first", "relu")


def test_int8_and_fp16_stand_side_by_side() -> None:
    model, spec = model_of(CHAIN), half_spec(float16_accumulator="float32")
    calibration = calibrated(model)
    (first, *_), _ = proposed(Quantize(), model, spec, calibration)
    integer = rewritten(Quantize(), model, spec, [first])
    actions, _ = proposed(KIND, model, spec, calibration)
    mixed = rewritten(KIND, integer, spec, actions[1:])
    kernels = [step.kernel for step in lower(mixed).program.steps]
    assert kernels[0] == "quantize_int8"
    assert kernels[1].endswith("_int8")
    assert kernels[2] == "widen_int8_float16"
    assert kernels[3:] == ["relu_float16", "conv2d_float16", "widen_float16"] or kernels[-1] == "widen_float16"


def test_what_has_no_kernel_is_refused() -> None:
    model = model_of("m (float[2,3] x) => (float[2,3] y) { [sin] y = Sin (x) }")
    assert proposed(KIND, model, half_spec(), calibrated(model))[1] == ["Sin has no kernel on 16-bit floats."]
