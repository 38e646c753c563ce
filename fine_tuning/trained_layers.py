"""Which weights are trained: those of the layers that a change made or reached, and of the layers next to them."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.rewiring import array_of, name_of, readers
from metainfer_core.values import sha256

LEARNT: dict[str, tuple[int, ...]] = {
    "Conv": (1, 2),
    "ConvTranspose": (1, 2),
    "Gemm": (0, 1, 2),
    "MatMul": (0, 1),
    "BatchNormalization": (1, 2),
    "LayerNormalization": (1, 2),
    "PRelu": (1,),
    "Add": (0, 1),
    "Sub": (0, 1),
    "Mul": (0, 1),
}
"""Inputs that are weights where they are constants. Statistics of a normalization are none."""


def weights_of(node: ir.Node) -> tuple[str, ...]:
    """Names of the constants of a node that are learnt: more than one number, of float32."""
    found = []
    for index in LEARNT.get(node.op_type, ()):
        value = node.inputs[index] if index < len(node.inputs) else None
        array = array_of(value)
        single = array is not None and array.size == 1 and node.op_type in ("Add", "Sub", "Mul")
        if array is not None and array.dtype == "float32" and not single:
            found.append(name_of(value))
    return tuple(found)


def changed_nodes(before: ir.Model, after: ir.Model) -> tuple[ir.Node, ...]:
    """Nodes of the new model that the old one does not have, or has with another operator, wiring or weights."""
    old = {str(node.name): _signature(node) for node in before.graph}
    return tuple(node for node in after.graph if old.get(str(node.name)) != _signature(node))


def with_neighbours(nodes: tuple[ir.Node, ...]) -> tuple[ir.Node, ...]:
    """The nodes, and of each the next layers with weights before and behind it."""
    found = dict.fromkeys(nodes)
    for node in nodes:
        found.update(dict.fromkeys(_next_layers(node, upward=True)))
        found.update(dict.fromkeys(_next_layers(node, upward=False)))
    return tuple(found)


def _next_layers(start: ir.Node, upward: bool) -> Iterator[ir.Node]:
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        if upward:
            near = [value.producer() for value in node.inputs if value is not None]
        else:
            near = [reader for value in node.outputs for reader in readers(value)]
        for other in near:
            if other is None or other in seen:
                continue
            seen.add(other)
            if weights_of(other):
                yield other
            else:
                waiting.append(other)


def _signature(node: ir.Node) -> tuple[object, ...]:
    inputs = []
    for value in node.inputs:
        array = array_of(value)
        inputs.append(name_of(value) if array is None else f"{array.dtype}{array.shape}{sha256(array.tobytes())}")
    attributes = sorted((name, str(attribute.value)) for name, attribute in node.attributes.items())
    return (node.op_type, tuple(inputs), tuple(attributes))
