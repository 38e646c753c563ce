"""The laws of up to 8 bits on a node: what must hold on this spec and these numbers, each a sentence if it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.integer_operators import IntegerForm
from metainfer_core.actions.quantize_dequantize import pair_in, raw
from metainfer_core.actions.rewiring import KEEP_FLOAT, array_of, name_of, numbers_of
from metainfer_core.actions.scales import (
    accumulator_bits,
    activation_scale,
    bias_codes,
    bias_floor,
    highest_code,
    pair_bits,
    weight_codes,
    weight_scales,
)
from metainfer_core.actions.units import (
    WIDTH_OF,
    NoUnit,
    granularities,
    integer_type,
    limits_against,
    says_of_granularity,
    unit_for,
    unknown_unit,
)
from metainfer_core.spec.hardware_spec import HardwareSpec

MIN_CODES = 16
"""A branch of a Concat keeps at least this many codes (of 4 bits: a quarter), or its values are mostly lost."""
FLAT_CHANNELS = 0.05
"""Largest share of channels that may be left without resolution by one scale for the whole weight."""

Ranges = Mapping[str, tuple[float, float]]


def bits_against(spec: HardwareSpec, unit_name: str | None, bits: int) -> str | None:
    """The spec must have integers of this width, and so must the kernels."""
    if (unknown := unknown_unit(spec, unit_name)) is not None:
        return unknown
    names = [unit_name] if unit_name else sorted(spec.compute_units)
    offered = sorted(set().union(*(_widths(spec, name) for name in names)))
    if bits not in offered:
        has = ", ".join(f"INT{width}" for width in offered) or "no integer type"
        fields = ", ".join(f"compute_units.{name}.data_types" for name in names)
        return f"{', '.join(names) or 'The chip'} has no INT{bits}: {fields} and npu_int_support give {has}."
    if bits not in (4, 6, 8, 16):
        return f"The chip has INT{bits}, but this version has integer kernels of 4, 6, 8 and 16 bits only."
    return None


def _widths(spec: HardwareSpec, unit_name: str) -> set[int]:
    """Integer widths that a unit computes with."""
    unit = spec.compute_units[unit_name]
    listed = {WIDTH_OF[data_type] for data_type in unit.data_types if data_type in WIDTH_OF}
    support = spec.npu_int_support
    if unit.kind != "npu" or support is None or not support.bit_widths:
        return listed
    # the NPU's own list counts, but where both lists know a width, both must have it
    return {bits for bits in support.bit_widths if bits in listed or bits not in WIDTH_OF.values() or not listed}


def unit_against(spec: HardwareSpec, nodes: Sequence[ir.Node], unit_name: str | None, bits: int = 8) -> str | None:
    """One unit has integers of this width and runs the node and all that is fused with it."""
    at = unit_name
    for node in nodes:
        unit = integer_unit(spec, node.op_type, bits, at=at, fall_back=unit_name is None and at is None)
        if isinstance(unit, NoUnit):
            return unit.reason
        outside = limits_against(spec, unit, node, integer_type(spec.compute_units[unit], bits))
        if outside is not None:
            return outside
        at = unit
    return None


def integer_unit(
    spec: HardwareSpec, op_type: str, bits: int, at: str | None = None, fall_back: bool = True
) -> str | NoUnit:
    """The unit that runs an operator on codes of so many bits; `at`: only this one, or what it falls back to."""
    named = spec.compute_units.get(at or "")
    if named is not None:
        return unit_for(spec, op_type, integer_type(named, bits), at=at, fall_back=fall_back)
    own = unit_for(spec, op_type, f"int{bits}", fall_back=fall_back)
    return own if isinstance(own, str) or bits == 8 else unit_for(spec, op_type, "int8", fall_back=fall_back)


def granularity_against(spec: HardwareSpec, unit_name: str, scheme: str) -> str | None:
    """Weights are scaled only as finely as the unit can."""
    allowed, _ = granularities(spec, unit_name)
    wanted = "channel" if scheme == "channel_wise" else "tensor"
    if wanted in allowed:
        return None
    return f"{unit_name} does not scale weights by {wanted}: {says_of_granularity(spec, unit_name)}."


def sensitivity_against(spec: HardwareSpec, nodes: Sequence[ir.Node]) -> str | None:
    """The precision of a layer that the spec or an earlier action protects is not lowered."""
    for node in nodes:
        if node.name in spec.sensitive_layers:
            return f"{node.name} is one of the spec's sensitive_layers: its precision must not be lowered."
        if node.metadata_props.get(KEEP_FLOAT) == "1":
            return f"{node.name} was decided to stay float by a keep_float action."
    return None


def ranges_against(values: Sequence[ir.Value], ranges: Ranges, zero_point_clip: bool, bits: int = 8) -> str | None:
    """Each tensor's range is known, and holds 0 (or is widened to it by zero_point_clip)."""
    for value in values:
        name = name_of(value)
        if pair_in(value, bits) is not None:
            continue
        if name not in ranges:
            return f"The range of {name} is not known: INT{bits} needs calibration data that reaches it."
        low, high = ranges[name]
        if low > high:
            return f"The range of {name} is empty: {low:g} is above {high:g}."
        if max(abs(low), abs(high)) > np.finfo(np.float32).max:
            return f"The range of {name}, {low:g} to {high:g}, leaves float32."
        if not zero_point_clip and (low > 0 or high < 0):
            return (
                f"The range of {name}, {low:g} to {high:g}, does not hold 0, so its zero point is no int8 number; "
                "zero_point_clip widens it."
            )
    return None


def concat_against(
    node: ir.Node, outputs: Sequence[ir.Value], ranges: Ranges, symmetric: bool, bits: int = 8
) -> str | None:
    """One scale must leave each branch of a Concat enough codes."""
    low, high = ranges.get(name_of(outputs[0]), (0.0, 0.0))
    scale = float(activation_scale(low, high, symmetric, bits).scale)
    least = min(MIN_CODES, (1 << bits) // 4)
    for value in node.inputs:
        array = array_of(value)
        name = name_of(raw(value)) if value is not None else ""
        if array is not None and array.size:
            branch = (float(array.min()), float(array.max()))
        elif name in ranges:
            branch = ranges[name]
        else:
            continue
        codes = (max(branch[1], 0.0) - min(branch[0], 0.0)) / scale
        if 0 < codes < least:
            return (
                f"{node.name} gives all of its inputs one scale: {name} spans {branch[0]:g} to {branch[1]:g} of "
                f"{low:g} to {high:g} and would keep {codes:.1f} of {1 << bits} codes."
            )
    return None


def channels_against(node: ir.Node, form: IntegerForm, weight_bits: int = 8) -> str | None:
    """One scale for a whole weight must leave its channels resolution."""
    weight, axis = numbers_of(node.inputs[1]), form.weight_axis or 0
    peaks = np.abs(weight).max(axis=tuple(i for i in range(weight.ndim) if i != axis), initial=0.0)
    top = float(peaks.max(initial=0.0))
    flat = (peaks * highest_code(weight_bits) < top) & (peaks > top * 1e-6)
    if flat.sum() <= FLAT_CHANNELS * flat.size:
        return None
    return (
        f"One scale for all of {name_of(node.inputs[1])} leaves {int(flat.sum())} of {flat.size} channels fewer than "
        "2 codes: their ranges lie too far apart (scale by channel, or keep float)."
    )


def accumulator_against(
    spec: HardwareSpec,
    unit_name: str,
    node: ir.Node,
    form: IntegerForm,
    input_scale: np.float32 | np.ndarray,
    scheme: str,
    weight_bits: int = 8,
    activation_bits: int = 8,
) -> str | None:
    """The worst sum of products fits into the unit's accumulator."""
    bits = min(spec.compute_units[unit_name].accumulator_bits or 32, 32)
    codes, bias_integers = _codes(node, form, input_scale, scheme, weight_bits)
    needed = accumulator_bits(codes, form.weight_axis or 0, bias_integers, activation_bits)
    if needed <= bits:
        return None
    field = f"compute_units.{unit_name}.accumulator_bits"
    return f"A sum of {node.name} can need {needed} bits; the accumulator has {bits} ({field})."


def pairs_against(
    spec: HardwareSpec,
    unit_name: str,
    node: ir.Node,
    form: IntegerForm,
    input_scale: np.float32 | np.ndarray,
    scheme: str,
    weight_bits: int,
    activation_bits: int = 8,
) -> str | None:
    """The worst sum of two products fits where the unit keeps it before it accumulates."""
    bits = spec.compute_units[unit_name].pair_sum_bits
    if bits is None:
        return None
    codes = _codes(node, form, input_scale, scheme, weight_bits)[0]
    needed = pair_bits(codes, form.weight_axis or 0, activation_bits)
    if needed <= bits:
        return None
    field = f"compute_units.{unit_name}.pair_sum_bits"
    return (
        f"Two products of {node.name} can sum to {needed} bits; {unit_name} keeps {bits} of them ({field}), "
        f"so results would saturate. Weights of {weight_bits - 1} bits need one less."
    )


def _codes(
    node: ir.Node, form: IntegerForm, input_scale: np.float32 | np.ndarray, scheme: str, weight_bits: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Codes of a node's weight and bias."""
    weight, highest = numbers_of(node.inputs[1]), highest_code(weight_bits)
    axis = form.weight_axis or 0 if scheme == "channel_wise" else None
    bias = array_of(node.inputs[form.bias]) if form.bias is not None else None
    scales = weight_scales(weight, axis, bias_floor(bias, input_scale, axis), highest)
    codes = weight_codes(weight, scales, axis, highest)
    return codes, bias_codes(bias.reshape(-1), input_scale, scales)[0] if bias is not None else None
