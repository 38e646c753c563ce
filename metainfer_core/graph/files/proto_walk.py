"""Walking through an ONNX message before it becomes a graph: every sub-graph, node and tensor in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_NAME_FIELDS = frozenset({"name", "op_type", "domain", "overload", "input", "output", "dim_param", "ref_attr_name"})


def subgraphs_of(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """The node's sub-graphs with the names of their attributes, in order."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            for index, graph in enumerate(attribute.graphs):
                yield f"{attribute.name}_{index}", graph


def graphs_in(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and every sub-graph below it, outer ones first."""
    yield graph
    for node in graph.node:
        for _, inner in subgraphs_of(node):
            yield from graphs_in(inner)


def nodes_in(proto: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Every node of the model: of its graph, sub-graphs and functions."""
    yield from nodes_below(proto.graph.node)
    for function in proto.functions:
        yield from nodes_below(function.node)


def nodes_below(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and all those of their sub-graphs."""
    for node in nodes:
        yield node
        for _, inner in subgraphs_of(node):
            yield from nodes_below(inner.node)


def has_only_text_strings(message: Message) -> bool:
    """Whether every string in the message is UTF-8; protobuf hands out bytes for one that is not."""
    for field, content in message.ListFields():
        if field.type not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
            continue
        for item in content if field.is_repeated else (content,):
            if isinstance(item, bytes) or (isinstance(item, Message) and not has_only_text_strings(item)):
                return False
    return True


def names_in(message: Message) -> Iterator[str]:
    """Every name in the message: of nodes, operators, values, dimensions and the like; comments are none."""
    for field, content in message.ListFields():
        items = content if field.is_repeated else (content,)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in items:
                yield from names_in(item)
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in _NAME_FIELDS:
            yield from items


def tensors_in(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor of the model: initializers and attributes."""
    for graph in graphs_in(proto.graph):
        yield from graph.initializer
    for node in nodes_in(proto):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == onnx.AttributeProto.TENSORS:
                yield from attribute.tensors
