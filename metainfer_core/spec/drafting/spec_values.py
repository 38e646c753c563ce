"""A candidate's reading as the value that its place in a spec holds."""

from __future__ import annotations

from typing import Any

from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.spec.field_shapes import Shape, shape_at, unit_key
from metainfer_core.spec.quantities import key_unit, unit

DATA_TYPES: dict[str, str] = {
    "int4": "int4",
    "int6": "int6",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "int32": "int32",
    "fp16": "float16",
    "float16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "bfp16": "bfloat16",
    "bfloat16": "bfloat16",
    "tf32": "tf32",
    "fp32": "float32",
    "float32": "float32",
}
"""What documents call the data types."""


BURST_UNITS = {"beat": "beats", "B": "bytes"}
"""Unit of a candidate to what the lengths of bursts count in."""


class NotRepresentable(ValueError):  # noqa: N818 - a plain "no", caught by its one caller
    """The spec's place cannot hold what the document says; it goes to `other`."""


def spec_value(candidate: Candidate, path: str) -> list[tuple[str, Any]]:
    """Path and plain value of a candidate; a cache's size also tells its sharing, a burst's length what it counts."""
    shape = shape_at(path)
    if shape is None:
        raise NotRepresentable(path)
    if candidate.rule is not None:
        return [(path, candidate.rule.model_dump(mode="json", exclude_defaults=True))]
    found = [(path, _converted(candidate, shape, path))]
    parent, _, last = path.rpartition(".")
    if candidate.sharing and last == "size_bytes" and shape_at(f"{parent}.sharing_mode"):
        found.append((f"{parent}.sharing_mode", candidate.sharing))
    if last.startswith("burst_length_") and candidate.unit in BURST_UNITS:
        found.append((f"{parent}.burst_unit", BURST_UNITS[candidate.unit]))
    return found


def _converted(candidate: Candidate, shape: Shape, path: str) -> Any:
    value = candidate.value
    match shape.kind:
        case "quantity":
            return _quantity(candidate, path)
        case "list":
            items = value if isinstance(value, tuple) else (value,)
            return [_item(item, shape, path) for item in items]
        case "integer":
            number = value if value is not None else candidate.typ if candidate.typ is not None else candidate.max
            if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
                raise NotRepresentable(path)
            scaled = number * _factor(candidate, path)
            return int(scaled)
        case "number":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise NotRepresentable(path)
            return float(value)
        case "address":
            return _address(value, path)
        case "text":
            if not isinstance(value, str):
                raise NotRepresentable(path)
            return value
        case "choice":
            if isinstance(value, bool) and "shared" in shape.choices:
                return "shared" if value else "per_core"
            if value not in shape.choices:
                raise NotRepresentable(path)
            return value
    raise NotRepresentable(path)


def _quantity(candidate: Candidate, path: str) -> dict[str, Any]:
    """The spread of a reading: a list of choices is its ends; a value that repeats a bound is that bound."""
    ends: dict[str, float] = {}
    for name in ("min", "typ", "max"):
        bound = getattr(candidate, name)
        if bound is not None:
            ends[name] = float(bound)
    value = candidate.value
    if not ends and isinstance(value, tuple):
        numbers = [item for item in value if isinstance(item, int | float) and not isinstance(item, bool)]
        if len(numbers) != len(value) or not numbers:
            raise NotRepresentable(path)
        ends = {"min": float(min(numbers)), "max": float(max(numbers))}
    elif isinstance(value, int | float) and not isinstance(value, bool) and float(value) not in ends.values():
        ends.setdefault("typ", float(value))
    if not ends:
        raise NotRepresentable(path)
    in_order = [ends[name] for name in ("min", "typ", "max") if name in ends]
    if in_order != sorted(in_order):
        raise NotRepresentable(path)
    factor = _factor(candidate, path)
    spread: dict[str, Any] = {name: number * factor if factor != 1 else number for name, number in ends.items()}
    if path.startswith("memories.dram.size_bytes") and candidate.field.endswith("max_size_bytes"):
        spread = {"max": max(spread.values())}
    return spread | ({"strength": candidate.strength} if candidate.strength else {})


def _factor(candidate: Candidate, path: str) -> float:
    """From the candidate's base unit to the key's: B/s to GB/s."""
    base, own = key_unit(unit_key(path)), unit(candidate.unit or "")
    if base is None or own is None or base.dimension != own.dimension:
        return 1
    return float(own.factor / base.factor)


def _item(item: Any, shape: Shape, path: str) -> Any:
    if shape.item and shape.item.kind == "list" and isinstance(item, str):
        return item.split("+")  # a chain of operators: Conv+Relu
    if shape.item and shape.item.kind == "choice":
        name = DATA_TYPES.get(str(item).lower().replace(" ", ""), str(item))
        if name not in shape.item.choices:
            raise NotRepresentable(path)
        return name
    if not isinstance(item, str):
        raise NotRepresentable(path)
    return item


def _address(value: Any, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise NotRepresentable(path)
    try:
        number = int(value.replace("_", ""), 16) if isinstance(value, str) else int(value)
    except ValueError as error:
        raise NotRepresentable(path) from error
    return hex(number)


def same(one: Any, other: Any) -> bool:
    """Whether two readings of one place agree: equal, or a spread that the other only says more about."""
    if isinstance(one, dict) and isinstance(other, dict):
        numbers = ("min", "typ", "mean", "max", "std")
        shared = [name for name in numbers if name in one and name in other]
        if shared:
            return all(one[name] == other[name] for name in shared)
        if any(name in one or name in other for name in numbers):
            return (_only_number(one) is not None and _only_number(one) in _ends(other)) or (
                _only_number(other) is not None and _only_number(other) in _ends(one)
            )
    return bool(one == other)


def _ends(spread: dict[str, Any]) -> list[Any]:
    return [spread[name] for name in ("min", "typ", "max") if name in spread]


def _only_number(spread: dict[str, Any]) -> Any:
    ends = _ends(spread)
    return ends[0] if len(ends) == 1 else None
