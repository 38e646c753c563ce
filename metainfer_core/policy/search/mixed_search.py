"""Which nodes stay float where INT8 everywhere costs too much accuracy: those that cost most for what they save."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.actions.action import Action, Reason
from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls, worst_sqnr_db
from metainfer_core.policy.search.integer_search import Measured

MOST_GIVEN_BACK = 8
"""Nodes that are tried in INT8 again, each against the whole budget."""


@dataclass(frozen=True)
class Mix:
    """A way to leave some nodes float, and what it is judged by."""

    build: Callable[[Mapping[str, Reason]], Draft]
    """The draft with these nodes in float, each for its reason."""
    measure: Callable[[Draft], Measured]
    """The effect of a draft."""
    try_out: Callable[[Draft], Measured]
    """The effect of a draft that keeps to the budget; else that, or a sentence."""
    price: Callable[[Draft], float]
    """Predicted time, or bytes moved where that is not known."""
    objective: Objective

    def fits(self, effect: Measured) -> bool:
        """Whether an effect keeps to the budget."""
        return isinstance(effect, Effect) and not shortfalls(self.objective, effect)


@dataclass(frozen=True)
class _Tried:
    dropped: tuple[Action, ...]
    draft: Draft
    effect: Measured


def mixed(
    mix: Mix,
    actions: Sequence[Action],
    effects: Mapping[str, Measured],
    savings: Mapping[str, float],
    together: Measured,
) -> tuple[Draft, Measured]:
    """The cheapest draft found that is within the budget.

    Nodes are dropped in two orders, the noisiest first and those with the most noise for what they save first, and the
    shortest beginning of each that keeps to the budget is found by halving; a beginning of both is measured once. Of
    the cheaper one, the nodes that save most are then tried in INT8 again, and measured where that is cheaper. If no
    beginning keeps to the budget, all nodes stay float.

    Args:
        mix: How drafts are made and judged.
        actions: All quantize actions.
        effects: Action id to its effect alone.
        savings: Node id to what INT8 saves there, in the unit of `mix.price`.
        together: Effect of all actions.
    """
    known: dict[frozenset[Action], _Tried] = {}

    def build(dropped: Sequence[Action]) -> Draft:
        return mix.build(
            {action.nodes[0]: _reason(action, effects[action.id], together, mix.objective) for action in dropped}
        )

    def attempt(dropped: Sequence[Action], is_first: bool) -> _Tried:
        beginning = frozenset(dropped)
        if beginning in known:
            return known[beginning]
        draft = build(dropped)
        tried = _Tried(tuple(dropped), draft, (mix.measure if is_first else mix.try_out)(draft))
        if is_first or mix.fits(tried.effect):  # the others would only fill the memory
            known[beginning] = tried
        return tried

    def saved(action: Action) -> float:
        return sum(savings.get(node, 0.0) for node in action.nodes)

    least = min((saved(action) for action in actions if saved(action) > 0), default=1.0)
    noise = {action.id: noise_of(effects[action.id]) for action in actions}
    orders = (
        sorted(actions, key=lambda action: (-noise[action.id], action.id)),
        sorted(actions, key=lambda action: (-noise[action.id] / max(saved(action), least), action.id)),
    )
    found = [_fewest_dropped(mix, order, attempt) for order in dict.fromkeys(map(tuple, orders))]
    best = min(found, key=lambda tried: (not mix.fits(tried.effect), mix.price(tried.draft)))
    if mix.fits(best.effect):
        price = mix.price(best.draft)
        for action in sorted(best.dropped, key=lambda action: (-saved(action), action.id))[:MOST_GIVEN_BACK]:
            fewer = [kept for kept in best.dropped if kept.id != action.id]
            draft = build(fewer)
            lower = mix.price(draft)
            if lower < price and mix.fits(effect := mix.try_out(draft)):
                best, price = _Tried(tuple(fewer), draft, effect), lower
    return best.draft, best.effect


def _fewest_dropped(mix: Mix, order: Sequence[Action], attempt: Callable[[Sequence[Action], bool], _Tried]) -> _Tried:
    low, high = 0, len(order)  # `low` dropped nodes are known to be too few, `high` to be enough
    best: _Tried | None = None
    while high - low > 1 or best is None:
        count = high if best is None else (low + high) // 2
        tried = attempt(order[:count], best is None)  # the first is kept whatever it does
        if best is None or mix.fits(tried.effect):
            best, high = tried, count
        else:
            low = count
    return best


def most_tries(count: int) -> int:
    """Drafts that `mixed` measures at most for so many nodes: halvings in two orders, then nodes given back."""
    return 2 * (1 + max(count - 1, 0).bit_length()) + min(count, MOST_GIVEN_BACK)


def savings_by_node(before: Estimate, after: Estimate) -> dict[str, float]:
    """Node to the time that it takes less afterwards; to the bytes that it moves less where a time is not known."""
    timed = all(call.time is not None for estimate in (before, after) for call in estimate.calls)
    found: dict[str, float] = {}
    for estimate, sign in ((before, 1.0), (after, -1.0)):
        for call in estimate.calls:
            cost = call.time.typical if timed and call.time is not None else float(sum(call.bytes_by_memory.values()))
            for node_id in call.node_ids[:1]:
                found[node_id] = found.get(node_id, 0.0) + sign * cost
    return found


def noise_of(effect: Measured) -> float:
    """Noise power as a share of the signal's; what cannot run is the noisiest."""
    return 10 ** (-worst_sqnr_db(effect) / 10) if isinstance(effect, Effect) else math.inf


def _reason(action: Action, effect: Measured, together: Measured, objective: Objective) -> Reason:
    """The measured reason why a node stays float."""
    name = action.nodes[0]
    if isinstance(effect, str):
        return Reason(claim=f"INT8 on {name} cannot run: {effect}")
    broken = shortfalls(objective, effect)
    if broken:
        return Reason(claim=f"INT8 on {name} alone breaks the budget: {broken[0]}", law="measured on calibration data")
    limits = shortfalls(objective, together) if isinstance(together, Effect) else (together,)
    return Reason(
        claim=(
            f"INT8 on {name} alone leaves {worst_sqnr_db(effect):.1f} dB, among the least of all nodes; "
            f"with INT8 everywhere the budget breaks: {limits[0] if limits else 'unknown'}"
        ),
        law="measured on calibration data",
    )
