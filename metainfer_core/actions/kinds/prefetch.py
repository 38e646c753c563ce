"""Prefetch: bring a node's operands to the local memory of its unit while the step before still computes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.rewiring import PREFETCH, node
from metainfer_core.actions.staged_steps import StagedModel, StagedStep, asked_of, staged_model
from metainfer_core.actions.units import describe, unknown_unit
from metainfer_core.npu.cycles import Cycles, compute_cycles, transfer_cycles
from metainfer_core.npu.stage import Asked, bringing, parts_on
from metainfer_core.npu.tiles import Part
from metainfer_core.npu.working_set import double_buffered, working_sets
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.default_memory import main_memory
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "DMA and the unit work side by side: a transfer that begins early enough costs no time."
ROOM = 0.8
"""Share of the local memory that a proposal counts on; what stays there between steps needs the rest."""
WORTH = 0.5
"""A transfer is brought forward where the step before hides at least this share of it."""


class PrefetchParams(Value):
    """Parameters of a prefetch action."""

    target_hw: str | None = None
    """Compute unit whose local memory the operands are brought to."""


class Prefetch(ActionKind):
    """Brings a node's weights, or the operands of its next tile, while its unit still computes what comes before.

    It takes a second place in the local memory for what arrives, and hides the time of the transfer.
    """

    name = "prefetch"
    obligation = Obligation(relative=0.0, absolute=0.0, why="When bytes are brought changes no result.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = PrefetchParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each step whose operands have room to arrive early, where the step before hides at least half of that.

        A transfer of less than half a cycle, such as that of a single scale, is not worth an action.
        """
        staged, asked = staged_model(model, spec), asked_of(model)
        if isinstance(staged, str):
            return
        for one in staged.steps:
            if isinstance(staged.of_node(one.node), str):
                continue
            arriving, hiding = _figures(spec, staged, one, asked)
            if arriving is None or hiding is None or round(arriving.typical) == 0:
                continue
            if hiding.typical < WORTH * arriving.typical:
                continue
            if _too_many(staged, one, asked, ROOM) is None and _has_early(one, staged, asked):
                yield self._action(spec, one, arriving, hiding)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The node must be one step on such a unit, behind another one, with room for what arrives."""
        reason = _reason_against(model, spec, action.nodes[0], PrefetchParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the node; its transfers are planned when the model is compiled."""
        node(model, action.nodes[0]).metadata_props[PREFETCH] = "1"

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        where = f" to the local memory of {action.params['target_hw']}" if action.params.get("target_hw") else ""
        return f"Bring the operands of {action.nodes[0]}{where} while the step before computes."

    def _action(self, spec: HardwareSpec, one: StagedStep, arriving: Cycles, hiding: Cycles) -> Action:
        field = f"memories.{one.device.memory}.size_bytes"
        before = one.before.node_ids[0] if one.before is not None else one.node
        return Action(
            kind=self.name,
            nodes=(one.node,),
            params={"target_hw": one.device.unit},
            why=(
                Reason(
                    claim=(
                        f"Bringing the operands of {one.node} takes {_range(arriving)} cycles of {one.device.unit} "
                        f"(predicted); {before} computes {_range(hiding)} meanwhile."
                    ),
                    spec_field=field,
                    spec_value=describe(spec, field),
                    law=LAW,
                ),
            ),
            constraint=f"What arrives and what is computed fit {one.device.memory} together.",
            alternatives=(
                Alternative(
                    option=f"bring them when {one.node} begins", reason=f"{one.device.unit} would wait for all of it."
                ),
            ),
        )


def _range(cycles: Cycles) -> str:
    if round(cycles.low) == round(cycles.high):
        return f"{cycles.typical:,.0f}"
    return f"{cycles.low:,.0f} to {cycles.high:,.0f}"


def _parts(one: StagedStep, staged: StagedModel, asked: Asked) -> tuple[Part | None, ...]:
    tile = asked.tile(one.step)
    found = parts_on(one.device, one.step, staged.tensors, tile) if tile is not None else (None,)
    return (None,) if isinstance(found, str) else found


def _early_operands(one: StagedStep, staged: StagedModel, asked: Asked) -> list[Step]:
    """The transfers that can begin while the step before (or the tile before) computes, of one turn."""
    parts = _parts(one, staged, asked)
    if len(parts) > 1:
        return bringing(one.device, one.step, parts[1], staged.tensors, constants_only=False)
    return bringing(one.device, one.step, None, staged.tensors, constants_only=True)


def _has_early(one: StagedStep, staged: StagedModel, asked: Asked) -> bool:
    return bool(_early_operands(one, staged, asked))


def _figures(
    spec: HardwareSpec, staged: StagedModel, one: StagedStep, asked: Asked
) -> tuple[Cycles | None, Cycles | None]:
    """Cycles of what would arrive early, and of what computes meanwhile; None where the spec lacks a figure."""
    parts = _parts(one, staged, asked)
    beside = one.step if len(parts) > 1 else one.before
    if beside is None:
        return None, None
    arriving = Cycles()
    for transfer in _early_operands(one, staged, asked):
        home = staged.tensors[transfer.inputs[0]].memory or main_memory(spec) or one.device.memory
        counted = transfer_cycles(spec, one.device, transfer, (home, one.device.memory))
        if counted.cycles is None:
            return None, None
        arriving = arriving.plus(counted.cycles)
    hiding = compute_cycles(spec, one.device.unit, beside, staged.tensors).cycles
    if hiding is not None and len(parts) > 1:
        hiding = Cycles(**{end: getattr(hiding, end) / len(parts) for end in ("low", "typical", "high")})
    return arriving, hiding


def _too_many(staged: StagedModel, one: StagedStep, asked: Asked, share: float) -> str | None:
    """Why what arrives early has no room beside what is computed meanwhile, within a share of the memory."""
    capacity = one.device.capacity_bytes
    if capacity is None:
        return None
    parts = [part for part in _parts(one, staged, asked) if part is not None]
    if parts:
        needed = double_buffered(one.device, one.step, staged.tensors, parts)
    else:
        early = _early_operands(one, staged, asked)
        beside = working_sets(one.device, one.before, staged.tensors, (None,))[0] if one.before is not None else 0
        if one.before is not None and asked.tile(one.before) is not None:
            cut = parts_on(one.device, one.before, staged.tensors, asked.tiles[one.before.node_ids[0]])
            beside = (
                max(working_sets(one.device, one.before, staged.tensors, cut)) if not isinstance(cut, str) else beside
            )
        needed = beside + sum(one.device.occupied_bytes(staged.tensors[step.inputs[0]].size_bytes) for step in early)
    if needed <= capacity * share:
        return None
    return (
        f"What arrives and what is computed meanwhile take {needed:,} bytes; {one.device.memory} holds {capacity:,} "
        f"(memories.{one.device.memory}.size_bytes)."
    )


def _reason_against(model: ir.Model, spec: HardwareSpec, name: str, params: PrefetchParams) -> str | None:
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    staged, asked = staged_model(model, spec, params.target_hw), asked_of(model)
    if isinstance(staged, str):
        return staged
    one = staged.of_node(name)
    if isinstance(one, str):
        return one
    if one.before is None and len(_parts(one, staged, asked)) < 2:
        return f"{one.device.unit} computes nothing before {name}: there is nothing to bring its operands beside."
    if not _has_early(one, staged, asked):
        return f"{name} has no constants and no tiles: what it reads is made by the step before it."
    return _too_many(staged, one, asked, 1.0)
