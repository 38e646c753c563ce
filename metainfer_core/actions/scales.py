"""Scales and zero points: real = scale * (integer - zero_point). Same range, same numbers, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metainfer_core.numerics.program import code_limits
from metainfer_core.numerics.saturation import bits_needed, greatest_sum

LOWEST, HIGHEST = -128, 127
STEPS = HIGHEST - LOWEST
BIAS_LIMIT = float(1 << 30)
"""Bias codes stay below this, so that adding the products cannot leave 32 bits."""
QUIET_CHANNEL = 2.0**-20
"""A channel whose weights are (nearly) zero gets at least this share of the largest channel's scale."""


@dataclass(frozen=True)
class Affine:
    """Quantization parameters of one activation tensor."""

    scale: np.float32 | np.ndarray
    """For the whole tensor, or one for each channel (axis 1)."""
    zero_point: int

    def for_outputs(self, outputs: int) -> np.float32 | np.ndarray:
        """The scale that each of so many outputs of a layer reads: where channels have scales, those of its channel."""
        return np.repeat(self.scale, outputs // self.scale.size) if self.scale.ndim else self.scale


def activation_scale(low: float, high: float, symmetric: bool, bits: int = 8) -> Affine:
    """Parameters of an activation with values in [low, high], widened to hold 0 (which must be exact)."""
    low, high = min(low, 0.0), max(high, 0.0)
    least, most = code_limits(bits)
    if symmetric:
        scale = np.float32(max(-low, high) / most)
        return Affine(usable(scale), 0)
    scale = usable(np.float32((high - low) / (most - least)))
    zero_point = int(np.clip(np.rint(least - low / float(scale)), least, most))
    return Affine(scale, zero_point)


def highest_code(bits: int) -> int:
    """Greatest magnitude of a weight's code of so many bits; codes are symmetric."""
    return (1 << (bits - 1)) - 1


def weight_scales(
    weight: np.ndarray, axis: int | None, floor: np.ndarray | float = 0.0, highest: int = HIGHEST
) -> np.ndarray:
    """Symmetric scales of a constant: one number, or one for each channel along `axis`, none below `floor`."""
    magnitudes = np.abs(weight.astype(np.float64))
    if axis is None:
        peaks = magnitudes.max(initial=0.0).reshape(())
    else:
        peaks = magnitudes.max(axis=tuple(i for i in range(weight.ndim) if i != axis), initial=0.0)
    quiet = peaks.max(initial=0.0) * QUIET_CHANNEL or 1.0
    scales = np.maximum(np.maximum(peaks, quiet) / highest, floor)
    return np.asarray(scales, dtype=np.float32)


def weight_codes(weight: np.ndarray, scales: np.ndarray, axis: int | None, highest: int = HIGHEST) -> np.ndarray:
    """Codes of a constant, -`highest`..`highest`, rounded half to even as QuantizeLinear does: int8, or int16 above."""
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)] if axis is not None else [1] * weight.ndim
    codes = np.rint(weight.astype(np.float64) / scales.astype(np.float64).reshape(shape))
    return np.clip(codes, -highest, highest).astype(np.int8 if highest <= HIGHEST else np.int16)


def bias_floor(bias: np.ndarray | None, input_scale: np.float32 | np.ndarray, axis: int | None) -> np.ndarray | float:
    """The least weight scale at which the bias codes stay within their limit."""
    if bias is None:
        return 0.0
    magnitudes = np.abs(bias.astype(np.float64).reshape(-1)) / (np.float64(input_scale) * BIAS_LIMIT)
    return magnitudes if axis is not None else float(magnitudes.max(initial=0.0))


def bias_codes(
    bias: np.ndarray, input_scale: np.float32 | np.ndarray, scales: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Int32 codes of a bias and their float32 scales (input scale times weight scale)."""
    product = np.asarray(input_scale * scales, np.float32)
    codes = np.rint(bias.astype(np.float64) / product.astype(np.float64))
    return codes.astype(np.int32), product


def accumulator_bits(codes: np.ndarray, axis: int, bias: np.ndarray | None, activation_bits: int = 8) -> int:
    """Bits that the worst sum of products needs, sign included; 8-bit inputs leave their zero point by up to 255."""
    furthest = (1 << activation_bits) - 1
    return bits_needed(greatest_sum(np.moveaxis(codes, axis, 0), bias, -furthest, furthest))


def pair_bits(codes: np.ndarray, axis: int, activation_bits: int = 8) -> int:
    """Bits that the sum of two products needs where activation codes count from 0 (to 255 with 8 bits), sign included.

    Which two weights of a sum meet depends on the kernel, so the two greatest of one sign count.
    """
    rows = np.moveaxis(codes, axis, 0).reshape(codes.shape[axis], -1).astype(np.int64)
    two = np.sort(np.concatenate([rows, np.zeros_like(rows[:, :1])], axis=1), axis=1)
    greatest = max(int(two[:, -2:].sum(axis=1).max(initial=0)), int(-two[:, :2].sum(axis=1).min(initial=0)))
    return bits_needed(((1 << activation_bits) - 1) * greatest)


def usable(scale: np.float32) -> np.float32:
    """A tensor that is always 0 (or so small that its scale is no normal number) gets scale 1."""
    return scale if scale >= np.finfo(np.float32).tiny else np.float32(1.0)
