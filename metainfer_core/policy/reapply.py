"""A policy taken over to a model that was trained anew: the same actions on the same graph, all effects measured anew.

Nothing is searched. What the new weights no longer allow is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.cost.estimate import Estimate
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.graph.same_graph import graph_difference
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import effective, is_off
from metainfer_core.policy.draft import Draft, known_kind
from metainfer_core.policy.evidence import lines_of
from metainfer_core.policy.lineage import lineage_of, lineage_warnings
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.policy.search.candidates import Candidate, summary
from metainfer_core.policy.search.integer_search import measured
from metainfer_core.policy.search.measured_alone import by_itself, with_new_tensors
from metainfer_core.policy.search.range_reasons import KEPT as KEPT_RANGE
from metainfer_core.policy.search.range_reasons import LAW as CUT_RANGE
from metainfer_core.policy.search.range_reasons import with_range_reasons
from metainfer_core.policy.search.refine import REFINING
from metainfer_core.policy.search.tools import Tools
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.layer_ranges import with_layer_ranges

MEASURED_BEFORE = "measured on calibration data"
"""The law of reasons that rest on the old weights."""
LEARNED = {kind.name: kind for kind in REFINING}
"""Kinds whose parameters are worked out from the weights themselves: they are worked out anew."""
STAGED = ("place", "tile", "prefetch", "layout", "unroll", "branch_hint")
"""Kinds that ask which unit runs a node."""
REVIEWERS = ("override", "review_required", "zero_point_clip", "precision_sensitive")


def reapply(
    policy: Policy,
    before: ir.Model,
    after: ir.Model,
    spec: HardwareSpec,
    calibration: Calibration,
    tools: Tools,
    model_digest: str,
) -> Policy:
    """The policy for the new weights, under the same name, with new ranges, effects, predictions and risks.

    Args:
        policy: As it was for the old weights, switched-off actions and overrides included.
        before: The preprocessed model that it was made for.
        after: The preprocessed model with the new weights; it is left as it is.
        spec: The hardware, which must be the same.
        calibration: Ranges of the new model's tensors.
        tools: Measuring, pricing and calibrating.
        model_digest: Of the new model.

    Raises:
        NotTrustedError: The spec is another one than the policy was made for.
        InputError: The graph is another one, so that the policy must be made anew.
    """
    if policy.spec_digest not in (None, spec.values_digest):
        raise NotTrustedError(
            "This policy was made for another hardware spec.",
            f"It names {policy.spec_digest}; the spec given is {spec.values_digest}.",
            "Give the spec that it was made for.",
            "wrong_spec",
        )
    difference = graph_difference(before, after)
    if difference is not None:
        raise InputError(
            "The new model is not the old one with other weights, so the policy cannot be taken over.",
            difference,
            "Make a policy for the new model with `meta-infer adapt`.",
        )
    objective = Objective.from_plain(policy.plain().get("objective", {}))
    start = Draft(after.clone(), spec, calibration)
    final, base, stages = _replayed(start, policy, tools)
    effects = _effects(policy, start, base, final, tools)
    together = measured(tools.measure, final.branch().finished())
    found = together if isinstance(together, Effect) else None
    lines = lines_of(final, objective, calibration, effects, found, stages)
    broken = shortfalls(objective, found) if found is not None else (str(together),)
    candidate = Candidate("taken over", final, found, broken, tools.price(final.branch().finished()))
    return Policy(
        actions=_with_reviewers_words(policy.actions, lines),
        name=policy.name,
        model_digest=model_digest,
        spec_digest=spec.values_digest,
        ruleset_digest=ruleset_digest(),
        refusals=tuple(dict.fromkeys([*policy.refusals, *final.refusals])),
        objective=objective.plain(),
        candidates=(summary(candidate, True),),
        calibration=calibration.data,
        warnings=(*_warnings(calibration, broken), *lineage_warnings(after)),
        fine_tuning=lineage_of(after),
    )


def _replayed(
    start: Draft, policy: Policy, tools: Tools
) -> tuple[Draft, Draft, Mapping[str, tuple[Estimate, Estimate]]]:
    """All actions done again; what quantizing started from; and the predictions before and after each kind."""
    final, base = start.branch(), start.branch()
    fast = bool(policy.objective.get("fast"))
    layers: Mapping[str, Layer] = {}
    stages: dict[str, tuple[Estimate, Estimate]] = {}
    told: set[str] = set()
    price = tools.price(final.branch().finished())
    for line in policy.actions:
        if is_off(line):
            continue
        kind = known_kind(line.action)
        if line.action == "quantize" and not any(each.kind == "quantize" for each in final.actions):
            plain = final.branch().finished()
            layers = {} if fast else tools.layers(plain)
            found = with_layer_ranges(plain, layers, with_new_tensors(final, tools.calibrate))
            final.calibration = found.with_chosen() if _cuts_ranges(policy) else found
            base = final.branch()
        if line.action in STAGED:
            final.finished()
        tools.progress("doing the actions again", len(final.actions), len(policy.actions))
        if line.action in LEARNED:
            taken = final.take(_learned_anew(line, final, layers))
        else:
            action = _anew(effective(line), policy, final.calibration)
            completed = kind.completed(final.model, action, final.calibration)
            taken = final.take(
                [with_range_reasons(completed, final.calibration, told) if line.action == "quantize" else completed]
            )
        if taken:
            first = stages.get(line.action, (price, price))[0]
            price = tools.price(final.branch().finished())
            stages[line.action] = (first, price)
    return final, base, stages


def _learned_anew(line: PolicyAction, draft: Draft, layers: Mapping[str, Layer]) -> list[Action | Refusal]:
    """What the action's kind proposes for its layer with the new weights, or why it proposes nothing."""
    nodes = line.nodes or (line.node_id,)
    if nodes[0] in layers:
        kind = LEARNED[line.action]({nodes[0]: layers[nodes[0]]})
        found = list(kind.propose(draft.model, draft.spec, draft.calibration))
        if found:
            return found
    reason = "It is worked out from the weights, and nothing of the kind was found for the new ones."
    return [Refusal(kind=line.action, nodes=nodes, reason=reason)]


def _cuts_ranges(policy: Policy) -> bool:
    """Whether the policy was made with the ranges that the best calibration method gives."""
    return any(reason.law == CUT_RANGE for line in policy.actions for reason in line.why)


def _anew(action: Action, policy: Policy, calibration: Calibration | None) -> Action:
    """The action without what was measured on the old weights."""
    if calibration is None:
        return action
    old, new = f"The ranges come from {policy.calibration}.", f"The ranges come from {calibration.data}."
    why = []
    for reason in action.why:
        if reason.law in (CUT_RANGE, KEPT_RANGE):
            continue
        claim = new if reason.claim == old else reason.claim
        if reason.law == MEASURED_BEFORE:
            claim = f"With the weights before: {claim}"
        why.append(Reason.from_plain({**reason.plain(), "claim": claim}))
    params = {key: value for key, value in action.plain()["params"].items() if key != "ranges"}
    return Action.from_plain({**action.plain(), "params": params, "why": [each.plain() for each in why]})


def _effects(policy: Policy, start: Draft, base: Draft, final: Draft, tools: Tools) -> dict[str, Effect]:
    """What each action does by itself, as the search measures it, of those for which it was measured before."""
    wanted = {line.id for line in policy.actions if line.evidence.alone is not None}
    moving = [each for each in final.actions if each.id in wanted]
    found: dict[str, Effect] = {}
    for index, action in enumerate(moving):
        tools.progress("measuring action by action", index, len(moving))
        effect = by_itself(start, base, final.actions, action, tools.measure_alone)
        if isinstance(effect, Effect):
            found[action.id] = effect
    return found


def _with_reviewers_words(before: Sequence[PolicyAction], lines: Sequence[PolicyAction]) -> tuple[PolicyAction, ...]:
    """The new lines in the old order, with what reviewers had put on them; what is switched off stays as it was."""
    done = {each.id: each for each in lines}
    found = []
    for old in before:
        if is_off(old):
            found.append(old)
        elif old.id in done:
            words = {key: old.plain()[key] for key in REVIEWERS if key in old.plain()}
            found.append(PolicyAction.from_plain({**words, **done[old.id].plain()}, old.id))
    return tuple(found)


def _warnings(calibration: Calibration, broken: Sequence[str]) -> tuple[str, ...]:
    found = [f"The accuracy budget is not kept with the new weights: {sentence}" for sentence in broken]
    if calibration.is_random:
        found.insert(0, "No data was given: ranges and effects come from random inputs and say little about real ones.")
    return tuple(found)


def left_out(policy: Policy, new: Policy) -> tuple[Refusal, ...]:
    """The actions of the old policy that the new weights do not allow, each with the reason."""
    kept = {each.id for each in new.actions}
    gone = {(each.action, *(each.nodes or (each.node_id,))) for each in policy.actions if each.id not in kept}
    return tuple(each for each in new.refusals if (each.kind, *each.nodes) in gone)
