"""Integer kernels against exact arithmetic, tables and movement against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from integer_oracle import Oracle
from operator_cases import Case, reference
from quantized_cases import EXACT_CASES, TABLE_CASES

from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.simulator import Simulator


def simulated(case: Case) -> tuple[Lowered, dict[str, np.ndarray]]:
    """The program, and all its tensors."""
    lowered = lower(case.model())
    return lowered, Simulator(lowered).run(case.feed, keep=True)


def codes_before_output(case: Case, lowered: Lowered, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The integers that the last DequantizeLinear reads, as the model types them."""
    step = next(step for step in lowered.program.steps if case.proto.graph.output[0].name in step.outputs)
    codes = tensors[step.inputs[0]].astype(np.int64)
    last = next(n for n in case.proto.graph.node if n.output[0] == case.proto.graph.output[0].name)
    is_unsigned = any(t.name == last.input[2] and t.data_type == 2 for t in case.proto.graph.initializer)
    return codes + 128 if is_unsigned else codes


@pytest.mark.parametrize("case", EXACT_CASES, ids=lambda case: case.name)
def test_sum_is_exact_and_rounded_once(case: Case) -> None:
    lowered, tensors = simulated(case)
    kernels = [step.kernel for step in lowered.program.steps]
    assert [k for k in kernels if not k.startswith(("quantize", "dequantize"))] == [kernels[-2]]
    assert kernels[-2].endswith("_int8")
    np.testing.assert_array_equal(codes_before_output(case, lowered, tensors), Oracle(case.proto).codes(case.feed))


@pytest.mark.parametrize("case", EXACT_CASES, ids=lambda case: case.name)
def test_exact_sum_is_within_one_step_of_onnx_runtime(case: Case) -> None:
    _, tensors = simulated(case)
    name, scale = case.proto.graph.output[0].name, _last_scale(case)
    expected = reference(case.proto, case.feed)[name]
    assert np.abs(tensors[name] - expected).max() <= scale * 1.01
    assert np.ptp(expected) > 10 * scale


def test_another_rounding_would_be_seen() -> None:
    case = EXACT_CASES[0]
    lowered, tensors = simulated(case)
    codes = codes_before_output(case, lowered, tensors)
    assert not np.array_equal(codes, Oracle(case.proto, rounding="down").codes(case.feed))


@pytest.mark.parametrize("case", TABLE_CASES, ids=lambda case: case.name)
def test_table_or_movement_equals_onnx_runtime(case: Case) -> None:
    lowered, tensors = simulated(case)
    for name, y in reference(case.proto, case.feed).items():
        np.testing.assert_allclose(tensors[name], y, rtol=0, atol=_last_scale(case) * 1.01)
    float_kernels = {step.kernel for step in lowered.program.steps if step.kernel.endswith("float32")}
    assert float_kernels == ({"softmax_float32"} if case.name == "island" else set())


def _last_scale(case: Case) -> float:
    last = next(n for n in case.proto.graph.node if n.output[0] == case.proto.graph.output[0].name)
    scale = next(t for t in case.proto.graph.initializer if t.name == last.input[1])
    return float(np.frombuffer(scale.raw_data, np.float32)[0])
