"""JSON Schema of spec files, generated from the value classes, so that editors complete and check while typing."""

from __future__ import annotations

import inspect
from typing import Any

from metainfer_core.spec.field_shapes import SPEC, Shape
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.quantities import key_unit

_NUMBER_OR_TEXT = {"type": ["number", "string"]}


def json_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). It is a little wider than `hwdoc-validator`: texts with units are only texts."""
    schema = _schema(SPEC, "")
    schema["properties"]["assumed"] = {
        "type": "object",
        "description": "Field path to the value that no document gives, and the reason for assuming it.",
        "additionalProperties": {
            "type": "object",
            "properties": {"value": {}, "reason": {"type": "string"}},
            "required": ["value", "reason"],
            "additionalProperties": False,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "meta-infer HardwareSpec",
        "description": inspect.cleandoc(HardwareSpec.__doc__ or ""),
        **schema,
    }


def _schema(shape: Shape, key: str) -> dict[str, Any]:
    match shape.kind:
        case "record":
            return _record(shape)
        case "named":
            item = shape.item or Shape("any")
            return {"type": "object", "additionalProperties": _schema(item, key)}
        case "list":
            return {"type": "array", "items": _schema(shape.item or Shape("any"), key)}
        case "quantity":
            return _quantity(key)
        case "integer":
            return {"type": ["integer", "string"]} if key_unit(key) else {"type": "integer"}
        case "number":
            return {"type": ["number", "string"]} if key_unit(key) else {"type": "number"}
        case "address":
            return {"anyOf": [{"type": "string", "pattern": "^0[xX][0-9a-fA-F_]+$"}, {"type": "integer", "minimum": 0}]}
        case "text":
            return {"type": "string"}
        case "boolean":
            return {"type": "boolean"}
        case "choice":
            return {"enum": list(shape.choices)}
        case "any":
            return {}


def _record(shape: Shape) -> dict[str, Any]:
    described = shape.value_class.model_fields if shape.value_class else {}
    properties = {}
    for name, inner in shape.fields().items():
        text = described[name].description
        properties[name] = _schema(inner, name) | ({"description": " ".join(text.split())} if text else {})
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [name for name in shape.required() if shape.value_class is not HardwareSpec]
    return schema | ({"required": required} if required else {})


def _quantity(key: str) -> dict[str, Any]:
    base = key_unit(key)
    spread = {name: _NUMBER_OR_TEXT for name in ("min", "typ", "mean", "max", "std")}
    return {
        "description": f"A number of {base.name}, a text with a unit, or a spread."
        if base
        else "A number or a spread.",
        "anyOf": [
            _NUMBER_OR_TEXT,
            {
                "type": "object",
                "properties": {**spread, "strength": {"enum": ["must", "recommended"]}},
                "additionalProperties": False,
            },
        ],
    }
