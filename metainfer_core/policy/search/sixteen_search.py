"""What breaks the budget in INT8, in 16 bits instead of float32: in INT16, FP16 or BF16, as the spec has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.actions.action import Action, Reason
from metainfer_core.actions.integer_laws import bits_against
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.half_search import formats
from metainfer_core.policy.search.integer_search import Measured, Sixteen, SixteenBits
from metainfer_core.policy.search.mixed_search import Mix
from metainfer_core.spec.hardware_spec import HardwareSpec


@dataclass(frozen=True)
class Rescue:
    """A draft in which nodes that would stay float32 compute in 16 bits, and what it does to the outputs."""

    words: str
    draft: Draft
    effect: Measured


def sixteens(spec: HardwareSpec) -> tuple[tuple[str, SixteenBits], ...]:
    """The 16-bit types that some unit of the spec computes in: words, and the data type."""
    integers: tuple[tuple[str, SixteenBits], ...] = (
        (("INT16", "int16"),) if bits_against(spec, None, 16) is None else ()
    )
    return (*integers, *((half.words, half.name) for half in formats(spec)))


def over_budget(draft: Draft) -> dict[str, Reason]:
    """The nodes that stay float32 because INT8 on them costs too much, each with the measured reason."""
    kept = (action for action in draft.actions if action.kind == "keep_float")
    return {action.nodes[0]: action.why[0] for action in kept if action.params.get("cause") == "over_budget"}


def rescued(
    mix: Mix,
    build: Callable[[Mapping[str, Reason], Sixteen], Draft],
    best: Draft,
    noise: Mapping[str, float],
) -> Iterator[Rescue]:
    """For each 16-bit type, the draft that keeps to the budget with the fewest nodes in float32; none where none does.

    All nodes that `best` keeps in float32 are tried in 16 bits first. Where that breaks the budget, the noisiest stay
    float32, as few as halving finds.

    Args:
        mix: How drafts are judged.
        build: The draft with some nodes in float32 and others in 16 bits.
        best: The mix of INT8 and float32.
        noise: Node to its noise in INT8 alone, as a share of the signal's power.
    """
    reasons = over_budget(best)
    order = sorted(reasons, key=lambda name: (-noise.get(name, 0.0), name))
    for words, data_type in sixteens(best.spec) if order else ():
        found = _fewest_floats(mix, order, lambda kept: build(*_parted(reasons, kept, data_type)))  # noqa: B023
        if found is not None and in_sixteen(found[0], ()):  # else no node can: it is `best` again
            yield Rescue(words, *found)


def most_rescues(spec: HardwareSpec, count: int) -> int:
    """Drafts that `rescued` measures at most for so many nodes: all in 16 bits, then halvings, for each type."""
    return len(sixteens(spec)) * (1 + count.bit_length())


def in_sixteen(draft: Draft, known: Sequence[Action]) -> list[Action]:
    """The actions of a draft that compute in 16 bits and are not known yet."""
    wide = (action for action in draft.actions if action.params.get("bit_width") == 16)
    half = (action for action in draft.actions if action.kind == "half_precision")
    return [action for action in (*wide, *half) if action not in known]


def _parted(
    reasons: Mapping[str, Reason], kept: Sequence[str], data_type: SixteenBits
) -> tuple[dict[str, Reason], Sixteen]:
    moved = {name: reason for name, reason in reasons.items() if name not in kept}
    return {name: reasons[name] for name in kept}, Sixteen(data_type, moved)


def _fewest_floats(
    mix: Mix, order: Sequence[str], build: Callable[[Sequence[str]], Draft]
) -> tuple[Draft, Measured] | None:
    low, high, best = -1, len(order), None  # `high` nodes in float32 keep to the budget, `low` do not
    while high - low > 1:
        count = 0 if low < 0 else (low + high) // 2
        draft = build(order[:count])
        effect = mix.try_out(draft)
        if mix.fits(effect):
            best, high = (draft, effect), count
        else:
            low = count
        if high == 0:
            break
    return best
