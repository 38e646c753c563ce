"""Weights in few bits: codes, scales and zero points for a tensor, for each channel, or for groups along the inputs."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import add_constant
from metainfer_core.actions.scales import highest_code, weight_codes, weight_scales
from metainfer_core.numerics.lowering.model_reader import WEIGHT_BITS


@dataclass(frozen=True)
class LowBitWeight:
    """real = (code - zero point) * scale, with the axis and block size that DequantizeLinear takes."""

    codes: np.ndarray
    scales: np.ndarray
    zero_points: np.ndarray
    axis: int | None
    group: int
    """Elements along `axis` that share a scale; 0: all."""


def low_bit(weight: np.ndarray, bits: int, axis: int | None, group: int, symmetric: bool) -> LowBitWeight:
    """The weight in signed codes of `bits` bits.

    Args:
        weight: Float32 numbers.
        bits: Of a code.
        axis: Output channels, each of which has a scale; with a group: the axis of the inputs; None: one scale for all.
        group: Elements along `axis` that share a scale; 0: no groups.
        symmetric: Whether all zero points are 0.
    """
    grouped = _in_groups(weight, axis, group) if group and axis is not None else weight
    reduced = _reduced(grouped, axis, group)
    if symmetric and not group:
        scales = weight_scales(weight, axis, highest=highest_code(bits))
        codes = weight_codes(weight, scales, axis, highest_code(bits))
        return LowBitWeight(codes, scales, np.zeros(scales.shape, np.int8), axis, 0)
    low = np.minimum(grouped.astype(np.float64).min(axis=reduced, keepdims=True), 0.0)
    high = np.maximum(grouped.astype(np.float64).max(axis=reduced, keepdims=True), 0.0)
    top, bottom = highest_code(bits), -highest_code(bits) - 1
    span = np.maximum(-low, high) / top if symmetric else (high - low) / (top - bottom)
    scale = np.where(span > np.finfo(np.float32).tiny, span, 1.0).astype(np.float32)
    zero = np.zeros(scale.shape) if symmetric else np.clip(np.rint(bottom - low / scale), bottom, top)
    codes = np.clip(np.rint(grouped / scale.astype(np.float64)) + zero, -top if symmetric else bottom, top)
    if group and axis is not None:
        flat = codes.reshape([*weight.shape[:axis], -1, *weight.shape[axis + 1 :]])
        kept = np.take(flat, np.arange(weight.shape[axis]), axis)
        return LowBitWeight(
            kept.astype(np.int8), scale.squeeze(axis + 1), zero.squeeze(axis + 1).astype(np.int8), axis, group
        )
    shape = () if axis is None else (-1,)
    return LowBitWeight(codes.astype(np.int8), scale.reshape(shape), zero.astype(np.int8).reshape(shape), axis, 0)


def _in_groups(weight: np.ndarray, axis: int, group: int) -> np.ndarray:
    """The weight with `axis` in two: group and place in it; the last group is filled up with its own last element."""
    count = -(-weight.shape[axis] // group) * group
    filled: np.ndarray = np.take(weight, np.minimum(np.arange(count), weight.shape[axis] - 1), axis)
    return filled.reshape([*weight.shape[:axis], -1, group, *weight.shape[axis + 1 :]])


def _reduced(grouped: np.ndarray, axis: int | None, group: int) -> tuple[int, ...]:
    """The axes over which elements share a scale."""
    if axis is None:
        return tuple(range(grouped.ndim))
    return (axis + 1,) if group else tuple(i for i in range(grouped.ndim) if i != axis)


def stored_bytes(weight: LowBitWeight, bits: int) -> int:
    """Bytes of the codes without gaps, and of scales and zero points."""
    zero = weight.zero_points.size if weight.zero_points.any() else 0
    return -(-weight.codes.size * bits // 8) + 4 * weight.scales.size + zero


def low_bit_constant(model: ir.Model, name: str, weight: LowBitWeight, bits: int, reader: ir.Node) -> ir.Value:
    """The weight as integers and a DequantizeLinear before its reader; INT4 where ONNX has the type, else INT8."""
    kind = np.dtype(ml_dtypes.int4) if bits == 4 else np.dtype(np.int8)
    integers = add_constant(model, f"{name}.int{bits}", weight.codes.astype(kind))
    scale = add_constant(model, f"{name}.scale", weight.scales.astype(np.float32))
    zero_point = add_constant(model, f"{name}.zero_point", weight.zero_points.astype(kind))
    attributes: dict[str, int] = {} if weight.axis is None else {"axis": weight.axis}
    if weight.group:
        attributes["block_size"] = weight.group
    real = ir.Value(
        name=f"{name}.dequantized", shape=ir.Shape(weight.codes.shape), type=ir.TensorType(ir.DataType.FLOAT)
    )
    dequantize = ir.node(
        "DequantizeLinear", [integers, scale, zero_point], attributes, outputs=[real], name=f"{name}.dequantize",
        metadata_props={WEIGHT_BITS: str(bits)},
    )  # fmt: skip
    model.graph.insert_before(reader, dequantize)
    return real
