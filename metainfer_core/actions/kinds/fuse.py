"""Fuse an activation into the node before it, after recognising an operator that is spelled out in several nodes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.activations import ACTIVATIONS, SpelledOut, spelled_out
from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.rewiring import (
    FROM,
    FUSED_WITH,
    UNIT,
    array_of,
    is_float,
    name_of,
    node,
    nodes_by_id,
    readers,
)
from metainfer_core.actions.spelled_operators import as_one, spelled_by, spelled_operators
from metainfer_core.actions.units import NoUnit, home, not_run, unit_for, unknown_unit
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LEADERS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul")
"""Operators whose kernels can apply an activation to each result before they store it."""
H_SWISH = "Howard et al. 2019, section 5.2: h-swish(x) = x * ReLU6(x + 3) / 6"
TOLD = "ONNX operator specification: computed for probes, the nodes give what the operator is defined to give"
FEW = 4
"""Nodes that a claim lists one by one."""
LAW = "A value that one node alone reads need not be stored; each result can be activated where it is made."


class FuseParams(Value):
    """Parameters of a fuse action."""

    members: tuple[str, ...] = pydantic.Field(alias="with", min_length=1)
    """The nodes that go into the first one, in order."""
    target_hw: str | None = None
    """Compute unit of the spec that runs the fused kernel."""


class Fuse(ActionKind):
    """Computes an activation inside the kernel of the node that feeds it.

    The tensor between the two is never stored. An activation that the model spells out in several nodes, such as
    hard-swish as Add, Clip, Mul and Div, becomes one operator first; so do layer normalization and softmax, which are
    kernels of their own. Their nodes are told by what they compute, however they are written.
    """

    name = "fuse"
    obligation = Obligation(
        relative=1e-5, absolute=1e-5, why="The same function; what was spelled out in several nodes is rounded once."
    )
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = FuseParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each activation: into its producer where the law allows it, else recognised alone."""
        taken: set[str] = set()
        told = {pattern.nodes[0]: pattern for pattern in spelled_operators(model) if not _was_one(pattern)}
        for first in model.graph:
            if first.name in taken:
                continue
            pattern = spelled_out(first) or told.get(first)
            left = _against_spelled(spec, pattern) if pattern is not None else None
            if pattern is not None and left is not None:  # each node of it may still be fused by itself
                yield Refusal(kind=self.name, nodes=tuple(str(each.name) for each in pattern.nodes), reason=left)
                pattern = None
            if pattern is None and first.op_type not in ACTIVATIONS:
                continue
            members = pattern.nodes if pattern else (first,)
            taken.update(str(member.name) for member in members)
            source = pattern.source if pattern else first.inputs[0]
            leader = source.producer() if source is not None else None
            refused: Refusal | None = None
            applied = pattern is None or pattern.op_type in ACTIVATIONS
            if applied and leader is not None and leader.op_type in LEADERS:
                action = self._action(spec, (leader, *members), pattern)
                refused = self.refusal(model, spec, action)
                if refused is None:
                    yield action
                    continue
                yield refused
            if pattern is not None:
                action = self._action(spec, members, pattern)
                against = self.refusal(model, spec, action)
                if refused is None or against is None or against.reason != refused.reason:
                    yield against or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """Plain policies name the members in `with` alone."""
        members = action.params.get("with", ())
        names = tuple(name for name in members if isinstance(name, str)) if isinstance(members, tuple) else ()
        return action.with_nodes((action.nodes[0], *names))

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """One reader of each value between, no path around, no output of the model, one unit that runs all."""
        reason = _reason_against(model, spec, action)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Replaces a spelled-out activation by one node, and marks the activation as the leader's."""
        params = FuseParams.from_plain(action.params)
        first, members = node(model, action.nodes[0]), tuple(node(model, name) for name in params.members)
        pattern = _pattern(first, members)
        if pattern is None:
            activation, leader = members[0], first
        else:
            activation = as_one(model, pattern)
            leader = first if first not in pattern.nodes else activation
        for fused in (leader, activation):
            if params.target_hw:
                fused.metadata_props[UNIT] = params.target_hw
        if activation is not leader:
            activation.metadata_props[FUSED_WITH] = str(leader.name)

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = FuseParams.from_plain(action.params)
        return f"Compute {', '.join(params.members)} in the kernel of {action.nodes[0]}."

    def on_unit(self, model: ir.Model, spec: HardwareSpec, action: Action, unit: str) -> Action:
        """The same fusion on another unit, with the reason that holds there."""
        params = FuseParams.from_plain(action.params)
        first, members = node(model, action.nodes[0]), tuple(node(model, name) for name in params.members)
        return self._action(spec, (first, *members), _pattern(first, members), unit)

    def _action(
        self, spec: HardwareSpec, nodes: tuple[ir.Node, ...], pattern: SpelledOut | None, at: str | None = None
    ) -> Action:
        leader, *members = nodes
        alone = pattern is not None and leader in pattern.nodes
        activation_type = pattern.op_type if pattern else members[-1].op_type
        unit = at or _unit_of(spec, None if alone else leader, activation_type)
        op_types = (activation_type,) if alone else (leader.op_type, activation_type)
        source = pattern.source if pattern is not None else leader.outputs[0]
        why = []
        if pattern is not None:
            law = H_SWISH if spelled_out(pattern.nodes[0]) else TOLD
            why.append(
                Reason(claim=f"{_listed(pattern)} together are one {pattern.op_type} of {name_of(source)}.", law=law)
            )
        if not alone:
            why.append(Reason(claim=f"Nothing else reads {name_of(source)}.", law=LAW))
        params: dict[str, object] = {"with": [member.name for member in members]}
        if isinstance(unit, str):
            params = {**params, "target_hw": unit}
            why.append(_unit_reason(spec, unit, op_types))
        return Action(
            kind=self.name,
            nodes=tuple(str(member.name) for member in nodes),
            params=params,
            why=tuple(why),
            constraint=why[-1].claim if isinstance(unit, str) else "",
            alternatives=(
                Alternative(
                    option=f"{members[-1].name} as a kernel of its own",
                    reason=f"{name_of(leader.outputs[0])} would be stored and read once more, with one more launch.",
                ),
            ),
        )


def _listed(pattern: SpelledOut) -> str:
    """The nodes by name, or how many there are and which ones they begin and end with."""
    names = [str(member.name) for member in pattern.nodes]
    return ", ".join(names) if len(names) <= FEW else f"The {len(names)} nodes from {names[0]} to {names[-1]}"


def _was_one(pattern: SpelledOut) -> bool:
    """Whether the nodes are the pieces of one node that was decomposed."""
    return len({node.metadata_props.get(FROM, str(node.name)) for node in pattern.nodes}) == 1


def _against_spelled(spec: HardwareSpec, pattern: SpelledOut) -> str | None:
    """Why nodes stay as they are that spell out one operator: it has no name, or only its pieces run at home."""
    if pattern.lacking:
        return f"{_listed(pattern)} together are one {pattern.op_type}, but {pattern.lacking}: they stay as they are."
    for data_type in ("float32", "int8") if pattern.op_type in ACTIVATIONS else ("float32",):
        at = home(spec, data_type)
        runs = spec.compute_units[at].operators.runs if isinstance(at, str) else None
        if runs and not runs(pattern.op_type) and all(runs(node.op_type) for node in pattern.nodes):
            whole = f"{_listed(pattern)} together are one {pattern.op_type}"
            return f"{whole}, but {at} runs them and not {pattern.op_type}: they stay as they are."
    return None


def _unit_reason(spec: HardwareSpec, unit: str, op_types: tuple[str, ...]) -> Reason:
    """The list of the spec that lets the unit run the operators, as one where there are two."""
    operators = spec.compute_units[unit].operators
    claim = f"{unit} runs {' and '.join(op_types)}{' as one' if len(op_types) > 1 else ''}."
    if operators.fusions is not None and len(op_types) > 1:
        field = f"compute_units.{unit}.operators.fusions"
        return Reason(claim=claim, spec_field=field, spec_value=", ".join(op_types))
    field = f"compute_units.{unit}.operators.supported"
    if operators.supported is None:
        law = "a unit whose operators the spec does not list is taken to run all of them"
        return Reason(claim=claim, spec_field=field, law=law)
    return Reason(claim=claim, spec_field=field, spec_value=", ".join(op_types))


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    known = nodes_by_id(model)
    params = FuseParams.from_plain(action.params)
    missing = [name for name in params.members if name not in known]
    if missing:
        return f"The model has no node {missing[0]}."
    first, members = known[action.nodes[0]], tuple(known[name] for name in params.members)
    if len(set(members) | {first}) != len(members) + 1:
        return f"{first.name} cannot be fused with itself."
    pattern = _pattern(first, members)
    if pattern is None and len(members) > 1:
        return _path_around(first, members) or (
            f"{', '.join(params.members)} are not one activation of {first.name} in a form that is known."
        )
    whole = pattern is not None and first in pattern.nodes
    activation_type = pattern.op_type if pattern else members[0].op_type
    if not whole:
        if first.op_type not in LEADERS:
            return f"No kernel of {first.op_type} applies an activation to its results ({first.name})."
        if activation_type not in ACTIVATIONS:
            return _path_around(first, members) or (
                f"{members[0].name} is {activation_type}, not an activation that a kernel can apply to its results."
            )
        inner = set(pattern.nodes) if pattern else {members[0]}
        reason = _seen_elsewhere(first, inner, activation_type)
        if reason is not None:
            return reason
    if whole and pattern is not None and (against := _against_spelled(spec, pattern)) is not None:
        return against
    for member in members[:-1] if not whole else (first, *members[:-1]):
        if member.outputs[0].is_graph_output():
            return f"{name_of(member.outputs[0])} is an output of the model, so it must be stored."
    if not is_float(first.outputs[0]):
        return f"{name_of(first.outputs[0])} is not float32."
    return _unit_against(spec, params, first, activation_type, leads=not whole and first.op_type in LEADERS)


def _unit_against(
    spec: HardwareSpec, params: FuseParams, first: ir.Node, activation_type: str, leads: bool
) -> str | None:
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    unit = params.target_hw or _unit_of(spec, first if leads else None, activation_type)
    if isinstance(unit, NoUnit):
        return unit.reason
    for op_type in (first.op_type, activation_type) if leads else (activation_type,):
        if not spec.compute_units[unit].operators.runs(op_type):
            return not_run(spec, op_type, [unit]).reason
    fusions = spec.compute_units[unit].operators.fusions
    if leads and fusions is not None and (first.op_type, activation_type) not in fusions:
        return (
            f"{unit} does not run {first.op_type} and {activation_type} as one "
            f"(compute_units.{unit}.operators.fusions does not list them)."
        )
    return None


def _unit_of(spec: HardwareSpec, leader: ir.Node | None, activation_type: str) -> str | NoUnit:
    """Where the fused kernel will run: the unit for INT8 where the leader can be INT8, else the one for float32."""
    op_type = leader.op_type if leader is not None else activation_type
    if op_type not in (*LEADERS, *ACTIVATIONS):
        return unit_for(spec, op_type, "float32")
    integer = unit_for(spec, op_type, "int8") if leader is None or not isinstance(integer_form(leader), str) else None
    return integer if isinstance(integer, str) else unit_for(spec, op_type, "float32")


def _pattern(first: ir.Node, members: tuple[ir.Node, ...]) -> SpelledOut | None:
    """The spelled-out activation that the nodes are, with or without `first` as a part of it."""
    for nodes in ((first, *members), members):
        pattern = spelled_out(nodes[0])
        if pattern is not None and pattern.nodes == nodes:
            return pattern
        if (told := spelled_by(nodes)) is not None:
            return told
    return None


def _seen_elsewhere(leader: ir.Node, inner: set[ir.Node], activation_type: str) -> str | None:
    output = leader.outputs[0]
    if output.is_graph_output():
        return f"{output.name} is an output of the model, so the values before {activation_type} must be stored."
    outside = [reader for reader in readers(output) if reader not in inner]
    if outside:
        return (
            f"{output.name} is also read by {outside[0].name} ({outside[0].op_type}), "
            f"which needs the values before {activation_type}."
        )
    if not any(reader in inner for reader in readers(output)):
        return f"{leader.name} does not feed the activation that it is to be fused with."
    return None


def _path_around(first: ir.Node, members: tuple[ir.Node, ...]) -> str | None:
    """A member that joins another path, so that fusing would cross a residual connection."""
    inside = {output for member in (first, *members) for output in member.outputs}
    for member in members:
        others = [value for value in member.inputs if value is not None and value not in inside]
        joined = [value for value in others if array_of(value) is None]
        if joined:
            return (
                f"{member.name} ({member.op_type}) also reads {joined[0].name}: "
                "fusing up to here would cross the point where a residual path joins."
            )
    return None
