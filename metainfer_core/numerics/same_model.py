"""A model as it is now, as a key: whoever asks for its program again gets the one that is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import onnx_ir as ir


class SameModel:
    """Equal to another as long as lowering both gives the same program, whether they are clones or one object.

    Clones share constants and attributes, which nothing writes into; so these count by identity, and are kept here, so
    that no other object can get the identity of one. All else counts by what it is.

    Args:
        model: Imported and preprocessed.
        without: Marks of nodes that do not count.
    """

    def __init__(self, model: ir.Model, without: Collection[str] = ()) -> None:
        self.model = model
        self._kept: list[object] = []
        self._numbers: dict[ir.Value, int] = {}
        graph = model.graph
        self._key = (
            tuple(sorted(graph.opset_imports.items())),
            self._values(graph.inputs),
            self._values(graph.initializers.values()),
            tuple(self._node(node, without) for node in graph),
            tuple(self._numbers.get(value) for value in graph.outputs),
        )
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameModel) and self._hash == other._hash and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def _node(self, node: ir.Node, without: Collection[str]) -> tuple[object, ...]:
        self._kept += node.attributes.values()
        return (
            node.name,
            node.domain,
            node.op_type,
            tuple((name, id(attribute)) for name, attribute in node.attributes.items()),
            tuple(mark for mark in node.metadata_props.items() if mark[0] not in without),
            self._values(node.inputs),
            self._values(node.outputs),
        )

    def _values(self, values: Iterable[ir.Value | None]) -> tuple[object, ...]:
        """What each value is, where it is met first; later its number alone."""
        return tuple(value if value is None else self._numbers.get(value) or self._first(value) for value in values)

    def _first(self, value: ir.Value) -> tuple[object, ...]:
        self._numbers[value] = len(self._numbers) + 1
        self._kept.append(value.const_value)
        shape = None if value.shape is None else tuple(str(extent) for extent in value.shape)
        return (value.name, value.dtype, shape, id(value.const_value), tuple(value.metadata_props.items()))
