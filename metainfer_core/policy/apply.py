"""Apply a policy to one clone of a model: in order, with the reviewers' words, each action checked again."""

from __future__ import annotations

import onnx_ir as ir
import onnx_ir.passes.common as passes

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import KINDS, kind
from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.quantize_dequantize import computes_on_integers
from metainfer_core.actions.rewiring import (
    CONVERSION,
    FROM,
    FUSED_WITH,
    HALF,
    INTEGER,
    KEEP_FLOAT,
    UNIT,
    nodes_by_id,
    readers,
)
from metainfer_core.actions.stored_tensors import CONVERSIONS
from metainfer_core.actions.units import has_data_type, integer_type, reads_floats, unit_for
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.operations import PER_OUTPUT_ELEMENT, REDUCTIONS
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec

FORBIDDEN_BY_SENSITIVITY = ("fuse", "quantize", "half_precision", "store_low_bit")
"""Kinds that the reviewers' `precision_sensitive: true` on an action forbids."""


def apply(model: ir.Model, spec: HardwareSpec, policy: Policy, calibration: Calibration | None = None) -> ir.Model:
    """The adapted model; `model` itself is left as it is.

    Args:
        model: The preprocessed model that the policy was made for.
        spec: The hardware.
        policy: Its actions, with the reviewers' fields.
        calibration: Fills the ranges of quantize actions that bring none, as those of plain policies.

    Raises:
        InputError: An action is of an unknown kind.
        UnsupportedError: An action is not legal on this model and spec.
    """
    adapted = model.clone()
    for line in policy.actions:
        apply_line(adapted, spec, line, calibration)
    finish(adapted, spec)
    return adapted


def apply_line(model: ir.Model, spec: HardwareSpec, line: PolicyAction, calibration: Calibration | None) -> None:
    """Applies one line of a policy in place, unless a reviewer switched it off."""
    if is_off(line):
        return
    found = kind(line.action)
    if found is None:
        known = ", ".join(candidate.name for candidate in KINDS)
        raise InputError(
            f"The policy's action {line.action!r} on {line.node_id} is of no known kind.",
            f"Known kinds: {known}.",
            "Mend the word, or switch the action off with `override: false`.",
        )
    action = found.completed(model, effective(line), calibration)
    refused = legality.refusal(model, spec, found, action)
    if refused is not None:
        raise UnsupportedError(
            f"The action {line.id} is not legal here.",
            refused.reason,
            "Switch it off with `override: false`, or override its parameters.",
        )
    found.rewrite(model, action)


def is_off(line: PolicyAction) -> bool:
    """Whether a reviewer's word switches the action off."""
    return line.override is False or (line.precision_sensitive is True and line.action in FORBIDDEN_BY_SENSITIVITY)


def effective(line: PolicyAction) -> Action:
    """The action as it will be done: the reviewers' parameters over the proposed ones."""
    replaced = line.override if isinstance(line.override, dict) else {}
    clip = {"zero_point_clip": True} if line.zero_point_clip and line.action == "quantize" else {}
    return Action(
        kind=line.action,
        nodes=line.nodes or (line.node_id,),
        params={**line.params, **clip, **replaced},
        why=line.why,
        constraint=line.constraint,
        alternatives=line.alternatives,
    )


def finish(model: ir.Model, spec: HardwareSpec) -> None:
    """Removes constants that nothing reads any more, and gives each node a compute unit that can run it.

    A unit that an action named for INT8 does not run what stays float32: such a node goes to the unit for float32.
    A conversion runs where the node does that asked for it, if that unit reads floats at all, or if both sides are
    codes. A node whose neighbours compute on integers, but that no action quantizes itself, is kept in float.
    """
    passes.RemoveUnusedNodesPass()(model)
    known = nodes_by_id(model)
    for node in model.graph:
        if _is_integer_by_neighbours_alone(node):
            node.metadata_props[KEEP_FLOAT] = "1"
    for node in model.graph:
        if node.op_type not in CONVERSIONS and CONVERSION not in node.metadata_props:
            leader = known.get(node.metadata_props.get(FUSED_WITH, "")) or node
            unit, bits = leader.metadata_props.get(UNIT), int(leader.metadata_props.get(INTEGER, "8"))
            own = spec.compute_units.get(unit or "")
            integers = integer_type(own, bits) if own is not None else f"int{max(bits, 8)}"
            data_type = node.metadata_props.get(HALF, integers if computes_on_integers(leader) else "float32")
            _locate(node, unit, data_type, spec)
    for node in model.graph:
        if CONVERSION in node.metadata_props:  # the unit that computes in 16-bit floats also converts them
            near = (node.inputs[0].producer() if node.inputs[0] else None, *readers(node.outputs[0]))
            half = next((other for other in near if other is not None and HALF in other.metadata_props), None)
            if half is not None and UNIT in half.metadata_props:
                node.metadata_props[UNIT] = half.metadata_props[UNIT]
    for node in model.graph:
        if node.op_type in CONVERSIONS:
            asked_by = known.get(node.metadata_props.get(FROM, ""))
            unit = asked_by.metadata_props.get(UNIT) if asked_by is not None else None
            if unit in spec.compute_units and _is_between_widths(node):
                node.metadata_props[UNIT] = str(unit)
                continue
            reads = unit in spec.compute_units and reads_floats(spec.compute_units[unit])
            _locate(node, unit if reads else None, "int8" if reads else "float32", spec)


def _is_between_widths(node: ir.Node) -> bool:
    """Whether a conversion goes from codes to other codes: no float is read, so the unit that asked for it does it."""
    producer = node.inputs[0].producer() if node.inputs[0] is not None else None
    return node.op_type == "QuantizeLinear" and producer is not None and producer.op_type == "DequantizeLinear"


def _is_integer_by_neighbours_alone(node: ir.Node) -> bool:
    if node.op_type in CONVERSIONS or {INTEGER, FUSED_WITH} & set(node.metadata_props):
        return False
    form = integer_form(node)
    if isinstance(form, IntegerForm):
        changes_numbers = form.role != "same_scale"
    else:  # a function of one value becomes a table all the same, and a mean over any last axes a sum of codes
        changes_numbers = node.op_type in PER_OUTPUT_ELEMENT or node.op_type in REDUCTIONS
    return changes_numbers and computes_on_integers(node)


def _locate(node: ir.Node, unit: str | None, data_type: str, spec: HardwareSpec) -> None:
    """The named unit if it has the data type, else the one that the spec makes the home of it."""
    if unit in spec.compute_units and has_data_type(unit, spec.compute_units[unit], data_type) is None:
        node.metadata_props[UNIT] = unit
        return
    found = unit_for(spec, node.op_type, data_type)
    if isinstance(found, str):
        node.metadata_props[UNIT] = found
