"""Shape and type of a value, as numbers and as text."""

from __future__ import annotations

import math

import onnx_ir as ir


def static_shape(value: ir.Value) -> tuple[int, ...] | None:
    """The shape as numbers, or None where a dimension is not known."""
    if value.shape is None or not value.shape.is_static():
        return None
    return tuple(int(extent) for extent in value.shape)  # type: ignore[arg-type]


def element_type(value: ir.Value) -> str | None:
    """The element type by its usual name, such as `float32` or `int8`; None where it is not known."""
    if value.dtype is None:
        return None
    return {"FLOAT": "float32", "DOUBLE": "float64"}.get(value.dtype.name, value.dtype.name.lower())


def describe(value: ir.Value) -> str:
    """Type and shape for people: `float32[1,3,?,?]`."""
    element = element_type(value) or "?"
    if value.shape is None:
        return f"{element}[...]"
    return f"{element}[{','.join(str(extent) if isinstance(extent, int) else '?' for extent in value.shape)}]"


def size_bytes(value: ir.Value) -> int | None:
    """Bytes of the value without padding; None where type or shape is not known."""
    shape = static_shape(value)
    if shape is None or value.dtype is None:
        return None
    return math.ceil(math.prod(shape) * value.dtype.bitwidth / 8)
