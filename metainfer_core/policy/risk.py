"""Risk of one action, combined from facts: what it is, what it rests on, and what was measured."""

from __future__ import annotations

from typing import Literal

from metainfer_core.actions.action import Action, ActionKind
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.objective import Objective, shortfalls, worst_sqnr_db
from metainfer_core.policy.policy import Evidence, Risk

Level = Literal["low", "medium", "high"]
LEVELS: tuple[Level, ...] = ("low", "medium", "high")
LARGE_FUSION = 6
"""Nodes in one kernel from which on a fusion is reviewed by people."""
NEAR_BUDGET_DB = 6.0
"""An effect this close to the budget is a medium risk."""


def assess(
    kind: ActionKind,
    action: Action,
    evidence: Evidence,
    objective: Objective,
    is_random: bool,
    fills_fast_memory: str | None = None,
    known_harms: tuple[str, ...] = (),
) -> Risk:
    """The level and the facts behind it, the gravest first.

    Args:
        kind: The action's kind, with its own risk facts.
        action: What will be done.
        evidence: What was measured.
        objective: The budget that measured effects are held against.
        is_random: Whether calibration was on random inputs.
        fills_fast_memory: Name of the small memory that takes all tensors, on the one action that stands for it.
        known_harms: What the spec knows to get worse by it, a sentence each.
    """
    found: list[tuple[Level, str]] = [
        *_of_numbers(kind, action, evidence, objective, is_random),
        *_of_structure(action),
        *_of_reasons(action),
    ]
    if fills_fast_memory is not None:
        less = "if less of it is free on the device than the spec says, the program cannot run."
        found.append(("high", f"Every tensor lies in {fills_fast_memory} alone: {less}"))
    found += [("high", sentence) for sentence in known_harms]
    if not found:
        found = [("low", kind.obligation.why)]
    level = max((level for level, _ in found), key=LEVELS.index)
    ordered = sorted(found, key=lambda fact: -LEVELS.index(fact[0]))
    return Risk(level=level, facts=tuple(fact for _, fact in ordered))


def _of_numbers(
    kind: ActionKind, action: Action, evidence: Evidence, objective: Objective, is_random: bool
) -> list[tuple[Level, str]]:
    if not kind.risk.changes_numbers:
        return []
    found: list[tuple[Level, str]] = []
    bits = action.params.get("bit_width")
    few = [width for width in (bits, action.params.get("weight_bits")) if isinstance(width, int) and width <= 4]
    if few:
        found.append(("high", f"INT{min(few)} leaves {2 ** min(few)} codes."))
    if kind.risk.needs_calibration and is_random:
        found.append(("high", "Its ranges come from random inputs: it is unverified on real data."))
    if evidence.alone is None and evidence.together is None:
        found.append(("high", "Its effect was not measured: it is unverified."))
    for name, effect in (("Alone", evidence.alone), ("With all others", evidence.together)):
        if effect is not None:
            found += [(level, f"{name}: {fact}") for level, fact in _of_effect(effect, objective)]
    return found


def _of_effect(effect: Effect, objective: Objective) -> list[tuple[Level, str]]:
    found: list[tuple[Level, str]] = [("high", sentence) for sentence in shortfalls(objective, effect)]
    for output in effect.outputs:
        if output.argmax_flips:
            moved = (
                f"the greatest element of {output.output} moved in {output.argmax_flips} of {effect.samples} samples."
            )
            found.append(("medium", moved))
    worst = worst_sqnr_db(effect)
    if not found and worst < objective.min_sqnr_db + NEAR_BUDGET_DB:
        found.append(("medium", f"{worst:.1f} dB is within {NEAR_BUDGET_DB:g} dB of the budget."))
    return found


RESTRUCTURING = ("merge_siblings", "decompose", "split", "enlarge_kernel", "split_kernel", "pad_channels")
"""Kinds after which the graph is another one that computes the same function."""


def _of_structure(action: Action) -> list[tuple[Level, str]]:
    if action.kind == "fuse" and len(action.nodes) > LARGE_FUSION:
        return [("high", f"{len(action.nodes)} nodes become one kernel.")]
    if action.kind in RESTRUCTURING and action.params.get("method") != "fallback":
        return [("medium", "The graph's structure changes; the function does not.")]
    if action.kind == "factor_weights":
        return [("medium", "Two layers of lower rank stand in for one, and nothing is trained again.")]
    if action.params.get("method") == "fallback":
        return [("medium", f"The data travels to {action.params.get('target_hw')} and back.")]
    return []


def _of_reasons(action: Action) -> list[tuple[Level, str]]:
    assumed = [reason for reason in action.why if reason.spec_value and reason.spec_value.endswith("(assumed)")]
    return [("medium", f"It rests on {reason.spec_field}, which no document gives.") for reason in assumed]
