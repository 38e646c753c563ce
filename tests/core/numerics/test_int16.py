"""INT16 activations with INT8 weights: to the bit what exact integers give, and near what ONNX Runtime computes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.helper import make_node
from operator_cases import Case, build, draw, reference
from wide_cases import BASES, integers, wide_model

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.rewiring import FUSED_WITH
from metainfer_core.actions.wide_integers import wide_rewrite
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.save import model_bytes
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator


def rounded(sums: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The exact product, rounded once and half up, saturated."""
    factors = [(int(m) * 2, int(s)) for m, s in zip(multiplier, shift, strict=True)]
    exact = [
        [(int(total) * twice + (1 << bits)) >> (bits + 1) for total, (twice, bits) in zip(row, factors, strict=True)]
        for row in sums
    ]
    return np.clip(np.array(exact, dtype=object), -32767, 32767).astype(np.int16)


def test_a_thousand_rows_have_the_bits_of_exact_integers() -> None:
    rows, depth, columns = 1000, 24, 13
    x = integers(-32767, 32768, rows * depth, 0).reshape(rows, depth).astype(np.int16)
    w = integers(-127, 128, depth * columns, 1).reshape(depth, columns).astype(np.int8)
    bias = integers(-(1 << 24), 1 << 24, columns, 2)
    multiplier = integers(1 << 30, (1 << 31) - 1, columns, 3).astype(np.int32)
    shift = integers(38, 46, columns, 4).astype(np.int32)
    y = np.empty((rows, columns), np.int16)
    params = {"rows": rows, "columns": columns, "depth": depth, "low": -32767, "high": 32767}
    load_library().call("gemm_int16", params, [x, w, bias, multiplier, shift, y])
    sums = x.astype(np.int64) @ w.astype(np.int64) + bias
    expected = rounded(sums, multiplier, shift)
    np.testing.assert_array_equal(y, expected)
    assert np.unique(y).size > 1000
    assert (np.abs(y) == 32767).any()


@pytest.mark.parametrize("case", BASES, ids=lambda case: case.name)
def test_a_layer_is_near_onnx_runtime(case: Case) -> None:
    model = wide_model(case)
    proto = onnx.load_from_string(model_bytes(model))
    onnx.checker.check_model(proto, full_check=True)
    lowered = lower(model)
    kernels = [step.kernel for step in lowered.program.steps]
    assert kernels == ["quantize_int16", kernels[1], "dequantize_int16"]
    assert kernels[1] in ("conv2d_int16", "gemm_int16")
    got, expected = Simulator(lowered).run(case.feed)["y"], reference(proto, case.feed)["y"]
    step = 9.0 / 32767
    assert np.abs(got - expected).max() <= 1.01 * step  # its float sums round to the other side now and then
    assert (np.abs(got - expected) < step / 2).mean() > 0.97
    eight = np.abs(np.rint(expected / (step * 256)) * step * 256 - expected).max()
    assert np.abs(got - expected).max() < eight / 20


def test_a_clamp_is_part_of_the_kernel() -> None:
    nodes = [make_node("Gemm", ["x", "w"], ["g"], "gemm"), make_node("Relu", ["g"], ["y"], "relu")]
    case = build("clamped", nodes, {"x": draw("cx", 4, 20)}, {"w": draw("cw", 20, 8)})
    model = case.model()
    gemm, relu = model.graph
    relu.metadata_props[FUSED_WITH] = "gemm"
    form = integer_form(gemm)
    assert isinstance(form, IntegerForm)
    wide_rewrite(model, gemm, form, "tensor_wise", {"x": (-4.0, 4.0), "y": (0.0, 20.0)})
    lowered = lower(model)
    (step,) = [step for step in lowered.program.steps if step.kernel == "gemm_int16"]
    assert (step.params["low"], step.params["high"], step.node_ids[:2]) == (0, 32767, ("gemm", "relu"))
    assert Simulator(lowered).run(case.feed)["y"].min() == 0.0


def test_a_sum_that_leaves_64_bits_is_refused() -> None:
    case = build("huge", [make_node("Gemm", ["x", "w", "b"], ["y"], "n")], {"x": draw("hx", 1, 4)},
                 {"w": np.full((4, 3), 1e-30, np.float32), "b": np.full(3, 1e30, np.float32)})  # fmt: skip
    model = case.model()
    (node,) = model.graph
    form = integer_form(node)
    assert isinstance(form, IntegerForm)
    wide_rewrite(model, node, form, "tensor_wise", {"x": (-1.0, 1.0), "y": (-1e30, 1e30)})
    with pytest.raises(UnsupportedError, match="the accumulator can overflow"):
        lower(model)


def test_codes_mean_what_the_graph_says() -> None:
    model = wide_model(BASES[3])
    (scale,) = [v for name, v in model.graph.initializers.items() if name == "x0.scale"]
    assert isinstance(scale.const_value, ir.TensorProtocol)
    assert Fraction(float(scale.const_value.numpy())) == Fraction(float(np.float32(5.0 / 32767)))
