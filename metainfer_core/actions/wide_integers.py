"""INT16 activations: the laws of one node, and its rewrite. Weights have up to 8 bits, zero points are 0, sums 64."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.integer_laws import (
    bits_against,
    concat_against,
    granularity_against,
    ranges_against,
    sensitivity_against,
)
from metainfer_core.actions.integer_operators import IntegerForm
from metainfer_core.actions.quantize_dequantize import (
    pair_in,
    parameters_of,
    quantize_output,
    quantized_constant,
    raw,
    read_in,
)
from metainfer_core.actions.quantize_numbers import QuantizeParams
from metainfer_core.actions.rewiring import array_of, data_of, followers, name_of, numbers_of, set_input
from metainfer_core.actions.scales import Affine, highest_code, usable, weight_codes, weight_scales
from metainfer_core.actions.units import NoUnit, limits_against, unit_for
from metainfer_core.numerics.activations import CLAMPS
from metainfer_core.numerics.lowering.int16 import ACCUMULATOR_BITS, HIGHEST, LOWEST
from metainfer_core.numerics.saturation import bits_needed, greatest_sum
from metainfer_core.spec.hardware_spec import HardwareSpec

MOVING = (
    *("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose", "Slice", "Split"),
    *("DepthToSpace", "SpaceToDepth", "Pad", "Gather"),
)
POOLS = ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")
OPERATORS = (*("Conv", "Gemm", "MatMul"), *("Add", "Sub", "Mul", "Concat"), *POOLS, *MOVING, *sorted(CLAMPS))
"""Operators with kernels on 16-bit activations."""


def wide_scale(low: float, high: float) -> Affine:
    """Parameters of an int16 activation whose values lie in [low, high]."""
    return Affine(usable(np.float32(max(-low, high, 0.0) / HIGHEST)), 0)


def wide_against(spec: HardwareSpec, params: QuantizeParams, target: ir.Node, form: IntegerForm) -> str | None:
    """Why a layer cannot compute on INT16 activations, or None."""
    group, unit_name, ranges = (target, *followers(target)), params.target_hw, params.ranges
    reason = sensitivity_against(spec, group) or bits_against(spec, unit_name, 16)
    if reason is not None:
        return reason
    if target.op_type not in OPERATORS:
        return f"INT16 kernels exist for {', '.join(OPERATORS)}, not for {target.op_type}."
    if not all(member.op_type in CLAMPS for member in group[1:]):
        return f"The INT16 kernel of {target.name} applies clamps alone, not {group[1].op_type}."
    if not params.symmetric:
        return f"INT16 activations have zero point 0: {target.name} needs symmetric true."
    unit = unit_for(spec, target.op_type, "int16", at=unit_name, fall_back=unit_name is None)
    if isinstance(unit, NoUnit):
        return unit.reason
    outside = next((found for member in group if (found := limits_against(spec, unit, member, "int16"))), None)
    inputs, outputs = _inputs(target, form), _outputs(target)
    reason = outside or ranges_against((*inputs, *outputs), ranges, True, bits=16)
    if reason is None and form.role == "concat":
        return concat_against(target, outputs, ranges, True, bits=16)
    if reason is None and form.role == "weighted":
        return granularity_against(spec, unit, params.scheme) or _accumulator_against(spec, unit, params, target, form)
    return reason


def _inputs(target: ir.Node, form: IntegerForm) -> tuple[ir.Value, ...]:
    """The tensors that the node reads in 16 bits, without their pairs."""
    return tuple(raw(value) for value in (target.inputs[index] for index in form.activations) if value is not None)


def _outputs(target: ir.Node) -> tuple[ir.Value, ...]:
    """The tensors that the node's kernel stores."""
    last = (target, *followers(target))[-1]
    return tuple(value for value in last.outputs if value.uses() or value.is_graph_output())


def _accumulator_against(
    spec: HardwareSpec, unit: str, params: QuantizeParams, target: ir.Node, form: IntegerForm
) -> str | None:
    """The worst sum of products fits into what the unit sums in; 64 bits in a CPU's software."""
    described = spec.compute_units[unit]
    stated = described.accumulator_bits if described.kind != "cpu" else ACCUMULATOR_BITS + 1
    field = f"compute_units.{unit}.accumulator_bits"
    if stated is None:
        return f"How many bits {unit} sums INT16 products in is not known ({field} is missing)."
    codes, scales = _weight(target, form, params)
    needed = bits_needed(greatest_sum(np.moveaxis(codes, form.weight_axis or 0, 0), None, LOWEST, HIGHEST))
    bias = array_of(target.inputs[form.bias]) if form.bias is not None else None
    if bias is not None:
        pair = pair_in(raw(data_of(target)), 16)
        scale = (
            float(numbers_of(pair.inputs[1]))
            if pair is not None
            else float(wide_scale(*params.ranges[name_of(raw(data_of(target)))]).scale)
        )
        units = np.abs(bias.astype(np.float64)).reshape(-1) / (scale * scales.astype(np.float64).reshape(-1))
        needed = bits_needed((1 << (needed - 1)) + int(units.max(initial=0.0)))
    bits = min(stated, ACCUMULATOR_BITS)
    if needed <= bits:
        return None
    return f"A sum of {target.name} can need {needed} bits; the accumulator has {stated} ({field})."


def _weight(target: ir.Node, form: IntegerForm, params: QuantizeParams) -> tuple[np.ndarray, np.ndarray]:
    weight, highest = numbers_of(target.inputs[1]), highest_code(params.bits_of_weights)
    axis = form.weight_axis if params.scheme == "channel_wise" else None
    scales = weight_scales(weight, axis, highest=highest)
    return weight_codes(weight, scales, axis, highest), scales


def wide_rewrite(model: ir.Model, params: QuantizeParams, target: ir.Node, form: IntegerForm) -> None:
    """Puts INT16 pairs around the node and codes in the place of its constants; a layer's bias stays as it is."""

    def affine(value: ir.Value) -> Affine:
        return wide_scale(*params.ranges.get(name_of(value), (0.0, 0.0)))

    for index in form.activations:
        value = target.inputs[index]
        assert value is not None
        read_in(model, target, index, affine(raw(value)), bits=16)
    if form.role == "weighted":
        codes, scales = _weight(target, form, params)
        axis, bits = form.weight_axis if params.scheme == "channel_wise" else None, params.bits_of_weights
        set_input(target, 1, quantized_constant(model, f"{target.name}.weight", codes, scales, axis, target, bits))
    for index in form.constants:
        array = numbers_of(target.inputs[index])
        scales = weight_scales(array, None, highest=HIGHEST)
        codes = weight_codes(array, scales, None, HIGHEST)
        name = f"{target.name}.input_{index}"
        set_input(target, index, quantized_constant(model, name, codes, scales, None, target))
    moved = pair_in(raw(data_of(target)), 16) if form.role == "same_scale" else None
    for result in _outputs(target):
        quantize_output(model, result, parameters_of(moved) if moved is not None else affine(result), target, bits=16)
