"""The planner: the best of several, stopping at the lower bound; a cap is a cap."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.errors import DoesNotFitError
from metainfer_core.memory.first_fit import conflicts, first_fit, peak
from metainfer_core.memory.greedy import ORDERS
from metainfer_core.memory.hill_climb import hill_climb
from metainfer_core.memory.lower_bound import live_bytes, lower_bound
from metainfer_core.memory.problem import MemoryPlan, MemoryProblem, Placement

NAMED = 4
"""Buffers that a refusal names."""
SEARCH_STEPS = 2000
SEARCH_WORK = 10_000_000
"""Pairs of buffers that a search may visit, so that a large graph does not take minutes."""


def plan(problem: MemoryProblem, steps: int = SEARCH_STEPS) -> MemoryPlan:
    """A placement of every buffer with the lowest peak that the planners find.

    Args:
        problem: What to place. Sizes count as rounded up to their alignment.
        steps: How many orders the search may try; it is only needed where no greedy order reaches the lower bound.

    Raises:
        DoesNotFitError: The bytes alive at one time, or the best peak found, are over the capacity.
    """
    bound = lower_bound(problem)
    capacity = problem.capacity_bytes
    if capacity is not None and bound > capacity:
        raise _too_small(
            problem, bound, capacity, f"At one step these are alive together, wherever they lie: {_fullest(problem)}."
        )
    buffers = problem.buffers
    meeting = conflicts(buffers)
    found: dict[str, Sequence[int]] = {}
    best = ""
    for name, order in ORDERS.items():
        found[name] = first_fit(buffers, meeting, order(buffers))
        if not best or peak(buffers, found[name]) < peak(buffers, found[best]):
            best = name
        if peak(buffers, found[best]) == bound:
            break
    else:
        affordable = SEARCH_WORK // (1 + sum(map(len, meeting)))
        climbed = hill_climb(buffers, ORDERS[best](buffers), bound, min(steps, affordable))
        if peak(buffers, climbed) < peak(buffers, found[best]):
            found["hill climb"], best = climbed, "hill climb"
    height = peak(buffers, found[best])
    if capacity is not None and height > capacity:
        raise _too_small(
            problem, height, capacity, f"The proven lower bound is {bound:,} bytes: a better plan may exist."
        )
    return MemoryPlan(
        memory=problem.memory,
        placements=tuple(
            Placement(name=buffer.name, offset_bytes=offset)
            for buffer, offset in zip(buffers, found[best], strict=True)
        ),
        peak_bytes=height,
        lower_bound_bytes=bound,
        planner=best,
    )


def _fullest(problem: MemoryProblem) -> str:
    """The largest buffers of the step that needs most, in words."""
    time, _ = max(live_bytes(problem), key=lambda profile: profile[1])
    alive = [buffer for buffer in problem.buffers if buffer.start <= time < buffer.end]
    alive.sort(key=lambda buffer: (-buffer.occupied_bytes, buffer.name))
    named = [f"{buffer.name} ({buffer.occupied_bytes:,} bytes)" for buffer in alive[:NAMED]]
    return ", ".join(named) + (f" and {len(alive) - NAMED} more" if len(alive) > NAMED else "")


def _too_small(problem: MemoryProblem, needed: int, available: int, reason: str) -> DoesNotFitError:
    weights = f" and {problem.weights_bytes:,} bytes of weights" if problem.weights_bytes else ""
    return DoesNotFitError(
        f"Memory {problem.memory!r} (memories.{problem.memory}.size_bytes less reserved_bytes{weights})",
        needed,
        available,
        fix=f"{reason} Place tensors in another memory, quantize, or fuse more.",
    )
