"""What a package really does, read back from its built binary: the constants that the program itself executes from.

This module imports no planner, no compile plan and no lowering, and reads neither plan.json nor the sources: the
layout that it decodes is that of runtime/table.hpp.
"""

from __future__ import annotations

import struct
from typing import Literal

from metainfer_core.codegen.elf import section
from metainfer_core.codegen.package import Package
from metainfer_core.codegen.scales import check_scales
from metainfer_core.errors import InputError
from metainfer_core.numerics.program import ElementType
from metainfer_core.verify.realised_graph import Arena, Loop, Moved, RealisedGraph, RealisedStep, RealisedTensor

SECTION = ".metainfer"
WEIGHTS_SECTION = ".metainfer_weights"
MAGIC = b"metainf2"
ABSENT = 0xFFFFFFFF
NOWHERE = 0xFFFFFFFFFFFFFFFF
ELEMENT_TYPES: tuple[ElementType, ...] = (
    "float32", "int8", "uint8", "int16", "int32", "int64", "bool", "float16", "bfloat16",
    "int4", "int6",
)  # fmt: skip

HEADER = struct.Struct("<8s 2I 6I 2I 2I 2Q")
ARENA = struct.Struct("<Q 2I")
TENSOR = struct.Struct("<3Q 3I 2I 2I 2I I")
STEP = struct.Struct("<2Q 4I 2I 2I 2I 2I 2I")


def read_realised(package: Package) -> RealisedGraph:
    """The graph that the package's binary executes.

    Raises:
        InputError: the binary is not one of ours.
        DefectError: a kernel computes with other scales than the table declares.
    """
    graph, constants = read_table(section(package.binary, SECTION), section(package.binary, WEIGHTS_SECTION))
    check_scales(graph, constants)
    return graph


def read_constants(package: Package) -> dict[str, bytes]:
    """The bytes of each constant that the package's binary was linked with."""
    return read_table(section(package.binary, SECTION), section(package.binary, WEIGHTS_SECTION))[1]


def read_table(data: bytes, weights: bytes) -> tuple[RealisedGraph, dict[str, bytes]]:
    """The graph in the bytes of a realised table, and the bytes of each constant out of the linked weights."""
    try:
        table = _Table(data)
        return table.graph(), table.constants(weights)
    except (struct.error, IndexError, ValueError) as error:
        raise InputError("The table in the built binary is broken.", f"{error}.", "Build the package again.") from error


class _Table:
    """The decoded rows. Every index is checked by Python; every text and list has an end."""

    def __init__(self, data: bytes) -> None:
        (
            magic, self.target, self.model, arenas, tensors, steps, lists, text_bytes, _,
            inputs_first, inputs_count, outputs_first, outputs_count, self.weights_bytes, self.weights_alignment,
        ) = HEADER.unpack_from(data)  # fmt: skip
        if magic != MAGIC:
            raise ValueError("it does not begin with its mark")
        at = HEADER.size
        self.arena_rows, at = _rows(ARENA, data, at, arenas, max(arenas, 1))
        self.tensor_rows, at = _rows(TENSOR, data, at, tensors, max(tensors, 1))
        self.step_rows, at = _rows(STEP, data, at, steps, max(steps, 1))
        self.lists = struct.unpack_from(f"<{lists}I", data, at)
        self.text = data[at + 4 * lists : at + 4 * lists + text_bytes]
        if len(self.text) != text_bytes:
            raise ValueError("it ends too early")
        self.inputs = self._list(inputs_first, inputs_count)
        self.outputs = self._list(outputs_first, outputs_count)

    def graph(self) -> RealisedGraph:
        tensors = tuple(self._tensor(row) for row in self.tensor_rows)

        def names(indices: tuple[int, ...]) -> tuple[str, ...]:
            return tuple("" if index == ABSENT else tensors[index].name for index in indices)

        arenas = {
            self._text(name): Arena(size_bytes=size, alignment_bytes=alignment)
            for size, alignment, name in self.arena_rows
        }
        steps, scratches = [], []
        for index, row in enumerate(self.step_rows):
            _, _, kernel, unit, scratch_arena, is_called = row[:6]
            nodes, inputs, outputs, moved, loop = (self._list(*row[at : at + 2]) for at in (6, 8, 10, 12, 14))
            scratch: tuple[str, ...] = ()
            if scratch_arena != ABSENT:
                scratches.append(self._scratch(index, row))
                scratch = (scratches[-1].name,)
            steps.append(
                RealisedStep(
                    kernel=self._text(kernel) if is_called else "view",
                    node_ids=tuple(self._text(node) for node in nodes),
                    inputs=names(inputs),
                    outputs=names(outputs),
                    scratch=scratch,
                    unit=None if unit == ABSENT else self._text(unit),
                    moved=_moved(moved),
                    loop=Loop(unroll=loop[0], likely_inside=loop[1]) if loop else None,
                )
            )
        return RealisedGraph(
            target=self._text(self.target),
            inputs=names(self.inputs),
            outputs=names(self.outputs),
            steps=tuple(steps),
            tensors=(*tensors, *scratches),
            arenas=arenas,
            weights_alignment_bytes=self.weights_alignment,
        )

    def constants(self, weights: bytes) -> dict[str, bytes]:
        """The bytes of each constant, by name."""
        found = {}
        for size, _, offset, name, *_ in self.tensor_rows:
            if offset != NOWHERE:
                if offset + size > len(weights):
                    raise ValueError("a constant ends after the weights")
                found[self._text(name)] = weights[offset : offset + size]
        return found

    def _scratch(self, step: int, row: tuple[int, ...]) -> RealisedTensor:
        """The working space of a step, as a tensor of bytes."""
        offset, size, _, _, arena = row[:5]
        return RealisedTensor(
            name=f"{step}: scratch",
            element_type="uint8",
            shape=(size,),
            size_bytes=size,
            memory=self._text(self.arena_rows[arena][2]),
            offset_bytes=offset,
            is_constant=False,
        )

    def _tensor(self, row: tuple[int, ...]) -> RealisedTensor:
        size, offset, weights_offset, name, element_type, arena = row[:6]
        shape, scales, zero_points = (self._list(*row[at : at + 2]) for at in (6, 8, 10))
        granularity: Literal["tensor", "channel"] | None = None
        if scales:
            granularity = "channel" if len(scales) > 1 else "tensor"
        points = tuple(point - (1 << 32) if point >> 31 else point for point in zero_points)
        return RealisedTensor(
            name=self._text(name),
            element_type=ELEMENT_TYPES[element_type],
            shape=shape,
            size_bytes=size,
            memory=None if arena == ABSENT else self._text(self.arena_rows[arena][2]),
            offset_bytes=None if arena == ABSENT else offset,
            weights_offset_bytes=None if weights_offset == NOWHERE else weights_offset,
            is_constant=weights_offset != NOWHERE,
            granularity=granularity,
            symmetric=not any(points) if scales else None,
            scales=struct.unpack(f"<{len(scales)}f", struct.pack(f"<{len(scales)}I", *scales)),
            zero_points=points,
        )

    def _list(self, first: int, count: int) -> tuple[int, ...]:
        if first + count > len(self.lists):
            raise ValueError("a list ends after the table")
        return self.lists[first : first + count]

    def _text(self, at: int) -> str:
        return self.text[at : self.text.index(b"\0", at)].decode()


def _moved(numbers: tuple[int, ...]) -> Moved | None:
    return Moved(**dict(zip(Moved.model_fields, numbers, strict=True))) if numbers else None


def _rows(row: struct.Struct, data: bytes, at: int, count: int, room: int) -> tuple[list[tuple[int, ...]], int]:
    end = at + room * row.size
    if end > len(data):
        raise ValueError("it ends too early")
    return [row.unpack_from(data, at + index * row.size) for index in range(count)], end
