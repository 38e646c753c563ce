"""Which tensors share one storage: views of the same bytes, and element-wise results over a dead input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.numerics.signatures import Signature


@dataclass
class Storage:
    """Tensors that begin at the same address; alive from `start` to before `end`, counted in steps."""

    tensors: list[str]
    size_bytes: int
    memory: str
    start: int
    end: int
    is_constant: bool = False
    """Read-only: its bytes lie among the weights."""
    loaded: bool = False
    """A constant that a place action put into a memory: copied there at start-up, alive for good."""


def assign_storage(program: Program, default_memory: str, signatures: Sequence[Signature]) -> dict[str, Storage]:
    """The storage of every tensor that the program uses, by tensor name, in order of first use.

    Graph inputs live from the start, graph outputs until the end. A view shares its input's storage unless an action
    placed the two in different memories; an element-wise output takes over an input that nothing reads afterwards.
    """
    tensors = {tensor.name: tensor for tensor in program.tensors}
    last_use = _last_uses(program)
    forever = len(program.steps) + 1
    storages: dict[str, Storage] = {}

    def new(name: str, start: int) -> None:
        tensor = tensors[name]
        memory = tensor.memory or default_memory
        end = max(last_use.get(name, start) + 1, start + 1)
        if tensor.constant is None:
            storages[name] = Storage([name], tensor.size_bytes, memory, start, end)
        else:
            placed = tensor.memory is not None
            storages[name] = Storage([name], tensor.size_bytes, memory, 0, forever, not placed, placed)

    def join(name: str, other: str) -> None:
        storage = storages[other]
        storage.tensors.append(name)
        storage.end = max(storage.end, last_use.get(name, 0) + 1)
        storages[name] = storage

    for name in program.inputs:
        new(name, 0)
    for index, step in enumerate(program.steps):
        for name in step.inputs:
            if name and name not in storages:  # a constant: everything else was written before
                new(name, 0)
        shared = _shareable(step, index, signatures[index], tensors, storages, default_memory)
        for position, name in enumerate(step.outputs):
            if name in storages:
                continue  # transfers write it part by part; it has lived since the first one
            if name and position == 0 and shared is not None:
                join(name, shared)
            elif name:
                new(name, index)
    for name in program.outputs:
        if name not in storages:
            new(name, 0)
    return storages


def _last_uses(program: Program) -> Mapping[str, int]:
    last: dict[str, int] = {}
    for index, step in enumerate(program.steps):
        for name in (*step.inputs, *step.outputs):
            last[name] = index
    for name in program.outputs:
        last[name] = len(program.steps)
    return last


def _shareable(
    step: Step,
    index: int,
    signature: Signature,
    tensors: Mapping[str, Tensor],
    storages: Mapping[str, Storage],
    default_memory: str,
) -> str | None:
    """The input whose storage output 0 can share, or None."""
    if not step.outputs[0]:
        return None
    output = tensors[step.outputs[0]]
    for position in (0,) if signature.is_view else signature.in_place:
        name = step.inputs[position] if position < len(step.inputs) else ""
        if not name:
            continue
        storage = storages[name]
        same_size = tensors[name].size_bytes == output.size_bytes == storage.size_bytes
        moves = output.memory is not None and output.memory != storage.memory
        if not same_size or moves:
            continue
        if signature.is_view:
            return name
        is_last_reader = storage.end == index + 1
        if (
            is_last_reader
            and not storage.is_constant
            and not storage.loaded
            and storage.memory == (output.memory or default_memory)
        ):
            return name
    return None
