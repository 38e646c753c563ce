"""What else than float32 and INT8 a policy may compute in or store: 16-bit floats, and weights in few bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.rewiring import is_float
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.search.half_search import half_actions, half_drafts, kept
from metainfer_core.policy.search.low_bit_search import low_bit_draft


@dataclass(frozen=True)
class NarrowFloats:
    """Drafts with their names, what stays float32 although it was tried, and why."""

    drafts: tuple[tuple[str, Draft], ...] = ()
    kept: tuple[Action, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def narrow_floats(
    structural: Draft,
    objective: Objective,
    measure: Callable[[ir.Model], Effect],
    calibrate: Callable[[ir.Model], Calibration],
) -> NarrowFloats:
    """The drafts in 16-bit floats where the objective asks for them, and with weights in few bits where it does."""
    found: list[tuple[str, Draft]] = []
    halves = list(half_drafts(_calibrated(structural, calibrate))) if objective.precision is Precision.FP16 else []
    found += [(name, draft) for name, draft in halves if half_actions(draft)]
    bits = objective.weight_bits
    stored = low_bit_draft(structural, bits, objective, measure) if bits else None
    if stored is not None:
        found.append((f"float32, weights of {bits} bits", stored))
    return NarrowFloats(
        tuple(found),
        tuple(kept(halves[0][1])) if halves else (),
        tuple(refusal for _, draft in halves for refusal in draft.refusals),
    )


def _calibrated(structural: Draft, calibrate: Callable[[ir.Model], Calibration]) -> Draft:
    """A branch that also knows the ranges of the tensors that structural actions made."""
    draft, known = structural.branch(), structural.calibration
    made = [str(value.name) for node in structural.model.graph for value in node.outputs if is_float(value)]
    if known is None or any(name not in known.ranges for name in made):
        second = calibrate(structural.branch().finished())
        ranges = {**second.plain()["ranges"], **(known.plain()["ranges"] if known is not None else {})}
        draft.calibration = Calibration.from_plain({**(known or second).plain(), "ranges": ranges})
    return draft
