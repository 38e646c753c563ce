"""16-bit activations: layers with 8-bit weights, whose sums have 64 bits, and arithmetic. Their zero points are 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.activations import CLAMPS
from metainfer_core.numerics.lowering.broadcast import broadcast_steps, walk_params
from metainfer_core.numerics.lowering.builder import Builder, Integers
from metainfer_core.numerics.lowering.endings import absorb, clip_params
from metainfer_core.numerics.lowering.integer_sums import bias_codes
from metainfer_core.numerics.lowering.model_reader import QUANTIZE, ConstantIntegers, optional, required, unsupported
from metainfer_core.numerics.program import Quantization
from metainfer_core.numerics.requantization import (
    MAX_SHIFT,
    WIDE_ADD_BITS,
    add_multipliers,
    exact,
    multiplier_and_shift,
    multipliers_and_shifts,
)
from metainfer_core.numerics.saturation import greatest_sum, require_bits

LOWEST, HIGHEST = -32768, 32767
ACCUMULATOR_BITS = 63
"""One less than the kernels have, so that rounding a sum cannot leave 64 bits."""


@dataclass(frozen=True)
class WideEnding:
    """The 16-bit quantization that alone reads a node's result, with a fused clamp."""

    value: ir.Value
    """The quantized value that the kernel gives."""
    scale: np.float32
    nodes: tuple[ir.Node, ...]
    low: int
    high: int

    @property
    def limits(self) -> dict[str, int]:
        """The clamp in integers, as the kernels' params hold it."""
        return {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class WideSum:
    """A layer that adds up products of 16-bit activations and 8-bit weights."""

    source: Integers
    weights: ConstantIntegers
    bias: np.ndarray
    multiplier: np.ndarray
    shift: np.ndarray
    ending: WideEnding

    def emit(self, b: Builder, kernel: str, weights: np.ndarray, axis: int, params: dict[str, int]) -> None:
        """Writes the kernel call, and declares its constants and its output; `axis` of the weights counts outputs."""
        nodes = self.ending.nodes
        name = str(nodes[0].name)
        kept = Quantization(
            scales=tuple(float(scale) for scale in self.weights.scales),
            zero_points=(0,) * len(self.weights.scales),
            axis=axis if len(self.weights.scales) > 1 else None,
        )
        made = declare_wide(b, self.ending.value, self.ending.scale)
        inputs = (
            self.source.tensor,
            b.constant(f"{name}.weights", np.ascontiguousarray(weights), kept, bits=self.weights.bits),
            b.constant(f"{name}.bias", self.bias),
            b.constant(f"{name}.multiplier", self.multiplier),
            b.constant(f"{name}.shift", self.shift),
        )
        b.emit(kernel, nodes, inputs, (made.tensor,), {**params, **self.ending.limits})
        absorb(b, nodes)


def wide_sum(b: Builder, node: ir.Node, weight_axis: int) -> WideSum | None:
    """The layer on 16-bit integers; None where its input or its result is not so.

    Raises:
        UnsupportedError: The sum could overflow.
    """
    source, weights = b.wide(required(node, 0)), b.constant_integers(required(node, 1))
    if source is None or weights is None or weights.zero_points.any() or weights.axis not in (None, weight_axis):
        return None
    ending = wide_ending(b, node)
    if ending is None:
        return None
    outputs = weights.codes.shape[weight_axis]
    factors = [exact(source.scale) * exact(one) for one in np.broadcast_to(weights.scales, outputs)]
    bias = bias_codes(b, optional(node, 2), b.array(optional(node, 2)), factors, 1 << 62)
    greatest = greatest_sum(np.moveaxis(weights.codes, weight_axis, 0), bias, LOWEST, HIGHEST)
    require_bits(f"{node.name} ({node.op_type})", greatest, ACCUMULATOR_BITS)
    multiplier, shift = multipliers_and_shifts([factor / exact(ending.scale) for factor in factors])
    return WideSum(source, weights, bias, multiplier, shift, ending)


def wide_ending(b: Builder, node: ir.Node) -> WideEnding | None:
    """How the node ends in 16 bits; None where it does not."""
    follower, value, nodes = b.follower(node), node.outputs[0], [node]
    if follower is not None:
        if follower.op_type not in CLAMPS or b.only_reader(value) is not follower:
            return None
        value = follower.outputs[0]
        nodes.append(follower)
    quantize = b.only_reader(value)
    scale = wide_scale(b, quantize)
    if quantize is None or scale is None:
        return None
    low, high = (LOWEST, HIGHEST) if follower is None else _limits(b, follower, scale)
    return WideEnding(quantize.outputs[0], scale, (*nodes, quantize), low, high)


def wide_binary(b: Builder, node: ir.Node) -> bool:
    """Add, Sub or Mul of two 16-bit tensors; False where they or the result are not so."""
    values = required(node, 0), required(node, 1)
    ending, left, right = wide_ending(b, node), b.wide(values[0]), b.wide(values[1])
    if ending is None or left is None or right is None:
        return False
    scale, shape = exact(ending.scale), b.shape(node.outputs[0])
    if node.op_type == "Mul":
        multiplier, shift = multiplier_and_shift(exact(left.scale) * exact(right.scale) / scale)
        kernel, factors = "mul_int16", {"left_multiplier": multiplier, "shift": shift}
    else:
        sign = -1 if node.op_type == "Sub" else 1
        sides = exact(left.scale) / scale, sign * exact(right.scale) / scale
        a, c, shift = add_multipliers(*sides, WIDE_ADD_BITS, MAX_SHIFT)
        kernel, factors = "add_int16", {"left_multiplier": a, "right_multiplier": c, "shift": shift}
    walk = walk_params(
        shape,
        left_step=broadcast_steps(b.shape(values[0]), shape),
        right_step=broadcast_steps(b.shape(values[1]), shape),
    )
    made = declare_wide(b, ending.value, ending.scale)
    b.emit(kernel, ending.nodes, (left.tensor, right.tensor), (made.tensor,), {**walk, **factors, **ending.limits})
    absorb(b, ending.nodes)
    return True


def wide_clamp(b: Builder, node: ir.Node) -> bool:
    """A Relu or Clip of its own on a 16-bit tensor; False where it or the result is not so."""
    source, quantize = b.wide(required(node, 0)), b.only_reader(node.outputs[0])
    scale = wide_scale(b, quantize)
    if node.op_type not in CLAMPS or b.follower(node) is not None or source is None or scale is None:
        return False
    assert quantize is not None
    low, high = _limits(b, node, scale)
    made = declare_wide(b, quantize.outputs[0], scale)
    _rescale(b, (node, quantize), source, made, "int16", "int16", low, high)
    absorb(b, (node, quantize))
    return True


def wide_average(b: Builder, node: ir.Node, params: dict[str, int]) -> bool:
    """The mean of each window of 16-bit codes; False where they or the result are not so."""
    source, ending = b.wide(required(node, 0)), wide_ending(b, node)
    if source is None or ending is None:
        return False
    most, ratio = params["kernel_height"] * params["kernel_width"], exact(source.scale) / exact(ending.scale)
    multiplier, shift = multipliers_and_shifts([ratio / n for n in range(1, most + 1)])
    made = declare_wide(b, ending.value, ending.scale)
    factors = (b.constant(f"{node.name}.multiplier", multiplier), b.constant(f"{node.name}.shift", shift))
    b.emit(
        "average_pool_int16",
        ending.nodes,
        (source.tensor, *factors),
        (made.tensor,),
        {**params, **ending.limits},
    )
    absorb(b, ending.nodes)
    return True


def wide_mean(b: Builder, node: ir.Node, planes: int, size: int) -> bool:
    """The mean of each of `planes` stretches of 16-bit codes; False where they or the result are not so."""
    source, ending = b.wide(required(node, 0)), wide_ending(b, node)
    if source is None or ending is None:
        return False
    multiplier, shift = multiplier_and_shift(exact(source.scale) / exact(ending.scale) / size)
    params = {"rows": planes, "columns": size, "multiplier": multiplier, "shift": shift, **ending.limits}
    made = declare_wide(b, ending.value, ending.scale)
    b.emit("mean_int16", ending.nodes, (source.tensor,), (made.tensor,), params)
    absorb(b, ending.nodes)
    return True


def rescaled(b: Builder, node: ir.Node, source: Integers, value: ir.Value, scale: np.float32) -> str:
    """The 16-bit tensor with another scale; itself where it has that scale."""
    if source.scale == scale:
        return source.tensor
    quantization = Quantization(scales=(float(scale),), zero_points=(0,))
    name = b.declare(f"{source.tensor}.rescaled", "int16", b.shape(value), quantization)
    _rescale(b, (node,), source, Integers(name, scale, 0), "int16", "int16", LOWEST, HIGHEST)
    return name


def narrowed(b: Builder, node: ir.Node, source: Integers, made: Integers, of: str = "int16") -> None:
    """From 16-bit codes (or other ones in bytes) to those of 8 bits or fewer."""
    _rescale(b, (node,), source, made, of, "int8", *made.limits)


def _rescale(
    b: Builder, nodes: Sequence[ir.Node], source: Integers, made: Integers, of: str, to: str, low: int, high: int
) -> None:
    factor: Fraction = exact(source.scale) / exact(made.scale)
    multiplier, shift = multiplier_and_shift(factor)
    params = {
        "count": b.count(source.tensor),
        "multiplier": multiplier,
        "shift": shift,
        "input_zero_point": source.zero_point,
        "output_zero_point": made.zero_point,
        "low": low,
        "high": high,
    }
    b.emit(f"rescale_{of}_{to}", nodes, (source.tensor,), (made.tensor,), params)


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
    """From float32, or from 8-bit or other 16-bit codes, to int16."""
    scale, value = wide_scale(b, node), required(node, 0)
    if scale is None:
        raise unsupported(node, "Its scale is computed at run time, lies along an axis, or its zero point is not 0.")
    codes = (b.wide(value), b.integers(value)) if not b.is_real(value) else (None, None)
    for known, element in zip(codes, ("int16", "int8"), strict=True):
        if known is not None:
            made = declare_wide(b, node.outputs[0], scale)
            _rescale(b, (node,), known, made, element, "int16", LOWEST, HIGHEST)
            return
    source, made = b.tensor(value), declare_wide(b, node.outputs[0], scale)
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
