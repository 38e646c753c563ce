"""What a built program really does, as read back from it: steps, tensors, arenas. Plain data, no planner behind it."""

from __future__ import annotations

from typing import Literal

from metainfer_core.numerics.program import ElementType
from metainfer_core.values import FrozenMap, Value


class RealisedTensor(Value):
    """One array as the program addresses it."""

    name: str
    element_type: ElementType
    shape: tuple[int, ...]
    size_bytes: int
    is_constant: bool
    memory: str | None = None
    """Arena that holds it, named after the spec's memory; None for a constant."""
    offset_bytes: int | None = None
    """From the start of its arena; None for a constant."""
    weights_offset_bytes: int | None = None
    """From the start of the linked weights; None for what is no constant."""
    granularity: Literal["tensor", "channel"] | None = None
    """How finely it is quantized; None where it is not."""
    symmetric: bool | None = None
    """Whether every zero point is 0; None where it is not quantized."""
    scales: tuple[float, ...] = ()
    """One for the tensor or one a channel; none where it is not quantized. float32 values."""
    zero_points: tuple[int, ...] = ()


class Moved(Value):
    """What a transfer step moves: `rows` runs of `row_bytes`. Offsets and strides are bytes from a tensor's start."""

    rows: int
    row_bytes: int
    source_offset: int
    source_stride: int
    target_offset: int
    target_stride: int


class Loop(Value):
    """How the loops of a kernel call are written out, where an action asked for it."""

    unroll: int
    """Products in each turn of the innermost loop; 0: as the compiler has it."""
    likely_inside: int
    """1: taps mostly lie inside the input; 2: mostly in the padding; 0: nothing is said."""


class RealisedStep(Value):
    """One kernel call as the program makes it, in execution order."""

    kernel: str
    node_ids: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    scratch: tuple[str, ...] = ()
    unit: str | None = None
    moved: Moved | None = None
    """Of a transfer step; None for all others."""
    loop: Loop | None = None
    """None where no action asked for another form of its loops."""


class Arena(Value):
    """One static block of memory of the program."""

    size_bytes: int
    alignment_bytes: int


class RealisedGraph(Value):
    """A built program, as read back from its binary."""

    format: Literal["metainfer.realised/1"] = "metainfer.realised/1"
    target: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[RealisedStep, ...]
    tensors: tuple[RealisedTensor, ...]
    arenas: FrozenMap[Arena]
    """Keyed by the name of the spec's memory."""
    weights_alignment_bytes: int = 1
    """Each constant begins at a multiple of this in the linked weights."""
