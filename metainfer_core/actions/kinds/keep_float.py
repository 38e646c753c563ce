"""Keep a node in float32 on purpose, with the reason on record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.integer_laws import unit_against
from metainfer_core.actions.integer_operators import HEAVY, integer_form
from metainfer_core.actions.rewiring import (
    FUSED_WITH,
    KEEP_FLOAT,
    PART_UNIT,
    UNIT,
    followers,
    is_float,
    node,
    nodes_by_id,
)
from metainfer_core.actions.units import NoUnit, describe, unit_for, unknown_unit
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "Where INT8 is not allowed, not possible or not accurate enough, the float result is the right one."

Cause = Literal["sensitive", "no_integer_form", "no_integer_unit", "over_budget", "not_legal", "chosen"]


class KeepFloatParams(Value):
    """Parameters of a keep_float action."""

    cause: Cause = "chosen"
    target_hw: str | None = None
    """Compute unit of the spec that runs the node in float32."""


class KeepFloat(ActionKind):
    """Leaves a node in float32 and protects it from being quantized.

    Made for each node with weights that does not become INT8, so that a reviewer sees the reason.
    """

    name = "keep_float"
    obligation = Obligation(relative=0.0, absolute=0.0, why="Nothing is computed differently.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=False)
    Params = KeepFloatParams

    def __init__(self, at: str | None = None) -> None:
        """A kind that asks whether nodes can become INT8 on the unit `at`; on the home of INT8, where none is named."""
        self.at = at

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each node with weights that the spec or its form keeps from INT8."""
        for candidate in model.graph:
            if candidate.op_type not in HEAVY or not any(is_float(value) for value in candidate.outputs):
                continue
            found = _cause(model, spec, candidate, candidate.metadata_props.get(PART_UNIT) or self.at)
            if found is None:
                continue
            action = self.because(model, spec, candidate, *found)
            yield self.refusal(model, spec, action) or action

    def because(
        self,
        model: ir.Model,
        spec: HardwareSpec,
        target: ir.Node,
        cause: Cause,
        reason: Reason,
        instead_of: str = "INT8",
    ) -> Action:
        """The action for one node with its reason; also for reasons that are measured elsewhere.

        Args:
            model: As it is now.
            spec: The hardware.
            target: The node that stays in float32.
            cause: Which sort of reason it is.
            reason: The reason.
            instead_of: The precision that was turned down.
        """
        unit = unit_for(spec, target.op_type, "float32")
        group = (target, *followers(target))
        return Action(
            kind=self.name,
            nodes=tuple(str(member.name) for member in group),
            params={"cause": cause, **({"target_hw": unit} if isinstance(unit, str) else {})},
            why=(reason,),
            constraint=f"{unit} runs {target.op_type} in float32." if isinstance(unit, str) else "",
            alternatives=(Alternative(option=instead_of, reason=reason.claim),),
        )

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """A unit must run it in float32, and no earlier action may have quantized it."""
        params = KeepFloatParams.from_plain(action.params)
        target = node(model, action.nodes[0])
        reason: str | None = None
        if FUSED_WITH in target.metadata_props:
            leader = target.metadata_props[FUSED_WITH]
            reason = f"{target.name} is computed by the kernel of {leader}: keep {leader} float instead."
        elif any(
            value is not None and (maker := value.producer()) is not None and maker.op_type == "DequantizeLinear"
            and maker.inputs[0] is not None and maker.inputs[0].is_initializer()
            for value in target.inputs
        ):  # fmt: skip
            reason = f"An earlier action quantized the weights of {target.name}."
        elif (unknown := unknown_unit(spec, params.target_hw)) is not None:
            reason = unknown
        else:
            unit = unit_for(spec, target.op_type, "float32", at=params.target_hw, fall_back=params.target_hw is None)
            reason = unit.reason if isinstance(unit, NoUnit) else None
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the node; nothing else changes."""
        params = KeepFloatParams.from_plain(action.params)
        known = nodes_by_id(model)
        for name in action.nodes:
            known[name].metadata_props[KEEP_FLOAT] = "1"
            if params.target_hw:
                known[name].metadata_props[UNIT] = params.target_hw

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        unit = action.params.get("target_hw")
        return f"Keep {' and '.join(action.nodes)} in float32{f' on {unit}' if unit else ''}."


def _cause(model: ir.Model, spec: HardwareSpec, candidate: ir.Node, at: str | None) -> tuple[Cause, Reason] | None:
    """Why the node cannot become INT8 on the unit `at`, or what that falls back to; None if it can."""
    if candidate.name in spec.sensitive_layers:
        claim = f"{candidate.name} is one of the spec's sensitive_layers: its precision must not be lowered."
        value = describe(spec, "sensitive_layers")
        return "sensitive", Reason(claim=claim, spec_field="sensitive_layers", spec_value=value)
    form = integer_form(candidate)
    if isinstance(form, str):
        return "no_integer_form", Reason(claim=form, law=LAW)
    unit = unit_for(spec, candidate.op_type, "int8", at=at)
    if isinstance(unit, NoUnit):
        value = describe(spec, unit.spec_field)
        return "no_integer_unit", Reason(claim=unit.reason, spec_field=unit.spec_field, spec_value=value)
    reason = unit_against(spec, (candidate, *followers(candidate)), unit if at else None)
    return ("no_integer_unit", Reason(claim=reason, law=LAW)) if reason else None
