"""Search a policy: rules say what is legal, measuring says what is accurate enough, the cost model ranks the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import onnx_ir as ir

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.actions.kinds.quantize import Width
from metainfer_core.actions.units import has_data_type
from metainfer_core.cost.estimate import Estimate
from metainfer_core.errors import DoesNotFitError
from metainfer_core.figures import told_apart
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.draft import Draft, known_kind
from metainfer_core.policy.evidence import lines_of
from metainfer_core.policy.objective import Objective, Precision, nearness_db, shortfalls
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.policy.search.as_built import as_built
from metainfer_core.policy.search.candidates import Candidate, against_all_integers, rank, refused_words, summary
from metainfer_core.policy.search.factor_search import factored_layers
from metainfer_core.policy.search.float_search import narrow_floats
from metainfer_core.policy.search.integer_search import (
    Measured,
    Sixteen,
    Variant,
    alone,
    integer_actions,
    measured,
    quantized,
    variants,
)
from metainfer_core.policy.search.left_alone import left_alone
from metainfer_core.policy.search.measured_alone import structural_alone, with_new_tensors
from metainfer_core.policy.search.mixed_search import Mix, mixed, most_tries, noise_of, savings_by_node
from metainfer_core.policy.search.narrow_search import Narrowed, in_few_bits, narrowed
from metainfer_core.policy.search.refine import Refiner
from metainfer_core.policy.search.sixteen_search import in_sixteen, most_rescues, rescued
from metainfer_core.policy.search.tools import Tools
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.layer_ranges import with_layer_ranges

STRUCTURAL = (
    *("cancel_transposes", "fold_pad", "fold_batch_norm", "merge_siblings", "equalise", "decompose"),
    *("split", "enlarge_kernel", "split_kernel", "fuse", "pad_channels"),
)
FACTORED_BEFORE = "split"
"""The structural kind before which layers are factored."""
BEST_KEPT = 5
MENDED = ", mended"
"""What the name of a candidate ends in whose layers' rounding was mended."""
GIVEN_UP = "It was measured until its noise was over the budget."
"""Of a draft that does not keep to it."""
DEFAULT_TARGET = (0.5, 0.7)
"""Without a target: this share of the unoptimised model's predicted time."""


def search(
    model: ir.Model,
    spec: HardwareSpec,
    calibration: Calibration,
    objective: Objective,
    tools: Tools,
    bound: tuple[Action, ...] = (),
    name: str = "",
    model_digest: str | None = None,
) -> Policy:
    """The best legal policy within the accuracy budget, with the evidence for each action.

    Args:
        model: The preprocessed model; it is left as it is.
        spec: The hardware.
        calibration: Ranges of the model's tensors.
        objective: Budget and goal.
        tools: Measuring, pricing and calibrating.
        bound: bind_shape actions that preprocessing led to.
        name: Lineage of the policy.
        model_digest: Of the model that the policy is for.
    """
    start = Draft(model.clone(), spec, calibration)
    structural, effects = _structural(start, objective, tools, bound)
    plain = _without_integer_padding(start, structural)
    if objective.precision is Precision.FP16 or objective.weight_bits:
        tools.progress("trying narrower floats", 0, 0)
    narrow = narrow_floats(structural, objective, tools.measure, tools.calibrate)
    plain.take(narrow.kept or plain.propose("keep_float"))
    floats = [("float32", plain), *narrow.drafts]
    candidates = []
    for index, (called, draft) in enumerate(floats):
        tools.progress("measuring in floats", index, len(floats))
        candidates.append(_candidate(called, draft, objective, tools))
    against_integers = narrow.refusals
    numeric: dict[Action, Measured] = {}
    if objective.precision is Precision.INT8:
        found, numeric, against_integers = _integer_candidates(structural, objective, tools)
        candidates += found
    factors: list[Action] = []
    if not (objective.fast or calibration.is_random):  # a rank is measured, which random inputs say nothing of
        factors = factored_layers(_before_factors(start, structural), objective, tools)
    if factors:
        lower, alone_too = _structural(start, objective, tools, bound, factors)
        floating = _without_integer_padding(start, lower)
        floating.take(floating.propose("keep_float"))
        drafts = [_candidate("float32", floating, objective, tools)]
        if objective.precision is Precision.INT8:
            found, numeric, _ = _integer_candidates(lower, objective, tools, numeric)
            drafts += found
        effects = {**alone_too, **effects}
        candidates += [replace(one, name=f"factored, {one.name}") for one in drafts]
    ranked = rank(as_built(start, candidates, objective, tools), objective)
    _refuse_what_fits_nowhere(ranked)
    final, stages = ranked[0].draft, ranked[0].stages
    tools.progress("measuring all actions together", 0, 0)
    together = measured(tools.measure, final.finished())
    effects |= {action.id: numeric[action] for action in final.actions if action in numeric}
    known = {action_id: effect for action_id, effect in effects.items() if isinstance(effect, Effect)}
    measured_together = together if isinstance(together, Effect) else None
    refusals = tuple(dict.fromkeys([*final.refusals, *(() if integer_actions(final) else against_integers)]))
    refusals += left_alone(model, final.actions, refusals, objective, against_all_integers(ranked))
    warnings = _warnings(objective, ranked[0], tools.price(start.branch().finished()), calibration)
    return Policy(
        actions=lines_of(final, objective, calibration, known, measured_together, stages),
        name=name,
        model_digest=model_digest,
        spec_digest=spec.values_digest,
        ruleset_digest=ruleset_digest(),
        refusals=refusals,
        objective=objective.plain(),
        candidates=tuple(summary(candidate, candidate is ranked[0]) for candidate in ranked[:BEST_KEPT]),
        calibration=calibration.data,
        warnings=warnings,
    )


def _refuse_what_fits_nowhere(ranked: Sequence[Candidate]) -> None:
    """Raises where no target could build any candidate: of those that lack room, the one that lacks least speaks."""
    refused = [each.refused for each in ranked if each.refused is not None and each.refused.everywhere]
    if len(refused) == len(ranked):
        lacking = [each.error for each in refused if isinstance(each.error, DoesNotFitError)]
        raise min(lacking, key=lambda error: error.needed - error.available, default=refused[0].error)


def _before_factors(start: Draft, structural: Draft) -> Draft:
    """The structural actions that come before layers are factored."""
    draft, later = start.branch(), STRUCTURAL[STRUCTURAL.index(FACTORED_BEFORE) :]
    draft.take(action for action in structural.actions if action.kind not in later)
    return draft


def _structural(
    start: Draft, objective: Objective, tools: Tools, bound: tuple[Action, ...], factors: Sequence[Action] = ()
) -> tuple[Draft, dict[str, Measured]]:
    """All structural actions that keep their promise, with these factors, and what each does to the outputs alone."""
    draft = start.branch()
    draft.take(bound)
    for index, name in enumerate(STRUCTURAL):
        tools.progress("proposing structural actions", index, len(STRUCTURAL))
        draft.take(factors if name == FACTORED_BEFORE else ())
        draft.take(_wanted(draft.propose(name), objective))
    effects: dict[str, Measured] = {}
    broken: dict[str, str] = {}
    moving = [action for action in draft.actions if known_kind(action.kind).obligation.relative != 0.0]
    moving = [] if objective.fast else moving
    for index, action in enumerate(moving):
        tools.progress("measuring structural actions", index, len(moving))
        effects[action.id] = structural_alone(start, draft.actions, action, tools.measure_alone)
        reason = _broken_promise(start, action, effects[action.id])
        if reason is not None:
            broken[action.id] = reason
    if not broken:
        return draft, effects
    again = start.branch()
    again.take(action for action in draft.actions if action.id not in broken)
    again.refusals += draft.refusals
    again.refusals += [
        Refusal(kind=action.kind, nodes=action.nodes, reason=broken[action.id])
        for action in draft.actions
        if action.id in broken
    ]
    return again, effects


def _without_integer_padding(start: Draft, structural: Draft) -> Draft:
    """The structural actions of a float candidate: what pays on a unit that only runs integers is no use there."""
    draft = start.branch()
    units = start.spec.compute_units
    draft.take(
        action
        for action in structural.actions
        if action.kind not in ("pad_channels", "merge_siblings", "equalise")
        or action.params.get("target_hw") is None
        or has_data_type(str(action.params["target_hw"]), units[action.params["target_hw"]], "float32") is None
    )
    draft.refusals += structural.refusals
    return draft


def _wanted(actions: Iterable[Action | Refusal], objective: Objective) -> list[Action | Refusal]:
    """Without the fallbacks, where the user switched them off."""
    wanted: list[Action | Refusal] = []
    for action in actions:
        if isinstance(action, Action) and action.params.get("method") == "fallback" and not objective.allow_fallback:
            reason = (
                f"{action.why[0].claim} It could run on {action.params['target_hw']}, but fallbacks are switched off."
            )
            action = Refusal(kind=action.kind, nodes=action.nodes, reason=reason)
        wanted.append(action)
    return wanted


def _broken_promise(start: Draft, action: Action, effect: Measured) -> str | None:
    """Why an action that promised equal outputs is not trusted."""
    if isinstance(effect, str):
        return f"The model cannot run with it: {effect}"
    obligation = known_kind(action.kind).obligation
    for output in effect.outputs:
        found = start.calibration.ranges.get(output.output) if start.calibration is not None else None
        if obligation.relative is None or obligation.absolute is None or found is None:
            continue
        allowed = obligation.absolute + obligation.relative * max(abs(found.low), abs(found.high))
        if not output.max_abs_error <= allowed:
            moved, limit = told_apart(output.max_abs_error, allowed)
            return f"It did not keep its promise: {output.output} moved by {moved}, {limit} is allowed."
    return None


def _candidate(
    name: str, draft: Draft, objective: Objective, tools: Tools, effect: Measured | None = None
) -> Candidate:
    adapted = draft.branch().finished()
    found = measured(tools.measure, adapted) if effect is None else effect
    broken = shortfalls(objective, found) if isinstance(found, Effect) else (found,)
    return Candidate(
        name=name,
        draft=draft,
        effect=found if isinstance(found, Effect) else None,
        broken=broken,
        estimate=tools.price(adapted),
    )


def _integer_candidates(
    structural: Draft, objective: Objective, tools: Tools, known: Mapping[Action, Measured] | None = None
) -> tuple[list[Candidate], dict[Action, Measured], tuple[Refusal, ...]]:
    """INT8 in each variant, and a mix for each unit where none keeps to the budget; what each action does alone.

    Two variants have actions of the same id, with other parameters and other effects.

    Also why nodes are no INT8 in the usual variant, for a policy that stays float altogether. What is `known` of an
    action alone, from a search on other structural actions, is not measured again.
    """
    base = structural.branch()
    base.calibration = with_new_tensors(structural, tools.calibrate)
    tools.progress("reading what each layer sees", 0, 0)
    layers = {} if objective.fast else tools.layers(structural.branch().finished())
    base.calibration = with_layer_ranges(structural.branch().finished(), layers, base.calibration)
    refiner = Refiner(layers)
    by_unit: dict[str, list[tuple[Variant, Candidate]]] = {}
    tried = variants(base.spec, bool(base.calibration.chosen), bool(base.calibration.by_channel))
    against: tuple[Refusal, ...] = ()
    for index, variant in enumerate(tried):
        tools.progress("measuring INT8 variants", index, len(tried))
        draft = quantized(variant.base(base), variant.params, {})
        against = against or tuple(refusal for refusal in draft.refusals if refusal.kind == "quantize")
        tried_already = [candidate.draft.actions for found in by_unit.values() for _, candidate in found]
        if integer_actions(draft) and draft.actions not in tried_already:  # a unit may allow one granularity alone
            candidate = _candidate(variant.name, draft, objective, tools)
            by_unit.setdefault(variant.unit, []).append((variant, candidate))
    candidates: list[Candidate] = []
    effects: dict[Action, Measured] = dict(known or {})
    for found in by_unit.values():
        variant, best = min(found, key=lambda entry: (bool(entry[1].broken), -_accuracy(entry[1]), entry[0].name))
        candidates += [candidate for _, candidate in found]
        words = ""
        if not objective.fast:
            refined = refiner.refined(best.draft, tools.progress)
            tools.progress("measuring the mended rounding", 0, 0)
            mended = _candidate(f"{variant.name}{MENDED}", refined, objective, tools)
            if _accuracy(mended) > _accuracy(best):
                candidates.append(mended)
                best, words = mended, MENDED
        if objective.fast and not best.broken:
            continue
        actions = integer_actions(best.draft)
        for index, action in enumerate(actions):
            tools.progress("measuring INT8 node by node", index, len(actions))
            if action not in effects:
                effects[action] = alone(variant.base(base), action, tools.measure_alone)
        own = {action.id: effects[action] for action in actions}
        if not best.broken:
            for found_narrow in _narrowed(variant, base, best, own, refiner if words else None, objective, tools):
                candidates.append(
                    _candidate(
                        f"{found_narrow.words}, {variant.name}{words}",
                        found_narrow.draft,
                        objective,
                        tools,
                        found_narrow.effect,
                    )
                )
                for action in in_few_bits(found_narrow.draft):
                    if action not in effects:
                        effects[action] = alone(variant.base(base), action, tools.measure_alone)
        if best.broken:
            together: Measured = best.effect if best.effect is not None else best.broken[0]
            for called, draft, effect in _mixed(
                variant, base, best, own, together, refiner if words else None, objective, tools
            ):
                mix = _candidate(f"{called}, {variant.name}{words}", draft, objective, tools, effect)
                if mix.estimate.total is None and best.estimate.total is not None:
                    continue  # a type that the spec gives no pace of: bytes would decide between all candidates
                candidates.append(mix)
                for action in () if objective.fast else in_sixteen(draft, list(effects)):
                    effects[action] = alone(variant.base(base), action, tools.measure_alone)
    return candidates, effects, against


def _narrowed(
    variant: Variant,
    base: Draft,
    best: Candidate,
    effects: Mapping[str, Measured],
    refiner: Refiner | None,
    objective: Objective,
    tools: Tools,
) -> Iterator[Narrowed]:
    """The layers of the best candidate in fewer bits, where the unit multiplies those faster."""

    def build(narrow: Mapping[str, Width]) -> Draft:
        draft = quantized(variant.base(base), variant.params, {}, narrow=narrow)
        return refiner.refined(draft) if refiner is not None else draft

    def measure(draft: Draft) -> Measured:
        tools.progress("searching what has fewer bits", 0, 0)
        return measured(tools.measure, draft.branch().finished())

    yield from narrowed(build, measure, best.draft, effects, objective)


def _mixed(
    variant: Variant,
    base: Draft,
    best: Candidate,
    effects: Mapping[str, Measured],
    together: Measured,
    refiner: Refiner | None,
    objective: Objective,
    tools: Tools,
) -> Iterator[tuple[str, Draft, Measured]]:
    """The cheapest mixes of INT8 with float32 and with 16 bits within the budget, mended as the best candidate was."""
    actions = integer_actions(best.draft)
    tries, tried = most_tries(len(actions)) + most_rescues(base.spec, len(actions)), itertools.count()

    def build(dropped: Mapping[str, Reason], sixteen: Sixteen | None = None) -> Draft:
        draft = quantized(variant.base(base), variant.params, dropped, sixteen)
        return refiner.refined(draft) if refiner is not None else draft

    def price(draft: Draft) -> float:
        estimate = tools.price(draft.branch().finished())
        return estimate.total.typical if estimate.total is not None else float(sum(estimate.bytes_by_memory.values()))

    nothing = tools.price(build({action.nodes[0]: Reason(claim="to compare") for action in actions}).finished())

    def measure(draft: Draft) -> Measured:
        tools.progress("searching what stays float", next(tried), tries)
        return measured(tools.measure, draft.branch().finished())

    def try_out(draft: Draft) -> Measured:
        tools.progress("searching what stays float", next(tried), tries)
        found = measured(tools.measure_or_give_up, draft.branch().finished())
        return GIVEN_UP if found is None else found

    mix = Mix(build, measure, try_out, price, objective)
    draft, effect = mixed(mix, actions, effects, savings_by_node(nothing, best.estimate), together)
    yield "mixed", draft, effect
    noise = {action.nodes[0]: noise_of(effects[action.id]) for action in actions}
    for rescue in rescued(mix, build, draft, noise):
        yield f"mixed with {rescue.words}", rescue.draft, rescue.effect


def _accuracy(candidate: Candidate) -> float:
    return nearness_db(candidate.effect) if candidate.effect is not None else float("-inf")


def _warnings(objective: Objective, best: Candidate, baseline: Estimate, calibration: Calibration) -> tuple[str, ...]:
    """What people must know before they trust the policy: data, budget, prediction against the target."""
    warnings = []
    if calibration.is_random:
        warnings.append("No data was given: ranges and effects come from random inputs and say little about real ones.")
    if best.refused is not None:
        warnings.append(f"No candidate can be built for all targets; the chosen one is {refused_words(best.refused)}")
    warnings += [f"No candidate keeps to the accuracy budget: {sentence}" for sentence in best.broken]
    total, unoptimised = best.estimate.total, baseline.total
    if best.estimate.unknown:
        warnings.append(f"The prediction does without {', '.join(best.estimate.unknown)}, which the spec lacks.")
    if total is None or unoptimised is None:
        return (*warnings, "The time on the chip cannot be predicted; candidates are ranked by the bytes they move.")
    share = total.typical / unoptimised.typical
    target = objective.target_latency_ms
    if target is not None and total.typical > 1000 * target:
        found, limit = told_apart(total.typical / 1000, target, ".3g", "g")
        warnings.append(
            f"The target of {limit} ms is not met: {found} ms are predicted. This is the nearest plan; splitting it "
            "further would add launches, not speed."
        )
    if target is None and share > DEFAULT_TARGET[1]:
        found, limit = told_apart(share, DEFAULT_TARGET[1], ".0%")
        warnings.append(
            f"{found} of the unoptimised model's time is predicted; {DEFAULT_TARGET[0]:.0%} to {limit} was the goal."
        )
    return tuple(warnings)
