"""Proof that an accumulator is wide enough: the greatest sum that any input could cause.

A sum of products overflows where sum(|weight|) * max(|input|) + |bias| passes the accumulator's range. The bound holds
for every partial sum in every order, so neither wrapping nor saturation can ever take place below it.
"""

from __future__ import annotations

import numpy as np

from metainfer_core.errors import UnsupportedError


def greatest_sum(weights: np.ndarray, bias: np.ndarray | None, low: int, high: int) -> int:
    """The greatest |sum| that any input in low..high can cause in any output.

    Args:
        weights: Integers, [outputs, ...].
        bias: Integers, [outputs]; None: no bias.
        low: Least input.
        high: Greatest input.
    """
    size = np.abs(weights.astype(object) if weights.dtype.itemsize > 4 else weights.astype(np.int64))
    sums = size.reshape(len(weights), -1).sum(axis=1) * max(abs(low), abs(high))
    if bias is not None:
        sums = sums + np.abs(bias.astype(np.int64))
    return int(sums.max())


def bits_needed(greatest: int) -> int:
    """Bits of a signed accumulator that holds -greatest .. greatest."""
    return greatest.bit_length() + 1


def worst_case_bits(products: int, activation_bits: int, weight_bits: int) -> int:
    """Accumulator bits that `products` products of any signed integers of these widths need."""
    return bits_needed(products << (activation_bits - 1 + weight_bits - 1))


def require_bits(what: str, greatest: int, accumulator_bits: int = 32) -> None:
    """Raises UnsupportedError where sums up to `greatest` do not fit the accumulator."""
    needed = bits_needed(greatest)
    if needed > accumulator_bits:
        raise UnsupportedError(
            f"{what}: the accumulator can overflow.",
            f"Its sums can reach {greatest:,}, which takes {needed} bits; the accumulator has {accumulator_bits}.",
            "Keep this node in float, or give its weights fewer bits.",
        )
