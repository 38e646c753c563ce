from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from action_bench import calibrated, cpu, model_of, npu, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.half_precision import HalfPrecision
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.kinds.store_low_bit import StoreLowBit
from metainfer_core.numerics.lower import lower

KIND = StoreLowBit()
GEMM = "m (float[1,64] x, float[64,32] w_g, float[32] w_b) => (float[1,32] y) { [gemm] y = Gemm (x, w_g, w_b) }"
DEPTHWISE = "m (float[1,8,9,9] x, float[8,1,3,3] w_d) => (float[1,8,7,7] y) { [deep] y = Conv <group = 8> (x, w_d) }"


@pytest.mark.parametrize(("bits", "stored"), [(4, 64 * 32 // 2), (6, 64 * 32 * 6 // 8)])
def test_a_layer_is_stored_in_few_bits(bits: Any, stored: int) -> None:
    model, spec = model_of(GEMM), spec_of()
    kind = StoreLowBit(bits)
    (action,), refusals = proposed(kind, model, spec)
    assert refusals == []
    assert action.params == {"bits": bits, "scheme": "group_wise", "group_size": 32, "target_hw": "cpu"}
    assert kind.sentence(action) == (
        f"Store the weights of gemm in {bits} bits, symmetric, scaled by group of 32, on cpu."
    )
    scales = 4 * 2 * 32
    assert action.why[0].claim == (
        f"Its 2,048 weights take {stored + scales:,} bytes with their scales, in place of 8,192."
    )
    lowered = lower(rewritten(kind, model, spec, [action]))
    sizes = {
        name.rpartition(".")[2]: lowered.program.tensor(name).size_bytes
        for name in lowered.program.steps[0].inputs[1:3]
    }
    assert sizes == {"packed": stored, "scale": scales}
    whole = sum(len(data) for data in lower(model).constants.values())
    assert sum(len(data) for data in lowered.constants.values()) == whole - 4 * 64 * 32 + stored + scales


@pytest.mark.parametrize(
    ("unit", "params", "reason"),
    [
        (npu(data_types=("int8", "float32")), {}, "npu is not known to read weights of 4 bits"),
        (npu(data_types=("int4", "float32")), {"bits": 6}, "npu is not known to read weights of 6 bits"),
        (
            npu(data_types=("int4", "float32")),
            {"scheme": "group_wise"},
            "npu does not scale weights by group (compute_units.npu.weight_granularity is tensor, channel).",
        ),
        (
            npu(data_types=("int4", "float32"), weight_granularity=("group",), weight_group_size=32),
            {"scheme": "group_wise", "group_size": 48},
            "Groups of 48 are no multiple of 32 (compute_units.npu.weight_group_size).",
        ),
        (
            npu(data_types=("int4", "float32"), weight_granularity=("group",)),
            {"scheme": "group_wise", "group_size": 128},
            "gemm has 64 inputs for each output, fewer than a group of 128.",
        ),
    ],
)
def test_what_a_unit_does_not_say_it_reads_is_refused(unit: Any, params: dict[str, Any], reason: str) -> None:
    spec = spec_of(units={"npu": unit, "cpu": cpu()})
    action = Action(kind=KIND.name, nodes=("gemm",), params={"target_hw": "npu", **params})
    assert str(refusal(KIND, model_of(GEMM), spec, action)).startswith(reason)


def test_a_unit_with_int4_takes_its_own_groups() -> None:
    unit = npu(data_types=("int4", "float32"), weight_granularity=("group",), weight_group_size=16)
    (action,), _ = proposed(KIND, model_of(GEMM), spec_of(units={"npu": unit}))
    assert (action.params["scheme"], action.params["group_size"], action.params["target_hw"]) == (
        "group_wise",
        16,
        "npu",
    )


def test_earlier_decisions_stay() -> None:
    model, spec = model_of(GEMM), spec_of()
    action = Action(kind=KIND.name, nodes=("gemm",))
    kept = rewritten(KeepFloat(), model, spec, [Action(kind="keep_float", nodes=("gemm",))])
    assert refusal(KIND, kept, spec, action) == "gemm was decided to stay float32 by a keep_float action."
    integers, _ = proposed(Quantize(), model, spec, calibrated(model))
    assert refusal(KIND, rewritten(Quantize(), model, spec, integers), spec, action) == (
        "gemm computes on integers: give its quantize action fewer weight_bits instead."
    )
    halves = spec_of(units={"cpu": cpu(data_types=("float16", "float32"))})
    half, _ = proposed(HalfPrecision(), model, halves, calibrated(model))
    assert refusal(KIND, rewritten(HalfPrecision(), model, halves, half), halves, action) == (
        "gemm is computed in float16, whose kernels unpack no weights."
    )
    sensitive = spec_of(sensitive_layers=("gemm",))
    assert "sensitive_layers" in str(refusal(KIND, model, sensitive, action))


def test_a_depthwise_convolution_keeps_its_few_weights() -> None:
    action = Action(kind=KIND.name, nodes=("deep",))
    assert refusal(KIND, model_of(DEPTHWISE), spec_of(), action) == (
        "deep is depthwise: its kernel unpacks no weights, of which it has few."
    )


def test_one_scale_for_channels_far_apart_is_refused() -> None:
    spread = np.geomspace(1e-3, 4, 32) * np.random.default_rng(0).standard_normal((64, 32))
    model = model_of(GEMM, {"w_g": spread})
    action = Action(kind=KIND.name, nodes=("gemm",), params={"scheme": "tensor_wise"})
    assert str(refusal(KIND, model, spec_of(), action)) == (
        "One scale for all of w_g leaves 26 of 32 channels fewer than 2 codes of 4 bits: scale by channel or by group."
    )
    assert refusal(KIND, model, spec_of(), action.with_params({"scheme": "channel_wise"})) is None


def test_six_bits_say_what_onnx_holds() -> None:
    model, spec = model_of(GEMM), spec_of()
    (action,), _ = proposed(StoreLowBit(6), model, spec)
    stored = rewritten(StoreLowBit(6), model, spec, [action])
    (codes,) = [v for name, v in stored.graph.initializers.items() if name.endswith(".int6")]
    assert codes.const_value is not None
    numbers = codes.const_value.numpy()
    assert numbers.dtype == np.int8
    assert (int(numbers.min()), int(numbers.max())) == (-31, 31)
    assert "ONNX has no 6-bit type" in str(StoreLowBit.__doc__)
