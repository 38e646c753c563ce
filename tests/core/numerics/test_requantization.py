"""Fixed-point factors, and the kernel that applies them, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.requantization import add_multipliers, exact, multiplier_and_shift

FACTORS = st.fractions(min_value=Fraction(1, 2**28), max_value=Fraction(2**20), max_denominator=2**40)
SUMS = st.integers(min_value=-(2**31) + 1, max_value=2**31 - 1)


def requantized(total: int, multiplier: int, shift: int, zero_point: int) -> int:
    """One sum through the compiled kernel: a product of depth 1 with weight 0 and the sum as bias."""
    output, scratch = np.zeros(1, np.int8), np.zeros(2, np.int16)
    arrays = [
        np.zeros(1, np.int8),
        np.zeros((1, 1, 16, 2), np.int8),
        np.array([total], np.int32),
        np.array([multiplier], np.int32),
        np.array([shift], np.int32),
        *[None] * 3,
        output,
        scratch,
    ]
    params = {"rows": 1, "columns": 1, "depth": 1, "block": 16, "output_zero_point": zero_point}
    load_library().call("gemm_int8", {**params, "low": -128, "high": 127}, arrays)
    return int(output[0])


@given(FACTORS)
@settings(max_examples=300, derandomize=True, deadline=None)
def test_multiplier_is_the_nearest_of_31_bits(factor: Fraction) -> None:
    multiplier, shift = multiplier_and_shift(factor)
    assert multiplier == round(factor * 2**shift)
    assert 1 << 30 <= multiplier < 1 << 31
    assert abs(Fraction(multiplier, 2**shift) / factor - 1) <= Fraction(1, 2**31)


@pytest.mark.parametrize(("odd", "expected"), [(1, 0), (3, 2), (5, 2), (7, 4)])
def test_factors_that_lie_between_two_multipliers_take_the_even_one(odd: int, expected: int) -> None:
    """A multiplier of 31 bits and a half, added to 2^30, which is even."""
    assert multiplier_and_shift(Fraction((1 << 31) + odd, 1 << 60)) == ((1 << 30) + expected, 59)


@given(SUMS, FACTORS, st.integers(-128, 127))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_kernel_rounds_the_exact_product_once_half_up(total: int, factor: Fraction, zero_point: int) -> None:
    multiplier, shift = multiplier_and_shift(factor)
    value = (Fraction(total * multiplier, 2**shift) + Fraction(1, 2)).__floor__() + zero_point
    assert requantized(total, multiplier, shift, zero_point) == min(max(value, -128), 127)


@pytest.mark.parametrize(("total", "expected"), [(1, 1), (-1, 0), (3, 2), (-3, -1), (5, 3), (-5, -2)])
def test_ties_go_up(total: int, expected: int) -> None:
    multiplier, shift = multiplier_and_shift(Fraction(1, 2))
    assert requantized(total, multiplier, shift, 0) == expected


def test_smallest_factors_give_the_zero_point() -> None:
    multiplier, shift = multiplier_and_shift(Fraction(1, 2**60))
    assert requantized(2**31 - 1, multiplier, shift, 7) == 7


@given(FACTORS, FACTORS, st.integers(-255, 255), st.integers(-255, 255), st.sampled_from([1, -1]))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_addition_is_within_a_thousandth_of_a_step(a: Fraction, b: Fraction, x: int, y: int, sign: int) -> None:
    if max(a, b) >= 2**10:
        return
    left, right, shift = add_multipliers(a, sign * b)
    assert abs(x * left) + abs(y * right) + (1 << (shift - 1)) < 2**31
    exact_sum = a * x + sign * b * y
    error = abs(Fraction(left * x + right * y, 2**shift) - exact_sum)
    assert error <= Fraction(1, 1000) * max(1, max(a, b))


def test_unusable_scales_are_refused() -> None:
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UnsupportedError, match="scale"):
            exact(scale)
    with pytest.raises(UnsupportedError, match="ratio of scales"):
        multiplier_and_shift(Fraction(2**31))
    with pytest.raises(UnsupportedError, match="ratio of scales"):
        add_multipliers(Fraction(2**22), Fraction(1))
