"""Walking through an ONNX message before it becomes a graph: every sub-graph, node and tensor in it."""

from __future__ import annotations

from collections.abc import Iterator

import onnx


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
    for graph in graphs_in(proto.graph):
        yield from graph.node
    for function in proto.functions:
        for node in function.node:
            yield node
            for _, inner in subgraphs_of(node):
                for graph in graphs_in(inner):
                    yield from graph.node


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
