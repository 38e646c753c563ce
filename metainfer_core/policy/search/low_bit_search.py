"""Which layers store their weights in few bits: all that are legal, less those that cost the most accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.kinds.store_low_bit import StoreLowBit
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls, worst_sqnr_db
from metainfer_core.policy.search.integer_search import Measured, measured


def low_bit_draft(
    structural: Draft, bits: Literal[4, 6], objective: Objective, measure: Callable[[ir.Model], Effect]
) -> Draft | None:
    """The draft with as many layers in so many bits as the budget allows, found by halving; None where none is legal.

    Layers are left out in the order of what each costs alone, the worst first.
    """
    proposed = list(StoreLowBit(bits).propose(structural.model, structural.spec, structural.calibration))
    actions = [action for action in proposed if isinstance(action, Action)]
    refused = [refusal for refusal in proposed if isinstance(refusal, Refusal)]
    if not actions:
        return None
    best = _taken(structural, actions, refused, measure)
    if _fits(objective, best[1]):
        return best[0]
    cost = {action.id: _alone(structural, action, measure) for action in actions}
    order = sorted(actions, key=lambda action: (cost[action.id], action.id))
    low, high = 0, len(order)  # leaving out `low` layers is too few; leaving out all of them changes nothing
    best = _taken(structural, [], refused, measure)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _taken(structural, order[middle:], refused, measure)
        if _fits(objective, tried[1]):
            best, high = tried, middle
        else:
            low = middle
    return best[0]


def _taken(
    structural: Draft, actions: Sequence[Action], refused: Sequence[Refusal], measure: Callable[[ir.Model], Effect]
) -> tuple[Draft, Measured]:
    draft = structural.branch()
    draft.take(actions)
    draft.refusals += refused
    return draft, measured(measure, draft.branch().finished())


def _alone(structural: Draft, action: Action, measure: Callable[[ir.Model], Effect]) -> float:
    """The worst signal-to-noise ratio with this one layer in few bits; what cannot run is the worst."""
    effect = _taken(structural, [action], [], measure)[1]
    return worst_sqnr_db(effect) if isinstance(effect, Effect) else float("-inf")


def _fits(objective: Objective, effect: Measured) -> bool:
    return isinstance(effect, Effect) and not shortfalls(objective, effect)
