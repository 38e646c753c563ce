"""Layers on 16-bit activations with 8-bit weights: their sums have 64 bits, and their zero points are 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.activations import CLAMPS
from metainfer_core.numerics.lowering.builder import Builder, Integers
from metainfer_core.numerics.lowering.endings import absorb, clip_params
from metainfer_core.numerics.lowering.integer_sums import bias_codes
from metainfer_core.numerics.lowering.model_reader import QUANTIZE, ConstantIntegers, optional, required, unsupported
from metainfer_core.numerics.program import Quantization
from metainfer_core.numerics.requantization import exact, multipliers_and_shifts
from metainfer_core.numerics.saturation import greatest_sum, require_bits

LOWEST, HIGHEST = -32768, 32767
ACCUMULATOR_BITS = 63
"""One less than the kernels have, so that rounding a sum cannot leave 64 bits."""


@dataclass(frozen=True)
class WideSum:
    """A layer that adds up products of 16-bit activations and 8-bit weights."""

    source: Integers
    weights: ConstantIntegers
    bias: np.ndarray
    multiplier: np.ndarray
    shift: np.ndarray
    result: ir.Value
    """The quantized value that it gives."""
    scale: np.float32
    nodes: tuple[ir.Node, ...]
    low: int
    high: int

    def emit(self, b: Builder, kernel: str, weights: np.ndarray, params: dict[str, int]) -> None:
        """Writes the kernel call, and declares its constants and its output."""
        name = str(self.nodes[0].name)
        kept = Quantization(
            scales=tuple(float(scale) for scale in self.weights.scales),
            zero_points=(0,) * len(self.weights.scales),
            axis=0 if len(self.weights.scales) > 1 else None,
        )
        made = declare_wide(b, self.result, self.scale)
        inputs = (
            self.source.tensor,
            b.constant(f"{name}.weights", np.ascontiguousarray(weights), kept),
            b.constant(f"{name}.bias", self.bias),
            b.constant(f"{name}.multiplier", self.multiplier),
            b.constant(f"{name}.shift", self.shift),
        )
        b.emit(kernel, self.nodes, inputs, (made.tensor,), {**params, "low": self.low, "high": self.high})
        absorb(b, self.nodes)


def wide_sum(b: Builder, node: ir.Node, weight_axis: int) -> WideSum | None:
    """The layer on 16-bit integers; None where its input or its result is not so.

    Raises:
        UnsupportedError: The sum could overflow.
    """
    source, weights = b.wide(required(node, 0)), b.constant_integers(required(node, 1))
    if source is None or weights is None or weights.zero_points.any() or weights.axis not in (None, weight_axis):
        return None
    follower, value, nodes = b.follower(node), node.outputs[0], [node]
    if follower is not None:
        if follower.op_type not in CLAMPS or b.only_reader(value) is not follower:
            return None
        value = follower.outputs[0]
        nodes.append(follower)
    quantize = b.only_reader(value)
    scale = wide_scale(b, quantize) if quantize is not None else None
    if quantize is None or scale is None:
        return None
    low, high = (LOWEST, HIGHEST) if follower is None else _limits(b, follower, scale)
    outputs = weights.codes.shape[weight_axis]
    factors = [exact(source.scale) * exact(one) for one in np.broadcast_to(weights.scales, outputs)]
    bias = bias_codes(b, optional(node, 2), b.array(optional(node, 2)), factors, 1 << 62)
    greatest = greatest_sum(np.moveaxis(weights.codes, weight_axis, 0), bias, LOWEST, HIGHEST)
    require_bits(f"{node.name} ({node.op_type})", greatest, ACCUMULATOR_BITS)
    multiplier, shift = multipliers_and_shifts([factor / exact(scale) for factor in factors])
    return WideSum(source, weights, bias, multiplier, shift, quantize.outputs[0], scale, (*nodes, quantize), low, high)


def wide_scale(b: Builder, node: ir.Node | None) -> np.float32 | None:
    """The scale of a QuantizeLinear for a whole tensor to int16 with zero point 0; None for anything else."""
    if node is None or node.op_type != QUANTIZE or node.outputs[0].dtype != ir.DataType.INT16:
        return None
    scale, zero_point = b.array(node.inputs[1]), b.array(optional(node, 2))
    if scale is None or scale.size != 1 or (zero_point is not None and zero_point.any()):
        return None
    return np.float32(scale.reshape(()))


def declare_wide(b: Builder, value: ir.Value, scale: np.float32) -> Integers:
    """Declares the int16 tensor of a quantized value."""
    quantization = Quantization(scales=(float(scale),), zero_points=(0,))
    name = b.declare(str(value.name), "int16", b.shape(value), quantization, None, True)
    made = Integers(name, scale, 0)
    b.alias(value, name)
    return made


def quantize_wide(b: Builder, node: ir.Node) -> None:
    """From float32 to int16."""
    scale = wide_scale(b, node)
    if scale is None:
        raise unsupported(node, "Its scale is computed at run time, lies along an axis, or its zero point is not 0.")
    source, made = b.tensor(required(node, 0)), declare_wide(b, node.outputs[0], scale)
    inputs = (source, b.constant(f"{node.name}.scale", np.array([scale], np.float32)), _zero(b, node))
    params = {"outer": 1, "channels": 1, "inner": math.prod(b.shape(node.outputs[0])), "low": LOWEST, "high": HIGHEST}
    b.emit("quantize_int16", (node,), inputs, (made.tensor,), params)


def dequantize_wide(b: Builder, node: ir.Node) -> None:
    """Notes what the integers stand for; a float32 tensor is only made where a node reads it."""
    scale, zero_point = b.array(node.inputs[1]), b.array(optional(node, 2))
    if scale is None or scale.size != 1 or (zero_point is not None and zero_point.any()):
        raise unsupported(node, "Its scale is computed at run time, lies along an axis, or its zero point is not 0.")
    number = np.float32(scale.reshape(()))
    b.set_wide(node.outputs[0], Integers(b.tensor(required(node, 0)), number, 0))


def _zero(b: Builder, node: ir.Node) -> str:
    return b.constant(f"{node.name}.zero_point", np.zeros(1, np.int32))


def _limits(b: Builder, clamp: ir.Node, scale: np.float32) -> tuple[int, int]:
    """The clamp in integers: quantizing keeps order, so its limits are the quantized limits."""
    params = {"alpha": 0.0, "beta": float("inf")} if clamp.op_type == "Relu" else clip_params(b, clamp)

    def code(limit: float) -> int:
        return int(np.clip(np.rint(np.float64(np.float32(limit) / scale)), LOWEST, HIGHEST))

    return code(params["alpha"]), code(params["beta"])
