"""Pad: more elements before and after each axis, or fewer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.broadcast import strides, walk_params
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import refuse_unfused
from metainfer_core.numerics.lowering.model_reader import optional, required, unsupported
from metainfer_core.numerics.lowering.movement import move, take_axes


def pad(b: Builder, node: ir.Node) -> None:
    """More elements before and after: one value, or the nearest (edge), mirrored (reflect) or wrapped ones."""
    refuse_unfused(b, node)
    value, result = required(node, 0), node.outputs[0]
    shape, out_shape = b.shape(value), b.shape(result)
    pads, filler = b.array(required(node, 1)), optional(node, 2)
    chosen = b.array(optional(node, 3))
    if pads is None or (optional(node, 3) is not None and chosen is None):
        raise unsupported(node, "How much it adds is computed at run time.", "Bind the shapes first.")
    axes = range(len(shape)) if chosen is None else [int(n) % len(shape) for n in chosen]
    before = dict(zip(axes, (int(n) for n in pads[: len(pads) // 2]), strict=True))
    mode = node.attributes.get_string("mode", "constant")
    if mode != "constant":
        _pad_by_index(b, node, [before.get(axis, 0) for axis in range(len(shape))], mode)
        return
    fill = b.array(filler)
    if filler is not None and fill is None:
        raise unsupported(node, f"The value that it adds, {filler.name}, is computed at run time.")
    number = 0.0 if fill is None else float(fill.reshape(()))
    begin = [before.get(axis, 0) for axis in range(len(shape))]
    kept = [
        max(0, min(own, out - first) - max(0, -first)) for own, out, first in zip(shape, out_shape, begin, strict=True)
    ]
    if 0 in kept:
        raise unsupported(node, "It crops everything away.")
    in_step, out_step = strides(shape), strides(out_shape)
    walk = walk_params(kept, in_step=in_step, out_step=out_step)
    offsets = {
        "in_offset": sum(max(0, -first) * step for first, step in zip(begin, in_step, strict=True)),
        "out_offset": sum(max(0, first) * step for first, step in zip(begin, out_step, strict=True)),
        "out_count": math.prod(out_shape),
    }
    integers, wide = b.integers(value), b.wide(value)
    if wide is not None:
        zero = np.array([np.clip(np.rint(np.float32(number) / wide.scale), -32768, 32767)], np.int16)
    elif integers is not None:
        code = float(np.rint(np.float32(number) / integers.scale)) + integers.zero_point
        zero = np.array([np.clip(code, *integers.limits)], np.int8)
    else:
        kind = b.element_type(value)
        zero = np.array([number], np.uint8 if kind == "bool" else kind)
    name = b.constant(f"{node.name}.value", zero)

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        b.emit(f"copy_{bits}", nodes, (source, name), (target,), {**walk, **offsets})

    move(b, node, value, result, write)


def _pad_by_index(b: Builder, node: ir.Node, begin: Sequence[int], mode: str) -> None:
    """Each padded axis is a choice of entries; one step an axis."""
    value, out_shape = required(node, 0), b.shape(node.outputs[0])
    shape = list(b.shape(value))
    padded = [axis for axis in range(len(shape)) if out_shape[axis] != shape[axis] or begin[axis]]
    indices = [(axis, _padded_indices(shape[axis], begin[axis], out_shape[axis], mode)) for axis in padded]
    if mode not in ("reflect", "edge", "wrap"):
        raise unsupported(node, f"There is no padding mode {mode!r}.")
    take_axes(b, node, indices)


def _padded_indices(extent: int, begin: int, out_extent: int, mode: str) -> np.ndarray:
    position = np.arange(out_extent) - begin
    if mode == "edge":
        return np.clip(position, 0, extent - 1)
    if mode == "wrap":
        return position % extent
    period = max(2 * (extent - 1), 1)
    folded = position % period
    return np.minimum(folded, period - folded) if extent > 1 else np.zeros_like(position)


OPERATORS = {"Pad": pad}
