"""Elementary functions against float64, in units of the last place; ends of their ranges; NaN."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metainfer_core.numerics.library import load_library


def apply(kernel: str, x: np.ndarray, **params: float) -> np.ndarray:
    """A unary kernel on an array."""
    y = np.empty_like(x)
    load_library().call(kernel, {"count": x.size, **params}, [x, y])
    return y


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y, element by element."""
    out, steps = np.empty_like(x), (1, 0, 0, 0, 0, 0)
    params = {"rank": 1, "shape": (x.size, 1, 1, 1, 1, 1), "left_step": steps, "right_step": steps}
    load_library().call("pow_float32", params, [x, y, out])
    return out


def ulps(actual: np.ndarray, exact: np.ndarray) -> float:
    """Greatest distance in units of the last place of the exact result."""
    unit = np.spacing(np.maximum(np.abs(exact), np.finfo(np.float32).tiny).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(actual.astype(np.float64) - exact) / unit))


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


CURVES: list[tuple[str, float, float, Callable[[np.ndarray], np.ndarray], float]] = [
    ("exp", -87.0, 88.0, np.exp, 1.5),
    ("log", 1e-30, 1e30, np.log, 0.51),
    ("tanh", -10.0, 10.0, np.tanh, 2.0),
    ("erf", -5.0, 5.0, _erf, 1.0),
    ("sigmoid", -80.0, 80.0, _sigmoid, 3.0),
    ("sqrt", 0.0, 1e30, np.sqrt, 0.5),
]


@pytest.mark.parametrize(("name", "low", "high", "exact", "bound"), CURVES, ids=lambda value: str(value)[:10])
def test_function_is_accurate(
    name: str, low: float, high: float, exact: Callable[[np.ndarray], np.ndarray], bound: float
) -> None:
    draw = np.random.default_rng(1)
    spread = np.exp(draw.uniform(np.log(1e-30), np.log(1e30), 100_000)) if low > 0 else draw.uniform(low, high, 100_000)
    near_zero = np.linspace(max(low, -1.0), min(high, 1.0), 100_001) if low <= 0 else np.linspace(0.5, 2.0, 100_001)
    x = np.concatenate([spread, near_zero]).astype(np.float32)
    assert ulps(apply(f"{name}_float32", x), exact(x.astype(np.float64))) <= bound


@given(
    st.floats(2**-60, 2**60, width=32, allow_subnormal=False),
    st.floats(-2.0, 2.0, width=32, allow_subnormal=False),
)
@settings(max_examples=500, derandomize=True, deadline=None)
def test_power_is_correctly_rounded_nearly_always(x: float, y: float) -> None:
    result = power(np.array([x], np.float32), np.array([y], np.float32))
    assert ulps(result, np.array([float(x) ** float(y)])) <= 0.51


def test_special_values() -> None:
    inf, nan = np.inf, np.nan
    x = np.array([inf, -inf, nan, 0.0, -0.0], np.float32)
    np.testing.assert_array_equal(apply("exp_float32", x), np.array([inf, 0, nan, 1, 1], np.float32))
    np.testing.assert_array_equal(apply("log_float32", x), np.array([inf, nan, nan, -inf, -inf], np.float32))
    np.testing.assert_array_equal(apply("tanh_float32", x), np.array([1, -1, nan, 0, -0.0], np.float32))
    np.testing.assert_array_equal(apply("erf_float32", x), np.array([1, -1, nan, 0, -0.0], np.float32))
    np.testing.assert_array_equal(apply("sigmoid_float32", x), np.array([1, 0, nan, 0.5, 0.5], np.float32))
    np.testing.assert_array_equal(apply("relu_float32", x), np.array([inf, 0, nan, 0, -0.0], np.float32))
    clipped = apply("clip_float32", x, alpha=-1.0, beta=2.0)
    np.testing.assert_array_equal(clipped, np.array([2, -1, nan, 0, -0.0], np.float32))
    assert apply("exp_float32", np.array([-103.0], np.float32))[0] == np.float32(1.4e-45)
    assert apply("log_float32", np.array([1e-42], np.float32))[0] == np.float32(np.log(np.float64(np.float32(1e-42))))


def test_power_of_special_values_equals_numpy() -> None:
    inf, nan = np.inf, np.nan
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, inf, -inf, nan, 1e-40], np.float32)
    x, y = (grid.reshape(-1).copy() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(power(x, y), expected)


def test_round_is_half_to_even_everywhere() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 4194303.5, 8388609.0, 1e30, -0.2], np.float32)
    y = apply("round_float32", x)
    np.testing.assert_array_equal(y, np.rint(x))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.rint(x)))
