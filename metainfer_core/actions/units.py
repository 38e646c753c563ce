"""Which compute unit of the spec runs an operator in a data type, or the sentence why none does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.node_properties import extents
from metainfer_core.actions.operator_rules import BrokenLaw, broken_rule
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec

UNIT_WORDS = {"_bytes": " bytes", "_hz": " Hz", "_gbps": " GB/s", "_us": " µs", "_cycles": " cycles", "_bits": " bits"}
KIND_ORDER = ("npu", "dsp", "gpu", "cpu")
WIDTH_OF = {"int4": 4, "int6": 6, "int8": 8, "uint8": 8, "int16": 16}


@dataclass(frozen=True)
class NoUnit:
    """Why no unit of the spec runs an operator in a data type."""

    reason: str
    spec_field: str
    """The field whose value forbids it, or is missing."""


def cores_used(unit: ComputeUnit) -> int | None:
    """How many cores a generated program uses: one of a CPU (it starts no threads), all of an accelerator."""
    return 1 if unit.kind == "cpu" else None


def has_data_type(name: str, unit: ComputeUnit, data_type: str) -> NoUnit | None:
    """None if the unit computes in the data type, else why not. A value that is not in the spec is not assumed."""
    field = f"compute_units.{name}.data_types"
    if data_type == "float32" and unit.kind == "cpu":
        return None  # a CPU computes float32 in software where it has no floating-point unit
    if not unit.data_types:
        return NoUnit(f"The spec does not say that {name} has {data_type}: {field} is missing.", field)
    if data_type not in unit.data_types:
        return NoUnit(f"{name} has no {data_type}: {field} is {', '.join(unit.data_types)}.", field)
    return None


def integer_type(unit: ComputeUnit, bits: int) -> str:
    """The type by which a unit computes on codes of so many bits: its own where it has one, else that of 8 bits."""
    own = f"int{bits}"
    return own if own in unit.data_types or bits > 8 else "int8"


def reads_floats(unit: ComputeUnit) -> bool:
    """Whether a unit can convert between floats and integers itself: a CPU, or one that has a float type."""
    return unit.kind == "cpu" or any("float" in data_type or data_type == "tf32" for data_type in unit.data_types)


def limits_against(spec: HardwareSpec, name: str, node: ir.Node, data_type: str | None = None) -> str | None:
    """The first thing about the node that lies outside what the unit's operator table allows, as a sentence."""
    broken = broken_law(spec, name, node, data_type)
    return broken.sentence if broken else None


def broken_law(spec: HardwareSpec, name: str, node: ir.Node, data_type: str | None = None) -> BrokenLaw | None:
    """The first law of the unit's operator table that the node breaks."""
    limits = spec.compute_units[name].operators.limits.get(node.op_type, {})
    for attribute, limit in limits.items():
        field = f"compute_units.{name}.operators.limits.{node.op_type}.{attribute}"
        for extent in _extents(node, attribute):
            if (limit.min is not None and extent < limit.min) or (limit.max is not None and extent > limit.max):
                allowed = f"{name} runs {limit.low:g} to {limit.high:g} ({field})"
                return BrokenLaw(field, f"{node.name} has {attribute} {extent}; {allowed}.")
    return broken_rule(spec, name, node, data_type)


def _extents(node: ir.Node, attribute: str) -> tuple[int, ...]:
    """What a node has of a limited attribute; empty for attributes that the product does not know."""
    if attribute.startswith("depthwise_"):
        return _extents(node, attribute.removeprefix("depthwise_")) if extents(node, "depthwise") == (1,) else ()
    return tuple(extent for extent in extents(node, attribute) if isinstance(extent, int))


def ranked_units(spec: HardwareSpec, data_type: str) -> list[str]:
    """The units with a data type, the one that the spec makes fastest first; among equals accelerators, then names."""

    def rank(name: str) -> tuple[float, int, str]:
        unit = spec.compute_units[name]
        peak = unit.peak_macs_per_second(data_type, cores_used(unit))
        return -(peak.nominal if peak else 0.0), KIND_ORDER.index(unit.kind), name

    fitting = [name for name, unit in spec.compute_units.items() if has_data_type(name, unit, data_type) is None]
    return sorted(fitting, key=rank)


def home(spec: HardwareSpec, data_type: str) -> str | NoUnit:
    """The first of `ranked_units`, or why there is none."""
    fitting = ranked_units(spec, data_type)
    if fitting:
        return fitting[0]
    reasons = [has_data_type(name, unit, data_type) for name, unit in sorted(spec.compute_units.items())]
    first = next((reason for reason in reasons if reason), None)
    return first or NoUnit(f"The spec has no compute unit for {data_type} (compute_units).", "compute_units")


def unit_for(
    spec: HardwareSpec, op_type: str, data_type: str, at: str | None = None, fall_back: bool = True
) -> str | NoUnit:
    """The unit that runs `op_type` in `data_type`: the data type's home (or `at`), else the fallback units it names."""
    start = at or home(spec, data_type)
    if isinstance(start, NoUnit):
        return start
    name: str | None = start
    tried: list[str] = []
    while name is not None and name not in tried:
        unit = spec.compute_units.get(name)
        if unit is None:
            known = ", ".join(sorted(spec.compute_units)) or "none"
            field = f"compute_units.{tried[-1]}.operators.fallback" if tried else "compute_units"
            return NoUnit(f"The spec has no compute unit named {name} ({field}); it has {known}.", field)
        tried.append(name)
        lacking = has_data_type(name, unit, data_type)
        if lacking is None and unit.operators.runs(op_type):
            return name
        if lacking is not None and len(tried) == 1:
            return lacking
        name = unit.operators.fallback if fall_back else None
    return not_run(spec, op_type, tried)


def not_run(spec: HardwareSpec, op_type: str, tried: list[str]) -> NoUnit:
    """The sentence for an operator that none of the units in `tried` runs."""
    unit = spec.compute_units[tried[0]]
    banned = op_type in unit.operators.unavailable
    field = f"compute_units.{tried[0]}.operators.{'unavailable' if banned else 'supported'}"
    how = "lists it as unavailable" if banned else "does not list it"
    others = f", nor does its fallback {' or '.join(tried[1:])}" if tried[1:] else ""
    if unit.operators.fallback is None:
        others = ", and names no fallback"
    advice = (
        f" {issue.advice}" for issue in (spec.known_issues or {}).values()
        if issue.operators == (op_type,) and issue.unit in (None, tried[0]) and issue.advice
    )  # fmt: skip
    return NoUnit(f"{tried[0]} does not run {op_type} ({field} {how}){others}.{next(advice, '')}", field)


def granularities(spec: HardwareSpec, name: str) -> tuple[tuple[str, ...], str]:
    """How finely the unit can scale weights, with the spec field that says so.

    Where the spec is silent, software on a CPU can do both, and an accelerator is trusted with the coarser one only.
    """
    unit = spec.compute_units[name]
    field = f"compute_units.{name}.weight_granularity"
    if unit.weight_granularity:
        return unit.weight_granularity, field
    if unit.kind == "npu" and spec.npu_int_support and spec.npu_int_support.channel_wise_quantization is not None:
        field = "npu_int_support.channel_wise_quantization"
        return (("tensor", "channel") if spec.npu_int_support.channel_wise_quantization else ("tensor",)), field
    return (("tensor", "channel") if unit.kind == "cpu" else ("tensor",)), field


def says_of_granularity(spec: HardwareSpec, name: str) -> str:
    """What the spec says of how finely a unit scales weights, as the rest of a sentence."""
    allowed, field = granularities(spec, name)
    if describe(spec, field) is not None:
        return f"{field} allows {', '.join(allowed)}"
    return f"{field} is unknown, and only {' or '.join(allowed)} is taken for granted"


def unknown_unit(spec: HardwareSpec, name: str | None) -> str | None:
    """The sentence for a `target_hw` that the spec does not have."""
    if name is None or name in spec.compute_units:
        return None
    known = ", ".join(sorted(spec.compute_units)) or "none"
    return f"The spec has no compute unit named {name} (compute_units); it has {known}."


def describe(spec: HardwareSpec, field: str) -> str | None:
    """The value at a field path as text with its unit, and ` (assumed)` behind it where no document gives it."""
    here: object = spec.written
    for key in field.split("."):
        if not isinstance(here, Mapping) or key not in here:
            return None
        here = here[key]
    text = ", ".join(map(str, here)) if isinstance(here, list) else _plain_text(here)
    unit = next((words for ending, words in UNIT_WORDS.items() if field.endswith(ending)), "")
    return f"{text}{unit}{' (assumed)' if field in spec.assumed else ''}"


def _plain_text(here: object) -> str:
    if isinstance(here, Mapping):
        only = list(here) == ["typ"]
        return _plain_text(here["typ"]) if only else ", ".join(f"{key} {_plain_text(here[key])}" for key in here)
    if isinstance(here, float) and here.is_integer() and abs(here) < 1e15:
        return f"{int(here):,}"
    return str(here)
