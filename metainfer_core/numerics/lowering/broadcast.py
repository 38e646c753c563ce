"""Shapes that are stretched over each other: as few axes as can be, and the steps of each operand along them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lowering.builder import MAX_RANK, Builder
from metainfer_core.numerics.lowering.endings import FloatEnding
from metainfer_core.numerics.program import ELEMENT_BYTES, ElementType

Shape = Sequence[int]


def strides(shape: Shape) -> list[int]:
    """Distance of neighbours along each axis of a row-major array, in elements."""
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * shape[axis + 1]
    return steps


def broadcast_steps(shape: Shape, target: Shape) -> list[int]:
    """Steps of an operand along the axes of the result; 0 where it repeats."""
    padded = [1] * (len(target) - len(shape)) + list(shape)
    return [0 if n == 1 and m != 1 else s for n, m, s in zip(padded, target, strides(padded), strict=True)]


def collapse(shape: Shape, *steps: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Drops axes of extent 1 and joins neighbours that every operand walks through without a jump."""
    extents: list[int] = []
    walked: list[list[int]] = [[] for _ in steps]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        own = [step[axis] for step in steps]
        if extents and all(w[-1] == s * extent for w, s in zip(walked, own, strict=True)):
            extents[-1] *= extent
            for w, s in zip(walked, own, strict=True):
                w[-1] = s
        else:
            extents.append(extent)
            for w, s in zip(walked, own, strict=True):
                w.append(s)
    if not extents:
        extents, walked = [1], [[0] for _ in steps]
    if len(extents) > MAX_RANK:
        raise UnsupportedError(
            f"An operand of shape {list(shape)} is walked along {len(extents)} axes.",
            f"Kernels have {MAX_RANK}.",
            "Transpose or reshape before it.",
        )
    return extents, walked


def walk_params(shape: Shape, **steps: Sequence[int]) -> dict[str, object]:
    """`rank`, `shape` and the named steps as the kernels' params hold them."""
    extents, walked = collapse(shape, *steps.values())
    fill = MAX_RANK - len(extents)
    named = {name: (*w, *[0] * fill) for name, w in zip(steps, walked, strict=True)}
    return {"rank": len(extents), "shape": (*extents, *[1] * fill), **named}


def emit_binary(
    b: Builder,
    kernel: str,
    ending: FloatEnding,
    operands: Sequence[tuple[str, Shape]],
    out_shape: Shape,
    target: str = "",
) -> None:
    """A binary kernel on two tensors, each with its shape."""
    (left, left_shape), (right, right_shape) = operands
    params = walk_params(
        out_shape,
        left_step=broadcast_steps(left_shape, out_shape),
        right_step=broadcast_steps(right_shape, out_shape),
    )
    b.emit(kernel, ending.nodes, (left, right), (target or b.output(ending.value),), params | ending.params)


def expanded(b: Builder, node: ir.Node, tensor: str, shape: Shape, target: Shape, element: ElementType) -> str:
    """A new tensor in which the given one is stretched to the target shape."""
    name = b.declare(f"{tensor}.expanded", element, target)
    steps = walk_params(target, in_step=broadcast_steps(shape, target), out_step=strides(target))
    b.emit(f"copy_{8 * ELEMENT_BYTES[element]}", (node,), (tensor, ""), (name,), steps)
    return name


def count(shape: Shape) -> int:
    """Elements."""
    return math.prod(shape)
