"""Decompose an operator that its compute unit does not run into operators that it does, or send it elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.decompositions import DECOMPOSITIONS, Decomposition
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import UNIT, is_float, node, remove, take_over
from metainfer_core.actions.spelled_operators import spelled_operators
from metainfer_core.actions.units import NoUnit, describe, home, not_run, unit_for, unknown_unit
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "An operator equals the composition that the ONNX operator specification defines it by."


class DecomposeParams(Value):
    """Parameters of a decompose action."""

    method: Literal["rewrite", "fallback"] = "rewrite"
    into: tuple[str, ...] = ()
    """Operator types of the rewrite."""
    target_hw: str | None = None
    """Compute unit of the spec that runs the pieces, or the operator itself as a fallback."""


class Decompose(ActionKind):
    """Computes an operator that the unit lacks by operators that it has, or runs it on the unit's named fallback."""

    name = "decompose"
    obligation = Obligation(
        relative=1e-4, absolute=1e-5, why="The same function; float32 rounds after each piece instead of once."
    )
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = DecomposeParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each operator that the home of float32 does not run: a rewrite, a fallback, or the cause that bars it."""
        unit = home(spec, "float32")
        if isinstance(unit, NoUnit):
            return
        runs = spec.compute_units[unit].operators.runs
        whole = [each for each in spelled_operators(model) if not each.lacking and runs(each.op_type)]
        left_to_fuse = {node for each in whole for node in each.nodes}
        for candidate in model.graph:
            if candidate in left_to_fuse or (not candidate.domain and runs(candidate.op_type)):
                continue
            action = self._action(spec, unit, candidate)
            if action is None:
                reason = _cause(spec, unit, candidate)
                yield Refusal(kind=self.name, nodes=(str(candidate.name),), reason=reason)
            else:
                yield self.refusal(model, spec, action) or action

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The pieces must be a known rewrite that the unit runs; a fallback must run the operator itself."""
        reason = _reason_against(model, spec, action)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts the pieces in the operator's place, or marks the fallback unit."""
        params = DecomposeParams.from_plain(action.params)
        original = node(model, action.nodes[0])
        if params.method == "fallback":
            original.metadata_props[UNIT] = str(params.target_hw)
            return
        chosen = next(way for way in _ways(original) if not params.into or way.pieces == params.into)
        pieces = Pieces(model, original)
        built = chosen.build(pieces)
        model.graph.insert_after(original, pieces.nodes)
        for output, result in zip(original.outputs, (built,) if isinstance(built, ir.Value) else built, strict=False):
            if result is not None:
                take_over(model, output, result)
        remove(model, [original])
        for piece in pieces.nodes:
            if params.target_hw:
                piece.metadata_props[UNIT] = params.target_hw

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = DecomposeParams.from_plain(action.params)
        if params.method == "fallback":
            return f"Run {action.nodes[0]} on {params.target_hw}, the fallback unit."
        return f"Compute {action.nodes[0]} by {', '.join(params.into) or 'simpler operators'}."

    def _action(self, spec: HardwareSpec, unit: str, candidate: ir.Node) -> Action | None:
        lacking = not_run(spec, candidate.op_type, [unit])
        why = Reason(
            claim=f"{unit} does not run {candidate.op_type}.",
            spec_field=lacking.spec_field,
            spec_value=describe(spec, lacking.spec_field),
            law=LAW,
        )
        chosen = next((way for way in _ways(candidate) if _all_run(spec, unit, way)), None)
        fallback = unit_for(spec, candidate.op_type, "float32")
        runs_elsewhere = isinstance(fallback, str) and not candidate.domain
        if chosen is None and not runs_elsewhere:
            return None
        if chosen is not None:
            params: dict[str, object] = {"method": "rewrite", "into": chosen.pieces, "target_hw": unit}
            constraint = f"{unit} runs {', '.join(chosen.pieces)}."
            other = Alternative(
                option=f"{candidate.op_type} on {fallback}" if runs_elsewhere else "a fallback unit",
                reason="Its data would travel to another unit and back."
                if runs_elsewhere
                else f"compute_units.{unit}.operators.fallback names none that runs it.",
            )
        else:
            params = {"method": "fallback", "target_hw": fallback}
            constraint = f"compute_units.{unit}.operators.fallback leads to {fallback}, which runs {candidate.op_type}."
            other = Alternative(option=f"a rewrite for {unit}", reason=_missing_rewrite(spec, unit, candidate))
        return Action(
            kind=self.name,
            nodes=(str(candidate.name),),
            params=params,
            why=(why,),
            constraint=constraint,
            alternatives=(other,),
        )


def _ways(candidate: ir.Node) -> tuple[Decomposition, ...]:
    source = candidate.inputs[0] if candidate.inputs and not candidate.domain else None
    if source is None or not is_float(source) or static_shape(source) is None:
        return ()
    return tuple(way for way in DECOMPOSITIONS.get(candidate.op_type, ()) if way.applies(candidate))


def _all_run(spec: HardwareSpec, unit: str, way: Decomposition) -> bool:
    return all(spec.compute_units[unit].operators.runs(piece) for piece in way.pieces)


def _missing_rewrite(spec: HardwareSpec, unit: str, candidate: ir.Node) -> str:
    operators = spec.compute_units[unit].operators
    ways = _ways(candidate)
    if not ways:
        return f"No rewrite of {candidate.op_type} into other operators is known."
    lacking = [piece for piece in ways[0].pieces if not operators.runs(piece)]
    return f"It would need {', '.join(lacking)}, which {unit} does not run either."


def _cause(spec: HardwareSpec, unit: str, candidate: ir.Node) -> str:
    """Which of the three causes bars the operator: the model's own, a rewrite that is missing, a list too narrow."""
    if candidate.domain:
        return (
            f"{candidate.op_type} ({candidate.name}) is the model's own operator, of domain {candidate.domain}: "
            "give its definition with `meta-infer op-registry add`."
        )
    lacking = unit_for(spec, candidate.op_type, "float32")
    reason = lacking.reason if isinstance(lacking, NoUnit) else ""
    ways = _ways(candidate)
    if not ways:
        return f"{reason} No rewrite of {candidate.op_type} into other operators is known, so one is missing here."
    operators = spec.compute_units[unit].operators
    pieces = [piece for piece in ways[0].pieces if not operators.runs(piece)]
    banned = [piece for piece in pieces if piece in operators.unavailable]
    if banned:
        return f"{reason} Its rewrite needs {', '.join(banned)}, which compute_units.{unit}.operators.unavailable bars."
    return (
        f"{reason} It could be computed by {', '.join(ways[0].pieces)}, but compute_units.{unit}.operators.supported "
        f"lacks {', '.join(pieces)}: the list may be too narrow; add what {unit} runs, or name a fallback."
    )


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    params = DecomposeParams.from_plain(action.params)
    candidate = node(model, action.nodes[0])
    unit = params.target_hw or home(spec, "float32")
    if isinstance(unit, NoUnit):
        return unit.reason
    if (unknown := unknown_unit(spec, unit)) is not None:
        return unknown
    if params.method == "fallback":
        if params.target_hw is None:
            return "A fallback needs a unit: target_hw is missing."
        found = unit_for(spec, candidate.op_type, "float32", at=unit, fall_back=False)
        return found.reason if isinstance(found, NoUnit) else None
    ways = [way for way in _ways(candidate) if not params.into or way.pieces == params.into]
    if not ways:
        into = f" into {', '.join(params.into)}" if params.into else ""
        return f"No rewrite of {candidate.name} ({candidate.op_type}){into} is known."
    lacking = [piece for piece in ways[0].pieces if not spec.compute_units[unit].operators.runs(piece)]
    return f"{unit} does not run {', '.join(lacking)} (compute_units.{unit}.operators)." if lacking else None
