"""What has to be placed in one memory, and where it was placed. Times are half-open: [start, end)."""

from __future__ import annotations

from typing import Literal

import pydantic

from metainfer_core.values import Value


class Buffer(Value):
    """One array that must lie in the memory while it is alive."""

    name: str
    size_bytes: int = pydantic.Field(ge=0)
    start: int
    """First step that uses it."""
    end: int
    """One past the last step that uses it."""
    alignment_bytes: int = pydantic.Field(default=1, ge=1)
    """Its address is a multiple of this, and so is what it occupies: the tail after the last byte is its own (vector
    loads and DMA bursts touch it)."""

    @pydantic.model_validator(mode="after")
    def _lives(self) -> Buffer:
        if self.end <= self.start:
            raise ValueError(f"buffer {self.name!r} ends at {self.end}, which is not after its start {self.start}")
        return self

    @property
    def occupied_bytes(self) -> int:
        """Its size, rounded up to its alignment."""
        return -(-self.size_bytes // self.alignment_bytes) * self.alignment_bytes

    def meets(self, other: Buffer) -> bool:
        """Whether both are alive at some one time."""
        return self.start < other.end and other.start < self.end


class MemoryProblem(Value):
    """Buffers that share one memory."""

    memory: str
    """Name of the memory in the spec."""
    capacity_bytes: int | None
    """A hard cap; None where the spec does not tell."""
    buffers: tuple[Buffer, ...]
    weights_bytes: int = 0
    """What the memory stores besides; the cap is without it."""

    @pydantic.model_validator(mode="after")
    def _names_are_unique(self) -> MemoryProblem:
        seen: set[str] = set()
        for buffer in self.buffers:
            if buffer.name in seen:
                raise ValueError(f"two buffers are named {buffer.name!r}")
            seen.add(buffer.name)
        return self


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

    kind: Literal["missing", "unknown", "twice", "negative", "unaligned", "overlap", "capacity", "peak", "bound"]
    reason: str
    """A full sentence that names the buffers and bytes."""
