"""Convolutions and pools of nodes that a layout was approved for: kernels with channels in the lanes.

Only the kernel is chosen here; where tensors change their layout is settled for the whole program (laid_out.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.layouts import Layout, layout_of
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.geometry import Window
from metainfer_core.numerics.lowering.model_reader import LAYOUT, required, unsupported
from metainfer_core.numerics.lowering.packing import gemm_block, pack_gemm

MOST_TAPS = 256
"""As in kernels/blocked.hpp."""
BAND_BYTES = 64 * 1024
"""Scratch of the gathered pixels: it should stay near the core."""
PIXELS_TOGETHER = 4
"""Pixels that pass over the weights at once (kernels/gemm.hpp)."""


def layout_at(node: ir.Node) -> Layout | None:
    """The layout that was approved for the node; None for NCHW."""
    return layout_of(node.metadata_props.get(LAYOUT, ""))


def blocked_params(
    b: Builder, node: ir.Node, layout: Layout, groups: int, channels: int, filters: int, element: str, taps: int
) -> dict[str, int]:
    """What the kernel on blocks of channels needs beyond the sizes of the convolution.

    Args:
        b: The program.
        node: The convolution.
        layout: Of its input and its result.
        groups: Of the convolution.
        channels: Input channels of one group.
        filters: Output channels of one group.
        element: `int8` or `float32`.
        taps: Of the kernel.

    Raises:
        UnsupportedError: The tensors do not lie in such blocks, or no kernel has the groups.
    """
    for side, value in (("input", required(node, 0)), ("result", node.outputs[0])):
        against = layout.against(b.shape(value))
        if against is not None:
            raise unsupported(node, f"Its {side} {against} (layout {layout.name}).", "Take another layout.")
    blocks = {"in_block": layout.block_of(groups * channels), "out_block": layout.block_of(groups * filters)}
    if groups == 1:
        depth = channels * taps
        row = 4 * depth if element == "float32" else 2 * (depth + depth % 2)
        pixels = max(PIXELS_TOGETHER, BAND_BYTES // row // PIXELS_TOGETHER * PIXELS_TOGETHER)
        pixels = min(pixels, math.prod(b.shape(node.outputs[0])[2:]))
        return {**blocks, "block": gemm_block(filters), "band_pixels": pixels, "scratch_bytes": pixels * row}
    if channels != 1 or filters != 1 or taps > MOST_TAPS:
        raise unsupported(
            node,
            f"In layout {layout.name} there are kernels for one group and for one channel a group with up to "
            f"{MOST_TAPS} taps; it has {groups} groups of {channels} to {filters} channels and {taps} taps.",
            "Leave it in NCHW.",
        )
    wide = 4 * math.ceil(taps / 2) * groups if element == "int8" else 0
    return {**blocks, "scratch_bytes": wide + blocks["in_block"] * (1 if element == "int8" else 4)}


def pack_blocked(weights: np.ndarray, groups: int) -> np.ndarray:
    """[filters, channels, height, width] as the kernels in blocked.hpp read it."""
    filters = weights.shape[0]
    if groups == 1:
        ordered = weights.transpose(0, 2, 3, 1) if weights.dtype == np.int8 else weights
        return pack_gemm(ordered.reshape(filters, -1).T, gemm_block(filters))
    taps = weights.reshape(filters, -1).T
    if weights.dtype != np.int8:
        return np.ascontiguousarray(taps)
    padded = np.zeros((-(-len(taps) // 2) * 2, filters), np.int8)
    padded[: len(taps)] = taps
    return np.ascontiguousarray(padded.reshape(-1, 2, filters).transpose(0, 2, 1))


def blocked_pool(b: Builder, node: ir.Node, layout: Layout, w: Window) -> dict[str, int]:
    """Params of a pool over blocks of channels.

    Raises:
        UnsupportedError: Its input does not lie in such blocks.
    """
    shape: Sequence[int] = b.shape(required(node, 0))
    against = layout.against(shape)
    if against is not None:
        raise unsupported(node, f"Its input {against} (layout {layout.name}).", "Take another layout.")
    block = layout.block_of(shape[1])
    pads = {"pad_bottom": w.end[0], "pad_right": w.end[1]}
    return {"planes": shape[0] * shape[1] // block, "block": block, **w.params(), **pads}
