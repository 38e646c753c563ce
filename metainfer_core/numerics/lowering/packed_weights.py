"""Weights of 4 or 6 bits as the kernels unpack them: codes without gaps, scales in the order of the codes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.model_reader import PackedConstant
from metainfer_core.numerics.lowering.packing import pack_conv, pack_gemm


def pack_bits(codes: np.ndarray, bits: int) -> np.ndarray:
    """Signed codes as bytes without gaps (see kernels/packed.hpp); their number is a multiple of 4."""
    unsigned = codes.reshape(-1).astype(np.int32) & ((1 << bits) - 1)
    if bits == 4:
        pairs = unsigned.reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8)
    fours = unsigned.reshape(-1, 4)
    together = fours[:, 0] | fours[:, 1] << 6 | fours[:, 2] << 12 | fours[:, 3] << 18
    return np.stack([together >> shift & 255 for shift in (0, 8, 16)], axis=1).astype(np.uint8)


def packed_conv(b: Builder, name: str, packed: PackedConstant, groups: int) -> list[str]:
    """Constants for conv2d_float32_int*: bytes, scales, zero points."""
    codes = packed.codes.reshape(*packed.codes.shape[:2], *_kernel(packed.codes))
    layout = _parameters(packed, codes.shape[0], channel_axis=1)
    shaped = {
        key: pack_conv(array.reshape(*array.shape[:2], *_kernel(array)).astype(np.float32), groups)
        for key, array in layout.items()
    }
    return _constants(b, name, packed.bits, pack_conv(codes.astype(np.float32), groups), shaped)


def packed_matrix(b: Builder, name: str, packed: PackedConstant, columns_first: bool, block: int) -> list[str]:
    """Constants for gemm_float32_int* and conv2d_rows_float32_int*: outputs along axis 0 (`columns_first`) or 1."""
    columns = packed.codes.shape[0 if columns_first else 1]
    layout = _parameters(packed, columns, channel_axis=1 if columns_first else 0)

    def matrix(array: np.ndarray) -> np.ndarray:
        flat = array.reshape(array.shape[0], -1).T if columns_first else array
        return pack_gemm(flat.astype(np.float32), block)

    return _constants(b, name, packed.bits, matrix(packed.codes), {key: matrix(array) for key, array in layout.items()})


def group_of(packed: PackedConstant) -> int:
    """The kernels' `weight_group`."""
    return packed.group if packed.axis is not None and packed.group else 0


def _kernel(array: np.ndarray) -> tuple[int, int]:
    extents = array.shape[2:]
    return (1, extents[0]) if len(extents) == 1 else (extents[0], extents[1])


def _parameters(packed: PackedConstant, outputs: int, channel_axis: int) -> dict[str, np.ndarray]:
    """Scales and zero points with the axes of the codes; without groups, one row for all channels and taps."""
    named = {"scale": packed.scales}
    if packed.zero_points is not None:
        named["zero_point"] = packed.zero_points
    if group_of(packed):
        return named
    shape = [1] * packed.codes.ndim
    shape[1 - channel_axis] = outputs
    return {key: np.broadcast_to(array.reshape(-1), outputs).reshape(shape) for key, array in named.items()}


def _constants(b: Builder, name: str, bits: int, codes: np.ndarray, layout: dict[str, np.ndarray]) -> list[str]:
    names = [b.constant(f"{name}.packed", pack_bits(codes, bits))]
    names.append(b.constant(f"{name}.scale", layout["scale"].reshape(-1).astype(np.float32)))
    zero = layout.get("zero_point")
    names.append("" if zero is None else b.constant(f"{name}.zero_point", zero.reshape(-1).astype(np.int8)))
    return names


def packed_weights(b: Builder, node: ir.Node) -> PackedConstant | None:
    """The packed weights of a node, where its weights are such."""
    return b.packed_constant(node.inputs[1]) if len(node.inputs) > 1 else None
