"""What kind of value each place of a spec holds, read from the value classes themselves."""

from __future__ import annotations

import functools
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

from metainfer_core.spec.hardware_spec import Address, HardwareSpec, Quantity
from metainfer_core.spec.quantities import key_unit
from metainfer_core.values import Value

Kind = Literal[
    "record", "named", "list", "quantity", "address", "number", "integer", "text", "boolean", "choice", "any"
]


@dataclass(frozen=True)
class Shape:
    """The kind of value at one place.

    Args:
        kind: `record` has fixed keys, `named` any keys of one kind of value, `list` any number of one kind.
        value_class: The class of a record.
        item: Shape of what a `named` or a `list` holds.
        choices: The allowed words of a `choice`.
    """

    kind: Kind
    value_class: type[Value] | None = None
    item: Shape | None = None
    choices: tuple[Any, ...] = ()

    def fields(self) -> dict[str, Shape]:
        """Key to shape, of a record."""
        return _fields(self.value_class) if self.value_class else {}

    def required(self) -> tuple[str, ...]:
        """Keys that a record must have."""
        fields = self.value_class.model_fields if self.value_class else {}
        return tuple(name for name, field in fields.items() if field.is_required())


@functools.cache
def _fields(value_class: type[Value]) -> dict[str, Shape]:
    hints = typing.get_type_hints(value_class, include_extras=True)
    return {name: shape_of(hints[name]) for name in value_class.model_fields}


def shape_of(annotation: Any) -> Shape:
    """The shape that a type annotation of a value class describes."""
    if annotation is Address:
        return Shape("address")
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return shape_of(arguments[0])
    if origin in (typing.Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not types.NoneType]
        return shape_of(inner[0]) if len(inner) == 1 else Shape("any")
    if origin is Literal:
        return Shape("choice", choices=arguments)
    if origin is dict:
        return Shape("any") if arguments[1] is Any else Shape("named", item=shape_of(arguments[1]))
    if origin is tuple:
        return Shape("list", item=shape_of(arguments[0]))
    if isinstance(annotation, type) and issubclass(annotation, Quantity):
        return Shape("quantity")
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return Shape("record", value_class=annotation)
    plain: dict[Any, Kind] = {int: "integer", float: "number", str: "text", bool: "boolean"}
    return Shape(plain.get(annotation, "any"))


SPEC = Shape("record", value_class=HardwareSpec)
"""The whole of a spec."""


def shape_at(path: str) -> Shape | None:
    """The shape at a field path (`compute_units.npu.clock_hz`), or None where a spec has no such place."""
    shape = SPEC
    for part in path.split("."):
        if shape.kind == "any":
            return shape
        following = shape.fields().get(part) if shape.kind == "record" else shape.item
        if following is None or (shape.kind == "named" and not part):
            return None
        shape = following
    return shape


def unit_key(path: str) -> str:
    """The part of a path that tells the unit of its value: the last, or its parent (`macs_per_cycle.int8`)."""
    parts = path.split(".")
    return parts[-2] if len(parts) > 1 and key_unit(parts[-2]) and not key_unit(parts[-1]) else parts[-1]
