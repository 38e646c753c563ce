"""ModelReader: what a value of the model is before anything is written: shape, type, constant data, readers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.program import ElementType

FROM, FUSED_WITH, MEMORY, UNIT = "metainfer.from", "metainfer.fused_with", "metainfer.memory", "metainfer.unit"
KEEP_FLOAT = "metainfer.keep_float"
HALF_SUMS = "metainfer.half_sums"
"""On a node in 16-bit floats: its sums are rounded to 16 bits as well."""
WEIGHT_BITS = "metainfer.weight_bits"
"""On a DequantizeLinear of constant weights: they are stored in so many bits, and its reader unpacks them."""
CODE_BITS = "metainfer.code_bits"
"""On a QuantizeLinear or DequantizeLinear with codes of int8: they have so many bits, since ONNX has no such type."""
FLUSH = "metainfer.flush"
"""On a node in 16-bit floats: results below the least normal number become zero."""
UNROLL = "metainfer.unroll"
"""On a node: how many products of its innermost loop stand in each turn."""
LIKELY_INSIDE = "metainfer.likely_inside"
"""On a node: 1, its taps mostly lie inside the input; 2, mostly in the padding."""
LAYOUT = "metainfer.layout"
"""On a node: the order of the axes in which it is computed, such as `nhwc`; NCHW without it."""
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
MAX_ELEMENTS = (1 << 31) - 1

_ELEMENT_TYPES: dict[str, ElementType] = {
    "FLOAT": "float32",
    "FLOAT16": "float16",
    "BFLOAT16": "bfloat16",
    "INT4": "int4",
    "INT8": "int8",
    "INT16": "int16",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
}


@dataclass(frozen=True)
class ConstantIntegers:
    """A constant of up to 8 bits (as int8, whatever the model stores) with scales for all or along one axis."""

    codes: np.ndarray
    scales: np.ndarray
    zero_points: np.ndarray
    axis: int | None
    bits: int = 8
    """Of a code."""


@dataclass(frozen=True)
class PackedConstant:
    """A constant whose signed codes are stored in few bits: real = (code - zero point) * scale."""

    bits: int
    codes: np.ndarray
    scales: np.ndarray
    """One number, one a channel along `axis`, or, with a group, the shape of the codes with `axis` in groups."""
    zero_points: np.ndarray | None
    """As the scales; None: all 0."""
    axis: int | None
    group: int
    """Elements along `axis` that share a scale; 0: no groups."""


class ModelReader:
    """Answers questions about a graph with static shapes."""

    def __init__(self, graph: ir.Graph) -> None:
        self._arrays: dict[ir.Value, np.ndarray | None] = {}
        self._followers: dict[str, list[ir.Node]] = {}
        for node in graph:
            if FUSED_WITH in node.metadata_props:
                self._followers.setdefault(node.metadata_props[FUSED_WITH], []).append(node)

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
        axis, size = producer.attributes.get_int("axis", 1), producer.attributes.get_int("block_size", 0)
        zero = np.zeros(scale.shape, np.int32) if zero_point is None else zero_point.astype(np.int32)
        centred: np.ndarray = (raw.astype(np.int32) - _along(zero, raw.shape, axis, size)).astype(np.float32)
        real: np.ndarray = centred * _along(scale.astype(np.float32), raw.shape, axis, size)
        return real

    def packed_constant(self, value: ir.Value | None) -> PackedConstant | None:
        """The codes of a constant that is stored in few bits; None where it is not one."""
        producer = value.producer() if value is not None else None
        if producer is None or producer.op_type != DEQUANTIZE or WEIGHT_BITS not in producer.metadata_props:
            return None
        raw, scale = self.array(producer.inputs[0]), self.array(producer.inputs[1])
        zero_point = self.array(_input(producer, 2))
        if raw is None or scale is None:
            return None
        size = producer.attributes.get_int("block_size", 0)
        axis = producer.attributes.get_int("axis", 1) % raw.ndim if scale.size > 1 else None
        has_zero = zero_point is not None and bool(zero_point.astype(np.int32).any())
        return PackedConstant(
            bits=int(producer.metadata_props[WEIGHT_BITS]),
            codes=raw.astype(np.int8),
            scales=scale.astype(np.float32),
            zero_points=zero_point.astype(np.int8) if zero_point is not None and has_zero else None,
            axis=axis,
            group=size,
        )

    def constant_integers(self, value: ir.Value | None) -> ConstantIntegers | None:
        """The integers of a constant that is stored in up to 8 bits and dequantized; None where it is not."""
        producer = value.producer() if value is not None else None
        if producer is None or producer.op_type != DEQUANTIZE or WEIGHT_BITS in producer.metadata_props:
            return None
        raw, scale = self.array(producer.inputs[0]), self.array(producer.inputs[1])
        if raw is None or scale is None or raw.dtype.name not in ("int4", "int8", "uint8"):
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
            code_bits(producer, producer.inputs[0]),
        )

    def wide_constant(self, value: ir.Value) -> tuple[np.ndarray, np.float32] | None:
        """Codes and scale of a constant that is stored in 16 bits and dequantized; None where it is not."""
        producer = value.producer()
        if producer is None or producer.op_type != DEQUANTIZE:
            return None
        codes, scale = self.array(producer.inputs[0]), self.array(producer.inputs[1])
        zero_point = self.array(_input(producer, 2))
        if codes is None or scale is None or codes.dtype != np.int16 or scale.size != 1:
            return None
        has_zero = zero_point is not None and bool(zero_point.any())
        return None if has_zero else (codes, np.float32(scale.reshape(())))

    def channel_parameters(self, node: ir.Node) -> tuple[np.ndarray, int] | None:
        """Scales along axis 1 and their one zero point, of a conversion; None where they are otherwise."""
        scale, zero_point = self.array(node.inputs[1]), self.array(_input(node, 2))
        shape = self.shape(required(node, 0))
        is_along = len(shape) > 1 and node.attributes.get_int("axis", 1) % len(shape) == 1
        if scale is None or scale.shape != shape[1:2] or not is_along or "block_size" in node.attributes:
            return None
        if zero_point is None and _input(node, 2) is not None:
            return None
        zeros = {0} if zero_point is None else {int(zero) for zero in zero_point.reshape(-1)}
        return (scale.astype(np.float32), zeros.pop()) if len(zeros) == 1 else None

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


def code_bits(node: ir.Node, codes: ir.Value | None) -> int:
    """Bits of the codes that a QuantizeLinear gives or a DequantizeLinear reads, up to 8."""
    return 4 if codes is not None and codes.dtype == ir.DataType.INT4 else int(node.metadata_props.get(CODE_BITS, "8"))


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


def _along(parameter: np.ndarray, shape: tuple[int, ...], axis: int, block_size: int = 0) -> np.ndarray:
    """Parameters of a tensor, an axis or blocks along it, so that they broadcast against a tensor of that shape."""
    if parameter.size == 1:
        return parameter.reshape(())
    axis %= len(shape)
    if block_size and parameter.ndim == len(shape):
        repeated: np.ndarray = np.repeat(parameter, block_size, axis)
        return np.take(repeated, np.arange(shape[axis]), axis)
    return parameter.reshape([-1 if index == axis else 1 for index in range(len(shape))])
