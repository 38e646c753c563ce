"""Which nodes become FP16 or BF16: all that are legal; what would leave the range stays float32, and says why."""

from __future__ import annotations

from collections.abc import Iterator

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.actions.half_laws import form_against
from metainfer_core.actions.kinds.half_precision import HalfPrecision
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.rewiring import nodes_by_id
from metainfer_core.actions.units import ranked_units
from metainfer_core.numerics.half import FORMATS, HalfFormat
from metainfer_core.policy.draft import Draft
from metainfer_core.spec.hardware_spec import HardwareSpec

LAW = "16-bit floats of this unit on these numbers"


def half_drafts(structural: Draft) -> Iterator[tuple[str, Draft]]:
    """For each format that a unit of the spec has, its name and the draft that computes in it wherever it is legal."""
    for half in formats(structural.spec):
        draft = structural.branch()
        proposed = list(HalfPrecision(half.name).propose(draft.model, draft.spec, draft.calibration))
        draft.take(proposed)
        known, keeper = nodes_by_id(draft.model), KeepFloat()
        for refused in proposed:
            if isinstance(refused, Refusal) and form_against(known[refused.nodes[0]]) is None:
                reason = Reason(claim=refused.reason, law=LAW)
                draft.take(
                    [keeper.because(draft.model, draft.spec, known[refused.nodes[0]], "not_legal", reason, half.words)]
                )
        yield f"{half.words} on {ranked_units(draft.spec, half.name)[0]}", draft


def half_actions(draft: Draft) -> list[Action]:
    """The half_precision actions of a draft, in order."""
    return [action for action in draft.actions if action.kind == HalfPrecision.name]


def kept(draft: Draft) -> list[Action]:
    """The keep_float actions of a draft, in order."""
    return [action for action in draft.actions if action.kind == KeepFloat.name]


def formats(spec: HardwareSpec) -> tuple[HalfFormat, ...]:
    """The 16-bit formats that some unit of the spec has."""
    return tuple(half for half in FORMATS.values() if ranked_units(spec, half.name))
