"""Whether two models are the same graph with other weights, as after training anew."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.graph.shapes import describe


def graph_difference(before: ir.Model, after: ir.Model) -> str | None:
    """The first thing that differs between two prepared models besides the values of float constants, as a sentence.

    None: the same nodes, in the same order, under the same names, with the same attributes, wiring, shapes and types.
    Constants of integers are shapes, axes and the like, so they are part of the graph.
    """
    old, new = list(_lines(before.graph)), list(_lines(after.graph))
    for one, other in zip(old, new, strict=False):
        if one != other:
            return f"Before, there was {one}; now there is {other}."
    if len(old) != len(new):
        longer = old if len(old) > len(new) else new
        where = "before" if longer is old else "now"
        return f"Only {where} is there {longer[min(len(old), len(new))]}."
    return None


def _lines(graph: ir.Graph) -> Iterator[str]:
    """Everything that makes the graph what it is, one thing a line."""
    for value in graph.inputs:
        yield f"the input {_value(value)}"
    for name in sorted(graph.initializers):
        constant = graph.initializers[name]
        yield f"the constant {_value(constant)}{_integers(constant.const_value)}"
    for node in graph:
        inputs = ", ".join("nothing" if value is None else str(value.name) for value in node.inputs)
        attributes = "; ".join(_attribute(node.attributes[name]) for name in sorted(node.attributes))
        outputs = ", ".join(_value(value) for value in node.outputs)
        yield f"the node {node.name}: {node.domain}{node.op_type} of {inputs} ({attributes}) giving {outputs}"
    for value in graph.outputs:
        yield f"the output {_value(value)}"


def _value(value: ir.Value) -> str:
    return f"{value.name} {describe(value)}"


def _integers(tensor: ir.TensorProtocol | None) -> str:
    if tensor is None or tensor.dtype.is_floating_point():
        return ""
    return f" = {tensor.numpy().tolist()}"


def _attribute(attribute: ir.Attr) -> str:
    if attribute.type is ir.AttributeType.GRAPH:
        return f"{attribute.name}: {'; '.join(_lines(attribute.as_graph()))}"
    if attribute.type is ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        return f"{attribute.name}: {tensor.dtype} {tensor.shape}{_integers(tensor)}"
    return f"{attribute.name}: {attribute.value}"
