"""Which layers have fewer bits than 8: where a unit multiplies them faster, as many as the accuracy budget allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.actions.action import Action
from metainfer_core.actions.integer_operators import HEAVY
from metainfer_core.actions.kinds.quantize import Width
from metainfer_core.actions.narrow_integers import NARROW, gain
from metainfer_core.actions.rewiring import nodes_by_id
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.search.integer_search import Measured, integer_actions
from metainfer_core.policy.search.mixed_search import noise_of


@dataclass(frozen=True)
class Narrowed:
    """A draft in which some layers have fewer bits than 8, and what it does to the outputs."""

    words: str
    draft: Draft
    effect: Measured


def narrowed(
    build: Callable[[Mapping[str, Width]], Draft],
    measure: Callable[[Draft], Measured],
    best: Draft,
    effects: Mapping[str, Measured],
    objective: Objective,
) -> Iterator[Narrowed]:
    """The draft with the most layers in the fewest bits that keeps to the budget; none where no layer can be so.

    The narrowest width comes first: all layers are tried in it, and where that breaks the budget, those that are
    noisiest in INT8 alone keep more bits, as few as halving finds. Of these the next width takes what it can.

    Args:
        build: The draft with these nodes in other widths.
        measure: What a draft does to the outputs.
        best: The draft in INT8, which keeps to the budget.
        effects: Action id to its effect alone, in INT8.
        objective: Holds the budget.
    """
    noise = {action.nodes[0]: noise_of(effects[action.id]) for action in integer_actions(best)}
    chosen: dict[str, Width] = {}
    found: tuple[Draft, Measured] | None = None
    for bits in NARROW:
        candidates = _faster(best, bits, chosen)
        order = sorted(candidates, key=lambda name: (-noise[name], name))
        taken = _most(order, lambda names: build({**chosen, **_widths(candidates, names)}), measure, objective)  # noqa: B023
        if taken is not None:
            names, draft, effect = taken
            chosen |= _widths(candidates, names)
            found = draft, effect
    if found is not None and in_few_bits(found[0]):
        words = " and ".join(f"INT{bits}" for bits in sorted({width.bits for width in chosen.values()}))
        yield Narrowed(f"layers in {words}", *found)


def in_few_bits(draft: Draft) -> list[Action]:
    """The actions of a draft that compute in fewer bits than 8."""
    return [action for action in integer_actions(draft) if action.params.get("bit_width") in NARROW]


def _faster(best: Draft, bits: int, chosen: Mapping[str, Width]) -> dict[str, Width]:
    """The layers that their unit multiplies faster in so many bits, each with the reason."""
    known, found = nodes_by_id(best.model), {}
    for action in integer_actions(best):
        name, unit = action.nodes[0], action.params.get("target_hw")
        reason = gain(best.spec, str(unit), bits) if unit in best.spec.compute_units else None
        if reason is not None and name not in chosen and known[name].op_type in HEAVY:
            found[name] = Width(bits, reason)
    return found


def _widths(candidates: Mapping[str, Width], names: Sequence[str]) -> dict[str, Width]:
    return {name: candidates[name] for name in names}


def _most(
    order: Sequence[str],
    build: Callable[[Sequence[str]], Draft],
    measure: Callable[[Draft], Measured],
    objective: Objective,
) -> tuple[Sequence[str], Draft, Measured] | None:
    """The longest end of `order` that keeps to the budget in few bits, by halving; None where not one layer does."""
    low, high, best = -1, len(order), None  # leaving out `high` of them keeps to the budget, `low` does not
    while high - low > 1:
        count = 0 if low < 0 else (low + high) // 2
        draft = build(order[count:])
        effect = measure(draft)
        if isinstance(effect, Effect) and not shortfalls(objective, effect):
            best, high = (order[count:], draft, effect), count
            if count == 0:
                break
        else:
            low = count
    return best
