"""Which layers are computed as two of low rank: where that is predicted to gain, at the least rank in the budget."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.factor_weights import FactorWeights
from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.search.integer_search import Measured, measured
from metainfer_core.policy.search.tools import Tools

MARGIN_DB = 6.0
"""Factoring alone must stay so far above the budget: what rounds numbers afterwards needs the rest."""
MARGIN_OF_METRIC = 0.5
"""Share of the allowed drop of a metric that it may use."""
MOST_TRIED = 16
"""Layers that are measured, those with the most products first."""


def factored_layers(draft: Draft, objective: Objective, tools: Tools) -> list[Action]:
    """The factor_weights actions that together gain time and keep to half of the budget; often none.

    For each layer that the kind proposes the smallest rank is found by halving, with the layer alone. Then all are
    taken together, and those that save least are left out until the budget holds.

    Args:
        draft: The structural actions that come before; it is left as it is.
        objective: The whole budget.
        tools: How effects are measured and times predicted.
    """
    kind, strict = FactorWeights(), stricter(objective)
    proposed = kind.propose(draft.model, draft.spec, draft.calibration)
    actions = [found for found in proposed if isinstance(found, Action)]
    before = _price(tools.price(draft.branch().finished())) if actions else 0.0
    found: list[tuple[float, Action]] = []
    for index, action in enumerate(actions[:MOST_TRIED]):
        tools.progress("searching ranks", index, min(len(actions), MOST_TRIED))
        least = _smallest(draft, kind, action, strict, tools)
        gain = before - _price(tools.price(_with(draft, [least]).finished())) if least is not None else 0.0
        if least is not None and gain > 0:
            found.append((gain, least))
    chosen = [action for _, action in sorted(found, key=lambda pair: (-pair[0], pair[1].id))]
    while chosen and not _fits(strict, measured(tools.measure, _with(draft, chosen).finished())):
        chosen.pop()
    return chosen


def stricter(objective: Objective) -> Objective:
    """The budget with the margin that is kept for what comes afterwards."""
    return Objective.from_plain(
        {
            **objective.plain(),
            "min_sqnr_db": objective.min_sqnr_db + MARGIN_DB,
            "min_channel_sqnr_db": objective.min_channel_sqnr_db + MARGIN_DB,
            "max_metric_drop": objective.max_metric_drop * MARGIN_OF_METRIC,
        }
    )


def _smallest(draft: Draft, kind: FactorWeights, action: Action, strict: Objective, tools: Tools) -> Action | None:
    """The action at the smallest rank whose measured loss alone keeps to the budget; None if even its own does not."""
    low, high, best = 0, int(action.params["rank"]), None
    while high - low > 0:
        rank = high if best is None else (low + high) // 2
        if rank == low:
            break
        tried = kind.at_rank(draft.model, action, rank)
        if _fits(strict, measured(tools.measure_alone, _with(draft, [tried]).finished())):
            best, high = tried, rank
        elif best is None:
            return None
        else:
            low = rank
    return best


def _with(draft: Draft, actions: Sequence[Action]) -> Draft:
    other = draft.branch()
    other.take(actions)
    return other


def _fits(objective: Objective, effect: Measured) -> bool:
    return isinstance(effect, Effect) and not shortfalls(objective, effect)


def _price(estimate: Estimate) -> float:
    """Predicted time, or bytes moved where that is not known."""
    return estimate.total.typical if estimate.total is not None else float(sum(estimate.bytes_by_memory.values()))
