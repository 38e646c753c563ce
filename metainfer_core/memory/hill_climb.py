"""Hill climbing over the order of first fit: buffers that stick out at the top, and what they rest on, move forward.

The idea of searching orders rather than offsets is that of Arm's Vela; steps are counted, not timed, and the random
numbers are seeded, so that the plan is the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from metainfer_core.memory.first_fit import Order, conflicts, first_fit, peak
from metainfer_core.memory.problem import Buffer

PATIENCE = 200
"""After so many steps without a better peak, the search starts again from the best order, shaken."""


def hill_climb(buffers: Sequence[Buffer], start: Order, goal: int, steps: int, seed: int = 0) -> list[int]:
    """The best offsets found from the order `start` within `steps` tries; stops early at a peak of `goal` bytes."""
    chance = random.Random(seed)
    meeting = conflicts(buffers)
    order = list(start)
    offsets = first_fit(buffers, meeting, order)
    current = peak(buffers, offsets)
    best_order, best_offsets, best = list(order), offsets, current
    idle = 0
    for _ in range(steps):
        if best <= goal:
            break
        trial = _moved(buffers, meeting, offsets, order, chance)
        trial_offsets = first_fit(buffers, meeting, trial)
        trial_peak = peak(buffers, trial_offsets)
        if trial_peak <= current:
            idle = 0 if trial_peak < current else idle + 1
            order, offsets, current = trial, trial_offsets, trial_peak
        else:
            idle += 1
        if current < best:
            best_order, best_offsets, best = list(order), offsets, current
        if idle > PATIENCE:
            order = _shaken(best_order, chance)
            offsets = first_fit(buffers, meeting, order)
            current, idle = peak(buffers, offsets), 0
    return best_offsets


def _moved(
    buffers: Sequence[Buffer],
    meeting: Sequence[Sequence[int]],
    offsets: Sequence[int],
    order: Order,
    chance: random.Random,
) -> Order:
    """`order` with one buffer at the top, or one below it in the stack that holds it up, moved forward or swapped."""
    height = peak(buffers, offsets)
    top = [index for index, one in enumerate(buffers) if offsets[index] + one.occupied_bytes == height]
    chosen = chance.choice(top)
    stack = [chosen]
    while True:
        below = [
            other
            for other in meeting[stack[-1]]
            if offsets[other] + buffers[other].occupied_bytes <= offsets[stack[-1]]
            and offsets[stack[-1]] - offsets[other] - buffers[other].occupied_bytes < buffers[stack[-1]].alignment_bytes
        ]
        if not below:
            break
        stack.append(chance.choice(below))
    mover = chance.choice(stack)
    place = order.index(mover)
    rivals = [other for other in (*meeting[mover], *stack) if other != mover]
    if not rivals:
        return order
    other_place = order.index(chance.choice(rivals))
    moved = list(order)
    if chance.random() < 0.5:
        moved[place], moved[other_place] = moved[other_place], moved[place]
    else:
        moved.insert(other_place, moved.pop(place))
    return moved


def _shaken(order: Order, chance: random.Random) -> Order:
    """`order` with a few random swaps."""
    shaken = list(order)
    for _ in range(max(2, len(order) // 20)):
        one, other = chance.randrange(len(order)), chance.randrange(len(order))
        shaken[one], shaken[other] = shaken[other], shaken[one]
    return shaken
