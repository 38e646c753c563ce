"""Shape and type of a value, as numbers and as text."""

from __future__ import annotations

import onnx_ir as ir


def static_shape(value: ir.Value) -> tuple[int, ...] | None:
    """The shape as numbers, or None where a dimension is not known."""
    if value.shape is None or not value.shape.is_static():
        return None
    return tuple(int(extent) for extent in value.shape)  # type: ignore[arg-type]


def describe(value: ir.Value) -> str:
    """Type and shape for people: `float32[1,3,?,?]`."""
    element = value.dtype.name.lower() if value.dtype is not None else "?"
    if value.shape is None:
        return f"{element}[...]"
    return f"{element}[{','.join(str(extent) if isinstance(extent, int) else '?' for extent in value.shape)}]"
