"""Laws of units that DMA feeds, on a built program; a plain checker, which shares no code with staging.

Each law is one function; its docstring is the sentence that a person reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from metainfer_core.spec.hardware_spec import Dma, HardwareSpec
from metainfer_core.verify.realised_graph import Moved, RealisedGraph, RealisedStep, RealisedTensor

FEEDING_TARGETS = ("sim-npu",)
"""Targets on which every unit that has a local memory works in it alone."""

Law = Callable[[RealisedGraph, HardwareSpec, Mapping[str, str]], Iterator[tuple[str, str]]]


def transfer_begins_where_dma_can(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A run that DMA moves begins at a multiple of its alignment, in both memories."""
    alignment = spec.dma.alignment_bytes if spec.dma is not None else None
    for step, moved, tensor, offset, stride in _sides(realised) if alignment else ():
        begins = (tensor.weights_offset_bytes if tensor.offset_bytes is None else tensor.offset_bytes) or 0
        starts = (begins + offset + row * stride for row in range(moved.rows))
        wrong = next((start for start in starts if alignment and start % alignment), None)
        if wrong is not None:
            yield _place(step), f"It begins at byte {wrong:,}, in {tensor.name} (dma.alignment_bytes {alignment})."


def transfer_is_as_long_as_dma_can(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A run that DMA moves is no longer than one descriptor allows, and is made of whole bursts."""
    if spec.dma is None:
        return
    most, burst = spec.dma.max_transfer_bytes, _burst_bytes(spec.dma)
    for step, moved, tensor, offset, _ in _sides(realised):
        if most is not None and moved.row_bytes > most:
            yield _place(step), f"It moves {moved.row_bytes:,} bytes at once (dma.max_transfer_bytes {most:,})."
        if moved.row_bytes % burst == 0:
            continue
        granule = realised.weights_alignment_bytes
        if tensor.memory is not None and tensor.memory in realised.arenas:
            granule = realised.arenas[tensor.memory].alignment_bytes
        at_the_end = moved.rows == 1 and offset + moved.row_bytes == tensor.size_bytes
        if not at_the_end or granule % burst:
            yield (
                _place(step),
                f"It moves {moved.row_bytes:,} bytes of {tensor.name}, no multiple of a burst of {burst} bytes.",
            )


def transfer_stays_inside(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """What DMA moves lies inside the two tensors."""
    for step, moved, tensor, offset, stride in _sides(realised):
        end = offset + (moved.rows - 1) * stride + moved.row_bytes
        if moved.rows < 1 or end > tensor.size_bytes:
            yield _place(step), f"It touches byte {end:,} of {tensor.name}, which has {tensor.size_bytes:,}."


def unit_works_in_its_local_memory(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A unit that DMA feeds computes in its local memory alone."""
    if realised.target not in FEEDING_TARGETS:
        return
    tensors = {tensor.name: tensor for tensor in realised.tensors}
    for step in realised.steps:
        unit = spec.compute_units.get(step.unit or "")
        if unit is None or unit.local_memory is None or step.moved is not None or step.kernel == "view":
            continue
        for name in (*step.inputs, *step.outputs):
            if name and tensors[name].memory != unit.local_memory:
                lies = tensors[name].memory or "the weights"
                yield _place(step), f"{name} lies in {lies} (compute_units.{step.unit}.local_memory)."


def nothing_is_read_before_it_is_there(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each byte that a step reads was brought or computed before."""
    tensors = {tensor.name: tensor for tensor in realised.tensors}
    there: dict[str, np.ndarray] = {}
    for tensor in realised.tensors:
        known = tensor.is_constant or tensor.name in realised.inputs
        there[tensor.name] = np.full(tensor.size_bytes, known, bool)
    for step in realised.steps:
        if step.moved is not None:
            source, target = there[step.inputs[0]], there[step.outputs[0]]
            read = [source[at : at + step.moved.row_bytes] for at in _starts(step.moved, True)]
            missing = [step.inputs[0]] if not all(part.all() for part in read) else []
            for start in _starts(step.moved, False):
                target[start : start + step.moved.row_bytes] = True
        else:
            missing = [name for name in step.inputs if name and not there[name].all()]
            for name in step.outputs:
                if name:
                    there[name][:] = True
        for name in missing:
            yield _place(step), f"{name} ({tensors[name].size_bytes:,} bytes) is not all there."
    for name in realised.outputs:
        if not there[name].all():
            yield name, "The model's output is not all there at the end."


TRANSFER_LAWS: tuple[Law, ...] = (
    transfer_begins_where_dma_can,
    transfer_is_as_long_as_dma_can,
    transfer_stays_inside,
    unit_works_in_its_local_memory,
    nothing_is_read_before_it_is_there,
)


def _sides(realised: RealisedGraph) -> Iterator[tuple[RealisedStep, Moved, RealisedTensor, int, int]]:
    """Each transfer with its source and with its target: the tensor, the offset in it, and the stride."""
    tensors = {tensor.name: tensor for tensor in realised.tensors}
    for step in realised.steps:
        if step.moved is not None:
            moved = step.moved
            yield step, moved, tensors[step.inputs[0]], moved.source_offset, moved.source_stride
            yield step, moved, tensors[step.outputs[0]], moved.target_offset, moved.target_stride


def _starts(moved: Moved, of_source: bool) -> list[int]:
    offset, stride = (
        (moved.source_offset, moved.source_stride) if of_source else (moved.target_offset, moved.target_stride)
    )
    return [offset + row * stride for row in range(moved.rows)]


def _burst_bytes(dma: Dma) -> int:
    """The shortest burst, or one beat where the document gives none; bursts count beats unless it says bytes."""
    beat = (dma.data_width_bits or 8) // 8 or 1
    if dma.burst_length_min is None:
        return beat
    return max(beat, dma.burst_length_min * (1 if dma.burst_unit == "bytes" else beat))


def _place(step: RealisedStep) -> str:
    return f"{step.node_ids[0]}: {step.inputs[0]} -> {step.outputs[0]}" if step.node_ids else step.outputs[0]
