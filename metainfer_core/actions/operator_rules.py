"""The typed rules of a unit's operator table held against one node: the first law that it breaks, with its numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.integer_operators import ROLES
from metainfer_core.actions.node_properties import Extents, extents, operand_of
from metainfer_core.graph.shapes import element_type, static_shape
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.operators import Condition, OperatorRule

ANY_INTEGER = ("int4", "int6", "int8", "int16", "int32", "int64", "uint8")
"""What a document means by `int` where it gives no width."""


@dataclass(frozen=True)
class BrokenLaw:
    """A law of a unit's operator table that a node breaks."""

    field: str
    """Of the spec."""
    sentence: str
    """What the node has and what the unit runs, with the field."""


def broken_rule(spec: HardwareSpec, unit: str, node: ir.Node, data_type: str | None) -> BrokenLaw | None:
    """The first rule for which the unit does not run the node, or None.

    A rule is passed over where it is not understood, only recommends, or speaks of a property that the node does not
    have or the product does not know: nothing is concluded from it.

    Args:
        spec: The hardware.
        unit: Name of the compute unit.
        node: The node, with shapes.
        data_type: In which its floating-point tensors would be computed there; None: not decided yet.
    """
    for name, rule in (spec.compute_units[unit].operators.rules or {}).get(node.op_type, {}).items():
        if not rule.understood or rule.strength == "recommended":
            continue
        if not all(holds(condition, node, data_type) for condition in rule.when):
            continue
        broken = _broken(rule, node, unit, data_type)
        if broken is not None:
            where = "".join(f", where {_words(condition)}" for condition in rule.when)
            field = f"compute_units.{unit}.operators.rules.{node.op_type}.{name}"
            return BrokenLaw(field, f"{broken}{where} ({field}).")
    return None


@dataclass(frozen=True)
class BrokenLimit:
    """An upper limit that a node passes."""

    field: str
    """Of the spec."""
    of: tuple[str, ...]
    """The properties that are limited, or whose product is."""
    got: float
    allowed: float
    sentence: str


def broken_limits(spec: HardwareSpec, unit: str, node: ir.Node, data_type: str | None) -> tuple[BrokenLimit, ...]:
    """Every upper limit of the unit's operator table that the node passes, in the order of the table."""
    operators = spec.compute_units[unit].operators
    here = f"compute_units.{unit}.operators"
    found = []
    for name, limit in operators.limits.get(node.op_type, {}).items():
        condition = Condition(of=(name,), max=limit.max)
        found.append((f"{here}.limits.{node.op_type}.{name}", condition))
    for name, rule in (operators.rules or {}).get(node.op_type, {}).items():
        is_law = rule.understood and rule.strength != "recommended"
        if is_law and all(holds(condition, node, data_type) for condition in rule.when):
            found.append((f"{here}.rules.{node.op_type}.{name}", rule))
    broken = []
    for field, condition in found:
        numbers = [value for value in _values(condition, node, data_type) if isinstance(value, int | float)]
        if condition.max is None or not numbers or max(numbers) <= condition.max:
            continue
        got = max(numbers)
        sentence = f"{node.name} has {_product(condition)} {_plain(got)}; {unit} runs {_allowed(condition)} ({field})."
        broken.append(BrokenLimit(field, condition.of, got, condition.max, sentence))
    return tuple(broken)


def holds(condition: Condition, node: ir.Node, data_type: str | None) -> bool:
    """Whether a rule that speaks of such nodes speaks of this one; what is not known holds nothing."""
    found = _values(condition, node, data_type)
    return bool(found) and _outside(condition, found, node) is None


def _broken(rule: OperatorRule, node: ir.Node, unit: str, data_type: str | None) -> str | None:
    """What the node has and what the rule allows, without the full stop; None where the rule is kept."""
    value = operand_of(node, rule.operand)
    outside = _outside(rule, _values(rule, node, data_type), node)
    if outside is not None:
        whose = f" of {value.name}" if rule.operand and value is not None else ""
        return f"{node.name} has {_product(rule)} {outside}{whose}; {unit} runs {_allowed(rule)}"
    if rule.unavailable:
        return f"{unit} does not run {node.op_type} as in {node.name}"
    if rule.unset and (rule.of[0] in node.attributes if rule.of else value is not None):
        return f"{node.name} has {rule.of[0] if rule.of else rule.operand}; {unit} runs {node.op_type} only without it"
    if rule.equal_scale and data_type in ("int4", "int6", "int8", "uint8") and ROLES.get(node.op_type) != "same_scale":
        return (
            f"{unit} runs {node.op_type} only with one scale for all its operands, "
            f"and INT8 here gives each operand of {node.name} its own"
        )
    if value is None:
        return None
    if rule.constant and value.const_value is None:
        return f"{node.name} computes {value.name}; {unit} runs {node.op_type} only where it is a constant"
    return _wrong_type(rule, node, value, unit, data_type)


def _wrong_type(rule: OperatorRule, node: ir.Node, value: ir.Value, unit: str, data_type: str | None) -> str | None:
    if not rule.data_types or (rule.constant_data_types and value.const_value is not None):
        return None
    own = element_type(value)
    used = data_type if own is None or "float" in own else own
    if used is None or used in rule.data_types or ("int" in rule.data_types and used in ANY_INTEGER):
        return None
    return f"{node.name} would have {value.name} in {used}; {unit} runs {node.op_type} in {', '.join(rule.data_types)}"


def _values(condition: Condition, node: ir.Node, data_type: str | None) -> Extents:
    """The values that must be allowed; of several properties their product, where each has one value."""
    if condition.of == ("data_type",):
        return (data_type,) if data_type is not None else ()
    each = [extents(node, name, condition.operand) for name in condition.of]
    if len(each) == 1:
        is_whole = any(option.startswith("[") for option in condition.one_of)
        return (f"[{', '.join(_plain(item) for item in each[0])}]",) if is_whole and each[0] else each[0]
    numbers = [found[0] for found in each if len(found) == 1 and isinstance(found[0], int | float)]
    return (math.prod(numbers),) if numbers and len(numbers) == len(each) else ()


def _outside(condition: Condition, values: Extents, node: ir.Node) -> str | None:
    """The first value that the condition does not allow, as text."""
    for value in values:
        if condition.one_of and _text(value, condition, node) not in {
            _text(v, condition, node) for v in condition.one_of
        }:
            return _plain(value)
        if isinstance(value, str):
            continue
        low = condition.min is not None and value < condition.min
        high = condition.max is not None and value > condition.max
        not_above = condition.above is not None and value <= condition.above
        uneven = condition.multiple_of is not None and value % condition.multiple_of != 0
        if low or high or not_above or uneven:
            return _plain(value)
    return None


def _text(value: int | float | str, condition: Condition, node: ir.Node) -> str:
    """A value in one spelling: numbers without `.0`, an axis counted from the front."""
    try:
        number = float(value)
    except ValueError:
        return str(value).replace(" ", "").lower()
    shape = static_shape(node.inputs[0]) if condition.of == ("axis",) and node.inputs and node.inputs[0] else None
    if shape and -len(shape) <= number < 0:
        number += len(shape)
    return f"{number:g}"


def _plain(value: int | float | str) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def _product(condition: Condition) -> str:
    return " x ".join(condition.of)


def _words(condition: Condition) -> str:
    return f"{_product(condition)} is {_allowed(condition)}"


def _allowed(condition: Condition) -> str:
    """What a condition allows, in words: `1 to 31`, `multiples of 8 up to 8192`, `1 or 3`."""
    low, high = (None if bound is None else _plain(bound) for bound in (condition.min, condition.max))
    multiple = f"multiples of {condition.multiple_of}" if condition.multiple_of is not None else ""
    if condition.one_of:
        return " or ".join(condition.one_of)
    if low is not None and high is not None:
        return f"{multiple} from {low} to {high}".strip() if multiple else f"{low} to {high}"
    if high is not None:
        return f"{multiple or 'up'}{' up' if multiple else ''} to {high}"
    if low is not None:
        return f"{multiple + ' ' if multiple else ''}from {low}"
    if condition.above is not None:
        return f"more than {_plain(condition.above)}"
    return multiple
