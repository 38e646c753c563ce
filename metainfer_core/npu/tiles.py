"""Cutting one kernel call into tiles: the same kernel on parts of its arrays, which give the same bits.

Along `channels` a tile makes some of the output channels, from the weights of these alone; along `rows` some of the
output rows, from the input rows under them; along `elements` some of the elements of an elementwise step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metainfer_core.npu.blocks import Block
from metainfer_core.numerics.program import ELEMENT_BYTES, Step, Tensor
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.values import Value

Axis = Literal["channels", "rows", "elements"]
AXES: tuple[Axis, ...] = ("channels", "rows", "elements")
FILTERS_TOGETHER = 4
"""Filters that conv2d's weights keep side by side."""
PER_CHANNEL = ("bias", "multiplier", "shift", "curve_multiplier", "curve_shift")
"""Inputs of the matrix kernels with one number for each output channel."""
PACKED = re.compile("_int[46]$")
"""What the names of kernels end in that unpack their weights."""
WEIGHTS = ("weights", "scale", "zero_point")
"""Inputs of the matrix kernels with blocks of output channels: weights, and what packed ones are scaled by."""
CONVOLUTIONS = ("conv2d", "depthwise_conv2d", "conv2d_rows")
Tensors = Mapping[str, Tensor]


class Tile(Value):
    """How a step is cut: so many channels, rows or elements at a time; the last tile takes what is left."""

    axis: Axis
    size: int


@dataclass(frozen=True)
class Extent:
    """How far an axis goes, and what the edges of tiles are multiples of."""

    size: int
    multiple: int = 1


@dataclass(frozen=True)
class Part:
    """One tile as a kernel call: its parameters, and the part of each array that it touches (None: all of it)."""

    params: Mapping[str, Any]
    inputs: tuple[Block | None, ...]
    outputs: tuple[Block | None, ...]
    channels: tuple[int, int] | None = None
    """First output channel and how many, where it makes some of them."""


def extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    """How far the axis goes in this step, or the sentence why it cannot be cut along it."""
    rule = _rule(step)
    return rule.extent(step, tensors, axis) if rule is not None else f"No rule cuts {step.kernel} into tiles."


def parts(step: Step, tensors: Tensors, tile: Tile, unit_bytes: int = 1) -> tuple[Part, ...] | str:
    """The tiles of a step in order, or the sentence why it cannot be cut so.

    Args:
        step: The kernel call.
        tensors: By name.
        tile: How to cut it.
        unit_bytes: What the edges of runs should be multiples of. A tile then takes more input rows than it needs,
            where that makes its runs begin and end so.
    """
    found, rule = extent(step, tensors, tile.axis), _rule(step)
    if isinstance(found, str) or rule is None:
        return str(found)
    if not 0 < tile.size < found.size:
        return f"It has {found.size} {tile.axis}: a tile has from 1 to {found.size - 1} of them, not {tile.size}."
    if tile.size % found.multiple:
        return f"Its {tile.axis} are kept {found.multiple} together: {tile.size} is no multiple of that."
    starts = range(0, found.size, tile.size)
    return tuple(
        rule.part(step, tensors, tile.axis, start, min(tile.size, found.size - start), unit_bytes) for start in starts
    )


@dataclass(frozen=True)
class _Rule:
    extent: Callable[[Step, Tensors, Axis], Extent | str]
    part: Callable[[Step, Tensors, Axis, int, int, int], Part]


def family_of(kernel: str) -> str:
    """The kernel's name without the types that it computes in and unpacks."""
    return PACKED.sub("", kernel).rpartition("_")[0]


def _rule(step: Step) -> _Rule | None:
    family = family_of(step.kernel)
    if family in CONVOLUTIONS:
        return _Rule(_conv_extent, _conv_part)
    if family == "gemm":
        return _Rule(_gemm_extent, _gemm_part)
    if family in ("max_pool", "average_pool"):
        return _Rule(_pool_extent, _pool_part)
    if step.kernel in ("mean_int8", "mean_int16"):
        return _Rule(_mean_extent, _mean_part)
    if family in ("quantize", "dequantize"):
        return _Rule(_conversion_extent, _conversion_part)
    if family in ("narrow", "widen"):
        return _Rule(_elements_extent, _elements_part)
    described = SIGNATURES.get(step.kernel)
    of_two = "left_step" in step.params and "condition_step" not in step.params
    if described is not None and described.is_elementwise and ("count" in step.params or of_two):
        return _Rule(_elements_extent, _elements_part)
    return None


def _roles(step: Step) -> list[str]:
    return [argument.name for argument in SIGNATURES[step.kernel].inputs][: len(step.inputs)]


def _bytes(tensors: Tensors, name: str) -> int:
    return ELEMENT_BYTES[tensors[name].element_type]


def _run(tensor: Tensor, first: int, count: int, whole: int, axis: int = 0) -> Block:
    """Elements `first` to `first + count` of `whole` equal pieces of a tensor that follow one another."""
    piece = tensor.size_bytes // whole
    return Block((*tensor.shape[:axis], count, *tensor.shape[axis + 1 :]), first * piece, count * piece)


def _flat(tensor: Tensor, first: int, count: int) -> Block:
    """Bytes of a constant, as a row of elements."""
    width = ELEMENT_BYTES[tensor.element_type]
    return Block((count // width,), first, count)


def _numbers(tensor: Tensor, first: int, count: int) -> Block:
    """Some elements of a constant with one number for each output channel."""
    width = ELEMENT_BYTES[tensor.element_type]
    return _flat(tensor, first * width, count * width)


# Convolutions


def _is_grouped(step: Step) -> bool:
    return step.kernel.startswith("depthwise") or step.params["groups"] > 1


def _conv_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    p = step.params
    if axis == "rows":
        return Extent(p["out_height"])
    if axis == "elements":
        return "A convolution is cut along channels or rows."
    if p["batch"] > 1:
        return f"It computes {p['batch']} images at once, whose channels do not follow one another."
    if _is_grouped(step):
        return Extent(p["groups"] * p["filters"], max(p["filters"], 2))  # one channel alone has no scales by channel
    return Extent(p["filters"], _together(step))


def _conv_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    if axis == "rows":
        return _conv_rows(step, tensors, first, count, unit_bytes)
    return _conv_channels(step, tensors, first, count)


def _conv_channels(step: Step, tensors: Tensors, first: int, count: int) -> Part:
    p, source, result = step.params, tensors[step.inputs[0]], tensors[step.outputs[0]]
    grouped = _is_grouped(step)
    filters = p["groups"] * p["filters"]
    params = {**p, "groups": count // p["filters"]} if grouped else {**p, "filters": count}
    inputs: list[Block | None] = []
    for role, name in zip(_roles(step), step.inputs, strict=True):
        block: Block | None = None
        if role == "input" and grouped:
            per_filter = p["filters"]
            block = _channels_of(source, first // per_filter * p["channels"], count // per_filter * p["channels"])
        elif role in WEIGHTS and name:
            block = _weights(tensors[name], first, count, filters, p["filters"] if grouped else _together(step))
        elif role in PER_CHANNEL and name:
            block = _numbers(tensors[name], first, count)
        inputs.append(block)
    return Part(params, tuple(inputs), (_channels_of(result, first, count),), (first, count))


def _together(step: Step) -> int:
    """Output channels whose weights are kept together; those of 16-bit activations lie one after the other."""
    if step.kernel.endswith("_int16"):
        return 1
    return int(step.params["block"]) if step.kernel.startswith(("conv2d_rows", "gemm")) else FILTERS_TOGETHER


def _weights(tensor: Tensor, first: int, count: int, whole: int, together: int) -> Block:
    """Packed weights of some output channels: blocks of `together` channels, the last one filled up."""
    piece = tensor.size_bytes // math.ceil(whole / together)
    return _flat(tensor, first // together * piece, math.ceil(count / together) * piece)


def _channels_of(tensor: Tensor, first: int, count: int) -> Block:
    """Channels of one image; they lie on axis 1."""
    return _run(tensor, first, count, tensor.shape[1], axis=1)


def _conv_rows(step: Step, tensors: Tensors, first: int, count: int, unit_bytes: int) -> Part:
    p = step.params
    start, end, pad_top = _window(
        p, first, count, _rows_together(p["width"] * _bytes(tensors, step.inputs[0]), unit_bytes)
    )
    planes_in = p["batch"] * p["groups"] * p["channels"]
    planes_out = p["batch"] * p["groups"] * p["filters"]
    params = {**p, "height": end - start, "out_height": count, "pad_top": pad_top}
    source = _rows_of(planes_in, p["height"], p["width"], start, end - start, _bytes(tensors, step.inputs[0]))
    result = _rows_of(planes_out, p["out_height"], p["out_width"], first, count, _bytes(tensors, step.outputs[0]))
    return Part(params, (source, *(None for _ in step.inputs[1:])), (result,))


def _rows_together(row_bytes: int, unit_bytes: int) -> int:
    """So many rows end where a run may end."""
    return unit_bytes // math.gcd(unit_bytes, row_bytes)


def _window(p: Mapping[str, Any], first: int, count: int, together: int) -> tuple[int, int, int]:
    """First and one past the last input row for some output rows, and the rows of padding above the first.

    Both edges are multiples of `together`, except the end of the image. Rows that no output needs count as negative
    padding.
    """
    top = first * p["stride_height"] - p["pad_top"]
    reach = (count - 1) * p["stride_height"] + (p["kernel_height"] - 1) * p["dilation_height"] + 1
    start = min(max(0, top), p["height"] - 1) // together * together
    end = -(-max(start + 1, top + reach) // together) * together
    return start, min(p["height"], end), start - top


def _rows_of(planes: int, height: int, width: int, first: int, count: int, element: int) -> Block:
    return Block(
        (1, planes, count, width), first * width * element, count * width * element, planes, height * width * element
    )


# Matrix products


def _gemm_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    if axis == "elements":
        return "A matrix product is cut along channels or rows."
    return Extent(step.params["rows"]) if axis == "rows" else Extent(step.params["columns"], _together(step))


def _gemm_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    p, result = step.params, tensors[step.outputs[0]]
    width = _bytes(tensors, step.outputs[0])
    if axis == "rows":
        row = p["depth"] * _bytes(tensors, step.inputs[0])
        source = Block((count, p["depth"]), first * row, count * row)
        row = p["columns"] * width
        target = Block((count, p["columns"]), first * row, count * row)
        return Part({**p, "rows": count}, (source, *(None for _ in step.inputs[1:])), (target,))
    inputs: list[Block | None] = []
    for role, name in zip(_roles(step), step.inputs, strict=True):
        block: Block | None = None
        if role == "weights" and step.kernel.endswith("_int16"):  # a row of columns for each product
            block = Block((p["depth"], count), first, count, p["depth"], p["columns"])
        elif role in WEIGHTS and name:
            block = _weights(tensors[name], first, count, p["columns"], p["block"])
        elif role in PER_CHANNEL and name:
            block = _numbers(tensors[name], first, count)
        inputs.append(block)
    rows = result.size_bytes // width // p["columns"]
    target = Block((rows, count), first * width, count * width, rows, p["columns"] * width)
    return Part({**p, "columns": count}, tuple(inputs), (target,), (first, count))


# Pooling and means


def _pool_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    if axis == "elements":
        return "Pooling is cut along channels or rows."
    return Extent(step.params["planes" if axis == "channels" else "out_height"])


def _pool_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    p = step.params
    widths = [_bytes(tensors, name) for name in (step.inputs[0], step.outputs[0])]
    rest = tuple(None for _ in step.inputs[1:])
    if axis == "channels":
        planes = [p["height"] * p["width"], p["out_height"] * p["out_width"]]
        source, target = (
            Block((1, count, *shape), first * plane * width, count * plane * width)
            for plane, width, shape in zip(
                planes, widths, ((p["height"], p["width"]), (p["out_height"], p["out_width"])), strict=True
            )
        )
        return Part({**p, "planes": count}, (source, *rest), (target,))
    start, end, pad_top = _window(p, first, count, _rows_together(p["width"] * widths[0], unit_bytes))
    is_last = end == p["height"]
    params = {
        **p,
        "height": end - start,
        "out_height": count,
        "pad_top": pad_top,
        "pad_bottom": p["pad_bottom"] if is_last else 0,
    }
    source = _rows_of(p["planes"], p["height"], p["width"], start, end - start, widths[0])
    target = _rows_of(p["planes"], p["out_height"], p["out_width"], first, count, widths[1])
    return Part(params, (source, *rest), (target,))


def _mean_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    return Extent(step.params["rows"]) if axis == "channels" else "A mean is cut along channels."


def _mean_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    columns, width = step.params["columns"], _bytes(tensors, step.inputs[0])
    row = columns * width
    source, target = Block((count, columns), first * row, count * row), Block((count,), first * width, count * width)
    return Part({**step.params, "rows": count}, (source,), (target,))


# Conversions between floats and integers


def _conversion_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    p = step.params
    if p["channels"] == 1:
        return Extent(p["outer"] * p["inner"]) if axis == "elements" else "A conversion is cut along elements."
    if axis != "channels" or p["outer"] != 1:
        return "A conversion with a scale for each channel is cut along the channels of one image."
    return Extent(p["channels"])


def _conversion_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    p, widths = step.params, [_bytes(tensors, name) for name in (step.inputs[0], step.outputs[0])]
    if axis == "elements":
        source, target = (Block((count,), first * width, count * width) for width in widths)
        return Part({**p, "outer": 1, "inner": count}, (source, *(None for _ in step.inputs[1:])), (target,))
    source, target = (
        Block((1, count, p["inner"]), first * p["inner"] * width, count * p["inner"] * width) for width in widths
    )
    scales = [_numbers(tensors[name], first, count) for name in step.inputs[1:]]
    return Part({**p, "channels": count}, (source, *scales), (target,))


# Elementwise steps


def _elements_extent(step: Step, tensors: Tensors, axis: Axis) -> Extent | str:
    p = step.params
    if axis == "rows":
        return "An elementwise step is cut along elements or channels."
    if "left_step" not in p:
        return Extent(p["count"]) if axis == "elements" else "A step on one operand is cut along elements."
    if axis == "elements":
        if p["rank"] != 1 or {p["left_step"][0], p["right_step"][0]} - {0, 1}:
            return "One of its inputs is repeated along an axis: its elements do not lie side by side."
        return Extent(p["shape"][0])
    if p["rank"] < 2:
        return "Its operands have no axis to cut along but their elements."
    for name, steps in zip(step.inputs, (p["left_step"], p["right_step"]), strict=False):
        if steps[0] and steps[0] * p["shape"][0] * _bytes(tensors, name) != tensors[name].size_bytes:
            return f"The channels of {name} do not follow one another."
    return Extent(p["shape"][0])


def _elements_part(step: Step, tensors: Tensors, axis: Axis, first: int, count: int, unit_bytes: int) -> Part:
    """Pieces along the outermost axis that the kernel walks; an operand that is repeated along it stays whole."""
    p = step.params
    is_binary = "left_step" in p
    params = {**p, "shape": (count, *p["shape"][1:])} if is_binary else {**p, "count": count}
    pieces = (p["left_step"][0], p["right_step"][0]) if is_binary else (1,)
    inner = math.prod(p["shape"][1 : p["rank"]]) if is_binary else 1

    def run(name: str, piece: int) -> Block:
        width = piece * _bytes(tensors, name)
        return Block((count * piece,) if axis == "elements" else (1, count, piece), first * width, count * width)

    inputs = tuple(
        run(name, pieces[index]) if index < len(pieces) and pieces[index] else None
        for index, name in enumerate(step.inputs)
    )
    return Part(params, inputs, (run(step.outputs[0], inner),))


def touched(step: Step, part: Part | None) -> Sequence[tuple[str, Block | None]]:
    """Each array of a step (of one tile of it) with the part that is touched; None: all of it."""
    names = (*step.inputs, *step.outputs)
    blocks: tuple[Block | None, ...] = (*part.inputs, *part.outputs) if part is not None else (None,) * len(names)
    return [(name, block) for name, block in zip(names, blocks, strict=True) if name]
