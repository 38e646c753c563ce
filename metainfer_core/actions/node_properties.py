"""What a node has of each property that an operator table can limit: its shapes, attributes and constants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.graph.shapes import static_shape

Extents = tuple[int | float | str, ...]
"""All values that a node has of one property, each of which must be allowed; none where it has no such property."""

DIMENSIONS = ("batch", "channel", "height", "width")
"""Axes of a tensor with four of them, from the first; `dim0` ... are those of any tensor."""
SIDES = ("top", "left", "bottom", "right")
MAX_CONSTANT_VALUES = 16
"""A property `value` of a longer constant is not looked at."""
_PLACE = re.compile(r"(?P<side>input|output)(?P<number>\d{1,3})")
_DEFAULTS: Mapping[tuple[str, str], int | str] = {
    ("Softmax", "axis"): -1,
    ("LogSoftmax", "axis"): -1,
    ("Hardmax", "axis"): -1,
    ("Gather", "axis"): 0,
    ("Split", "axis"): 0,
    ("Resize", "mode"): "nearest",
    ("Resize", "coordinate_transformation_mode"): "half_pixel",
    ("Resize", "nearest_mode"): "round_prefer_floor",
    ("Pad", "mode"): "constant",
    ("GRU", "direction"): "forward",
    ("LSTM", "direction"): "forward",
}
"""What ONNX takes for an attribute that is not there."""


def operand_of(node: ir.Node, operand: str | None) -> ir.Value | None:
    """The tensor that `input0` or `output0` means (None: `input0`); None where the node has none there."""
    place = _PLACE.fullmatch(operand or "input0")
    if place is None:
        return None
    values: Sequence[ir.Value | None] = node.inputs if place["side"] == "input" else node.outputs
    index = int(place["number"])
    return values[index] if index < len(values) else None


def extents(node: ir.Node, name: str, operand: str | None = None) -> Extents:
    """What the node has of a property; empty for one that it lacks or that the product does not know."""
    if name in _WHOLE_NODE:
        return _WHOLE_NODE[name](node)
    if name in DIMENSIONS or name in _DIM_NUMBERS:
        shape = _shape(operand_of(node, operand))
        if name in DIMENSIONS:
            return shape[DIMENSIONS.index(name) :][:1] if len(shape) == len(DIMENSIONS) else ()
        return shape[_DIM_NUMBERS[name] :][:1]
    if name == "rank":
        value = operand_of(node, operand)
        return (len(_shape(value)),) if value is not None and static_shape(value) is not None else ()
    if name == "value":
        return _constant_values(operand_of(node, operand))
    return _attribute(node, name)


_DIM_NUMBERS: Mapping[str, int] = {f"dim{index}": index for index in range(8)}


def _shape(value: ir.Value | None) -> tuple[int, ...]:
    return tuple(static_shape(value) or ()) if value is not None else ()


def _constant_values(value: ir.Value | None) -> Extents:
    tensor = value.const_value if value is not None else None
    if tensor is None or tensor.size > MAX_CONSTANT_VALUES:
        return ()
    return tuple(item.item() for item in np.ravel(tensor.numpy()))


def _attribute(node: ir.Node, name: str) -> Extents:
    attribute = node.attributes.get(name)
    if attribute is None:
        return (_DEFAULTS[node.op_type, name],) if (node.op_type, name) in _DEFAULTS else ()
    match attribute.type:
        case ir.AttributeType.INT | ir.AttributeType.FLOAT | ir.AttributeType.STRING:
            return (attribute.value,)
        case ir.AttributeType.INTS:
            return tuple(attribute.as_ints())
    return ()


def _kernel(node: ir.Node) -> tuple[int, ...]:
    given = tuple(node.attributes.get_ints("kernel_shape", ()))
    weight = node.inputs[1] if node.op_type.startswith("Conv") and len(node.inputs) > 1 else None
    return given or _shape(weight)[2:]


def _ints(name: str, default: int) -> Callable[[ir.Node], tuple[int, ...]]:
    return lambda node: tuple(node.attributes.get_ints(name, ())) or (default,) * len(_kernel(node))


_strides, _dilations = _ints("strides", 1), _ints("dilations", 1)


def _pads(node: ir.Node) -> tuple[int, ...]:
    return tuple(node.attributes.get_ints("pads", ()))


def _side(index: int) -> Callable[[ir.Node], Extents]:
    return lambda node: _pads(node)[index : index + 1] if len(_pads(node)) == len(SIDES) else ()


def _dilated_kernel(node: ir.Node) -> tuple[int, ...]:
    pairs = zip(_kernel(node), _dilations(node), strict=False)
    return tuple((size - 1) * step + 1 for size, step in pairs)


def _is_depthwise(node: ir.Node) -> int:
    group = node.attributes.get_int("group", 1)
    return int(group > 1 and _shape(node.inputs[0])[1:2] == (group,))


def _height(of: Callable[[ir.Node], tuple[int, ...]]) -> Callable[[ir.Node], Extents]:
    return lambda node: of(node)[-2:-1] if len(of(node)) > 1 else ()


def _width(of: Callable[[ir.Node], tuple[int, ...]]) -> Callable[[ir.Node], Extents]:
    return lambda node: of(node)[-1:]


def _pair(of: Callable[[ir.Node], tuple[int, ...]]) -> Callable[[ir.Node], Extents]:
    return lambda node: ("x".join(str(size) for size in of(node)),) if of(node) else ()


_WHOLE_NODE: Mapping[str, Callable[[ir.Node], Extents]] = {
    "kernel": _kernel,
    "kernel_h": _height(_kernel),
    "kernel_w": _width(_kernel),
    "kernel_shape": _pair(_kernel),
    "dilated_kernel_h": _height(_dilated_kernel),
    "dilated_kernel_w": _width(_dilated_kernel),
    "stride": _strides,
    "stride_h": _height(_strides),
    "stride_w": _width(_strides),
    "dilation": _dilations,
    "dilation_h": _height(_dilations),
    "dilation_w": _width(_dilations),
    "pad": _pads,
    **{f"pad_{side}": _side(index) for index, side in enumerate(SIDES)},
    "group": lambda node: (node.attributes.get_int("group", 1),),
    "depthwise": lambda node: (_is_depthwise(node),),
    "in_channels": lambda node: _shape(node.inputs[0])[1:2],
    "in_height": lambda node: _shape(node.inputs[0])[2:3],
    "in_width": lambda node: _shape(node.inputs[0])[3:4],
    "out_channels": lambda node: _shape(node.outputs[0])[1:2],
    "inputs": lambda node: (sum(value is not None for value in node.inputs),),
}

KNOWN_NAMES = frozenset({*_WHOLE_NODE, *DIMENSIONS, *_DIM_NUMBERS, "rank", "value"})
"""Properties beside the attributes of the ONNX operator itself, which go by their own names."""
