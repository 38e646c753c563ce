"""What stands after a node and is computed by the same kernel: a fused activation, a quantization, or both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.activations import CLAMPS, CODES, OPERATORS, activation_kernel, activation_params
from metainfer_core.numerics.lowering.builder import Builder, Grid
from metainfer_core.numerics.lowering.model_reader import DEQUANTIZE, QUANTIZE, code_bits, optional, unsupported
from metainfer_core.numerics.lowering.tables import curve_table
from metainfer_core.numerics.program import code_limits


@dataclass(frozen=True)
class FloatEnding:
    """The value that the kernel gives, the nodes it computes, and its activation parameters."""

    value: ir.Value
    nodes: tuple[ir.Node, ...]
    params: dict[str, float | int]


@dataclass(frozen=True)
class IntegerEnding:
    """The quantized value that the kernel gives, the nodes it computes, and how it finishes a sum."""

    value: ir.Value
    nodes: tuple[ir.Node, ...]
    scale: np.float32
    """Scale and zero point of the result of the sum, before the table."""
    zero_point: int
    low: int
    high: int
    table: np.ndarray | None
    final: Grid
    """Of the quantized value."""


@dataclass(frozen=True)
class ChannelEnding:
    """How a layer with weights ends where each channel of its result has a scale, or hard-swish reads its sums.

    Either is folded into the factor of each channel: the result is rounded once from the sum, or, with hard-swish, from
    the curve of a 16-bit number.
    """

    value: ir.Value
    nodes: tuple[ir.Node, ...]
    scales: np.ndarray
    """Of the result: one, or one a channel."""
    zero_point: int
    bits: int
    """Of a code of the result."""
    low: int
    high: int
    is_hard_swish: bool


def float_ending(b: Builder, node: ir.Node) -> FloatEnding:
    """The node with the activation that was fused into it, if one was."""
    follower = b.follower(node)
    if follower is None:
        return FloatEnding(node.outputs[0], (node,), {})
    if b.only_reader(node.outputs[0]) is not follower:
        raise _not_fusable(follower, node)
    params: dict[str, float | int] = {"activation": CODES[activation_kernel(follower)], **clip_params(b, follower)}
    return FloatEnding(follower.outputs[0], (node, follower), params)


def integer_ending(b: Builder, node: ir.Node) -> IntegerEnding | None:
    """The quantization that alone reads the node's result, with a fused activation; None where none does."""
    follower, value, nodes = b.follower(node), node.outputs[0], [node]
    clamp = b.only_reader(value)
    is_clamped = clamp is not None and clamp is follower and clamp.op_type in CLAMPS
    if is_clamped:
        assert clamp is not None
        value = clamp.outputs[0]
        nodes.append(clamp)
    quantize = b.only_reader(value)
    target = quantization(b, quantize)
    if quantize is None or target is None:
        return None
    nodes.append(quantize)
    low, high = target.limits
    if is_clamped:
        assert clamp is not None
        low, high = _limits(b, clamp, target)
    if is_clamped or follower is None:
        return IntegerEnding(quantize.outputs[0], tuple(nodes), target[0], target[1], low, high, None, target)
    dequantize = b.only_reader(quantize.outputs[0])
    last = b.only_reader(follower.outputs[0])
    final = quantization(b, last)
    if (
        dequantize is None
        or dequantize.op_type != DEQUANTIZE
        or b.only_reader(dequantize.outputs[0]) is not follower
        or last is None
        or final is None
    ):
        return None
    table = curve_table(f"{activation_kernel(follower)}_float32", clip_params(b, follower), target, final)
    everything = (node, follower, quantize, dequantize, last)
    return IntegerEnding(last.outputs[0], everything, target.scale, target.zero_point, low, high, table, final)


def channel_ending(b: Builder, node: ir.Node) -> ChannelEnding | None:
    """A quantization by channel, or of a fused hard-swish of the sums themselves; None where neither stands there."""
    follower, value, nodes = b.follower(node), node.outputs[0], [node]
    reader = b.only_reader(value)
    if follower is not None:
        if reader is not follower:
            return None
        value = follower.outputs[0]
        nodes.append(follower)
    quantize = b.only_reader(value)
    target = channel_quantization(b, quantize)
    if quantize is None or target is None:
        return None
    scales, zero_point, bits = target
    is_hard_swish = follower is not None and follower.op_type == "HardSwish"
    if not is_hard_swish and (scales.size == 1 or (follower is not None and follower.op_type not in CLAMPS)):
        return None
    low, high = code_limits(bits)
    if follower is not None and not is_hard_swish:
        limits = {_limits(b, follower, Grid(scale, zero_point, bits)) for scale in scales}
        if len(limits) > 1:
            return None  # a kernel has one pair of limits for all channels
        ((low, high),) = limits
    return ChannelEnding(quantize.outputs[0], (*nodes, quantize), scales, zero_point, bits, low, high, is_hard_swish)


def channel_quantization(b: Builder, node: ir.Node | None) -> tuple[np.ndarray, int, int] | None:
    """Scales, the one zero point (for int8) and the bits of a QuantizeLinear: for all, or one scale a channel."""
    whole = quantization(b, node)
    if whole is not None:
        return np.array([whole.scale], np.float32), whole.zero_point, whole.bits
    if node is None or node.op_type != QUANTIZE or node.outputs[0].dtype != ir.DataType.INT8:
        return None
    along = b.channel_parameters(node)
    return (*along, code_bits(node, node.outputs[0])) if along is not None else None


def quantization(b: Builder, node: ir.Node | None) -> Grid | None:
    """The grid (for int8) of a QuantizeLinear for a whole tensor to up to 8 bits; None for anything else."""
    if node is None or node.op_type != QUANTIZE:
        return None
    scale, zero_point = b.array(node.inputs[1]), b.array(optional(node, 2))
    if scale is None or scale.size != 1 or (zero_point is None and optional(node, 2) is not None):
        return None
    element = node.outputs[0].dtype
    if element not in (ir.DataType.INT4, ir.DataType.INT8, ir.DataType.UINT8):
        return None
    zero = 0 if zero_point is None else int(zero_point.reshape(()))
    shift = 128 if element == ir.DataType.UINT8 else 0
    return Grid(np.float32(scale.reshape(())), zero - shift, code_bits(node, node.outputs[0]))


def clip_params(b: Builder, node: ir.Node) -> dict[str, float]:
    """`alpha` and `beta` of an activation node, with the limits of a Clip."""
    if node.op_type != "Clip":
        return activation_params(node)
    limits: list[float | None] = []
    for value in (optional(node, 1), optional(node, 2)):
        array = b.array(value)
        if value is not None and array is None:
            raise unsupported(node, f"Its limit {value.name} is computed at run time.")
        limits.append(None if array is None else float(array.reshape(())))
    return activation_params(node, *limits)


def absorb(b: Builder, nodes: tuple[ir.Node, ...]) -> None:
    """Marks all nodes but the first as computed."""
    b.absorbed.update(nodes[1:])


def refuse_unfused(b: Builder, node: ir.Node) -> None:
    """Raises if an activation was fused into a node whose kernel has none."""
    follower = b.follower(node)
    if follower is not None:
        raise _not_fusable(follower, node)


def _limits(b: Builder, clamp: ir.Node, grid: Grid) -> tuple[int, int]:
    """The clamp in integers: quantizing keeps order, so its limits are the quantized limits."""
    params = {"alpha": 0.0, "beta": float("inf")} if clamp.op_type == "Relu" else clip_params(b, clamp)

    def code(limit: float) -> int:
        return int(np.clip(np.rint(np.float64(np.float32(limit) / grid.scale)) + grid.zero_point, *grid.limits))

    return code(params["alpha"]), code(params["beta"])


def _not_fusable(follower: ir.Node, leader: ir.Node) -> Exception:
    known = follower.op_type in OPERATORS
    why = f"It was fused into {leader.name} ({leader.op_type}), " + (
        "whose result others read too, or whose kernel applies no activation." if known else "and is no activation."
    )
    return unsupported(follower, why, "Take the fuse action out of the policy.")
