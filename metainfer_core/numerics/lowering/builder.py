"""Builder: the program while it is being written, and what each value of the model is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.program import ELEMENT_BYTES, ElementType, Quantization, Step, Tensor
from metainfer_core.values import sha256

FROM, FUSED_WITH, MEMORY, UNIT = "metainfer.from", "metainfer.fused_with", "metainfer.memory", "metainfer.unit"
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
MAX_ELEMENTS = (1 << 31) - 1
MAX_RANK = 6

_ELEMENT_TYPES: dict[str, ElementType] = {
    "FLOAT": "float32",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
}


@dataclass(frozen=True)
class Integers:
    """An int8 tensor of the program, and the real numbers that it stands for: scale * (integer - zero_point)."""

    tensor: str
    scale: np.float32
    zero_point: int

    def same_scale(self, other: Integers) -> bool:
        """Whether the same integer means the same real number in both."""
        return self.scale == other.scale and self.zero_point == other.zero_point


@dataclass(frozen=True)
class ConstantIntegers:
    """A constant of 8-bit integers (as int8, whatever the model stores) with scales for all or along one axis."""

    codes: np.ndarray
    scales: np.ndarray
    zero_points: np.ndarray
    axis: int | None


class Builder:
    """Collects tensors, constants and steps; nodes are lowered one by one in execution order."""

    def __init__(self, graph: ir.Graph) -> None:
        self.graph = graph
        self.constants: dict[str, bytes] = {}
        self.steps: list[Step] = []
        self.absorbed: set[ir.Node] = set()
        """Nodes that an earlier kernel computes as well."""
        self._tensors: dict[str, Tensor] = {}
        self._names: dict[ir.Value, str] = {}
        self._integers: dict[ir.Value, Integers] = {}
        self._quantized: dict[ir.Value, Integers] = {}
        self._arrays: dict[ir.Value, np.ndarray | None] = {}
        self._followers: dict[str, list[ir.Node]] = {}
        for node in graph:
            if FUSED_WITH in node.metadata_props:
                self._followers.setdefault(node.metadata_props[FUSED_WITH], []).append(node)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor declared so far."""
        return tuple(self._tensors.values())

    # What a value is in the model

    def shape(self, value: ir.Value) -> tuple[int, ...]:
        """Its static shape, of at least one element; raises UnsupportedError."""
        if value.shape is None or not value.shape.is_static():
            raise UnsupportedError(
                f"The shape of {value.name!r} is not known.",
                "A program is made for fixed shapes.",
                "Bind the shapes first: meta-infer preprocess --input-shape ...",
            )
        shape = tuple(int(extent) for extent in value.shape.numpy())
        if 0 in shape:
            raise UnsupportedError(f"{value.name!r} has no elements: its shape is {list(shape)}.")
        if math.prod(shape) > MAX_ELEMENTS:
            raise UnsupportedError(
                f"{value.name!r} has {math.prod(shape):,} elements.", f"Kernels take up to {MAX_ELEMENTS:,}."
            )
        return shape

    def element_type(self, value: ir.Value) -> ElementType:
        """Its element type; raises UnsupportedError where no kernel has it."""
        name = value.dtype.name if value.dtype is not None else "unknown"
        if name not in _ELEMENT_TYPES:
            raise UnsupportedError(
                f"{value.name!r} holds {name.lower()} numbers.",
                f"Kernels exist for {', '.join(_ELEMENT_TYPES.values())}.",
                "Convert the model, for instance to float32.",
            )
        return _ELEMENT_TYPES[name]

    def array(self, value: ir.Value | None) -> np.ndarray | None:
        """The value as an array, where it is constant (dequantized, where it is a dequantized constant); else None."""
        if value is None:
            return None
        if value not in self._arrays:
            self._arrays[value] = self._read_array(value)
        return self._arrays[value]

    def _read_array(self, value: ir.Value) -> np.ndarray | None:
        if value.const_value is not None and not value.is_graph_input():
            stored: np.ndarray = value.const_value.numpy()
            return stored
        producer = value.producer()
        if producer is None or producer.op_type != DEQUANTIZE:
            return None
        raw = self.array(producer.inputs[0])
        scale, zero_point = self.array(producer.inputs[1]), self.array(_input(producer, 2))
        if raw is None or scale is None:
            return None
        axis = producer.attributes.get_int("axis", 1)
        zero = np.zeros(scale.shape, np.int32) if zero_point is None else zero_point.astype(np.int32)
        centred: np.ndarray = (raw.astype(np.int32) - _along(zero, raw.ndim, axis)).astype(np.float32)
        real: np.ndarray = centred * _along(scale.astype(np.float32), raw.ndim, axis)
        return real

    def constant_integers(self, value: ir.Value | None) -> ConstantIntegers | None:
        """The integers of a constant that is stored in 8 bits and dequantized; None where it is not."""
        producer = value.producer() if value is not None else None
        if producer is None or producer.op_type != DEQUANTIZE:
            return None
        raw, scale = self.array(producer.inputs[0]), self.array(producer.inputs[1])
        if raw is None or scale is None or raw.dtype not in (np.int8, np.uint8):
            return None
        zero_point = self.array(_input(producer, 2))
        zero = np.zeros(scale.shape, np.int32) if zero_point is None else zero_point.astype(np.int32)
        shift = 128 if raw.dtype == np.uint8 else 0
        axis = None if scale.size == 1 else producer.attributes.get_int("axis", 1) % max(raw.ndim, 1)
        return ConstantIntegers(
            (raw.astype(np.int32) - shift).astype(np.int8),
            scale.astype(np.float32).reshape(-1),
            zero.reshape(-1) - shift,
            axis,
        )

    # Structure of the model

    def only_reader(self, value: ir.Value) -> ir.Node | None:
        """The one node that reads the value, once, if the value is no output of the model."""
        uses = value.uses()
        return next(iter(uses)).node if len(uses) == 1 and not value.is_graph_output() else None

    def follower(self, leader: ir.Node) -> ir.Node | None:
        """The activation that was fused into this node's kernel, if one was."""
        found = self._followers.get(str(leader.name), [])
        if len(found) > 1:
            raise UnsupportedError(
                f"{len(found)} nodes are fused into {leader.name}: {', '.join(str(node.name) for node in found)}.",
                "A kernel applies one activation.",
                "Fuse one of them.",
            )
        return found[0] if found else None

    def node_ids(self, *nodes: ir.Node) -> tuple[str, ...]:
        """The nodes' ids, each with the original nodes that it realises."""
        ids: dict[str, None] = {}
        for node in nodes:
            ids[str(node.name)] = None
            if node.op_type not in (QUANTIZE, DEQUANTIZE):
                ids |= dict.fromkeys(part for part in node.metadata_props.get(FROM, "").split(",") if part)
        return tuple(ids)

    # What a value is in the program

    def tensor(self, value: ir.Value | None) -> str:
        """The tensor that holds the value in the model's own element type; the empty text where it is left out."""
        if value is None:
            return ""
        if value in self._names:
            return self._names[value]
        array = self.array(value)
        if array is not None:
            name = self.constant(str(value.name), array, memory=value.metadata_props.get(MEMORY))
            self._names[value] = name
            return name
        integers = self._integers.get(value)
        if integers is not None:
            return self._dequantize(value, integers)
        if value in self._quantized:
            return self._as_uint8(value, self._quantized[value])
        raise UnsupportedError(
            f"{value.name!r} is read before it is computed.", "The graph is not in order.", "Import the model again."
        )

    def integers(self, value: ir.Value | None) -> Integers | None:
        """The int8 tensor that the value is the dequantized form of; None where it is not one."""
        if value is None:
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
                name = self.constant(str(producer.inputs[0].name), constant.codes, quantization)
                found = Integers(name, constant.scales[0], int(constant.zero_points[0]))
                self._integers[value] = found
        return found

    def quantized(self, value: ir.Value | None) -> Integers | None:
        """The int8 tensor that holds a value of 8-bit integers; None where it is not in the program."""
        return self._quantized.get(value) if value is not None else None

    def set_quantized(self, value: ir.Value, integers: Integers) -> None:
        """From now on a value of 8-bit integers is known to lie in this tensor."""
        self._quantized[value] = integers
        if value.dtype == ir.DataType.INT8:
            self._names[value] = integers.tensor

    def is_real(self, value: ir.Value) -> bool:
        """Whether the value already lies in the program in its own element type."""
        return value in self._names

    def set_integers(self, value: ir.Value, integers: Integers) -> None:
        """From now on the value is known as the dequantized form of these integers."""
        self._integers[value] = integers

    def alias(self, value: ir.Value, tensor: str) -> None:
        """From now on the value is known as this tensor."""
        self._names[value] = tensor

    # Writing the program

    def graph_input(self, value: ir.Value) -> str:
        """Declares an input of the model."""
        return self.output(value)

    def output(self, value: ir.Value) -> str:
        """Declares the tensor of a value that the next step computes; the empty text where nothing reads it."""
        if not value.name or not (value.uses() or value.is_graph_output() or value.is_graph_input()):
            return ""
        memory = value.metadata_props.get(MEMORY)
        name = self.declare(str(value.name), self.element_type(value), self.shape(value), memory=memory)
        self._names[value] = name
        return name

    def integer_output(
        self, value: ir.Value, scale: np.float32, zero_point: int, shape: Sequence[int], name: str = ""
    ) -> Integers:
        """Declares the int8 tensor of a value that the next step computes, under the value's name or another."""
        quantization = Quantization(scales=(float(scale),), zero_points=(zero_point,))
        memory = value.metadata_props.get(MEMORY)
        name = name or str(value.name)
        # A name that the model gives to a uint8 output is kept for that output.
        name = f"{name}.int8" if value.dtype == ir.DataType.UINT8 and value.is_graph_output() else name
        return Integers(self.declare(name, "int8", tuple(shape), quantization, memory), scale, zero_point)

    def declare(
        self,
        name: str,
        element_type: ElementType,
        shape: Sequence[int],
        quantization: Quantization | None = None,
        memory: str | None = None,
    ) -> str:
        """Declares a tensor; returns its name, which is `name` or, where that is taken, one made from it."""
        name = self._free_name(name)
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
        self, name: str, array: np.ndarray, quantization: Quantization | None = None, memory: str | None = None
    ) -> str:
        """Declares a constant and keeps its bytes, little-endian and row-major."""
        kinds: dict[str, ElementType] = {kind: kind for kind in ELEMENT_BYTES}  # type: ignore[misc]
        if array.dtype.name not in kinds:
            raise UnsupportedError(
                f"The constant {name!r} holds {array.dtype.name} numbers.",
                f"Kernels exist for {', '.join(kinds)}.",
                "Convert the model, for instance to float32.",
            )
        if array.size == 0:
            raise UnsupportedError(f"The constant {name!r} has no elements.")
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        digest = sha256(data)
        self.constants[digest] = data
        name = self.declare(name, kinds[array.dtype.name], array.shape, quantization, memory)
        self._tensors[name] = Tensor.model_validate({**dict(self._tensors[name]), "constant": digest})
        return name

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
                params=dict(params),
                unit=nodes[0].metadata_props.get(UNIT),
            )
        )

    def _dequantize(self, value: ir.Value, integers: Integers) -> str:
        producer = value.producer()
        assert producer is not None
        shape = self._tensors[integers.tensor].shape
        name = self.output(value) or self.declare(str(value.name), "float32", shape)
        self._names[value] = name
        self.emit(
            "dequantize_int8",
            (producer,),
            (
                integers.tensor,
                self.constant(f"{name}.scale", np.array([integers.scale], np.float32)),
                self.constant(f"{name}.zero_point", np.array([integers.zero_point], np.int32)),
            ),
            (name,),
            {"outer": 1, "channels": 1, "inner": math.prod(shape)},
        )
        return name

    def _as_uint8(self, value: ir.Value, integers: Integers) -> str:
        producer = value.producer()
        assert producer is not None
        self._names[value] = name = self.declare(str(value.name), "uint8", self.shape(value))
        self.shift_by_128((producer,), integers.tensor, name)
        return name

    def shift_by_128(self, nodes: Sequence[ir.Node], source: str, target: str) -> None:
        """Changes between uint8 and int8 codes: either way, the top bit flips."""
        table = self.constant(f"{target}.table", np.arange(256, dtype=np.uint8).view(np.int8))
        self.emit("lookup_int8", nodes, (source, table), (target,), {"count": math.prod(self._tensors[source].shape)})

    def _free_name(self, name: str) -> str:
        if name not in self._tensors:
            return name
        number = 2
        while f"{name}.{number}" in self._tensors:
            number += 1
        return f"{name}.{number}"


def unsupported(node: ir.Node, why: str, fix: str = "") -> UnsupportedError:
    """The error that names a node which has no kernel, with the reason."""
    return UnsupportedError(
        f"{node.name} ({node.op_type}) cannot be computed.", why, fix or "Replace the node by ones that are supported."
    )


def required(node: ir.Node, index: int) -> ir.Value:
    """An input that the operator cannot do without."""
    value = _input(node, index)
    if value is None:
        raise unsupported(node, f"Its input {index} is left out.")
    return value


def optional(node: ir.Node, index: int) -> ir.Value | None:
    """An input that may be left out."""
    return _input(node, index)


def _input(node: ir.Node, index: int) -> ir.Value | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _along(parameter: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """Per-axis parameters, shaped so that they broadcast against a tensor of `rank` axes."""
    if parameter.size == 1:
        return parameter.reshape(())
    shape = [1] * rank
    shape[axis % rank] = -1
    return parameter.reshape(shape)
