"""CompilePlan: a program with an address for every tensor. Backends write it out; nothing is allocated at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from metainfer_core.codegen.memories import alignment_bytes, weights_memory
from metainfer_core.codegen.storage import Storage, assign_storage
from metainfer_core.errors import DefectError, DoesNotFitError
from metainfer_core.memory.check_plan import check_plan
from metainfer_core.memory.plan import plan
from metainfer_core.memory.problem import Buffer, MemoryPlan, MemoryProblem
from metainfer_core.npu.device import Device
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program, Tensor
from metainfer_core.numerics.signatures import SCRATCH_ALIGNMENT_BYTES, scratch_bytes, signature
from metainfer_core.spec.default_memory import capacity_bytes, default_memory
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value


class ArenaPlan(Value):
    """One static block of memory: what has to lie in it and where it does."""

    problem: MemoryProblem
    plan: MemoryPlan
    alignment_bytes: int

    @property
    def memory(self) -> str:
        """Name of the spec's memory that it stands for."""
        return self.plan.memory


class Location(Value):
    """Where one tensor lies."""

    tensor: str
    memory: str | None = None
    """Arena that holds it; None where it is only read from the weights."""
    offset_bytes: int | None = None
    """From the start of that arena."""
    weights_offset_bytes: int | None = None
    """From the start of the weights, where it is a constant; it is copied to the arena at start-up if that is set."""


class Scratch(Value):
    """Working space of one step."""

    step: int
    memory: str
    offset_bytes: int
    size_bytes: int


class CompilePlan(Value):
    """A program, and an address for every tensor that it uses."""

    format: Literal["metainfer.compile_plan/1"] = "metainfer.compile_plan/1"
    spec: str
    program: Program
    views: tuple[int, ...]
    """Steps that need no call: their output shares its input's bytes."""
    arenas: tuple[ArenaPlan, ...]
    locations: tuple[Location, ...]
    scratch: tuple[Scratch, ...]
    weights: tuple[str, ...]
    """Digests of the constants, in the order in which they stand in the weights."""
    weights_bytes: int
    weights_memory: str
    weights_alignment_bytes: int
    devices: tuple[Device, ...] = ()
    """Units that work in their local memory alone, fed by DMA; none where every step works where its tensors lie."""

    @property
    def peak_bytes(self) -> int:
        """Bytes of all arenas."""
        return sum(arena.plan.peak_bytes for arena in self.arenas)

    @property
    def lower_bound_bytes(self) -> int:
        """The proven lower bound of `peak_bytes`, given which tensors share storage."""
        return sum(arena.plan.lower_bound_bytes for arena in self.arenas)


def compile_plan(lowered: Lowered, spec: HardwareSpec, fed: tuple[Device, ...] = ()) -> CompilePlan:
    """Places every tensor of the program in the spec's memories.

    Args:
        lowered: The program.
        spec: Its memories hold the arenas.
        fed: The units that the program's transfers feed; tensors then begin where DMA can.

    Raises:
        DoesNotFitError: a memory is too small for what was placed in it, or for the weights.
        InputError: the spec's alignments make no sense.
    """
    program = lowered.program
    tensors = {tensor.name: tensor for tensor in program.tensors}
    units = frozenset(step.unit for step in program.steps if step.unit is not None)
    default = default_memory(spec, units)
    signatures = tuple(signature(step.kernel) for step in program.steps)
    storages = assign_storage(program, default, signatures)
    granule = max((device.dma.unit_bytes for device in fed), default=1)

    def alignment(memory: str) -> int:
        return max(alignment_bytes(spec, memory), granule)

    weights = _lay_out_weights(lowered, tensors, storages, alignment(default))
    stored_in = weights_memory(spec, weights.size_bytes, default)
    _check_weights_fit(spec, stored_in, weights.size_bytes)
    scratch = _scratch_buffers(program, max(alignment(default), SCRATCH_ALIGNMENT_BYTES))

    buffers: dict[str, list[Buffer]] = {default: list(scratch.values())} if scratch else {}
    for name, storage in storages.items():
        if not storage.is_constant and storage.tensors[0] == name:
            buffers.setdefault(storage.memory, []).append(_buffer(name, storage, alignment(storage.memory)))
    arenas = tuple(
        _arena(spec, memory, tuple(buffers[memory]), weights.size_bytes if memory == stored_in else 0)
        for memory in sorted(buffers)
    )
    offsets = {
        (arena.memory, placement.name): placement.offset_bytes
        for arena in arenas
        for placement in arena.plan.placements
    }
    return CompilePlan(
        spec=f"{spec.name} {spec.version}",
        program=program,
        views=tuple(
            index
            for index, step in enumerate(program.steps)
            if signatures[index].is_view and storages[step.outputs[0]] is storages[step.inputs[0]]
        ),
        arenas=arenas,
        locations=tuple(
            _location(name, storage, tensors, offsets, weights.offsets) for name, storage in storages.items()
        ),
        scratch=tuple(
            Scratch(
                step=index, memory=default, offset_bytes=offsets[default, buffer.name], size_bytes=buffer.size_bytes
            )
            for index, buffer in scratch.items()
        ),
        weights=tuple(weights.offsets),
        weights_bytes=weights.size_bytes,
        weights_memory=stored_in,
        weights_alignment_bytes=weights.alignment_bytes,
        devices=fed,
    )


def weights_image(plan: CompilePlan, constants: Mapping[str, bytes]) -> bytes:
    """The bytes that are linked into the program: every constant once, each at an aligned offset."""
    image = bytearray()
    for digest in plan.weights:
        image += constants[digest]
        image += bytes(-len(image) % plan.weights_alignment_bytes)
    return bytes(image)


@dataclass(frozen=True)
class _Weights:
    """Digests of the constants with the offset of each, in order of first use; equal constants are kept once."""

    offsets: Mapping[str, int]
    size_bytes: int
    alignment_bytes: int


def _lay_out_weights(
    lowered: Lowered, tensors: Mapping[str, Tensor], storages: Mapping[str, Storage], alignment: int
) -> _Weights:
    offsets: dict[str, int] = {}
    size = 0
    for name in storages:
        digest = tensors[name].constant
        if digest is not None and digest not in offsets:
            offsets[digest] = size
            size += -(-len(lowered.constants[digest]) // alignment) * alignment
    return _Weights(offsets, size, alignment)


def _scratch_buffers(program: Program, alignment: int) -> dict[int, Buffer]:
    """The working space of each step that needs some, by step."""
    taken = {tensor.name for tensor in program.tensors}
    found = {}
    for index, step in enumerate(program.steps):
        size = scratch_bytes(step)
        name = f"step {index}: scratch"
        while name in taken:
            name += "'"
        if size:
            found[index] = Buffer(name=name, size_bytes=size, start=index, end=index + 1, alignment_bytes=alignment)
    return found


def _buffer(name: str, storage: Storage, alignment: int) -> Buffer:
    return Buffer(
        name=name, size_bytes=storage.size_bytes, start=storage.start, end=storage.end, alignment_bytes=alignment
    )


def _arena(spec: HardwareSpec, memory: str, buffers: tuple[Buffer, ...], weights_bytes: int) -> ArenaPlan:
    capacity = capacity_bytes(spec, memory)
    if capacity is not None:
        capacity -= min(capacity, weights_bytes)
    widest = max(one.alignment_bytes for one in buffers)  # a kernel's working space may want more than the memory
    alike = tuple(Buffer(**{**one.__dict__, "alignment_bytes": widest}) for one in buffers)
    problem = MemoryProblem(memory=memory, capacity_bytes=capacity, buffers=alike, weights_bytes=weights_bytes)
    try:
        found = plan(problem)
    except DoesNotFitError as error:
        fix = f"{error.fix}{_least_counts(spec, memory)}"
        raise DoesNotFitError(error.resource, error.needed, error.available, error.unit, fix) from None
    faults = check_plan(problem, found)
    if faults:
        raise DefectError(f"The plan of memory {memory!r} is wrong.", faults[0].reason, "Please report this.")
    return ArenaPlan(problem=problem, plan=found, alignment_bytes=widest)


def _check_weights_fit(spec: HardwareSpec, memory: str, needed: int) -> None:
    capacity = capacity_bytes(spec, memory)
    if capacity is not None and needed > capacity:
        raise DoesNotFitError(
            f"Memory {memory!r} (memories.{memory}.size_bytes less reserved_bytes), which stores the weights,",
            needed,
            capacity,
            fix="Quantize more, choose a smaller model, or name a larger memory in the spec."
            + _least_counts(spec, memory),
        )


def _least_counts(spec: HardwareSpec, memory: str) -> str:
    """A sentence more where the spec gives a memory's size as a range."""
    size, reserved = spec.memories[memory].size_bytes, spec.memories[memory].reserved_bytes
    if size is None or size.low >= size.high:
        return ""
    less = f", and {reserved:,} are reserved (memories.{memory}.reserved_bytes)" if reserved else ""
    return (
        f" Of {int(size.low):,} to {int(size.high):,} bytes the least counts{less}: "
        f"write the size that is built into memories.{memory}.size_bytes."
    )


def _location(
    name: str,
    storage: Storage,
    tensors: Mapping[str, Tensor],
    offsets: Mapping[tuple[str, str], int],
    weights_offsets: Mapping[str, int],
) -> Location:
    origin = storage.tensors[0]
    digest = tensors[origin].constant
    return Location(
        tensor=name,
        memory=None if storage.is_constant else storage.memory,
        offset_bytes=None if storage.is_constant else offsets[storage.memory, origin],
        weights_offset_bytes=None if digest is None else weights_offsets[digest],
    )
