"""Builder: the program while it is being written, and what each value of the model is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lowering.model_reader import (
    FLUSH,
    HALF_SUMS,
    LIKELY_INSIDE,
    MAX_ELEMENTS,
    MEMORY,
    UNIT,
    UNROLL,
    ModelReader,
)
from metainfer_core.numerics.program import (
    CODES_IN_BYTES,
    ELEMENT_BYTES,
    ElementType,
    Quantization,
    Step,
    Tensor,
    code_limits,
)
from metainfer_core.numerics.signatures import signature
from metainfer_core.values import sha256

MAX_RANK = 6
"""Axes that a kernel walks along (kernels/vector.hpp)."""
_KINDS: dict[str, ElementType] = {
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "bool": "bool",
}


@dataclass(frozen=True)
class Integers:
    """A tensor of codes in the program, and the real numbers that it stands for: scale * (integer - zero_point)."""

    tensor: str
    scale: np.float32
    zero_point: int
    bits: int = 8
    """Of a code."""

    def same_scale(self, other: Integers) -> bool:
        """Whether the same integers are there in both, and mean the same real numbers."""
        return self.grid == other.grid

    @property
    def grid(self) -> Grid:
        """Which real numbers its codes can stand for."""
        return Grid(self.scale, self.zero_point, self.bits)

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest code."""
        return code_limits(self.bits)


class Grid(NamedTuple):
    """The real numbers of a tensor of codes: scale * (code - zero_point)."""

    scale: np.float32
    zero_point: int
    bits: int
    """Of a code: at most 8."""

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest code."""
        return code_limits(self.bits)


@dataclass(frozen=True)
class ChannelIntegers:
    """An int8 tensor whose channels (axis 1) each have a scale; one zero point, so that padding is 0 in all of them."""

    tensor: str
    scales: np.ndarray
    """float32, one a channel."""
    zero_point: int
    bits: int = 8
    """Of a code."""

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest code."""
        return code_limits(self.bits)


class Builder(ModelReader):
    """Collects tensors, constants and steps; nodes are lowered one by one in execution order."""

    def __init__(self, graph: ir.Graph) -> None:
        super().__init__(graph)
        self.constants: dict[str, bytes] = {}
        self.steps: list[Step] = []
        self.absorbed: set[ir.Node] = set()
        """Nodes that an earlier kernel computes as well."""
        self.keeps_float = False
        """Whether the node that is being lowered must not compute on integers."""
        self._tensors: dict[str, Tensor] = {}
        self._names: dict[ir.Value, str] = {}
        self._integers: dict[ir.Value, Integers] = {}
        self._quantized: dict[ir.Value, Integers] = {}
        self._wide: dict[ir.Value, Integers] = {}
        self._by_channel: dict[ir.Value, ChannelIntegers] = {}
        self._reserved = {*graph.initializers, *(str(value.name) for value in graph.inputs)}
        self._reserved |= {str(value.name) for node in graph for value in node.outputs}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor declared so far."""
        return tuple(self._tensors.values())

    # What a value is in the program

    def tensor(self, value: ir.Value | None) -> str:
        """The tensor that holds the value in the model's own element type; the empty text where it is left out."""
        if value is None:
            return ""
        if value in self._names:
            return self._names[value]
        array = self.array(value)
        if array is not None:
            name = self.constant(str(value.name), array, memory=value.metadata_props.get(MEMORY), is_own=True)
            self._names[value] = name
            return name
        integers = self._integers.get(value)
        if integers is not None:
            return self._dequantize(value, integers)
        if value in self._wide:
            return self._dequantize(value, self._wide[value], "dequantize_int16")
        if value in self._by_channel:
            return self._dequantize(value, self._by_channel[value])
        if value in self._quantized:
            return self._as_uint8(value, self._quantized[value])
        raise UnsupportedError(
            f"{value.name!r} is read before it is computed.", "The graph is not in order.", "Import the model again."
        )

    def integers(self, value: ir.Value | None) -> Integers | None:
        """The int8 tensor that the value is the dequantized form of; None where it is not one."""
        if value is None or self.keeps_float:
            return None
        found = self._integers.get(value)
        if found is None:
            constant = self.constant_integers(value)
            if constant is not None and constant.axis is None:
                quantization = Quantization(
                    scales=(float(constant.scales[0]),), zero_points=(int(constant.zero_points[0]),)
                )
                producer = value.producer()
                assert producer is not None
                assert producer.inputs[0] is not None
                own = str(producer.inputs[0].name)
                name = self.constant(own, constant.codes, quantization, is_own=True, bits=constant.bits)
                found = Integers(name, constant.scales[0], int(constant.zero_points[0]), constant.bits)
                self._integers[value] = found
        return found

    def quantized(self, value: ir.Value | None) -> Integers | None:
        """The int8 tensor that holds a value of 8-bit integers; None where it is not in the program."""
        return self._quantized.get(value) if value is not None else None

    def set_quantized(self, value: ir.Value, integers: Integers) -> None:
        """From now on a value of 8-bit integers is known to lie in this tensor."""
        self._quantized[value] = integers
        if value.dtype in (ir.DataType.INT8, ir.DataType.INT4):
            self._names[value] = integers.tensor

    def is_real(self, value: ir.Value) -> bool:
        """Whether the value already lies in the program in its own element type."""
        return value in self._names

    def set_integers(self, value: ir.Value, integers: Integers) -> None:
        """From now on the value is known as the dequantized form of these integers."""
        self._integers[value] = integers

    def wide(self, value: ir.Value | None) -> Integers | None:
        """The int16 tensor that the value is the dequantized form of; None where it is not one."""
        if value is None or self.keeps_float:
            return None
        found = self._wide.get(value)
        constant = self.wide_constant(value) if found is None else None
        if constant is not None:
            codes, scale = constant
            quantization = Quantization(scales=(float(scale),), zero_points=(0,))
            producer = value.producer()
            assert producer is not None
            assert producer.inputs[0] is not None
            name = self.constant(str(producer.inputs[0].name), codes, quantization, is_own=True)
            found = self._wide[value] = Integers(name, scale, 0)
        return found

    def set_wide(self, value: ir.Value, integers: Integers) -> None:
        """From now on the value is known as the dequantized form of these 16-bit integers."""
        self._wide[value] = integers

    def by_channel(self, value: ir.Value | None) -> ChannelIntegers | None:
        """The int8 tensor with a scale a channel whose dequantized form the value is; None where it is not one."""
        return self._by_channel.get(value) if value is not None and not self.keeps_float else None

    def set_by_channel(self, value: ir.Value, integers: ChannelIntegers) -> None:
        """From now on the value is known as the dequantized form of these integers."""
        self._by_channel[value] = integers

    def alias(self, value: ir.Value, tensor: str) -> None:
        """From now on the value is known as this tensor."""
        self._names[value] = tensor

    # Writing the program

    def output(self, value: ir.Value) -> str:
        """Declares the tensor of a value that the next step computes, or of an input of the model.

        Returns the empty text where nothing reads it.
        """
        if not value.name or not (value.uses() or value.is_graph_output() or value.is_graph_input()):
            return ""
        memory = value.metadata_props.get(MEMORY)
        name = self.declare(str(value.name), self.element_type(value), self.shape(value), None, memory, True)
        self._names[value] = name
        return name

    def integer_output(self, value: ir.Value, grid: Grid, shape: Sequence[int], name: str = "") -> Integers:
        """Declares the tensor of codes of a value that the next step computes, under the value's name or another."""
        quantization = Quantization(scales=(float(grid.scale),), zero_points=(grid.zero_point,))
        return Integers(self._declare_integers(value, quantization, shape, name, grid.bits), *grid)

    def channel_output(self, value: ir.Value, scales: np.ndarray, zero_point: int, bits: int) -> str:
        """Declares the int8 tensor, with a scale a channel, of a value that the next step computes."""
        quantization = Quantization(
            scales=tuple(float(scale) for scale in scales),
            zero_points=(zero_point,),
            axis=1 if scales.size > 1 else None,
        )
        return self._declare_integers(value, quantization, self.shape(value), "", bits)

    def _declare_integers(
        self, value: ir.Value, quantization: Quantization, shape: Sequence[int], name: str, bits: int = 8
    ) -> str:
        memory = value.metadata_props.get(MEMORY)
        is_own = not name
        if value.dtype == ir.DataType.UINT8 and value.is_graph_output():
            name, is_own = f"{value.name}.int8", False  # the value itself is a uint8 output
        return self.declare(name or str(value.name), CODES_IN_BYTES[bits], tuple(shape), quantization, memory, is_own)

    def declare(
        self,
        name: str,
        element_type: ElementType,
        shape: Sequence[int],
        quantization: Quantization | None = None,
        memory: str | None = None,
        is_own: bool = False,
    ) -> str:
        """Declares a tensor; returns its name, which is `name` or, where that is taken, one made from it.

        The names of the model's values are taken: only the value itself (`is_own`) gets its name.
        """
        name = self._free_name(name, is_own)
        if len(shape) and math.prod(shape) * ELEMENT_BYTES[element_type] > MAX_ELEMENTS:
            raise UnsupportedError(
                f"{name!r} has {math.prod(shape) * ELEMENT_BYTES[element_type]:,} bytes.",
                f"Kernels take up to {MAX_ELEMENTS:,} a tensor.",
            )
        self._tensors[name] = Tensor(
            name=name, element_type=element_type, shape=tuple(shape), quantization=quantization, memory=memory
        )
        return name

    def constant(
        self,
        name: str,
        array: np.ndarray,
        quantization: Quantization | None = None,
        memory: str | None = None,
        is_own: bool = False,
        bits: int = 8,
    ) -> str:
        """Declares a constant and keeps its bytes, little-endian and row-major; int8 may be codes of fewer bits."""
        if array.dtype.name not in _KINDS:
            raise UnsupportedError(
                f"The constant {name!r} holds {array.dtype.name} numbers.",
                f"Kernels exist for {', '.join(_KINDS)}.",
                "Convert the model, for instance to float32.",
            )
        if array.size == 0:
            raise UnsupportedError(f"The constant {name!r} has no elements.")
        data = _little_endian(array)
        digest = sha256(data)
        self.constants[digest] = data
        kind = CODES_IN_BYTES[bits] if bits != 8 else _KINDS[array.dtype.name]
        name = self.declare(name, kind, array.shape, quantization, memory, is_own)
        self._tensors[name] = Tensor.model_validate({**dict(self._tensors[name]), "constant": digest})
        return name

    def count(self, tensor: str) -> int:
        """How many elements a declared tensor has."""
        return math.prod(self._tensors[tensor].shape)

    def emit(
        self,
        kernel: str,
        nodes: Sequence[ir.Node],
        inputs: Sequence[str],
        outputs: Sequence[str],
        params: Mapping[str, object],
    ) -> None:
        """Appends one kernel call that computes these nodes."""
        if not any(outputs):
            return
        self.steps.append(
            Step(
                kernel=kernel,
                node_ids=self.node_ids(*nodes),
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                params={**_rounding(kernel, nodes[0]), **_loop(kernel, nodes[0]), **params},
                unit=nodes[0].metadata_props.get(UNIT),
            )
        )

    def _dequantize(
        self, value: ir.Value, integers: Integers | ChannelIntegers, kernel: str = "dequantize_int8"
    ) -> str:
        producer = value.producer()
        assert producer is not None
        shape = self._tensors[integers.tensor].shape
        scales = integers.scales if isinstance(integers, ChannelIntegers) else np.array([integers.scale], np.float32)
        zero_points = np.full(scales.size, integers.zero_point, np.int32)
        name = self.output(value) or self.declare(str(value.name), "float32", shape, is_own=True)
        self._names[value] = name
        self.emit(
            kernel,
            (producer,),
            (
                integers.tensor,
                self.constant(f"{name}.scale", scales),
                self.constant(f"{name}.zero_point", zero_points),
            ),
            (name,),
            conversion_params(shape, 1, scales.size),
        )
        return name

    def _as_uint8(self, value: ir.Value, integers: Integers) -> str:
        producer = value.producer()
        assert producer is not None
        self._names[value] = name = self.declare(str(value.name), "uint8", self.shape(value), is_own=True)
        self.shift_by_128((producer,), integers.tensor, name)
        return name

    def shift_by_128(self, nodes: Sequence[ir.Node], source: str, target: str) -> None:
        """Changes between uint8 and int8 codes: either way, the top bit flips."""
        table = self.constant(f"{target}.table", np.arange(256, dtype=np.uint8).view(np.int8))
        self.emit("lookup_int8", nodes, (source, table), (target,), {"count": math.prod(self._tensors[source].shape)})

    def _free_name(self, name: str, is_own: bool) -> str:
        taken = self._tensors.keys() if is_own else self._tensors.keys() | self._reserved
        if name not in taken:
            return name
        taken = self._tensors.keys() | self._reserved
        number = 2
        while f"{name}.{number}" in taken:
            number += 1
        return f"{name}.{number}"


def conversion_params(shape: Sequence[int], axis: int, channels: int) -> dict[str, object]:
    """How a conversion between floats and integers walks a tensor with one scale, or with one for each channel."""
    if channels == 1:
        return {"outer": 1, "channels": 1, "inner": math.prod(shape)}
    return {"outer": math.prod(shape[:axis]), "channels": channels, "inner": math.prod(shape[axis + 1 :])}


def _little_endian(array: np.ndarray) -> bytes:
    """The bytes of an array, row-major; bfloat16, which numpy does not know, as its bits."""
    plain = np.ascontiguousarray(array)
    bits = plain.view(np.uint16) if plain.dtype.name == "bfloat16" else plain
    return bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes()


def _loop(kernel: str, node: ir.Node) -> dict[str, int]:
    """How the loops of the kernel are written out, as the node is marked."""
    marks = {"unroll": UNROLL, "likely_inside": LIKELY_INSIDE}
    asked = {name: int(node.metadata_props[mark]) for name, mark in marks.items() if mark in node.metadata_props}
    known = {field.name for field in signature(kernel).fields} if asked else set()
    return {name: value for name, value in asked.items() if name in known}


def _rounding(kernel: str, node: ir.Node) -> dict[str, int]:
    """How a kernel on 16-bit floats rounds, as the node is marked."""
    if not kernel.endswith("float16"):
        return {}
    known = {field.name for field in signature(kernel).fields}
    marks = {"half_sums": HALF_SUMS, "flush": FLUSH}
    return {name: 1 for name, mark in marks.items() if name in known and node.metadata_props.get(mark) == "1"}
