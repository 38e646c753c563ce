"""What each node of a graph costs in arithmetic and bytes, whatever hardware it runs on."""

from __future__ import annotations

from typing import Literal

import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.live_ranges import live_bytes, live_ranges
from metainfer_core.graph.operations import SELECTIONS, VIEWS, macs, operations
from metainfer_core.graph.shapes import describe, element_type, size_bytes, static_shape
from metainfer_core.values import Value


class NodeSummary(Value):
    """The cost of one node."""

    id: str
    op_type: str
    unit: str | None = None
    """Compute unit that an action chose for it; None where none did."""
    macs: int
    flops: int | None
    """All operations, as `operations.py` counts them; None where the operator is not known there."""
    input_bytes: int
    """Of the inputs that are not constant."""
    output_bytes: int
    parameter_bytes: int
    """Of the constant inputs."""
    moved_bytes: int
    """What must be read and written if nothing stays in a cache; 0 for nodes that only give another shape."""
    live_bytes: int
    """Bytes of all tensors that are alive while the node runs, constants apart."""
    output_shapes: tuple[tuple[int, ...], ...]
    element_type: str
    """Of the first output, such as `float32`."""
    reads: tuple[str, ...] = ()
    """Ids of the nodes that make its inputs, each once, in order."""

    @property
    def arithmetic_intensity(self) -> float | None:
        """Operations for each byte moved; None where either is not known or nothing moves."""
        return self.flops / self.moved_bytes if self.flops is not None and self.moved_bytes else None


class GraphSummary(Value):
    """The cost of every node in execution order, and of the whole."""

    format: Literal["metainfer.graph_summary/1"] = "metainfer.graph_summary/1"
    nodes: tuple[NodeSummary, ...]
    parameter_bytes: int
    """Of all constants, each counted once."""
    peak_live_bytes: int
    """The most bytes alive at any one time: no memory plan for this order can have a lower peak."""

    @property
    def macs(self) -> int:
        """Of all nodes."""
        return sum(node.macs for node in self.nodes)

    @property
    def flops(self) -> int:
        """Of all nodes whose operator is known; `unknown_operators` names the others."""
        return sum(node.flops or 0 for node in self.nodes)

    @property
    def moved_bytes(self) -> int:
        """Of all nodes."""
        return sum(node.moved_bytes for node in self.nodes)

    @property
    def unknown_operators(self) -> tuple[str, ...]:
        """Operators whose arithmetic is not known, sorted."""
        return tuple(sorted({node.op_type for node in self.nodes if node.flops is None}))


def summarise(model: ir.Model) -> GraphSummary:
    """The cost of a model whose shapes are static.

    Raises:
        UnsupportedError: A shape is not known, or control flow is left; preprocess the model first.
    """
    alive = live_bytes(live_ranges(model))
    constants = model.graph.initializers.values()
    return GraphSummary(
        nodes=tuple(_summarise_node(node, alive[index]) for index, node in enumerate(model.graph)),
        parameter_bytes=sum(value.const_value.nbytes for value in constants if value.const_value is not None),
        peak_live_bytes=max(alive, default=0),
    )


def _summarise_node(node: ir.Node, alive: int) -> NodeSummary:
    if any(attribute.type == ir.AttributeType.GRAPH for attribute in node.attributes.values()):
        raise UnsupportedError(
            f"The node {node.name} ({node.op_type}) has a sub-graph.",
            "What it costs is only known once it is folded.",
            "Preprocess the model first.",
        )
    given = dict.fromkeys(value for value in node.inputs if value is not None)  # an operand read twice counts once
    made = [value for value in node.outputs if value.name]
    input_bytes = sum(_size(value) for value in given if value.const_value is None)
    parameter_bytes = sum(_size(value) for value in given if value.const_value is not None)
    output_bytes = sum(_size(value) for value in made)
    return NodeSummary(
        id=node.name or "",
        op_type=node.op_type,
        unit=node.metadata_props.get("metainfer.unit"),
        macs=macs(node),
        flops=operations(node),
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        parameter_bytes=parameter_bytes,
        moved_bytes=_moved(node, input_bytes + parameter_bytes, output_bytes),
        live_bytes=alive,
        output_shapes=tuple(static_shape(value) or () for value in made),
        element_type=(element_type(made[0]) if made else None) or "unknown",
        reads=tuple(
            dict.fromkeys(producer.name or "" for value in given if (producer := value.producer()) is not None)
        ),
    )


def _moved(node: ir.Node, read: int, written: int) -> int:
    if node.op_type in VIEWS:
        return 0
    if node.op_type in SELECTIONS:
        indices = sum(_size(value) for value in node.inputs[1:] if value is not None)
        return 2 * written + indices
    return read + written


def _size(value: ir.Value) -> int:
    size = size_bytes(value)
    if size is None:
        raise UnsupportedError(
            f"The tensor {value.name!r} has the type {describe(value)}.",
            "Its size must be known.",
            "Preprocess the model with fixed input shapes first.",
        )
    return size
