"""Compute a node in 16-bit floats: FP16 or BF16, with the sums and denormals that the unit has."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.half_laws import decided_against, form_against, numbers_against, unit_against
from metainfer_core.actions.half_tensors import half_inputs, in_half, model_name
from metainfer_core.actions.rewiring import (
    FUSED_WITH,
    HALF,
    UNIT,
    array_of,
    followers,
    is_float,
    node,
    nodes_by_id,
)
from metainfer_core.actions.units import NoUnit, describe, unit_for
from metainfer_core.numerics.half import FORMATS, MOVING, OPERATORS, HalfFloat
from metainfer_core.numerics.lowering.model_reader import FLUSH, HALF_SUMS
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec
from metainfer_core.values import FrozenMap, Value

LAW = "each result is rounded to 16 bits, half to even (IEEE 754-2019, section 4.3.1)"


class HalfPrecisionParams(Value):
    """Parameters of a half_precision action."""

    format: HalfFloat = "float16"
    target_hw: str | None = None
    """Compute unit of the spec that runs it."""
    half_sums: bool = True
    """Whether products and sums are rounded to 16 bits too; false: they are kept in float32."""
    flush_denormals: bool = False
    """Whether results below the least normal number become zero."""
    ranges: FrozenMap[tuple[float, float]] = {}
    """Tensor to the least and greatest value that calibration saw."""
    allow_overflow: bool = pydantic.Field(default=False)
    """Whether it is done although numbers can leave the format's range; the program stops where they do."""


class HalfPrecision(ActionKind):
    """Computes a node, and what is fused with it, in FP16 or BF16.

    Its tensors and constants are stored in 16 bits. What can leave the range of the format on calibration data is
    refused with the numbers: such a node stays in float32.
    """

    name = "half_precision"
    obligation = Obligation(why="Rounding to 16 bits changes values: measured, and held against the accuracy budget.")
    risk = RiskFacts(changes_numbers=True, needs_calibration=True, device_dependent=True)
    Params = HalfPrecisionParams

    def __init__(self, preferred: HalfFloat = "float16") -> None:
        """A kind that proposes one of the two formats."""
        self.preferred = preferred

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each node that computes floats, or moves what such a node made; else why not."""
        taken: set[ir.Node] = set()
        for candidate in model.graph:
            if FUSED_WITH in candidate.metadata_props or not any(is_float(value) for value in candidate.outputs):
                continue
            made_by = (value.producer() for value in candidate.inputs if value is not None)
            if candidate.op_type in MOVING and not any(producer in taken for producer in made_by):
                continue  # away from 16-bit neighbours, moving would only add conversions
            action = self._action(spec, candidate, calibration)
            refused = self.refusal(model, spec, action)
            if refused is None:
                taken.update((candidate, *followers(candidate)))
            yield refused or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """Fills in the fused nodes and the ranges that the action does not bring."""
        target = nodes_by_id(model).get(action.nodes[0])
        if target is None:
            return action
        group = (target, *followers(target))
        nodes = tuple(dict.fromkeys((*action.nodes, *(str(member.name) for member in group))))
        ranges = action.params.get("ranges", {})
        if calibration is not None and isinstance(ranges, dict):
            ranges = {**_ranges(group, calibration), **ranges}
        return action.with_nodes(nodes).with_params({"ranges": ranges} if ranges else {})

    def because(
        self, model: ir.Model, spec: HardwareSpec, target: ir.Node, calibration: Calibration | None, reason: Reason
    ) -> Action | Refusal:
        """The action for one node for a reason that is measured elsewhere, or why it is not legal."""
        action = self._action(spec, target, calibration, (reason,))
        return self.refusal(model, spec, action) or action

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Format, unit, kernel, earlier decisions, the unit's arithmetic, and numbers that the format holds."""
        params = HalfPrecisionParams.from_plain(action.params)
        half = FORMATS[params.format]
        target = node(model, action.nodes[0])
        group = (target, *followers(target))
        reason: str | None = None
        if FUSED_WITH in target.metadata_props:
            leader = target.metadata_props[FUSED_WITH]
            reason = f"{target.name} is computed by the kernel of {leader}: name {leader} instead."
        reason = (
            reason
            or decided_against(spec, group)
            or next(filter(None, map(form_against, group)), None)
            or unit_against(spec, group, half, params.target_hw)
            or _arithmetic_against(spec, params, target)
        )
        if reason is None and not params.allow_overflow:
            reason = numbers_against(group, half, params.half_sums, params.flush_denormals, params.ranges)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Gives the nodes 16-bit tensors and constants, with conversions where float32 begins."""
        params = HalfPrecisionParams.from_plain(action.params)
        half = FORMATS[params.format]
        target = node(model, action.nodes[0])
        for member in (target, *followers(target)):
            member.metadata_props[HALF] = half.name
            if params.half_sums and half.name == "float16":
                member.metadata_props[HALF_SUMS] = "1"
            if params.flush_denormals:
                member.metadata_props[FLUSH] = "1"
            if params.target_hw:
                member.metadata_props[UNIT] = params.target_hw
        for member in (target, *followers(target)):
            in_half(model, member, half, params.flush_denormals)

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = HalfPrecisionParams.from_plain(action.params)
        fused = f" with {', '.join(action.nodes[1:])}" if action.nodes[1:] else ""
        sums = "float16" if params.half_sums and params.format == "float16" else "float32"
        flushed = ", denormals as zero" if params.flush_denormals else ""
        forced = ", although its numbers may leave the format's range" if params.allow_overflow else ""
        return (
            f"Compute {action.nodes[0]}{fused} in {FORMATS[params.format].words}, sums in {sums}{flushed}"
            f"{f', on {params.target_hw}' if params.target_hw else ''}{forced}."
        )

    def _action(
        self, spec: HardwareSpec, target: ir.Node, calibration: Calibration | None, first: tuple[Reason, ...] = ()
    ) -> Action:
        group = (target, *followers(target))
        unit = unit_for(spec, target.op_type, self.preferred)
        params: dict[str, object] = {"format": self.preferred}
        why = [Reason(claim=f"{FORMATS[self.preferred].words} halves the bytes of float32.", law=LAW)]
        if isinstance(unit, str):
            described = spec.compute_units[unit]
            params |= {"target_hw": unit, **_arithmetic(described, self.preferred)}
            why.insert(0, _reason(spec, unit, "data_types", f"{unit} computes in {self.preferred}."))
            if self.preferred == "float16" and target.op_type in OPERATORS - MOVING:
                sums = described.float16_accumulator
                claim = f"{unit} sums in {sums}." if sums else f"How {unit} sums is not known: float16 is taken."
                why.append(_reason(spec, unit, "float16_accumulator", claim))
        if calibration is not None:
            params["ranges"] = _ranges(group, calibration)
            why.append(Reason(claim=f"The ranges come from {calibration.data}."))
        return Action(
            kind=self.name,
            nodes=tuple(str(member.name) for member in group),
            params=params,
            why=(*first, *why),
            constraint=f"{unit} computes in {self.preferred} and runs {target.op_type}."
            if isinstance(unit, str)
            else "",
            alternatives=_alternatives(spec, target, self.preferred),
        )


def _reason(spec: HardwareSpec, unit: str, field: str, claim: str) -> Reason:
    path = f"compute_units.{unit}.{field}"
    return Reason(claim=claim, spec_field=path, spec_value=describe(spec, path))


def _arithmetic(unit: ComputeUnit, half: HalfFloat) -> dict[str, object]:
    """How a unit sums and what it does with denormals; what the spec does not say is taken for the narrower way."""
    sums = half == "float16" and unit.float16_accumulator != "float32"
    return {"half_sums": sums, "flush_denormals": bool(unit.flushes_denormals)}


def _arithmetic_against(spec: HardwareSpec, params: HalfPrecisionParams, target: ir.Node) -> str | None:
    """Nobody may claim wider sums, or denormals, that the unit does not have."""
    unit = params.target_hw or unit_for(spec, target.op_type, params.format)
    if isinstance(unit, NoUnit):
        return unit.reason
    field = f"compute_units.{unit}"
    described = spec.compute_units[unit]
    if params.format == "float16" and not params.half_sums and described.float16_accumulator != "float32":
        told = described.float16_accumulator or "not given"
        return f"{unit} is not known to sum float16 in float32 ({field}.float16_accumulator is {told})."
    if described.flushes_denormals and not params.flush_denormals:
        return f"{unit} takes denormals for zero ({field}.flushes_denormals), so flush_denormals cannot be false."
    return None


def _alternatives(spec: HardwareSpec, target: ir.Node, half: HalfFloat) -> tuple[Alternative, ...]:
    rejected = [Alternative(option="float32", reason="It moves twice the bytes.")]
    other: HalfFloat = "bfloat16" if half == "float16" else "float16"
    words = FORMATS[other].words
    unit = unit_for(spec, target.op_type, other)
    if isinstance(unit, NoUnit):
        rejected.append(Alternative(option=words, reason=unit.reason))
    elif other == "bfloat16":
        rejected.append(Alternative(option=words, reason="It keeps 8 bits of each number where FP16 keeps 11."))
    else:
        rejected.append(Alternative(option=words, reason="It ends at 65,504, where BF16 reaches as far as float32."))
    return tuple(rejected)


def _ranges(group: tuple[ir.Node, ...], calibration: Calibration) -> dict[str, tuple[float, float]]:
    """What calibration saw of each tensor that the group reads or gives."""
    read = (member.inputs[index] for member in group for index in half_inputs(member))
    values = (*(value for value in read if value is not None), *(value for member in group for value in member.outputs))
    names = {model_name(value) for value in values if array_of(value) is None}
    known = {name: calibration.ranges[name] for name in sorted(names) if name in calibration.ranges}
    return {name: (span.low, span.high) for name, span in known.items()}
