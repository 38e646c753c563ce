"""Accumulator widths: what is proved to fit, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import Case
from quantized_cases import Qdq

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.saturation import bits_needed, greatest_sum, require_bits, worst_case_bits
from metainfer_core.numerics.simulator import Simulator


def test_sum_that_saturates_int16_pairs_is_found() -> None:
    weights = np.full((1, 64), 127, np.int8)
    greatest = greatest_sum(weights, None, 0, 255)
    assert greatest == 2072640
    pair = greatest_sum(weights[:, :2], None, 0, 255)
    assert bits_needed(pair) == 17
    with pytest.raises(UnsupportedError, match=r"64,770, which takes 17 bits; the accumulator has 16"):
        require_bits("MatMul_0", pair, 16)
    require_bits("MatMul_0", greatest, 32)


def test_healthy_twin_with_seven_bit_weights_fits_pairs_in_16_bits() -> None:
    require_bits("MatMul_0", greatest_sum(np.full((1, 2), 63, np.int8), None, 0, 255), 16)


def test_narrow_fixed_point_accumulator_is_refused() -> None:
    needed = worst_case_bits(products=64, activation_bits=7, weight_bits=7)
    assert needed == 20
    with pytest.raises(UnsupportedError, match="can overflow"):
        require_bits("Gemm_0", 64 << 12, accumulator_bits=10)
    require_bits("Gemm_0", 64 << 12, accumulator_bits=needed)


def test_bound_counts_the_bias_and_the_worst_output() -> None:
    weights = np.array([[1, -2], [3, 4]], np.int8)
    assert greatest_sum(weights, np.array([1000, -1]), -128, 127) == max(3 * 128 + 1000, 7 * 128 + 1)


def _product(depth: int, bias: float) -> Case:
    """Ones times ones, and a bias that the model stores as float32."""
    g = Qdq("product")
    g.feed["x"] = np.full((1, depth), 1.0, np.float32)
    g.constants["b"] = np.array([bias], np.float32)
    x = g.pair("x", -1.0, 1.0)
    y = g.node("Gemm", [x, g.weights("w", np.ones((depth, 1), np.float32), None), "b"], "sum")
    return g.case(g.pair(y, 0.0, float(depth)))


def test_depth_that_can_overflow_32_bits_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"sum\.node \(Gemm\): the accumulator can overflow"):
        lower(_product(140_000, 0.0).model())


def test_greatest_depth_that_fits_is_exact() -> None:
    case = _product(130_000, 0.0)
    result = Simulator(lower(case.model())).run(case.feed)["sum.dq"]
    exact = 130_000 * 127 * np.float32(2 / 255)
    assert abs(float(result[0, 0]) - exact) <= 130_000 / 255


def test_bias_beyond_32_bits_is_refused() -> None:
    lower(_product(4, 132_000.0).model())
    with pytest.raises(UnsupportedError, match="the accumulator can overflow"):
        lower(_product(4, 140_000.0).model())
