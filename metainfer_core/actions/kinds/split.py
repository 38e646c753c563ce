"""Split a convolution into parts that each keep a limit of the compute unit, such as the size of its weight buffer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.operator_rules import BrokenLimit, broken_limits
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import PART_UNIT, UNIT, is_float, node, numbers_of, remove, take_over
from metainfer_core.actions.unit_shares import best_share
from metainfer_core.actions.units import NoUnit, describe, has_data_type, home, limits_against, not_run, unknown_unit
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "A convolution is a sum over its input channels and has no sum over its output channels: both can be cut."
WORTH = 0.9
"""Sharing a node between units is spoken of where it would take at most this share of the time on one."""
MOST_PARTS = 64
"""More parts than this cost more launches than the unit can win back."""
Axis = Literal["input_channels", "output_channels"]
PROPERTY: dict[Axis, str] = {"input_channels": "in_channels", "output_channels": "out_channels"}


class SplitParams(Value):
    """Parameters of a split action."""

    axis: Axis
    channels: tuple[int, ...] = pydantic.Field(min_length=2, max_length=MOST_PARTS)
    """Channels of each part; their sum is the channels of the whole."""
    target_hw: str | None = None
    """Compute unit whose limit the parts keep."""
    units: tuple[str, ...] = ()
    """Compute unit of each part, along the output channels; none: all parts run where the whole would."""


class Split(ActionKind):
    """Computes a convolution in parts that each keep a limit that the whole one breaks.

    Cut along the input channels, the parts are added; cut along the output channels, they are put side by side, and
    each can have a unit of its own.
    """

    name = "split"
    obligation = Obligation(relative=1e-5, absolute=1e-5, why="The same products; float32 adds them in another order.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = SplitParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each Conv that breaks a limit on the unit it belongs to: parts that keep it, or why there are none."""
        for conv in model.graph:
            if conv.op_type != "Conv" or conv.domain:
                continue
            data_type = "float32" if isinstance(integer_form(conv), str) else "int8"
            unit = home(spec, data_type)
            if isinstance(unit, NoUnit) or not spec.compute_units[unit].operators.runs("Conv"):
                continue
            broken = broken_limits(spec, unit, conv, data_type)
            if broken:
                yield self._proposal(model, spec, unit, conv, broken)
            elif conv.attributes.get_int("group", 1) == 1:
                yield from self._against_sharing(spec, conv, unit, data_type)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The node must be one that can be cut so, into as many channels as it has, with parts that keep the limits."""
        reason = _reason_against(spec, node(model, action.nodes[0]), SplitParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts the parts in the place of the convolution."""
        params = SplitParams.from_plain(action.params)
        original = node(model, action.nodes[0])
        pieces = Pieces(model, original)
        build = _along_inputs if params.axis == "input_channels" else _along_outputs
        result = build(pieces, params.channels)
        parts = [piece for piece in pieces.nodes if piece.op_type == "Conv"]
        for part, unit in zip(parts, params.units, strict=False):
            part.metadata_props.update({PART_UNIT: unit, UNIT: unit})
        model.graph.insert_after(original, pieces.nodes)
        take_over(model, original.outputs[0], result)
        remove(model, [original])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = SplitParams.from_plain(action.params)
        along = params.axis.replace("_", " ")
        if params.units:
            shares = _and(f"{count} on {unit}" for count, unit in zip(params.channels, params.units, strict=False))
            return f"Compute {action.nodes[0]} in parts of its {along}, {shares}."
        return (
            f"Compute {action.nodes[0]} in {len(params.channels)} parts of at most {max(params.channels)} {along}"
            f"{f', within the limits of {params.target_hw}' if params.target_hw else ''}."
        )

    def _against_sharing(
        self, spec: HardwareSpec, conv: ir.Node, unit: str, data_type: str
    ) -> Iterator[Action | Refusal]:
        """What sharing the node between two units would gain, and why it does not."""
        share = best_share(spec, conv, unit, data_type)
        if share is None or share.together > WORTH * share.alone:
            return
        (kept, given), (first, second) = share.channels, share.units
        reason = (
            f"With {given} of its {kept + given} output channels on {second}, {conv.name} would take "
            f"{share.together:,.2f} µs in place of {share.alone:,.2f} on {first} alone (predicted, with "
            f"{share.transfers:,.2f} of transfers) if both computed at once. A program computes one step after "
            f"another: {share.in_turn:,.2f} µs. As an override it can be had, with {kept}, {given} channels on "
            f"{first}, {second}."
        )
        yield Refusal(kind=self.name, nodes=(str(conv.name),), reason=reason)

    def _proposal(
        self, model: ir.Model, spec: HardwareSpec, unit: str, conv: ir.Node, broken: Sequence[BrokenLimit]
    ) -> Action | Refusal:
        limit = broken[0]
        refused = Refusal(kind=self.name, nodes=(str(conv.name),), reason=f"{limit.sentence} {NO_CUT}")
        axis = next((axis for axis, name in PROPERTY.items() if name in limit.of), None)
        if len(broken) > 1 or axis is None or conv.attributes.get_int("group", 1) != 1:
            return refused
        whole = _channels(conv, axis)
        most = math.floor(whole * limit.allowed / limit.got)
        multiple = spec.compute_units[unit].channel_multiple or 1
        most = most - most % multiple if most >= multiple else most
        if most < 1 or -(-whole // most) > MOST_PARTS:
            return refused
        channels = tuple(min(most, whole - start) for start in range(0, whole, most))
        action = Action(
            kind=self.name,
            nodes=(str(conv.name),),
            params={"axis": axis, "channels": channels, "target_hw": unit},
            why=(
                Reason(
                    claim=limit.sentence,
                    spec_field=limit.field,
                    spec_value=describe(spec, limit.field),
                    law=LAW,
                ),
            ),
            constraint=f"Each part has at most {_scaled(limit, max(channels), whole)} of {limit.allowed:g}.",
            alternatives=(
                Alternative(
                    option=f"{conv.name} in one piece on another unit",
                    reason=f"Its data would leave {unit}, which runs its neighbours.",
                ),
            ),
        )
        return self.refusal(model, spec, action) or action


NO_CUT = "No cut along its channels keeps that limit."


def _scaled(limit: BrokenLimit, channels: int, whole: int) -> str:
    return f"{limit.got * channels / whole:g}"


def _channels(conv: ir.Node, axis: Axis) -> int:
    value = conv.inputs[0] if axis == "input_channels" else conv.outputs[0]
    return (static_shape(value) or (0, 0))[1] if value is not None else 0


def _reason_against(spec: HardwareSpec, conv: ir.Node, params: SplitParams) -> str | None:
    if conv.op_type != "Conv" or conv.domain:
        return f"{conv.name} is {conv.op_type}: only a Conv is split."
    if conv.attributes.get_int("group", 1) != 1:
        return f"{conv.name} has groups, which have their own channels: it is not split."
    weight = conv.inputs[1]
    if weight is None or weight.const_value is None or not is_float(conv.inputs[0]) or not is_float(weight):
        return f"The weight of {conv.name} is no float32 constant, so it cannot be cut."
    if static_shape(conv.outputs[0]) is None or conv.inputs[0] is None or static_shape(conv.inputs[0]) is None:
        return f"The shapes of {conv.name} are not fixed."
    whole = _channels(conv, params.axis)
    along = params.axis.replace("_", " ")
    if min(params.channels) < 1 or sum(params.channels) != whole:
        return f"Parts of {', '.join(map(str, params.channels))} {along} do not make the {whole} of {conv.name}."
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    if params.units:
        return _shares_against(spec, conv, params)
    return _part_against(spec, conv, params.axis, max(params.channels), params.target_hw)


def _shares_against(spec: HardwareSpec, conv: ir.Node, params: SplitParams) -> str | None:
    """The first thing that stands against parts on units of their own."""
    if params.axis != "output_channels":
        return f"Parts of input channels of {conv.name} are added up, in one place: they share no units."
    if params.target_hw is not None:
        return f"Each part of {conv.name} has a unit of its own: target_hw says nothing more."
    if len(params.units) != len(params.channels):
        return f"{conv.name} has {len(params.channels)} parts and {len(params.units)} units for them."
    data_type = "float32" if isinstance(integer_form(conv), str) else "int8"
    for count, unit in zip(params.channels, params.units, strict=True):
        if (unknown := unknown_unit(spec, unit)) is not None:
            return unknown
        lacking = has_data_type(unit, spec.compute_units[unit], data_type)
        if lacking is not None:
            return lacking.reason
        if not spec.compute_units[unit].operators.runs("Conv"):
            return not_run(spec, "Conv", [unit]).reason
        if (against := _part_against(spec, conv, params.axis, count, unit)) is not None:
            return against
    return None


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _part_against(spec: HardwareSpec, conv: ir.Node, axis: Axis, largest: int, unit: str | None) -> str | None:
    """The limit that a part of so many channels breaks, held against a part that is made for the purpose."""
    if unit is None:
        return None
    source, weight = conv.inputs[0], numbers_of(conv.inputs[1])
    assert source is not None
    batch, channels, *space = static_shape(source) or ()
    out_batch, out_channels, *out_space = static_shape(conv.outputs[0]) or ()
    by_input = axis == "input_channels"
    shape = (out_channels, largest, *weight.shape[2:]) if by_input else (largest, *weight.shape[1:])
    part = ir.node(
        "Conv",
        [
            ir.Value(
                name=str(source.name),
                shape=ir.Shape([batch, largest if by_input else channels, *space]),
                type=source.type,
            ),
            ir.Value(name=f"{conv.name}.part", shape=ir.Shape(shape), type=source.type),
        ],
        outputs=[
            ir.Value(
                name="part",
                shape=ir.Shape([out_batch, out_channels if by_input else largest, *out_space]),
                type=source.type,
            )
        ],
        name=f"{conv.name} in parts",
    )
    part.attributes.update(conv.attributes)
    data_type = "float32" if isinstance(integer_form(conv), str) else "int8"
    return limits_against(spec, unit, part, data_type)


def _along_inputs(at: Pieces, channels: Sequence[int]) -> ir.Value:
    """Parts over slices of the input, added up; the first one holds the bias."""
    conv, weight = at.original, numbers_of(at.original.inputs[1])
    bias = conv.inputs[2] if len(conv.inputs) > 2 else None
    shape = static_shape(conv.outputs[0]) or ()
    total: ir.Value | None = None
    start = 0
    for count in channels:
        slice_shape = (at.shape[0], count, *at.shape[2:])
        bounds = [at.numbers(np.array([edge], np.int64)) for edge in (start, start + count, 1)]
        part_input = at.op("Slice", [at.source, *bounds], slice_shape)
        part_weight = at.numbers(weight[:, start : start + count])
        inputs = [part_input, part_weight, *([bias] if bias is not None and total is None else [])]
        part = at.conv(inputs, shape)
        total = part if total is None else at.op("Add", [total, part], shape)
        start += count
    assert total is not None
    return total


def _along_outputs(at: Pieces, channels: Sequence[int]) -> ir.Value:
    """Parts that each make some of the output channels, side by side."""
    conv, weight = at.original, numbers_of(at.original.inputs[1])
    bias = numbers_of(conv.inputs[2]) if len(conv.inputs) > 2 and conv.inputs[2] is not None else None
    shape = static_shape(conv.outputs[0]) or ()
    parts: list[ir.Value | None] = []
    start = 0
    for count in channels:
        rows = slice(start, start + count)
        inputs = [at.source, at.numbers(weight[rows]), *([at.numbers(bias[rows])] if bias is not None else [])]
        parts.append(at.conv(inputs, (shape[0], count, *shape[2:])))
        start += count
    return at.op("Concat", parts, shape, axis=1)
