"""Operators that only move elements: on integers they keep scale and zero point, so they move the codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.broadcast import broadcast_steps, strides, walk_params
from metainfer_core.numerics.lowering.builder import Builder, Grid, Integers
from metainfer_core.numerics.lowering.elementwise import element_bits
from metainfer_core.numerics.lowering.endings import integer_ending, quantization, refuse_unfused
from metainfer_core.numerics.lowering.int16 import declare_wide, rescaled, wide_ending, wide_scale
from metainfer_core.numerics.lowering.integer_sums import integer_result
from metainfer_core.numerics.lowering.model_reader import optional, required, unsupported
from metainfer_core.numerics.lowering.tables import curve_table
from metainfer_core.numerics.program import ELEMENT_BYTES, ElementType, Quantization

MAX_CONCAT = 16
Move = Callable[[tuple[ir.Node, ...], str, str, int], None]
"""Writes the step: nodes, source tensor, target tensor, bits of an element."""


def move(b: Builder, node: ir.Node, value: ir.Value, result: ir.Value, write: Move) -> None:
    """Moves `value` to `result` as integers where it is known as such, else in its own type."""
    integers, wide = b.integers(value), b.wide(value)
    if wide is not None:
        _move_wide(b, node, wide, result, write)
        return
    if integers is None:
        source = b.tensor(value)
        target = b.tensor(result) if b.is_real(result) else b.output(result)
        if target:
            write((node,), source, target, element_bits(b, value))
        return
    shape, reader = b.shape(result), b.only_reader(result)
    if reader is not None and quantization(b, reader) == integers.grid:
        made = b.integer_output(reader.outputs[0], integers.grid, shape)
        b.set_quantized(reader.outputs[0], made)
        b.absorbed.add(reader)
        write((node, reader), integers.tensor, made.tensor, 8)
        return
    made = b.integer_output(result, integers.grid, shape, f"{result.name}.int{integers.bits}")
    b.set_integers(result, made)
    write((node,), integers.tensor, made.tensor, 8)


def _move_wide(b: Builder, node: ir.Node, source: Integers, result: ir.Value, write: Move) -> None:
    """Moves 16-bit codes; a QuantizeLinear behind them that keeps their scale is part of the step."""
    reader = b.only_reader(result)
    if reader is not None and wide_scale(b, reader) == source.scale:
        made = declare_wide(b, reader.outputs[0], source.scale)
        b.absorbed.add(reader)
        write((node, reader), source.tensor, made.tensor, 16)
        return
    quantization = Quantization(scales=(float(source.scale),), zero_points=(0,))
    name = b.declare(f"{result.name}.int16", "int16", b.shape(result), quantization)
    b.set_wide(result, Integers(name, source.scale, 0))
    write((node,), source.tensor, name, 16)


def view(b: Builder, node: ir.Node) -> None:
    """The same elements under another shape."""
    refuse_unfused(b, node)
    value = required(node, 0)
    size = math.prod(b.shape(node.outputs[0]))

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        b.emit("view", nodes, (source,), (target,), {"bytes": size * bits // 8})

    move(b, node, value, node.outputs[0], write)


def copy(
    b: Builder,
    node: ir.Node,
    value: ir.Value,
    result: ir.Value,
    shape: Sequence[int],
    in_step: Sequence[int],
    in_offset: int = 0,
) -> None:
    """A strided copy that fills the result in row-major order."""
    refuse_unfused(b, node)
    walk = walk_params(shape, in_step=in_step, out_step=strides(shape))

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        b.emit(f"copy_{bits}", nodes, (source, ""), (target,), {**walk, "in_offset": in_offset})

    move(b, node, value, result, write)


def transpose(b: Builder, node: ir.Node) -> None:
    """Axes in another order."""
    value = required(node, 0)
    shape = b.shape(value)
    order = node.attributes.get_ints("perm", list(range(len(shape)))[::-1])
    steps = strides(shape)
    copy(b, node, value, node.outputs[0], [shape[axis] for axis in order], [steps[axis] for axis in order])


def expand(b: Builder, node: ir.Node) -> None:
    """Repeats along axes of extent 1."""
    value, shape = required(node, 0), b.shape(node.outputs[0])
    copy(b, node, value, node.outputs[0], shape, broadcast_steps(b.shape(value), shape))


def tile(b: Builder, node: ir.Node) -> None:
    """Repeats the whole along each axis."""
    value = required(node, 0)
    shape, steps = b.shape(value), strides(b.shape(value))
    times = [out // own for out, own in zip(b.shape(node.outputs[0]), shape, strict=True)]
    extents = [n for pair in zip(times, shape, strict=True) for n in pair]
    copy(b, node, value, node.outputs[0], extents, [s for step in steps for s in (0, step)])


def slice_(b: Builder, node: ir.Node) -> None:
    """A part of each axis, with steps of either sign."""
    value = required(node, 0)
    shape = b.shape(value)
    arrays = [b.array(optional(node, index)) for index in range(1, 5)]
    if arrays[0] is None or any(optional(node, i + 1) is not None and a is None for i, a in enumerate(arrays)):
        raise unsupported(node, "Where it begins or ends is computed at run time.", "Bind the shapes first.")
    starts = [int(n) for n in arrays[0]]
    axes = range(len(starts)) if arrays[2] is None else [int(n) % len(shape) for n in arrays[2]]
    by = [1] * len(starts) if arrays[3] is None else [int(n) for n in arrays[3]]
    steps, offset = strides(shape), 0
    in_step = list(steps)
    for axis, start, step in zip(axes, starts, by, strict=True):
        extent = shape[axis]
        first = start + extent if start < 0 else start
        offset += min(max(first, 0), extent - 1 if step < 0 else extent) * steps[axis]
        in_step[axis] = steps[axis] * step
    copy(b, node, value, node.outputs[0], b.shape(node.outputs[0]), in_step, offset)


def split(b: Builder, node: ir.Node) -> None:
    """Parts along one axis."""
    value = required(node, 0)
    shape = b.shape(value)
    axis = node.attributes.get_int("axis", 0) % len(shape)
    steps, first = strides(shape), 0
    for result in node.outputs:
        part = b.shape(result)
        copy(b, node, value, result, part, steps, first * steps[axis])
        first += part[axis]


def depth_to_space(b: Builder, node: ir.Node) -> None:
    """Channels to pixels of a block."""
    value = required(node, 0)
    n, channels, height, width = b.shape(value)
    block = node.attributes.get_int("blocksize", 1)
    kept = channels // (block * block)
    steps = strides((n, channels, height, width))
    is_dcr = node.attributes.get_string("mode", "DCR") == "DCR"
    of_y, of_x, of_c = (kept * block, kept, 1) if is_dcr else (block, 1, block * block)
    in_step = [steps[0], of_c * steps[1], steps[2], of_y * steps[1], steps[3], of_x * steps[1]]
    copy(b, node, value, node.outputs[0], (n, kept, height, block, width, block), in_step)


def space_to_depth(b: Builder, node: ir.Node) -> None:
    """Pixels of a block to channels."""
    value = required(node, 0)
    n, channels, height, width = b.shape(value)
    block = node.attributes.get_int("blocksize", 1)
    steps = strides((n, channels, height, width))
    shape = (n, block, block, channels, height // block, width // block)
    in_step = [steps[0], steps[2], steps[3], steps[1], steps[2] * block, steps[3] * block]
    copy(b, node, value, node.outputs[0], shape, in_step)


def concat(b: Builder, node: ir.Node) -> None:
    """Side by side along one axis. On int8 each branch is brought to the result's scale first."""
    refuse_unfused(b, node)
    values = [value for value in node.inputs if value is not None]
    result = node.outputs[0]
    shape = b.shape(result)
    axis = node.attributes.get_int("axis", 0) % len(shape)
    if _integer_concat(b, node, values, axis) or _wide_concat(b, node, values, axis):
        return
    tensors = [b.tensor(value) for value in values]
    extents = [math.prod(b.shape(value)[axis:]) for value in values]
    element = b.element_type(result)
    _join(b, (node,), tensors, extents, math.prod(shape[:axis]), b.output(result), element)


def _integer_concat(b: Builder, node: ir.Node, values: Sequence[ir.Value], axis: int) -> bool:
    known, ending, result = [b.integers(value) for value in values], integer_ending(b, node), node.outputs[0]
    branches = [integers for integers in known if integers is not None]
    if len(branches) < len(values):
        return False
    extents = [math.prod(b.shape(value)[axis:]) for value in values]
    outer = math.prod(b.shape(result)[:axis])
    if ending is None:
        first = branches[0]
        if not all(first.same_scale(branch) for branch in branches):
            return False
        made = b.integer_output(result, first.grid, b.shape(result), f"{result.name}.int{first.bits}")
        b.set_integers(result, made)
        _join(b, (node,), [branch.tensor for branch in branches], extents, outer, made.tensor, "int8")
        return True
    target = ending.final
    tensors = [_rescaled(b, node, branch, value, target) for branch, value in zip(branches, values, strict=True)]
    _join(b, ending.nodes, tensors, extents, outer, integer_result(b, ending), "int8")
    b.absorbed.update(ending.nodes[1:])
    return True


def _wide_concat(b: Builder, node: ir.Node, values: Sequence[ir.Value], axis: int) -> bool:
    """As `_integer_concat`, of 16-bit branches."""
    known, ending = [b.wide(value) for value in values], wide_ending(b, node)
    branches = [branch for branch in known if branch is not None]
    if len(branches) < len(values) or ending is None:
        return False
    pairs = zip(branches, values, strict=True)
    tensors = [rescaled(b, node, branch, value, ending.scale) for branch, value in pairs]
    extents = [math.prod(b.shape(value)[axis:]) for value in values]
    made = declare_wide(b, ending.value, ending.scale)
    _join(b, ending.nodes, tensors, extents, math.prod(b.shape(node.outputs[0])[:axis]), made.tensor, "int16")
    b.absorbed.update(ending.nodes[1:])
    return True


def _rescaled(b: Builder, node: ir.Node, branch: Integers, value: ir.Value, target: Grid) -> str:
    if branch.grid == target:
        return branch.tensor
    table = b.constant(f"{branch.tensor}.table", curve_table(None, {}, branch.grid, target))
    shape = b.shape(value)
    made = b.integer_output(value, target, shape, f"{branch.tensor}.rescaled")
    b.emit("lookup_int8", (node,), (branch.tensor, table), (made.tensor,), {"count": math.prod(shape)})
    return made.tensor


def _join(
    b: Builder,
    nodes: tuple[ir.Node, ...],
    tensors: Sequence[str],
    extents: Sequence[int],
    outer: int,
    target: str,
    element: ElementType,
) -> None:
    """Concatenates; more than MAX_CONCAT tensors in several steps."""
    tensors, extents = list(tensors), list(extents)
    while len(tensors) > MAX_CONCAT:
        total = sum(extents[:MAX_CONCAT])
        part = b.declare(f"{target}.part", element, (outer, total))
        _join(b, nodes[:1], tensors[:MAX_CONCAT], extents[:MAX_CONCAT], outer, part, element)
        tensors[:MAX_CONCAT], extents[:MAX_CONCAT] = [part], [total]
    filled = (*extents, *[0] * (MAX_CONCAT - len(extents)))
    params = {"outer": outer, "count": len(tensors), "extent": filled}
    b.emit(f"concat_{8 * ELEMENT_BYTES[element]}", nodes, tensors, (target,), params)


def gather(b: Builder, node: ir.Node) -> None:
    """Chosen entries of one axis; constant indices are checked here."""
    refuse_unfused(b, node)
    value, indices = required(node, 0), required(node, 1)
    shape = b.shape(value)
    axis = node.attributes.get_int("axis", 0) % len(shape)
    known = b.array(indices)
    if known is not None and (np.any(known < -shape[axis]) or np.any(known >= shape[axis])):
        raise unsupported(
            node, f"An index lies outside of an axis of {shape[axis]} entries.", "Export the model again."
        )
    if known is None:
        index, kind, size = b.tensor(indices), b.element_type(indices), math.prod(b.shape(indices))
    else:
        index, kind, size = b.constant(f"{node.name}.indices", known.astype(np.int32)), "int32", known.size
    if kind not in ("int32", "int64"):
        raise unsupported(node, f"Its indices are {kind}.")
    take(b, node, value, node.outputs[0], axis, index, kind, size)


def take(
    b: Builder, node: ir.Node, value: ir.Value, result: ir.Value, axis: int, index: str, kind: str, size: int
) -> None:
    """Entries `index` of one axis."""
    shape = b.shape(value)
    params = {
        "outer": math.prod(shape[:axis]),
        "axis": shape[axis],
        "inner": math.prod(shape[axis + 1 :]),
        "count": size,
    }

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        b.emit(f"gather_{bits}_{kind}", nodes, (source, index), (target,), params)

    move(b, node, value, result, write)


def take_axes(b: Builder, node: ir.Node, indices: Sequence[tuple[int, np.ndarray]]) -> None:
    """Chooses entries along several axes, one step each."""
    value, result = required(node, 0), node.outputs[0]
    if not indices:
        view(b, node)
        return
    for number, (axis, index) in enumerate(indices):
        name = b.constant(f"{node.name}.indices", index.astype(np.int32))
        if number == len(indices) - 1:
            target = result
        else:
            extents = list(b.shape(value))
            extents[axis] = len(index)
            target = ir.Value(name=f"{node.name}.{number}", shape=ir.Shape(extents), type=value.type)
            _keep(b, target)
        take(b, node, value, target, axis, name, "int32", len(index))
        value = target


def _keep(b: Builder, value: ir.Value) -> None:
    """Declares a value that the model does not have, so that it can be written and read."""
    b.alias(value, b.declare(str(value.name), b.element_type(value), b.shape(value)))


OPERATORS = {
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"), view),
    "Transpose": transpose,
    "Expand": expand,
    "Tile": tile,
    "Slice": slice_,
    "Split": split,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "Concat": concat,
    "Gather": gather,
}
