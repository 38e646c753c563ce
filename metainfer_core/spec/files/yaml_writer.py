"""A spec as YAML that reads like a data sheet: facts first, assumptions and provenance last. Same spec, same bytes."""

from __future__ import annotations

import re
from typing import Any

from metainfer_core.spec.field_shapes import SPEC, Shape, shape_at, unit_key
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.quantities import format_quantity, key_unit

WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+()-]*( [A-Za-z0-9_./+()-]+)*")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
_LAST = ("assumed", "change_log", "sources", "provenance")


def write_spec(spec: HardwareSpec) -> bytes:
    """The bytes of a spec file; `read_spec` gives the same value back."""
    plain = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {"format": spec.format}
    assumed = {path: {"value": _taken(plain, path), "reason": reason} for path, reason in spec.assumed.items()}
    lines: list[str] = []
    fields = SPEC.fields()
    after_group = False
    for key in (*(key for key in fields if key not in _LAST), *_LAST):
        value = assumed if key == "assumed" else plain.get(key)
        if value in ({}, [], None):
            continue
        is_group = isinstance(value, dict) and fields[key].kind != "quantity"
        if lines and (is_group or after_group):
            lines.append("")
        after_group = is_group
        if key == "assumed":
            lines.append(
                "# No document gives these; a run needs them. They are shown as assumptions wherever they count."
            )
            lines += ["assumed:", *_assumed(assumed)]
        else:
            lines += _entry(key, value, fields[key], 0)
    return ("\n".join(lines) + "\n").encode()


def shown(path: str, value: Any) -> str:
    """A value of a spec as its file would say it, with unit: `512 KiB`, `{min: 2.2 GHz, max: 2.4 GHz}`."""
    return _flow(value, shape_at(path) or Shape("any"), unit_key(path))


def _taken(tree: dict[str, Any], path: str) -> Any:
    """Removes and returns what stands at a dotted path; parents left empty go too."""
    head, _, rest = path.partition(".")
    if not rest:
        return tree.pop(head, None)
    inner = tree.get(head)
    if not isinstance(inner, dict):
        return None
    found = _taken(inner, rest)
    if not inner:
        del tree[head]
    return found


def _assumed(assumed: dict[str, Any]) -> list[str]:
    lines = []
    for path in sorted(assumed):
        shape = shape_at(path) or Shape("any")
        value = assumed[path]
        lines.append(f"  {_key(path)}:")
        lines += _entry("value", value["value"], shape, 4, named_as=unit_key(path))
        lines += _entry("reason", value["reason"], Shape("text"), 4)
    return lines


def _entry(key: str, value: Any, shape: Shape, indent: int, named_as: str = "") -> list[str]:
    """`key: value` in one line where it fits, else as a block."""
    name = named_as or key
    margin = " " * indent
    flat = _flow(value, shape, name)
    is_group = isinstance(value, dict) and shape.kind != "quantity"
    nested = is_group and any(
        isinstance(v, dict) and set(v) - {"min", "typ", "max", "std", "strength"} for v in value.values()
    )
    fits = len(margin) + len(_key(key)) + 2 + len(flat) <= WIDTH
    if not is_group and not (isinstance(value, list) and not fits):
        return [f"{margin}{_key(key)}: {flat}"]
    if is_group and indent and fits and not nested:
        return [f"{margin}{_key(key)}: {flat}"]
    if isinstance(value, list):
        return [f"{margin}{_key(key)}:", *_filled(value, shape.item or Shape("any"), name, margin + "  ")]
    lines = [f"{margin}{_key(key)}:"]
    fields = shape.fields()
    for inner, item in value.items():
        inner_shape = fields.get(inner) or shape.item or Shape("any")
        inherited = name if key_unit(name) and not key_unit(inner) else ""
        lines += _entry(inner, item, inner_shape, indent + 2, inherited)
    return lines


def _filled(value: list[Any], shape: Shape, key: str, margin: str) -> list[str]:
    """A long list: several items a line in flow form, or one long text a line in block form."""
    items = [_flow(item, shape, key) for item in value]
    if any(len(item) > 40 for item in items):
        return [f"{margin}- {item}" for item in items]
    lines = [margin + "["]
    for index, item in enumerate(items):
        piece = item + ("," if index + 1 < len(items) else "")
        if len(lines[-1]) + 1 + len(piece) > WIDTH:
            lines.append(margin + " " + piece)
        else:
            lines[-1] += piece if lines[-1].endswith("[") else " " + piece
    lines[-1] += "]"
    return lines


def _flow(value: Any, shape: Shape, key: str) -> str:
    """A value on one line."""
    if shape.kind == "quantity" and isinstance(value, dict):
        if set(value) == {"typ"}:
            return _amount(value["typ"], key)
        parts = (f"{name}: {part if isinstance(part, str) else _amount(part, key)}" for name, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, dict):
        fields = shape.fields()
        pairs = []
        for inner, item in value.items():
            inherited = key if key_unit(key) and not key_unit(inner) else inner
            pairs.append(f"{_key(inner)}: {_flow(item, fields.get(inner) or shape.item or Shape('any'), inherited)}")
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, shape.item or Shape("any"), key) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and shape.kind == "integer":
        return _amount(value, key)
    if isinstance(value, int | float):
        return yaml_number(value)
    return str(value) if shape.kind == "address" else yaml_text(value)


def _amount(value: float, key: str) -> str:
    written = format_quantity(value, key_unit(key))
    return written if isinstance(written, str) else yaml_number(written)


def yaml_number(value: float) -> str:
    """A number as a YAML scalar, read back exactly."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def _key(key: str) -> str:
    return yaml_text(key)


def yaml_text(text: str) -> str:
    """A text as a YAML scalar that every reader takes for the same text."""
    if (_PLAIN.fullmatch(text) and text.lower() not in _WORDS) or _VERSION.fullmatch(text):
        return text
    pieces = []
    for letter in text:
        code = ord(letter)
        if letter in '"\\':
            pieces.append("\\" + letter)
        elif letter.isprintable():
            pieces.append(letter)
        elif letter == "\n":
            pieces.append("\\n")
        else:
            pieces.append(f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")
    return '"' + "".join(pieces) + '"'
