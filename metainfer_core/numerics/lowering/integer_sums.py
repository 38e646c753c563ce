"""What integer Conv and Gemm have in common: codes of up to 8 bits, constant weights, 32-bit sums, requantisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder, ChannelIntegers, Grid, Integers
from metainfer_core.numerics.lowering.endings import ChannelEnding, IntegerEnding, channel_ending, integer_ending
from metainfer_core.numerics.lowering.model_reader import ConstantIntegers, optional, required
from metainfer_core.numerics.program import Quantization, code_limits
from metainfer_core.numerics.requantization import exact, hard_swish_knee, multipliers_and_shifts
from metainfer_core.numerics.saturation import greatest_sum, require_bits


@dataclass(frozen=True)
class IntegerSum:
    """An integer kernel that adds up products, with all that it needs."""

    source: Integers | ChannelIntegers
    weights: ConstantIntegers
    bias: np.ndarray
    """int32, with -zero_point * (sum of weights) added in."""
    multiplier: np.ndarray
    shift: np.ndarray
    curve: Curve | None
    ending: IntegerEnding | ChannelEnding

    @property
    def codes(self) -> np.ndarray:
        """The weights as the model lays them out."""
        return self.weights.codes

    def params(self) -> dict[str, int]:
        """Params that all these kernels share."""
        return {
            "output_zero_point": self.ending.zero_point,
            "low": self.ending.low,
            "high": self.ending.high,
            **({"knee": self.curve.knee} if self.curve is not None else {}),
        }

    def emit(self, b: Builder, kernel: str, packed: np.ndarray, params: Mapping[str, object]) -> None:
        """Writes the kernel call, and declares its constants and its output."""
        name, ending = str(ending_name(self.ending)), self.ending
        kept = Quantization(
            scales=tuple(float(scale) for scale in self.weights.scales),
            zero_points=tuple(int(zero) for zero in self.weights.zero_points),
            axis=0 if len(self.weights.scales) > 1 else None,
        )
        inputs = [
            self.source.tensor,
            b.constant(f"{name}.weights", packed, kept, bits=self.weights.bits),
            b.constant(f"{name}.bias", self.bias),
            b.constant(f"{name}.multiplier", self.multiplier),
            b.constant(f"{name}.shift", self.shift),
            table_constant(b, ending) if isinstance(ending, IntegerEnding) else "",
        ]
        if self.curve is not None:
            inputs.append(b.constant(f"{name}.curve_multiplier", self.curve.multiplier))
            inputs.append(b.constant(f"{name}.curve_shift", self.curve.shift))
        else:
            inputs += ["", ""]
        made = integer_result(b, ending) if isinstance(ending, IntegerEnding) else _channel_result(b, ending)
        b.emit(kernel, ending.nodes, inputs, (made,), params)


@dataclass(frozen=True)
class Curve:
    """Hard-swish of a 16-bit number: its code of 3, and the factor of its result, one a channel."""

    knee: int
    multiplier: np.ndarray
    shift: np.ndarray


def integer_sum(b: Builder, node: ir.Node, weight_axis: int, by_channel: bool = False) -> IntegerSum | None:
    """The parameters of the node as an integer kernel; None where an input or the result is not int8.

    Args:
        b: The program.
        node: Input 0 int8, input 1 constant weights, input 2 an optional constant bias.
        weight_axis: Axis of the weights that counts the outputs.
        by_channel: Whether each output is of one channel of the result, which may have a scale of its own.

    Raises:
        UnsupportedError: The 32-bit sum could overflow.
    """
    of_channels = channel_ending(b, node)
    usable = of_channels is not None and (by_channel or of_channels.scales.size == 1)
    ending = of_channels if usable else integer_ending(b, node)
    source, weights = _source(b, node), b.constant_integers(required(node, 1))
    bias_value = optional(node, 2)
    real_bias = b.array(bias_value)
    if ending is None or source is None or weights is None or (bias_value is not None and real_bias is None):
        return None
    if weights.zero_points.any() or weights.axis not in (None, weight_axis):
        return None
    outputs = weights.codes.shape[weight_axis]
    if real_bias is not None and (real_bias.size != outputs or not np.isfinite(real_bias).all()):
        return None
    by_output = np.moveaxis(weights.codes, weight_axis, 0)
    scales = np.broadcast_to(weights.scales, outputs)
    own = source.scales if isinstance(source, ChannelIntegers) else np.array([source.scale])
    factors = [exact(own[i * own.size // outputs]) * exact(scale) for i, scale in enumerate(scales)]
    bias = bias_codes(b, bias_value, real_bias, factors)
    totals = by_output.reshape(outputs, -1).astype(np.int64).sum(axis=1)
    folded = bias - source.zero_point * totals
    greatest = greatest_sum(by_output, folded, *source.limits)
    require_bits(f"{node.name} ({node.op_type})", greatest)
    steps, curve = _steps_and_curve(ending, outputs)
    multiplier, shift = multipliers_and_shifts([factor / step for factor, step in zip(factors, steps, strict=True)])
    return IntegerSum(source, weights, folded.astype(np.int32), multiplier, shift, curve, ending)


def _source(b: Builder, node: ir.Node) -> Integers | ChannelIntegers | None:
    """What the node reads; with a scale a channel only where each of its outputs reads one channel."""
    value = required(node, 0)
    found = b.by_channel(value)
    if found is None or node.op_type != "Conv" or node.attributes.get_int("group", 1) != found.scales.size:
        return b.integers(value)
    return found


def _steps_and_curve(ending: IntegerEnding | ChannelEnding, outputs: int) -> tuple[list[Fraction], Curve | None]:
    """What one code is worth that each sum is rounded to, and the curve behind it."""
    if isinstance(ending, IntegerEnding):
        return [exact(ending.scale)] * outputs, None
    scales = [exact(scale) for scale in np.broadcast_to(ending.scales, outputs)]
    if not ending.is_hard_swish:
        return scales, None
    knee = hard_swish_knee(max(scales) * (code_limits(ending.bits)[1] - ending.zero_point))
    multiplier, shift = multipliers_and_shifts([Fraction(3, 2 * knee * knee) / scale for scale in scales])
    return [Fraction(3, knee)] * outputs, Curve(knee, multiplier, shift)


def _channel_result(b: Builder, ending: ChannelEnding) -> str:
    """Declares the int8 tensor that the kernel writes."""
    if ending.scales.size > 1:
        made = b.channel_output(ending.value, ending.scales, ending.zero_point, ending.bits)
        b.alias(ending.value, made)
        return made
    grid = Grid(ending.scales[0], ending.zero_point, ending.bits)
    integers = b.integer_output(ending.value, grid, b.shape(ending.value))
    b.set_quantized(ending.value, integers)
    return integers.tensor


def integer_result(b: Builder, ending: IntegerEnding) -> str:
    """Declares the int8 tensor that the kernel writes."""
    integers = b.integer_output(ending.value, ending.final, b.shape(ending.value))
    b.set_quantized(ending.value, integers)
    return integers.tensor


def table_constant(b: Builder, ending: IntegerEnding) -> str:
    """The fused curve's table; the empty text where there is none."""
    return "" if ending.table is None else b.constant(f"{ending_name(ending)}.table", ending.table)


def ending_name(ending: IntegerEnding | ChannelEnding) -> str:
    """The name that a kernel's constants are called after: its first node's."""
    return str(ending.nodes[0].name)


def bias_codes(
    b: Builder, value: ir.Value | None, real: np.ndarray | None, factors: list[Fraction], limit: int = 1 << 40
) -> np.ndarray:
    """The bias in units of input scale * weight scale: the model's own integers where it has them, else rounded.

    Codes are cut at `limit`, which is far beyond what the accumulator holds, so that its proof refuses them.
    """
    if value is None or real is None:
        return np.zeros(len(factors), np.int64)
    producer = value.producer()
    if producer is not None and producer.op_type == "DequantizeLinear":
        stored, scale = b.array(producer.inputs[0]), b.array(producer.inputs[1])
        if stored is not None and scale is not None and stored.dtype == np.int32:
            steps = np.broadcast_to(scale.reshape(-1), len(factors)).astype(np.float64)
            wanted = np.array([float(factor) for factor in factors])
            if np.all(np.abs(steps - wanted) <= 1e-6 * wanted):
                return stored.reshape(-1).astype(np.int64)
    codes = [round(Fraction(float(number)) / factor) for number, factor in zip(real.reshape(-1), factors, strict=True)]
    return np.array([min(max(code, -limit), limit) for code in codes], np.int64)
