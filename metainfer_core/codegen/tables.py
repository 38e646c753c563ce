"""The realised table as C++ initialisers: rows, one pool of numbers, one pool of text (see runtime/table.hpp)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from metainfer_core.codegen.compile_plan import CompilePlan, Location, Scratch
from metainfer_core.errors import UnsupportedError
from metainfer_core.npu.device import Device
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.program import Step, Tensor

ABSENT = 0xFFFFFFFF
MOVED = ("rows", "row_bytes", "source_offset", "source_stride", "target_offset", "target_stride")
"""Params of a transfer, in the order in which the table holds them."""
LOOP = ("unroll", "likely_inside")
"""Params that say how loops are written out, in the order in which the table holds them."""
NOWHERE = 0xFFFFFFFFFFFFFFFF


@dataclass
class Pools:
    """Numbers and texts that rows point into."""

    numbers: list[int] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    text_bytes: int = 0

    def text(self, words: str) -> int:
        """Where `words` stands among the texts; each is kept once."""
        if "\0" in words:
            raise UnsupportedError(
                f"The name {words!r} holds a NUL character.",
                "Names are kept in the program as NUL-terminated text.",
                "Rename the node or tensor in the model.",
            )
        if words not in self.texts:
            self.texts[words] = self.text_bytes
            self.text_bytes += len(words.encode()) + 1
        return self.texts[words]

    def list(self, numbers: Iterable[int]) -> str:
        """A `List` initialiser for unsigned 32-bit numbers."""
        first = len(self.numbers)
        self.numbers += numbers
        return f"{{{first}, {len(self.numbers) - first}}}"


def table(plan: CompilePlan, target: str, model: str) -> dict[str, Any]:
    """What the template of the layout prints."""
    pools = Pools()
    pools.list([0])  # so that no pool is empty
    program = plan.program
    by_name = {tensor.name: tensor for tensor in program.tensors}
    index_of = {location.tensor: index for index, location in enumerate(plan.locations)}
    arena_of = {arena.memory: index for index, arena in enumerate(plan.arenas)}
    scratch_of = {scratch.step: scratch for scratch in plan.scratch}
    tensors = [_tensor_row(by_name[one.tensor], one, arena_of, plan.weights_bytes, pools) for one in plan.locations]
    steps = [
        _step_row(index, step, index not in plan.views, index_of, arena_of, scratch_of.get(index), pools)
        for index, step in enumerate(program.steps)
    ]
    arenas = [
        {
            "memory": arena.memory,
            "size_bytes": arena.plan.peak_bytes,
            "alignment_bytes": arena.alignment_bytes,
            "name_text": pools.text(arena.memory),
        }
        for arena in plan.arenas
    ]
    devices = [_device_row(device, arena_of, pools) for device in plan.devices]
    header = {
        "target_text": pools.text(target),
        "model_text": pools.text(model),
        "inputs": pools.list(index_of[name] for name in program.inputs),
        "outputs": pools.list(index_of[name] for name in program.outputs),
    }
    return {
        **header,
        "arenas": arenas,
        "tensors": tensors,
        "steps": steps,
        "devices": devices,
        "transfer_text": pools.text(TRANSFER) if devices else 0,
        "lists": pools.numbers,
        "text": list(pools.texts),
        "text_bytes": pools.text_bytes + 1,
    }


def _tensor_row(
    tensor: Tensor, location: Location, arena_of: dict[str, int], weights_bytes: int, pools: Pools
) -> dict[str, object]:
    quantization = tensor.quantization
    weights_offset = location.weights_offset_bytes
    return {
        "name": tensor.name,
        "name_text": pools.text(tensor.name),
        "size_bytes": tensor.size_bytes,
        "offset_bytes": location.offset_bytes or 0,
        "weights_offset": f"{NOWHERE}ull" if weights_offset is None else weights_offset,
        "element_type": tensor.element_type,
        "arena": ABSENT if location.memory is None else arena_of[location.memory],
        "shape": pools.list(tensor.shape),
        "scales": pools.list(_float_bits(quantization.scales) if quantization else ()),
        "zero_points": pools.list(_unsigned(quantization.zero_points) if quantization else ()),
    }


def _step_row(
    index: int,
    step: Step,
    is_called: bool,
    index_of: dict[str, int],
    arena_of: dict[str, int],
    scratch: Scratch | None,
    pools: Pools,
) -> dict[str, object]:
    return {
        "index": index,
        "kernel": step.kernel,
        "kernel_text": pools.text(step.kernel),
        "unit_text": ABSENT if step.unit is None else pools.text(step.unit),
        "title": ", ".join(step.node_ids),
        "is_called": is_called,
        "scratch_offset": scratch.offset_bytes if scratch else 0,
        "scratch_bytes": scratch.size_bytes if scratch else 0,
        "scratch_arena": arena_of[scratch.memory] if scratch else ABSENT,
        "nodes": pools.list([pools.text(node) for node in step.node_ids]),
        "inputs": pools.list([index_of[name] if name else ABSENT for name in step.inputs]),
        "outputs": pools.list([index_of[name] if name else ABSENT for name in step.outputs]),
        "moved": pools.list([step.params[name] for name in MOVED] if step.kernel == TRANSFER else ()),
        "loop": pools.list([step.params.get(name, 0) for name in LOOP] if set(LOOP) & set(step.params) else ()),
    }


def _device_row(device: Device, arena_of: dict[str, int], pools: Pools) -> dict[str, object]:
    return {
        "unit_text": pools.text(device.unit),
        "arena": arena_of.get(device.memory, ABSENT),
        "alignment_bytes": device.dma.alignment_bytes,
        "granule_bytes": device.dma.granule_bytes,
        "longest_bytes": device.dma.max_transfer_bytes or 0,
    }


def _float_bits(values: Sequence[float]) -> list[int]:
    return [int(struct.unpack("<I", struct.pack("<f", value))[0]) for value in values]


def _unsigned(values: Sequence[int]) -> list[int]:
    return [value & 0xFFFFFFFF for value in values]
