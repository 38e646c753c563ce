"""Fixed-point parameters for the integer kernels, computed exactly.

A real factor M (a ratio of scales) becomes multiplier / 2^shift with 2^30 <= multiplier < 2^31, rounded half to even:
its relative error is at most 2^-31. The scales are float32 numbers taken as exact fractions, so the result does not
depend on the machine. The kernels round the product once, half up (see kernels/requantize.hpp).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from metainfer_core.errors import UnsupportedError

MAX_SHIFT = 62
KNEE, HIGHEST_16 = 1 << 14, (1 << 15) - 1
ADD_BITS = 21
"""Bits of the greater multiplier of an integer addition: 255 * 2^21 * 2 and the rounding term stay below 2^31."""
WIDE_ADD_BITS = 30
"""The same for 16-bit codes, which are added in 64 bits."""


def exact(number: np.floating | float) -> Fraction:
    """A float as the fraction that it is; raises UnsupportedError unless it is a positive finite number."""
    value = float(number)
    if not 0.0 < value < float("inf"):
        raise UnsupportedError(f"A scale is {value}.", "A scale is a positive finite number.", "Quantize again.")
    return Fraction(value)


def multiplier_and_shift(factor: Fraction) -> tuple[int, int]:
    """The fixed-point form of a positive factor; below 2^-32 the multiplier is smaller than 2^30 (shift 62)."""
    shift = 31 - _exponent(factor)
    multiplier = _scaled(factor, min(shift, MAX_SHIFT))
    if multiplier == 1 << 31:
        multiplier, shift = 1 << 30, shift - 1
    if shift < 1:
        raise UnsupportedError(
            f"A ratio of scales is {float(factor):.3g}.",
            "Integer kernels scale by less than 2^30.",
            "Calibrate again: a scale is far too small.",
        )
    return multiplier, min(shift, MAX_SHIFT)


def multipliers_and_shifts(factors: list[Fraction]) -> tuple[np.ndarray, np.ndarray]:
    """The fixed-point forms of several factors, as int32 arrays."""
    pairs = [multiplier_and_shift(factor) for factor in factors]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int32)


def hard_swish_knee(greatest: Fraction) -> int:
    """The code of 3 in the 16-bit number that hard-swish reads: the greatest power of two that leaves room.

    Args:
        greatest: Result of hard-swish that the output can still hold.
    """
    found = KNEE
    while found > 1 and Fraction(3, found) * HIGHEST_16 < greatest:
        found //= 2
    return found


def add_multipliers(left: Fraction, right: Fraction, bits: int = ADD_BITS, most: int = 30) -> tuple[int, int, int]:
    """Multipliers of both sides and their common shift, for an integer addition.

    Args:
        left: Factor of the left side.
        right: Factor of the right side; negative for a difference.
        bits: Of the greater multiplier.
        most: Greatest shift that the kernel has.
    """
    shift = bits - _exponent(max(abs(left), abs(right)))
    if shift < 1:
        raise UnsupportedError(
            f"A ratio of scales is {float(max(abs(left), abs(right))):.3g}.",
            f"An integer addition scales by less than 2^{bits - 1}.",
            "Calibrate again: a scale is far too small.",
        )
    shift, limit = min(shift, most), (1 << bits) - 1
    a, b = (max(-limit, min(limit, _scaled(side, shift))) for side in (left, right))
    return a, b, shift


def _exponent(factor: Fraction) -> int:
    """The e with 2^(e-1) <= factor < 2^e."""
    top, bottom = factor.numerator, factor.denominator
    e = top.bit_length() - bottom.bit_length()
    return e + 1 if _shifted(top, -e) >= _shifted(bottom, e) else e


def _scaled(factor: Fraction, shift: int) -> int:
    """The factor * 2^shift, rounded half to even; in whole numbers, since each channel of a model has a factor."""
    top, bottom = _shifted(factor.numerator, shift), _shifted(factor.denominator, -shift)
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


def _shifted(number: int, bits: int) -> int:
    """A number * 2^bits; the number itself where that would cut bits off, which the other side of the ratio takes."""
    return number << bits if bits > 0 else number
