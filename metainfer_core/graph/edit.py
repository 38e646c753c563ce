"""Small safe edits of the main graph, which keep names unique and the model's interface as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.graph.report import Rewrite, RewriteKind


class Editor:
    """Edits one graph in place and writes down each rewrite."""

    def __init__(self, model: ir.Model) -> None:
        self.graph = model.graph
        self.opset_imports = dict(model.graph.opset_imports)
        self.rewrites: list[Rewrite] = []
        self._value_names, self._node_names = _Names(), _Names()
        for graph in model.graphs():  # the main graph first, so that its names stay
            for value in _values(graph):
                if value.name:
                    value.name = self.value_name(value.name)
        for node in model.graph.all_nodes():
            self.node_name(node.name or "")
        self._replaced: dict[ir.Value, ir.Value] = {}

    def record(self, kind: RewriteKind, node: ir.Node, why: str, changes_values: bool = False) -> None:
        """Writes a rewrite of `node` into the report."""
        self.rewrites.append(Rewrite(kind=kind, node=node.name or "", why=why, changes_values=changes_values))

    def constant(self, name: str, tensor: ir.TensorProtocol | np.ndarray) -> ir.Value:
        """A new initializer, named `name` or like it."""
        if isinstance(tensor, np.ndarray):
            tensor = ir.tensor(tensor)
        name = self.value_name(name)
        tensor.name = name
        value = ir.Value(
            name=name, const_value=tensor, type=ir.TensorType(tensor.dtype), shape=ir.Shape(tensor.shape.numpy())
        )
        self.graph.register_initializer(value)
        return value

    def value_name(self, wish: str) -> str:
        """`wish`, or `wish_2`, `wish_3` ... if a value has that name already."""
        return self._value_names.new(wish)

    def node_name(self, wish: str) -> str:
        """`wish`, or `wish_2`, `wish_3` ... if a node has that name already."""
        return self._node_names.new(wish)

    def current(self, value: ir.Value) -> ir.Value:
        """The value that stands for `value` after all replacements so far."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def can_replace(self, old: ir.Value, new: ir.Value) -> bool:
        """Whether `new` can stand for `old` without a node between: an output must be made by a node of its own."""
        if not old.is_graph_output():
            return True
        return new.producer() is not None and not new.is_graph_output() and new.graph is self.graph

    def replace(self, old: ir.Value, new: ir.Value, take_name: bool = False) -> None:
        """Lets every user of `old` read `new`.

        `new` takes over the name if it was made to stand for `old`, and always if `old` is an output of the model.
        """
        if take_name or old.is_graph_output():
            name = old.name
            old.name = self.value_name(f"{name}_before")
            new.name = name
        if old.is_graph_output():
            for index, value in enumerate(self.graph.outputs):
                if value is old:
                    self.graph.outputs[index] = new
        old.replace_all_uses_with(new)
        self._replaced[old] = new

    def remove(self, node: ir.Node) -> None:
        """Takes a node out of the graph; nothing may read its outputs any more."""
        self.graph.remove(node, safe=True)

    def adopt(self, inner: ir.Graph, outputs: Sequence[ir.Value], before: ir.Node, suffix: str = "") -> list[ir.Node]:
        """Moves all of a sub-graph's nodes and constants into the main graph, and lets `outputs` read its results.

        Args:
            inner: The sub-graph; its inputs must have been replaced already. It is empty afterwards.
            outputs: Values of the main graph, one for each output of the sub-graph.
            before: The node in front of which the sub-graph's nodes will stand.
            suffix: Added to the ids of the nodes where they are copies.

        Returns:
            The nodes that now stand in the main graph.
        """
        results = list(inner.outputs)
        inner.outputs.clear()
        for name in sorted(inner.initializers):
            value = inner.initializers.pop(name)
            value.name = self.value_name(name)
            self.graph.register_initializer(value)
        nodes = list(inner)
        inner.remove(nodes)
        for node in nodes:
            if suffix:
                node.metadata_props.setdefault("metainfer.from", node.name or "")
                node.name = self.node_name(f"{node.name}{suffix}")
            for value in node.outputs:
                if value.name and suffix:
                    value.name = self.value_name(value.name)
        self.graph.insert_before(before, nodes)
        for old, new in zip(outputs, results, strict=True):
            if not self.can_replace(old, new):
                bridge = ir.node("Identity", [new], name=self.node_name(f"{before.name}_{old.name}"))
                bridge.outputs[0].name = self.value_name(f"{old.name}_bridge")
                self.graph.insert_before(before, bridge)
                nodes.append(bridge)
                new = bridge.outputs[0]
            self.replace(old, new)
        return nodes


def _values(graph: ir.Graph) -> Iterable[ir.Value]:
    yield from graph.inputs
    yield from graph.initializers.values()
    for node in graph:
        yield from node.outputs


class _Names:
    """Names that are taken; a new one is `wish`, or `wish_2`, `wish_3` ... where that is taken already."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def new(self, wish: str) -> str:
        """A name that was not taken before; it is now."""
        name = wish
        while name in self._taken:
            self._last[wish] = self._last.get(wish, 1) + 1
            name = f"{wish}_{self._last[wish]}"
        self._taken.add(name)
        return name
