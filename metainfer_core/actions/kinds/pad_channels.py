"""Pad channels to the multiple that the compute unit works in, with zeros that change no result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.channel_region import Region, region_of
from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.rewiring import add_constant, array_of, node, numbers_of, set_input
from metainfer_core.actions.units import describe, unit_for, unknown_unit
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "Channels with zero weights add nothing to a sum, so whoever reads them gets the same result."
MOST_ADDED = 1024
"""Channels that one action may add; multiples of real units are far below."""


class PadChannelsParams(Value):
    """Parameters of a pad_channels action."""

    channels: int | None = None
    """Channels before."""
    padded: int = pydantic.Field(ge=1)
    """Channels after."""
    target_hw: str | None = None


class PadChannels(ActionKind):
    """Gives a run of layers more channels, all zero, so that the count is a multiple of what the unit works in.

    The Conv that make the channels get zero weights and bias; those that read them get zero weights for them.
    """

    name = "pad_channels"
    obligation = Obligation(
        relative=1e-5, absolute=1e-5, why="Only zeros are added; a wider sum may be taken in another order."
    )
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = PadChannelsParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each run of channels that is no multiple of its unit's, or why it cannot be padded."""
        seen: set[ir.Node] = set()
        for conv in model.graph:
            if conv.op_type != "Conv" or conv in seen or conv.attributes.get_int("group", 1) != 1:
                continue
            data_type = "float32" if isinstance(integer_form(conv), str) else "int8"
            unit = unit_for(spec, "Conv", data_type)
            unit = unit if isinstance(unit, str) else unit_for(spec, "Conv", "float32")
            multiple = spec.compute_units[unit].channel_multiple if isinstance(unit, str) else None
            shape = static_shape(conv.outputs[0])
            if not isinstance(unit, str) or not multiple or shape is None or shape[1] % multiple == 0:
                continue
            region = region_of(conv)
            if isinstance(region, str):
                yield Refusal(kind=self.name, nodes=(str(conv.name),), reason=region)
                continue
            seen.update(region.sources)
            action = self._action(spec, unit, multiple, region)
            yield self.refusal(model, spec, action) or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """All nodes of the region, where the action names the Conv alone."""
        conv = next((other for other in model.graph if other.name == action.nodes[0]), None)
        region = region_of(conv) if conv is not None else ""
        if isinstance(region, str) or len(action.nodes) > 1:
            return action
        return action.with_nodes(tuple(str(member.name) for member in region.nodes))

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The region must be closed, the new count a multiple of the unit's and no smaller than the old one."""
        params = PadChannelsParams.from_plain(action.params)
        region = region_of(node(model, action.nodes[0]))
        reason: str | None = None
        if isinstance(region, str):
            reason = region
        elif {str(member.name) for member in region.nodes} != set(action.nodes):
            names = ", ".join(str(member.name) for member in region.nodes)
            reason = f"The channels of {action.nodes[0]} run through {names}; all of them must be padded together."
        elif params.padded < region.channels or params.channels not in (None, region.channels):
            reason = f"{action.nodes[0]} has {region.channels} channels: they can be padded, not cut."
        elif params.padded > region.channels + MOST_ADDED:
            reason = f"{params.padded - region.channels} more channels are too many: at most {MOST_ADDED} are added."
        elif (unknown := unknown_unit(spec, params.target_hw)) is not None:
            reason = unknown
        elif params.target_hw is not None:
            multiple = spec.compute_units[params.target_hw].channel_multiple
            field = f"compute_units.{params.target_hw}.channel_multiple"
            if multiple and params.padded % multiple:
                reason = f"{params.padded} is no multiple of {multiple} ({field})."
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Adds zero rows where the channels are made and zero columns where they are read."""
        params = PadChannelsParams.from_plain(action.params)
        region = region_of(node(model, action.nodes[0]))
        if isinstance(region, str):
            return
        extra = params.padded - region.channels
        for conv in (*region.sources, *region.depthwise):
            for index in range(1, len(conv.inputs)):
                if conv.inputs[index] is not None:
                    _pad(model, conv, index, 0, extra)
        for conv in region.depthwise:
            conv.attributes["group"] = ir.AttrInt64("group", params.padded)
        for norm in region.norms:
            for index in (1, 2, 3):
                _pad(model, norm, index, 0, extra)
            _pad(model, norm, 4, 0, extra, value=1.0)
        for join in region.joins:
            _pad_constants(model, join, region, extra)
        for reshape in region.reshapes:
            if reshape.op_type == "Reshape":
                shape = np.array([1, params.padded], dtype=np.int64)
                shape[0] = (static_shape(reshape.outputs[0]) or (1,))[0]
                set_input(reshape, 1, add_constant(model, f"{reshape.name}.padded_shape", shape))
        for sink in region.sinks:
            axis = 1 if sink.op_type == "Conv" or sink.attributes.get_int("transB", 0) == 1 else 0
            _pad(model, sink, 1, axis, extra)
        for value in region.tensors:
            batch, _, *space = static_shape(value) or (1, 1)
            value.shape = ir.Shape([batch, params.padded, *space])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        before, after = action.params.get("channels"), action.params["padded"]
        return f"Pad the{f' {before}' if before else ''} channels that {action.nodes[0]} makes to {after} with zeros."

    def _action(self, spec: HardwareSpec, unit: str, multiple: int, region: Region) -> Action:
        padded = -(-region.channels // multiple) * multiple
        field = f"compute_units.{unit}.channel_multiple"
        return Action(
            kind=self.name,
            nodes=tuple(str(member.name) for member in region.nodes),
            params={"channels": region.channels, "padded": padded, "target_hw": unit},
            why=(
                Reason(
                    claim=f"{unit} works on {multiple} channels at a time; {region.channels} are no multiple of it.",
                    spec_field=field,
                    spec_value=describe(spec, field),
                    law=LAW,
                ),
            ),
            constraint=f"{padded} channels are a multiple of {multiple}.",
            alternatives=(
                Alternative(
                    option=f"leave {region.channels} channels",
                    reason=f"{unit} would compute {padded} all the same, with a partial last group.",
                ),
            ),
        )


def _pad(model: ir.Model, owner: ir.Node, index: int, axis: int, extra: int, value: float = 0.0) -> None:
    array = numbers_of(owner.inputs[index])
    widths = [(0, extra if at == axis else 0) for at in range(array.ndim)]
    padded = np.pad(array, widths, constant_values=value)
    set_input(owner, index, add_constant(model, f"{owner.name}.padded_{index}", padded))


def _pad_constants(model: ir.Model, join: ir.Node, region: Region, extra: int) -> None:
    """A constant side with a number for each channel gets zeros."""
    rank = len(static_shape(join.outputs[0]) or ())
    for index, value in enumerate(join.inputs):
        array = array_of(value)
        axis = array.ndim - rank + 1 if array is not None else -1
        if array is not None and 0 <= axis < array.ndim and array.shape[axis] == region.channels > 1:
            _pad(model, join, index, axis, extra)
