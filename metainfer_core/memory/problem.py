"""What has to be placed in one memory, and where it was placed. Times are half-open: [start, end)."""

from __future__ import annotations

from metainfer_core.values import Value


class Buffer(Value):
    """One array that must lie in the memory while it is alive."""

    name: str
    size_bytes: int
    start: int
    """First step that uses it."""
    end: int
    """One past the last step that uses it."""
    alignment_bytes: int = 1


class MemoryProblem(Value):
    """Buffers that share one memory."""

    memory: str
    """Name of the memory in the spec."""
    capacity_bytes: int | None
    """A hard cap; None where the spec does not tell."""
    buffers: tuple[Buffer, ...]


class Placement(Value):
    """Where one buffer lies."""

    name: str
    offset_bytes: int


class MemoryPlan(Value):
    """A placement for every buffer of a problem."""

    memory: str
    placements: tuple[Placement, ...]
    peak_bytes: int
    lower_bound_bytes: int
    """The most bytes alive at any one time, each rounded up to its alignment: no plan can have a lower peak."""
    planner: str


class MemoryFault(Value):
    """Why a plan does not solve its problem."""

    reason: str
