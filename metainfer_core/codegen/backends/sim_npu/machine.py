"""The simulated machine: memories byte by byte, each byte knowing what was written there last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metainfer_core.codegen.compile_plan import CompilePlan, Location
from metainfer_core.numerics.program import Program, Tensor
from metainfer_core.numerics.signatures import SCRATCH_ALIGNMENT_BYTES, signature

NOBODY = 0
SCRATCH = -1
WEIGHTS = "the weights"


@dataclass(frozen=True)
class Span:
    """Bytes of one memory."""

    memory: str
    start: int
    size: int


class Machine:
    """The memories of a plan with the weights, and for each byte the tensor that was written there last.

    Args:
        plan: Where everything lies.
        weights: The image of the constants.
    """

    def __init__(self, plan: CompilePlan, weights: bytes) -> None:
        self.tensors: dict[str, Tensor] = {tensor.name: tensor for tensor in plan.program.tensors}
        self.locations: dict[str, Location] = {location.tensor: location for location in plan.locations}
        self.memories = {arena.memory: _aligned(arena.plan.peak_bytes) for arena in plan.arenas}
        self.memories[WEIGHTS] = _aligned(len(weights))
        self.memories[WEIGHTS][:] = np.frombuffer(weights, np.uint8)
        self._writers = {name: np.zeros(len(memory), np.int32) for name, memory in self.memories.items()}
        self._numbers = _numbers(plan.program)
        self._names: dict[int, str] = {number: name for name, number in reversed(list(self._numbers.items()))}
        self._names[SCRATCH] = "scratch"
        for name, location in self.locations.items():
            if location.weights_offset_bytes is not None:
                self._load(name, location)

    def span(self, name: str) -> Span:
        """Where a tensor lies."""
        location = self.locations[name]
        if location.memory is None:
            return Span(WEIGHTS, location.weights_offset_bytes or 0, self.tensors[name].size_bytes)
        return Span(location.memory, location.offset_bytes or 0, self.tensors[name].size_bytes)

    def room(self, memory: str) -> int:
        """Bytes of one memory."""
        return len(self.memories[memory])

    def holds(self, span: Span) -> bool:
        """Whether the span lies inside its memory."""
        return span.memory in self.memories and span.start >= 0 and span.start + span.size <= self.room(span.memory)

    def view(self, span: Span) -> np.ndarray:
        """The bytes themselves."""
        return self.memories[span.memory][span.start : span.start + span.size]

    def wrote(self, span: Span, name: str | None) -> None:
        """Notes that a tensor (None: a step's working space) was written there."""
        number = SCRATCH if name is None else self._numbers[name]
        self._writers[span.memory][span.start : span.start + span.size] = number

    def intruder(self, span: Span, name: str) -> str | None:
        """What stands in the span in the place of the tensor: another tensor's name or `nothing`; None: it is there."""
        wrong = self._writers[span.memory][span.start : span.start + span.size] != self._numbers[name]
        if not wrong.any():
            return None
        number = int(self._writers[span.memory][span.start + int(np.argmax(wrong))])
        return self._names.get(number, "nothing")

    def _load(self, name: str, location: Location) -> None:
        size = self.tensors[name].size_bytes
        stored = Span(WEIGHTS, location.weights_offset_bytes or 0, size)
        self.wrote(stored, name)
        span = self.span(name)
        if span.memory != WEIGHTS and self.holds(span):
            self.view(span)[:] = self.view(stored)
            self.wrote(span, name)


def _numbers(program: Program) -> Mapping[str, int]:
    """A number for each tensor; views have that of the tensor whose bytes they are, equal constants the same."""
    numbers: dict[str, int] = {}
    constants: dict[str, int] = {}
    for index, tensor in enumerate(program.tensors, start=NOBODY + 1):
        numbers[tensor.name] = constants.setdefault(tensor.constant, index) if tensor.constant else index
    for step in program.steps:
        if signature(step.kernel).is_view:
            numbers[step.outputs[0]] = numbers[step.inputs[0]]
    return numbers


def _aligned(size: int) -> np.ndarray:
    block = np.zeros(size + SCRATCH_ALIGNMENT_BYTES, np.uint8)
    start = -block.ctypes.data % SCRATCH_ALIGNMENT_BYTES
    return block[start : start + size]
