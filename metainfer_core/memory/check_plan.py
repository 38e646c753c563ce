"""The checker of plans: compares every pair, shares no code with the planners, says exactly what is wrong."""

from __future__ import annotations

from itertools import combinations

from metainfer_core.memory.problem import MemoryFault, MemoryPlan, MemoryProblem


def check_plan(problem: MemoryProblem, plan: MemoryPlan) -> tuple[MemoryFault, ...]:
    """Every reason why `plan` does not solve `problem`; empty if it does.

    O(n^2) over buffers, and a buffer's tail up to its alignment is taken to be its own.
    """
    faults: list[MemoryFault] = []
    offsets: dict[str, int] = {}
    known = {buffer.name: buffer for buffer in problem.buffers}
    for placement in plan.placements:
        if placement.name in offsets:
            faults.append(MemoryFault(kind="twice", reason=f"{placement.name!r} is placed twice."))
        elif placement.name not in known:
            faults.append(MemoryFault(kind="unknown", reason=f"{placement.name!r} is placed but not in the problem."))
        else:
            offsets[placement.name] = placement.offset_bytes

    extents: list[tuple[str, int, int, int, int]] = []  # name, first byte, one past the last, first step, one past
    for name, buffer in known.items():
        if name not in offsets:
            faults.append(MemoryFault(kind="missing", reason=f"{name!r} is not placed."))
            continue
        first = offsets[name]
        if first < 0:
            faults.append(MemoryFault(kind="negative", reason=f"{name!r} begins at {first}, before the memory does."))
        if first % buffer.alignment_bytes:
            reason = f"{name!r} begins at {first}, which is no multiple of its alignment {buffer.alignment_bytes}."
            faults.append(MemoryFault(kind="unaligned", reason=reason))
        size = buffer.size_bytes
        while size % buffer.alignment_bytes:
            size += buffer.alignment_bytes - size % buffer.alignment_bytes
        extents.append((name, first, first + size, buffer.start, buffer.end))

    for one, other in combinations(extents, 2):
        shared_bytes = min(one[2], other[2]) - max(one[1], other[1])
        shared_steps = min(one[4], other[4]) - max(one[3], other[3])
        if shared_bytes > 0 and shared_steps > 0:
            reason = f"{one[0]!r} and {other[0]!r} share {shared_bytes} bytes during {shared_steps} steps."
            faults.append(MemoryFault(kind="overlap", reason=reason))

    highest = max((extent[2] for extent in extents), default=0)
    if highest != plan.peak_bytes:
        reason = f"The plan says that its peak is {plan.peak_bytes} bytes; it is {highest}."
        faults.append(MemoryFault(kind="peak", reason=reason))
    if problem.capacity_bytes is not None and highest > problem.capacity_bytes:
        reason = f"The peak of {highest} bytes is over the capacity of {problem.capacity_bytes}."
        faults.append(MemoryFault(kind="capacity", reason=reason))
    bound = max(
        (sum(extent[2] - extent[1] for extent in extents if extent[3] <= moment[3] < extent[4]) for moment in extents),
        default=0,
    )
    if bound != plan.lower_bound_bytes:
        reason = f"The plan says that the lower bound is {plan.lower_bound_bytes} bytes; it is {bound}."
        faults.append(MemoryFault(kind="bound", reason=reason))
    return tuple(faults)
