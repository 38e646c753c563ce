"""How many bytes are alive at each time: the peak of that is a proven lower bound for every plan."""

from __future__ import annotations

from metainfer_core.memory.problem import MemoryProblem


def live_bytes(problem: MemoryProblem) -> tuple[tuple[int, int], ...]:
    """(time, bytes occupied from then on), at each time where something starts or ends, in order of time."""
    changes: dict[int, int] = {}
    for buffer in problem.buffers:
        changes[buffer.start] = changes.get(buffer.start, 0) + buffer.occupied_bytes
        changes[buffer.end] = changes.get(buffer.end, 0) - buffer.occupied_bytes
    profile = []
    alive = 0
    for time in sorted(changes):
        alive += changes[time]
        profile.append((time, alive))
    return tuple(profile)


def lower_bound(problem: MemoryProblem) -> int:
    """The most bytes occupied at any one time. Buffers alive together cannot share a byte, so no peak is lower."""
    return max((alive for _, alive in live_bytes(problem)), default=0)
