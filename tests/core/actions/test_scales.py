from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metainfer_core.actions.scales import (
    accumulator_bits,
    activation_scale,
    bias_codes,
    bias_floor,
    weight_codes,
    weight_scales,
)

FLOATS = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False, width=32)


def test_known_ranges() -> None:
    assert activation_scale(0.0, 255.0, symmetric=False) == activation_scale(10.0, 255.0, symmetric=False)
    relu = activation_scale(0.0, 2.55, symmetric=False)
    assert (float(relu.scale), relu.zero_point) == (pytest.approx(0.01), -128)
    symmetric = activation_scale(-1.0, 1.27, symmetric=True)
    assert (float(symmetric.scale), symmetric.zero_point) == (pytest.approx(0.01), 0)
    assert (float(activation_scale(0.0, 0.0, False).scale), activation_scale(0.0, 0.0, False).zero_point) == (1.0, -128)


@given(FLOATS, FLOATS, st.booleans())
def test_zero_is_exact_and_the_range_is_covered(one: float, other: float, symmetric: bool) -> None:
    low, high = min(one, other, 0.0), max(one, other, 0.0)
    affine = activation_scale(one if one < other else other, max(one, other), symmetric)
    assert -128 <= affine.zero_point <= 127
    scale = float(affine.scale)
    reach = (scale * (-128 - affine.zero_point), scale * (127 - affine.zero_point))
    assert reach[0] - scale <= low
    assert high <= reach[1] + scale


@given(st.integers(0, 10_000), st.booleans())
def test_weight_codes_round_trip_within_half_a_step(seed: int, by_channel: bool) -> None:
    weight = np.random.default_rng(seed).normal(size=(5, 3, 2, 2)).astype(np.float32)
    axis = 0 if by_channel else None
    scales = weight_scales(weight, axis)
    codes = weight_codes(weight, scales, axis)
    shape = (-1, 1, 1, 1) if by_channel else (1, 1, 1, 1)
    error = np.abs(codes * scales.reshape(shape).astype(np.float64) - weight)
    assert codes.min() >= -127
    assert (error <= scales.reshape(shape) * 0.501).all()


def test_a_silent_channel_keeps_a_usable_scale_and_its_bias() -> None:
    weight = np.zeros((2, 4), np.float32)
    weight[0] = 1.0
    bias = np.array([0.5, 3.0], np.float32)
    input_scale = np.float32(1e-3)
    scales = weight_scales(weight, 0, bias_floor(bias, input_scale, 0))
    codes, product = bias_codes(bias, input_scale, scales)
    assert scales.min() > 0
    assert np.allclose(codes * product.astype(np.float64), bias, rtol=1e-5)
    assert np.abs(codes.astype(np.int64)).max() <= 1 << 30


def test_accumulator_bits_are_exact() -> None:
    codes = np.full((1, 4), 127, np.int8)
    assert 4 * 127 * 255 == 129_540
    assert accumulator_bits(codes, 0, None) == 18  # 2^17 = 131072 > 129540, and the sign
    assert accumulator_bits(codes, 0, np.array([2_000], np.int32)) == 19
