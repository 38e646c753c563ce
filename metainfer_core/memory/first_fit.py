"""First fit: buffers in a given order, each at the lowest offset that is free while it is alive."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.memory.problem import Buffer

Order = list[int]
"""Indices of buffers, in the order in which they are placed."""


def conflicts(buffers: Sequence[Buffer]) -> list[list[int]]:
    """For each buffer, the indices of those alive at some time together with it. A sweep over start times."""
    meeting: list[list[int]] = [[] for _ in buffers]
    alive: list[int] = []
    for index in sorted(range(len(buffers)), key=lambda one: buffers[one].start):
        alive = [other for other in alive if buffers[other].end > buffers[index].start]
        for other in alive:
            meeting[index].append(other)
            meeting[other].append(index)
        alive.append(index)
    return meeting


def first_fit(buffers: Sequence[Buffer], meeting: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """The offset of each buffer, by index."""
    offsets = [-1] * len(buffers)
    sizes = [buffer.occupied_bytes for buffer in buffers]
    for index in order:
        size, alignment = sizes[index], buffers[index].alignment_bytes
        taken = sorted([(offsets[other], sizes[other]) for other in meeting[index] if offsets[other] >= 0])
        free = 0
        for offset, length in taken:
            if free + size <= offset:
                break
            if offset + length > free:
                free = -(-(offset + length) // alignment) * alignment
        offsets[index] = free
    return offsets


def peak(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    """One past the last byte that any buffer occupies."""
    return max((offsets[index] + buffer.occupied_bytes for index, buffer in enumerate(buffers)), default=0)
