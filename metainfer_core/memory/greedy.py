"""Orders for first fit that need no search. On most real graphs the best of them reaches the lower bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metainfer_core.memory.first_fit import Order
from metainfer_core.memory.problem import Buffer


def by_size(buffers: Sequence[Buffer]) -> Order:
    """Largest first, then longest (Pisarchyk and Lee, 2020, greedy by size)."""
    return _sorted(buffers, lambda one: (-one.occupied_bytes, one.start - one.end, one.start))


def by_duration(buffers: Sequence[Buffer]) -> Order:
    """Longest alive first, then largest."""
    return _sorted(buffers, lambda one: (one.start - one.end, -one.occupied_bytes, one.start))


def by_area(buffers: Sequence[Buffer]) -> Order:
    """Largest product of size and time first."""
    return _sorted(buffers, lambda one: (-(one.end - one.start) * one.occupied_bytes, one.start))


def by_start(buffers: Sequence[Buffer]) -> Order:
    """In order of execution, larger first."""
    return _sorted(buffers, lambda one: (one.start, -one.occupied_bytes, one.end))


def by_breadth(buffers: Sequence[Buffer]) -> Order:
    """At the times when most bytes are alive first; within one time, largest first (Pisarchyk and Lee, 2020)."""
    times = sorted({buffer.start for buffer in buffers})
    alive_at = {time: [index for index, one in enumerate(buffers) if one.start <= time < one.end] for time in times}
    breadth = {time: sum(buffers[index].occupied_bytes for index in alive) for time, alive in alive_at.items()}
    order: dict[int, None] = {}
    for time in sorted(times, key=lambda one: (-breadth[one], one)):
        for index in sorted(alive_at[time], key=lambda one: (-buffers[one].occupied_bytes, one)):
            order.setdefault(index)
    return list(order)


def _sorted(buffers: Sequence[Buffer], key: Callable[[Buffer], tuple[int, ...]]) -> Order:
    return sorted(range(len(buffers)), key=lambda index: (*key(buffers[index]), index))


ORDERS: dict[str, Callable[[Sequence[Buffer]], Order]] = {
    "greedy by size": by_size,
    "greedy by duration": by_duration,
    "greedy by area": by_area,
    "greedy by breadth": by_breadth,
    "in order of execution": by_start,
}
