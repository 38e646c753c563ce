"""Fewer or more channels through a run of layers: the strongest stay, new ones start without being heard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.channel_region import Region, region_of
from metainfer_core.actions.kinds.pad_channels import PadChannels
from metainfer_core.actions.rewiring import add_constant, array_of, node, numbers_of, set_input
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.change import StructureChange


def fewer_channels(model: ir.Model, change: StructureChange, values_of: Callable[..., np.ndarray], seed: int) -> None:
    """Keeps the channels whose weights, where they are made and where they are read, are largest."""
    region = _region(model, change)
    kept = _strongest(region, int(change.params["to"]))
    for conv in (*region.sources, *region.depthwise):
        for index in range(1, len(conv.inputs)):
            if conv.inputs[index] is not None:
                _select(model, conv, index, 0, kept)
    for conv in region.depthwise:
        conv.attributes["group"] = ir.AttrInt64("group", len(kept))
    for norm in region.norms:
        for index in (1, 2, 3, 4):
            _select(model, norm, index, 0, kept)
    for join in region.joins:
        rank = len(static_shape(join.outputs[0]) or ())
        for index, value in enumerate(join.inputs):
            array = array_of(value)
            axis = array.ndim - rank + 1 if array is not None else -1
            if array is not None and 0 <= axis < array.ndim and array.shape[axis] == region.channels:
                _select(model, join, index, axis, kept)
    for reshape in region.reshapes:
        if reshape.op_type == "Reshape":
            shape = np.array([(static_shape(reshape.outputs[0]) or (1,))[0], len(kept)], dtype=np.int64)
            set_input(reshape, 1, add_constant(model, f"{reshape.name}.fewer", shape))
    for sink in region.sinks:
        _select(model, sink, 1, _reading_axis(sink), kept)


def more_channels(model: ir.Model, change: StructureChange, values_of: Callable[..., np.ndarray], seed: int) -> None:
    """New channels get random weights where they are made and zeros where they are read: nothing changes at first."""
    region = _region(model, change)
    before, after = region.channels, int(change.params["to"])
    action = Action(kind=PadChannels.name, nodes=change.nodes, params={"channels": before, "padded": after})
    PadChannels().rewrite(model, action)
    generator = np.random.default_rng(seed)
    for conv in region.sources:
        weight = numbers_of(conv.inputs[1]).copy()
        spread = float(weight[:before].std())
        weight[before:] = (generator.standard_normal(weight[before:].shape) * spread).astype(weight.dtype)
        set_input(conv, 1, add_constant(model, f"{conv.name}.more", weight))


def _region(model: ir.Model, change: StructureChange) -> Region:
    region = region_of(node(model, change.nodes[0]))
    if isinstance(region, str) or region.channels != int(change.params["from"]):
        why = region if isinstance(region, str) else f"There are {region.channels} channels."
        raise UnsupportedError(f"{change.id} cannot be made.", why, "Leave the change out.")
    return region


def _strongest(region: Region, count: int) -> np.ndarray:
    """Places of the channels that stay, in their order; ties go to the first."""
    made, read = np.zeros(region.channels), np.zeros(region.channels)
    for conv in region.sources:
        made += np.square(numbers_of(conv.inputs[1]).astype(np.float64)).reshape(region.channels, -1).sum(axis=1)
    for sink in region.sinks:
        weight = np.moveaxis(numbers_of(sink.inputs[1]).astype(np.float64), _reading_axis(sink), 0)
        read += np.square(weight).reshape(region.channels, -1).sum(axis=1)
    strength = made * np.where(read.any(), read, 1.0)
    return np.sort(np.argsort(-strength, kind="stable")[:count])


def _reading_axis(sink: ir.Node) -> int:
    return 1 if sink.op_type == "Conv" or sink.attributes.get_int("transB", 0) == 1 else 0


def _select(model: ir.Model, owner: ir.Node, index: int, axis: int, kept: np.ndarray) -> None:
    array = np.take(numbers_of(owner.inputs[index]), kept, axis)
    set_input(owner, index, add_constant(model, f"{owner.name}.fewer_{index}", array))
