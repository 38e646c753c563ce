"""Which tensors must get more channels together: the part of a graph that one channel count runs through."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from metainfer_core.actions.activations import ACTIVATIONS
from metainfer_core.actions.rewiring import array_of, name_of
from metainfer_core.graph.shapes import static_shape

CHANNEL_BY_CHANNEL = (*ACTIVATIONS, "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Identity")
JOINS = ("Add", "Mul", "Sub")
RESHAPES = ("Reshape", "Flatten", "Squeeze")
"""They may pass only from [N, C, 1, 1] to [N, C]."""


@dataclass
class Region:
    """Nodes and tensors that share one channel count; grown from one Conv. Channels are axis 1."""

    channels: int
    sources: list[ir.Node] = field(default_factory=list)
    """Conv of one group that make the channels: their weights and bias get zero rows."""
    depthwise: list[ir.Node] = field(default_factory=list)
    """Conv with one group a channel: their weights and bias get zero rows, too."""
    joins: list[ir.Node] = field(default_factory=list)
    norms: list[ir.Node] = field(default_factory=list)
    reshapes: list[ir.Node] = field(default_factory=list)
    sinks: list[ir.Node] = field(default_factory=list)
    """Conv, Gemm and MatMul that read the channels: their weights get zero columns."""
    others: list[ir.Node] = field(default_factory=list)
    tensors: dict[ir.Value, None] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[ir.Node, ...]:
        """All nodes that change, those that make the channels first."""
        parts = (self.sources, self.depthwise, self.joins, self.norms, self.reshapes, self.others, self.sinks)
        return tuple(dict.fromkeys(node for part in parts for node in part))


def region_of(conv: ir.Node) -> Region | str:
    """The region that the output channels of a Conv run through, or the sentence why they cannot be padded."""
    shape = static_shape(conv.outputs[0])
    if conv.op_type != "Conv" or conv.attributes.get_int("group", 1) != 1 or shape is None:
        return f"{conv.name} is not a Conv of one group with a known shape."
    region = Region(channels=shape[1])
    waiting = [conv.outputs[0]]
    while waiting:
        value = waiting.pop()
        if value in region.tensors:
            continue
        region.tensors[value] = None
        if value.is_graph_output():
            return f"{name_of(value)} is an output of the model, whose shape must stay."
        producer = value.producer()
        if producer is None:
            return f"{name_of(value)} is an input of the model, whose shape must stay."
        for found in (_upward(region, producer), *(_downward(region, use.node, use.idx) for use in value.uses())):
            if isinstance(found, str):
                return found
            waiting.extend(found)
    region.sources.sort(key=lambda node: node is not conv)
    return region


def is_depthwise(conv: ir.Node, channels: int) -> bool:
    """Whether each output channel is made from the input channel of the same number alone."""
    weight = array_of(conv.inputs[1])
    groups = conv.attributes.get_int("group", 1)
    return groups > 1 and weight is not None and groups == channels == weight.shape[0] and weight.shape[1] == 1


def _upward(region: Region, node: ir.Node) -> list[ir.Value] | str:
    """What must be padded so that the node can make a padded output."""
    if node.op_type == "Conv" and not is_depthwise(node, region.channels):
        if node.attributes.get_int("group", 1) != 1:
            return f"{node.name} has {node.attributes.get_int('group', 1)} groups, between which channels cannot move."
        if any(array_of(value) is None for value in node.inputs[1:] if value is not None):
            return f"The weights of {node.name} are not constants."
        _note(region.sources, node)
        return []
    return _through(region, node)


def _downward(region: Region, node: ir.Node, index: int) -> list[ir.Value] | str:
    """What must be padded because the node reads a padded input."""
    if node.op_type == "Conv" and index == 0 and not is_depthwise(node, region.channels):
        if node.attributes.get_int("group", 1) != 1:
            return f"{node.name} has {node.attributes.get_int('group', 1)} groups, between which channels cannot move."
        return _sink(region, node)
    if node.op_type in ("Gemm", "MatMul") and index == 0:
        shape = static_shape(node.inputs[0]) if node.inputs[0] is not None else None
        if shape is None or len(shape) != 2 or node.attributes.get_int("transA", 0) != 0:
            return f"{node.name} ({node.op_type}) does not read the channels as the columns of a matrix."
        return _sink(region, node)
    through = _through(region, node)
    return through if isinstance(through, str) else [*through, *node.outputs[:1]]


def _sink(region: Region, node: ir.Node) -> list[ir.Value] | str:
    if array_of(node.inputs[1]) is None:
        return f"The weights of {node.name} are not constants."
    _note(region.sinks, node)
    return []


def _through(region: Region, node: ir.Node) -> list[ir.Value] | str:
    """The inputs that must have as many channels as the output of a node that keeps channels apart."""
    data = node.inputs[0] if node.inputs else None
    if node.op_type == "Conv":
        _note(region.depthwise, node)
    elif node.op_type in JOINS:
        return _join(region, node)
    elif node.op_type == "BatchNormalization":
        if any(array_of(value) is None for value in node.inputs[1:]):
            return f"The parameters of {node.name} are not constants."
        _note(region.norms, node)
    elif node.op_type in RESHAPES:
        shapes = [static_shape(value) for value in (data, node.outputs[0]) if value is not None]
        if len(shapes) != 2 or shapes[0] is None or shapes[1] != shapes[0][:2] or set(shapes[0][2:]) - {1}:
            return f"{node.name} ({node.op_type}) mixes channels with other extents."
        _note(region.reshapes, node)
    elif node.op_type in CHANNEL_BY_CHANNEL:
        _note(region.others, node)
    else:
        return f"{node.name} ({node.op_type}) does not keep channels apart, so zero channels could change its result."
    return [data] if data is not None else []


def _join(region: Region, node: ir.Node) -> list[ir.Value] | str:
    """Both sides of a join grow; a side that is the same for all channels stays."""
    grow: list[ir.Value] = []
    rank = len(static_shape(node.outputs[0]) or ())
    for value in node.inputs:
        shape = static_shape(value) if value is not None else None
        if value is None or shape is None:
            return f"{node.name} reads a value whose shape is not known."
        extent = shape[1 - rank] if len(shape) >= rank - 1 else 1
        if extent == 1:
            continue
        if extent != region.channels:
            return f"{node.name} joins {extent} with {region.channels} channels."
        if array_of(value) is None:
            grow.append(value)
    _note(region.joins, node)
    return grow


def _note(where: list[ir.Node], node: ir.Node) -> None:
    if node not in where:
        where.append(node)
