"""Nodes that stand in for one node: made one by one, with static shapes and the origin marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import add_constant, mark_origin
from metainfer_core.errors import DefectError
from metainfer_core.graph.shapes import static_shape


class Pieces:
    """Builds the nodes that stand in for one node, with static shapes and ids that begin with the node's."""

    def __init__(self, model: ir.Model, original: ir.Node) -> None:
        self.model, self.original = model, original
        self.nodes: list[ir.Node] = []
        source = original.inputs[0]
        if source is None:
            raise DefectError(f"{original.name} has no first input, so there is nothing to decompose.")
        self.source: ir.Value = source
        self.shape = static_shape(source) or ()

    def op(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        shape: Sequence[int] | None = None,
        **attributes: int | float | tuple[int, ...],
    ) -> ir.Value:
        """One new node; its output has the shape of the original's input unless another is given."""
        name = f"{self.original.name}.{len(self.nodes)}_{op_type.lower()}"
        extents = self.shape if shape is None else shape
        output = ir.Value(name=f"{name}.out", shape=ir.Shape(extents), type=self.source.type)
        piece = ir.node(op_type, inputs, attributes, outputs=[output], name=name)
        mark_origin(piece, (self.original,))
        self.nodes.append(piece)
        return output

    def conv(self, inputs: Sequence[ir.Value | None], shape: Sequence[int]) -> ir.Value:
        """A Conv with the attributes of the original."""
        result = self.op("Conv", inputs, shape)
        self.nodes[-1].attributes.update(self.original.attributes)
        return result

    def wants(self, index: int) -> bool:
        """Whether anybody looks at that output of the original."""
        outputs = self.original.outputs
        return index < len(outputs) and bool(outputs[index].uses() or outputs[index].is_graph_output())

    def number(self, value: float) -> ir.Value:
        """A float32 scalar."""
        return add_constant(self.model, f"{self.original.name}.constant", np.array(value, dtype=np.float32))

    def numbers(self, array: np.ndarray) -> ir.Value:
        """A constant array."""
        return add_constant(self.model, f"{self.original.name}.constant", array)

    def reduce(self, op_type: str, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """A reduction that keeps its axes with extent 1."""
        shape = static_shape(value) or ()
        reduced = [1 if axis in axes else extent for axis, extent in enumerate(shape)]
        return self.op(op_type, [value, self.numbers(np.array(axes, dtype=np.int64))], reduced, keepdims=1)

    def attribute(self, name: str, default: float) -> float:
        """A float attribute of the original."""
        return self.original.attributes.get_float(name, default)

    def axis(self, name: str, default: int) -> int:
        """An axis attribute of the original, counted from the front."""
        return self.original.attributes.get_int(name, default) % max(len(self.shape), 1)
