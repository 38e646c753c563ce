"""The numbers of a quantize action: its parameters, the tensors that it scales, and the scales that they give."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Reason
from metainfer_core.actions.channel_activations import (
    UNROUNDED_REASON,
    by_depthwise_alone,
    channel_affine,
    channels_of_activation_against,
    reads_sums,
    reasons,
    unrounded_against,
)
from metainfer_core.actions.integer_operators import IntegerForm, range_of
from metainfer_core.actions.quantize_dequantize import pair_in, parameters_of, raw
from metainfer_core.actions.rewiring import data_of, followers, name_of, numbers_of
from metainfer_core.actions.scales import Affine, activation_scale
from metainfer_core.actions.units import NoUnit
from metainfer_core.numerics.ranges import Calibration, ChannelRanges
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import FrozenMap, Value


class QuantizeParams(Value):
    """Parameters of a quantize action."""

    bit_width: int = pydantic.Field(default=8, ge=1, le=32)
    """Bits of an activation's code: 4, 6, 8 or 16. Below 8, those of a weight's code as well, without `weight_bits`."""
    scheme: Literal["channel_wise", "tensor_wise"] = "channel_wise"
    """How finely weights are scaled."""
    weight_bits: int | None = pydantic.Field(default=None, ge=2, le=8)
    """Bits that a weight's code uses: 7 where two products are summed in 16 bits; unset: as activations, at most 8."""
    symmetric: bool = False
    """Whether activations have zero point 0 (weights always do)."""
    target_hw: str | None = None
    """Compute unit of the spec that runs the integer kernel."""
    ranges: FrozenMap[tuple[float, float]] = {}
    """Activation tensor to the least and greatest value that calibration saw."""
    zero_point_clip: bool = False
    """Whether a range that does not hold 0 is widened to it."""
    activation_scheme: Literal["channel_wise", "tensor_wise"] = "tensor_wise"
    """How finely activations are scaled that depthwise convolutions alone read; all others have one scale."""
    channel_ranges: FrozenMap[ChannelRanges] = {}
    """Activation tensor to the least and greatest value of each of its channels, for `channel_wise`."""
    fused_input_bits: int = pydantic.Field(default=8, ge=8, le=16)
    """Bits of what a fused HardSwish reads: 8: codes of a scale; 16: the sum itself, which is then rounded once."""

    @property
    def bits_of_weights(self) -> int:
        """Bits that a weight's code uses."""
        return self.weight_bits if self.weight_bits is not None else min(self.bit_width, 8)


def bits_stored(params: QuantizeParams, target: ir.Node, value: ir.Value) -> int:
    """Bits of the codes of an output of the node's kernel: those of 8 where only a fused table reads them."""
    fused = followers(target)
    return 8 if params.bit_width < 8 and fused and value is target.outputs[0] else params.bit_width


def affine_of(params: QuantizeParams, value: ir.Value, bits: int | None = None) -> Affine:
    """Scale and zero point that the ranges give a tensor, or each of its channels; in other bits than the action's."""
    name = name_of(value)
    if params.activation_scheme == "channel_wise" and name in params.channel_ranges:
        return channel_affine(params.channel_ranges[name], params.symmetric)
    low, high = params.ranges.get(name, (0.0, 0.0))
    return activation_scale(low, high, params.symmetric, bits or params.bit_width)


def input_scale(params: QuantizeParams, target: ir.Node, form: IntegerForm) -> np.float32 | np.ndarray:
    """Scale of what the layer reads, for all of its outputs or for each: of the pair on it, else of its range."""
    source = raw(data_of(target))
    pair = pair_in(source, params.bit_width)
    affine = parameters_of(pair) if pair is not None else affine_of(params, source)
    return affine.for_outputs(numbers_of(target.inputs[1]).shape[form.weight_axis or 0])


def finer(
    spec: HardwareSpec,
    unit: str | NoUnit,
    group: tuple[ir.Node, ...],
    form: IntegerForm,
    calibration: Calibration | None,
    preferred: Mapping[str, object],
    of_one_scale: Collection[str],
) -> dict[str, object]:
    """What lessens rounding at no cost where it is legal: scales by channel, and curves of unrounded sums."""
    if preferred.get("bit_width", 8) != 8 or not isinstance(unit, str):
        return {}
    found: dict[str, object] = {}
    if unrounded_against(group[0], form.role, 16) is None:
        found["fused_input_bits"] = 16
    wanted = preferred.get("activation_scheme", "channel_wise") == "channel_wise"
    by_channel = channel_ranges_of(group, form, calibration) if calibration is not None and wanted else {}
    outputs = stored_outputs(group[0], 16 if found else 8)
    legal = {
        name_of(value): by_channel[name_of(value)]
        for value in (*activation_inputs(group[0], form), *outputs)
        if name_of(value) in by_channel
        and name_of(value) not in of_one_scale
        and channels_of_activation_against(
            spec, unit, group[0], form.role, value, value in outputs, by_channel[name_of(value)]
        )
        is None
    }
    return {**found, "activation_scheme": "channel_wise", "channel_ranges": legal} if legal else found


def why_finer(params: Mapping[str, object], ranges: Mapping[str, tuple[float, float]]) -> list[Reason]:
    """The reasons for what `_finer` chose."""
    chosen = QuantizeParams.from_plain(params)
    found = reasons(chosen.channel_ranges, chosen.symmetric, ranges) if chosen.channel_ranges else []
    return [*found, UNROUNDED_REASON] if chosen.fused_input_bits == 16 else found


def ranges_of(
    group: tuple[ir.Node, ...], form: IntegerForm, calibration: Calibration
) -> dict[str, tuple[float, float]]:
    """Ranges of all tensors that an action on the group may need, also if its members are not fused after all."""
    values = (*activation_inputs(group[0], form), *(value for member in group for value in member.outputs))
    found = {name_of(value): range_of(value, calibration) for value in values}
    return {name: span for name, span in sorted(found.items()) if span is not None}


def activation_inputs(target: ir.Node, form: IntegerForm) -> tuple[ir.Value, ...]:
    """The int8 tensors that the node reads, without their pairs."""
    return tuple(raw(value) for value in (target.inputs[index] for index in form.activations) if value is not None)


def channel_ranges_of(
    group: tuple[ir.Node, ...], form: IntegerForm, calibration: Calibration
) -> dict[str, ChannelRanges]:
    """Ranges of the channels of what the group reads and makes, where depthwise convolutions alone read it."""
    values = (*activation_inputs(group[0], form), *group[-1].outputs)
    names = sorted(name_of(value) for value in values if by_depthwise_alone(value) and not _has_one_scale(value))
    return {name: calibration.by_channel[name] for name in names if name in calibration.by_channel}


def _has_one_scale(value: ir.Value) -> bool:
    """Whether another action gave the tensor one scale already."""
    pair = pair_in(value, 8)
    return pair is not None and not parameters_of(pair).scale.ndim


def stored_outputs(target: ir.Node, fused_input_bits: int) -> tuple[ir.Value, ...]:
    """The tensors that the node's kernel stores, and the codes that a fused table is looked up by."""
    fused = followers(target)
    if not fused:
        return tuple(value for value in target.outputs if value.uses() or value.is_graph_output())
    last = fused[-1]
    before = () if reads_sums(target, fused_input_bits) else (target.outputs[0],)
    return (*before, last.outputs[0])
