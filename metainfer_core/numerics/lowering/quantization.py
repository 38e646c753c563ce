"""QuantizeLinear and DequantizeLinear that no other kernel takes in."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder, ChannelIntegers, Integers, conversion_params
from metainfer_core.numerics.lowering.endings import channel_quantization, quantization
from metainfer_core.numerics.lowering.int16 import dequantize_wide, narrowed, quantize_wide
from metainfer_core.numerics.lowering.model_reader import MEMORY, code_bits, optional, required, unsupported
from metainfer_core.numerics.lowering.tables import curve_table
from metainfer_core.numerics.program import code_limits


def quantize(b: Builder, node: ir.Node) -> None:
    """From float32 to int8, from one scale to another by a table, or from one width to another by a factor."""
    value, result = required(node, 0), node.outputs[0]
    if result.dtype == ir.DataType.INT16:
        quantize_wide(b, node)
        return
    target = quantization(b, node)
    by_channel = channel_quantization(b, node) if target is None else None
    if by_channel is not None:
        _quantize_channels(b, node, *by_channel)
        return
    if target is None:
        raise unsupported(
            node,
            "Its scale is computed at run time, lies along another axis than the channels', its zero points differ, or "
            "its result is not int8 or uint8.",
            "Quantize activations to int8, per tensor or per channel with one zero point.",
        )
    shape = b.shape(result)
    source = b.integers(value) if not b.is_real(value) else None
    if source is not None and source.grid == target:
        b.set_quantized(result, Integers(source.tensor, *target))
        if result.is_graph_output():
            made = b.integer_output(result, target, shape)
            b.emit("view", (node,), (source.tensor,), (made.tensor,), {"bytes": math.prod(shape)})
            b.set_quantized(result, made)
        return
    if source is not None and source.bits != target.bits:
        made = b.integer_output(result, target, shape)
        narrowed(b, node, source, made, "int8")
    elif source is not None:
        table = b.constant(f"{node.name}.table", curve_table(None, {}, source.grid, target))
        made = b.integer_output(result, target, shape)
        b.emit("lookup_int8", (node,), (source.tensor, table), (made.tensor,), {"count": math.prod(shape)})
    elif (wide := b.wide(value)) is not None and not b.is_real(value):
        made = b.integer_output(result, target, shape)
        narrowed(b, node, wide, made)
    else:
        tensor = b.tensor(value)
        made = b.integer_output(result, target, shape)
        inputs = (tensor, *_numbers(b, node, target.scale, target.zero_point))
        params = {**conversion_params(shape, 1, 1), "low": target.limits[0], "high": target.limits[1]}
        b.emit("quantize_int8", (node,), inputs, (made.tensor,), params)
    b.set_quantized(result, made)


def _quantize_channels(b: Builder, node: ir.Node, scales: np.ndarray, zero_point: int, bits: int) -> None:
    """From float32 to codes with a scale a channel."""
    result = node.outputs[0]
    tensor, made = b.tensor(required(node, 0)), b.channel_output(result, scales, zero_point, bits)
    inputs = (
        tensor,
        b.constant(f"{node.name}.scale", scales),
        b.constant(f"{node.name}.zero_point", np.full(scales.size, zero_point, np.int32)),
    )
    low, high = code_limits(bits)
    params = {**conversion_params(b.shape(result), 1, scales.size), "low": low, "high": high}
    b.emit("quantize_int8", (node,), inputs, (made,), params)
    b.alias(result, made)


def dequantize(b: Builder, node: ir.Node) -> None:
    """Notes what the integers stand for; a float32 tensor is only made where a node reads it."""
    value, result = required(node, 0), node.outputs[0]
    if b.array(value) is not None and b.array(required(node, 1)) is not None:
        return  # a constant: readers take it as they need it
    if b.element_type(value) == "int16":
        dequantize_wide(b, node)
        return
    scale, zero_point = b.array(node.inputs[1]), b.array(optional(node, 2))
    if scale is None or (zero_point is None and optional(node, 2) is not None):
        raise unsupported(node, "Its scale or zero point is computed at run time.", "Use constant scales.")
    element = b.element_type(value)
    zero = np.zeros(scale.shape, np.int32) if zero_point is None else zero_point.astype(np.int32)
    bits = code_bits(node, value)
    if scale.size == 1 and element in ("int4", "int8", "uint8"):
        number = int(zero.reshape(())) - (128 if element == "uint8" else 0)
        b.set_integers(result, Integers(_as_int8(b, node, value), np.float32(scale.reshape(())), number, bits))
        return
    by_channel = b.channel_parameters(node) if element in ("int4", "int8") else None
    if by_channel is not None:
        b.set_by_channel(result, ChannelIntegers(b.tensor(value), *by_channel, bits))
        return
    shape = b.shape(value)
    axis = node.attributes.get_int("axis", 1) % max(len(shape), 1)
    if scale.size != 1 and (scale.ndim != 1 or "block_size" in node.attributes):
        raise unsupported(node, "Its scales lie in blocks.", "Use one scale for a tensor or for a channel.")
    params = conversion_params(shape, axis, scale.size)
    inputs = (
        b.tensor(value),
        b.constant(f"{node.name}.scale", scale.reshape(-1).astype(np.float32)),
        b.constant(f"{node.name}.zero_point", zero.reshape(-1)),
    )
    if element not in ("int8", "uint8", "int32"):
        raise unsupported(node, f"Its input is {element}.", "Use int8.")
    b.emit(f"dequantize_{element}", (node,), inputs, (b.output(result),), params)


def _as_int8(b: Builder, node: ir.Node, value: ir.Value) -> str:
    """The int8 tensor of an 8-bit value; a uint8 one from outside is shifted by 128."""
    known = b.quantized(value)
    if known is not None:
        return known.tensor
    tensor = b.tensor(value)
    if b.element_type(value) != "uint8":
        return tensor
    name = b.declare(f"{value.name}.int8", "int8", b.shape(value), memory=value.metadata_props.get(MEMORY))
    b.shift_by_128((node,), tensor, name)
    return name


def _numbers(b: Builder, node: ir.Node, scale: np.float32, zero_point: int) -> tuple[str, str]:
    return (
        b.constant(f"{node.name}.scale", np.array([scale], np.float32)),
        b.constant(f"{node.name}.zero_point", np.array([zero_point], np.int32)),
    )


OPERATORS = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize}
