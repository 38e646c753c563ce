"""What overrides would do, before anybody writes them down: the policy without and with them, side by side.

Everything is measured as the search measured it: each action by itself on the first few samples, all together on all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import kind
from metainfer_core.cost.estimate import Estimate, Interval
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import apply, effective, is_off
from metainfer_core.policy.draft import Draft, known_kind
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.policy import Policy, PolicyAction, Risk
from metainfer_core.policy.search.integer_search import Measured, measured
from metainfer_core.policy.search.measured_alone import by_itself
from metainfer_core.policy.search.search import STRUCTURAL
from metainfer_core.policy.search.tools import Tools
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import FrozenMap, Value, canonical_json, sha256
from metainfer_core.verify.samples import Samples

BEFORE_INTEGERS = ("bind_shape", *STRUCTURAL)
"""Kinds that a quantize action is measured on top of."""
OFF = "It is switched off."
MOVES_NOTHING = "Actions of this kind move no number."


class Outcome(Value):
    """What was measured, or why nothing was."""

    effect: Effect | None = None
    why_not: str = ""


def as_clause(why: str) -> str:
    """Why nothing was measured, within a sentence: what begins with a name keeps its capital."""
    words = why.rstrip(".。")
    return words[0].lower() + words[1:] if why in (OFF, MOVES_NOTHING) else words


class Forecast(Value):
    """Predicted cost of the whole policy on the spec; nothing of it was measured."""

    time_us: Interval | None = None
    """None where the spec lacks what the prediction needs."""
    moved_bytes: int
    """Read and written in all memories."""
    unknown: tuple[str, ...] = ()
    """Fields of the spec that are missing."""


class Side(Value):
    """The policy without the overrides, or with them."""

    content: str
    """Digest of all that is done, see `content_of`."""
    alone: FrozenMap[Outcome]
    """Id of each overridden action to what it does by itself."""
    together: Outcome
    """What all actions of the policy do."""
    predicted: Forecast | None = None
    """None where the policy cannot be done at all."""
    broken: tuple[str, ...] = ()
    """Limits of the accuracy budget that it breaks, a sentence each."""


class WhatIf(Value):
    """The measured and the predicted effect of overrides."""

    format: Literal["metainfer.what_if/1"] = "metainfer.what_if/1"
    data: str
    """What was measured on; says `random inputs` where no data was given."""
    data_digest: str
    before: Side
    after: Side
    unknown: str = ""
    """What could not be measured, in a sentence."""

    def of_action(self, action_id: str) -> WhatIf:
        """The same with what this one action does by itself, and no other."""
        sides = {
            name: {**side, "alone": {key: one for key, one in side["alone"].items() if key == action_id}}
            for name, side in self.plain().items()
            if name in ("before", "after")
        }
        return WhatIf.from_plain({**self.plain(), **sides})

    @property
    def newly_broken(self) -> tuple[str, ...]:
        """Limits of the budget that are broken by it, or in another way than without it."""
        return tuple(sentence for sentence in self.after.broken if sentence not in self.before.broken)


def risk_as_overridden(action: PolicyAction, found: WhatIf | None, unmeasured: str) -> Risk | None:
    """The risk of an action with its override: high, with the reason, where that breaks the budget or nobody knows.

    Args:
        action: The action as proposed, with the override in it.
        found: What the override does.
        unmeasured: Why that was not measured, in a record that says so.
    """
    facts = (
        [f"As overridden, the whole policy breaks its budget: {each}" for each in found.newly_broken] if found else []
    )
    if found is None and unmeasured and _moves_numbers(action):
        facts.append("What it does as overridden was not measured: it is unverified.")
    if not facts:
        return action.risk
    return Risk(level="high", facts=(*facts, *(action.risk.facts if action.risk is not None else ())))


def _moves_numbers(action: PolicyAction) -> bool:
    """Whether an override of parameters changes what such an action computes."""
    known = kind(action.action)
    return (
        not is_off(action)
        and effective(action).params != action.params
        and (known is None or known.risk.changes_numbers)
    )


def what_if(
    before: Policy,
    after: Policy,
    model: ir.Model,
    spec: HardwareSpec,
    calibration: Calibration | None,
    tools: Tools,
    samples: Samples,
    unknown: str = "",
) -> WhatIf:
    """The effect of what differs between two states of one policy.

    Args:
        before: The policy with the overrides that are in force.
        after: The same actions with further overrides.
        model: The preprocessed model; it is left as it is.
        spec: The hardware.
        calibration: Fills the ranges of actions that bring none; None where all bring theirs.
        tools: Measuring and pricing, on `samples`.
        samples: What is measured on.
        unknown: What the tools could not be given.

    Raises:
        InputError: Nothing differs.
    """
    changed = changed_ids(before, after)
    if not changed:
        raise InputError("This override changes nothing.", "The policy does the same with it.", "Change a parameter.")
    start = Draft(model.clone(), spec, calibration)
    total = 2 * (len(changed) + 1)
    sides = [
        _side(policy, changed, start, tools, (step * total // 2, total)) for step, policy in enumerate((before, after))
    ]
    return WhatIf(data=samples.label, data_digest=samples.digest, before=sides[0], after=sides[1], unknown=unknown)


def changed_ids(before: Policy, after: Policy) -> tuple[str, ...]:
    """The actions that are done in another way afterwards, in the order of the policy."""
    old = {line.id: _done(line) for line in before.actions}
    return tuple(line.id for line in after.actions if _done(line) != old.get(line.id))


def content_of(policy: Policy) -> str:
    """Digest of all that a policy does: tags, reasons and evidence do not change it."""
    done = [_done(line) for line in policy.actions]
    return sha256(canonical_json([each for each in done if each is not None]))


def _done(line: PolicyAction) -> dict[str, object] | None:
    """What is done in the end; None where nothing is."""
    if is_off(line):
        return None
    plain = effective(line).plain()
    return {key: plain.get(key) for key in ("kind", "nodes", "params")}


def _side(policy: Policy, changed: Collection[str], start: Draft, tools: Tools, step: tuple[int, int]) -> Side:
    objective = Objective.from_plain(policy.plain().get("objective", {}))
    done, total = step
    alone: dict[str, Outcome] = {}
    for line in policy.actions:
        if line.id in changed:
            tools.progress("measuring action by action", done + len(alone), total)
            alone[line.id] = _alone(policy.actions, line, start, tools)
    tools.progress("measuring all actions together", done + len(alone), total)
    try:
        adapted = apply(start.model, start.spec, policy, start.calibration)
        predicted = _forecast(tools.price(adapted))
    except (InputError, UnsupportedError) as error:
        return Side(content=content_of(policy), alone=alone, together=Outcome(why_not=f"{error.what} {error.why}"))
    together = _outcome(measured(tools.measure, adapted))
    broken = shortfalls(objective, together.effect) if together.effect is not None else ()
    return Side(content=content_of(policy), alone=alone, together=together, predicted=predicted, broken=broken)


def _alone(lines: Sequence[PolicyAction], line: PolicyAction, start: Draft, tools: Tools) -> Outcome:
    if is_off(line):
        return Outcome(why_not=OFF)
    if known_kind(line.action).obligation.relative == 0.0:
        return Outcome(why_not=MOVES_NOTHING)
    base, whole = start.branch(), start.branch()
    for each in lines:
        if is_off(each) or kind(each.action) is None:
            continue
        if each.action in BEFORE_INTEGERS:
            _take(base, each)
        if each.id == line.id:
            break
        _take(whole, each)
    action = _completed(base if line.action == "quantize" else whole, line)
    return _outcome(by_itself(start, base, [*whole.actions, action], action, tools.measure_alone))


def _take(draft: Draft, line: PolicyAction) -> None:
    draft.take([_completed(draft, line)])


def _completed(draft: Draft, line: PolicyAction) -> Action:
    return known_kind(line.action).completed(draft.model, effective(line), draft.calibration)


def _outcome(found: Measured) -> Outcome:
    return Outcome(effect=found) if isinstance(found, Effect) else Outcome(why_not=found)


def _forecast(found: Estimate) -> Forecast:
    return Forecast(time_us=found.total, moved_bytes=sum(found.bytes_by_memory.values()), unknown=found.unknown)
