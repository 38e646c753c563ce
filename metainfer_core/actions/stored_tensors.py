"""Which tensors an adapted model keeps in memory, from when to when, and who touches them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.activations import CLAMPS
from metainfer_core.actions.quantize_dequantize import computes_on_integers, pair_of, raw
from metainfer_core.actions.rewiring import FUSED_WITH, UNIT, array_of, only_reader, readers
from metainfer_core.graph.shapes import static_shape

VIEWS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity")
"""Operators whose result is the bytes of their input under another shape."""
CONVERSIONS = ("QuantizeLinear", "DequantizeLinear")


@dataclass(frozen=True)
class Stored:
    """One array in memory: an activation, or an input of the model, with all views of it."""

    name: str
    views: tuple[str, ...]
    """Other tensors that are the same bytes."""
    owner: str
    """Id of the node that makes it; for an input of the model, its own name."""
    size_bytes: int
    start: int
    end: int
    """One past the last node that reads it; nodes count in execution order, without conversions."""
    accesses: int
    """How often all of it is written or read."""
    units: tuple[str, ...]
    """Compute units that touch it, sorted."""


def stored_tensors(model: ir.Model) -> tuple[Stored, ...]:
    """All activations of a model with static shapes, in the order in which they are made."""
    order = {node: index for index, node in enumerate(n for n in model.graph if n.op_type not in CONVERSIONS)}
    views: dict[ir.Value, list[ir.Value]] = {}
    made = [value for value in model.graph.inputs if not value.is_initializer()]
    made += [value for node in order for value in node.outputs if _is_stored(node, value)]
    roots: dict[ir.Value, ir.Value] = {}
    for value in made:
        producer = value.producer()
        source = producer.inputs[0] if producer is not None and producer.op_type in VIEWS else None
        if source is not None and array_of(source) is None:
            roots[value] = roots.get(raw(source), raw(source))
            views.setdefault(roots[value], []).append(value)
    return tuple(_stored(order, value, views.get(value, []), len(order)) for value in made if value not in roots)


def _is_stored(node: ir.Node, value: ir.Value) -> bool:
    """False for what only the kernel that makes it sees."""
    reader = only_reader(value)
    follows = reader is not None and reader.metadata_props.get(FUSED_WITH) == node.name
    unused = not value.uses() and not value.is_graph_output()
    return not unused and not (follows and (reader is None or reader.op_type in CLAMPS or pair_of(value) is None))


def _stored(order: dict[ir.Node, int], value: ir.Value, views: list[ir.Value], end: int) -> Stored:
    producer = value.producer()
    users: list[ir.Node] = []
    leaves = False
    for tensor in (value, *views):
        pair = pair_of(tensor)
        seen = (tensor, pair.outputs[0]) if pair is not None else (tensor,)
        leaves = leaves or any(one.is_graph_output() for one in seen)
        users += [reader for one in seen for reader in readers(one) if reader in order]
    start = order[producer] if producer is not None else 0
    last = max((order[user] for user in users), default=start)
    touching = {
        node.metadata_props[UNIT] for node in (producer, *users) if node is not None and UNIT in node.metadata_props
    }
    return Stored(
        name=str(value.name),
        views=tuple(str(view.name) for view in views),
        owner=str(producer.name) if producer is not None else str(value.name),
        size_bytes=_bytes_of(value, producer),
        start=start,
        end=end if leaves else last + 1,
        accesses=1 + len(users),
        units=tuple(sorted(unit for unit in touching if unit)),
    )


def _bytes_of(value: ir.Value, producer: ir.Node | None) -> int:
    """Int8 where the node that makes it computes on integers; both forms where a float tensor is also converted."""
    count = 1
    for extent in static_shape(value) or (0,):
        count *= extent
    width = math.ceil(value.dtype.itemsize) if value.dtype is not None else 4
    pair = pair_of(value)
    if pair is None:
        return count * width
    whole = producer is not None and computes_on_integers(producer)
    only_converted = all(reader.op_type == "QuantizeLinear" for reader in readers(value))
    return count if whole and only_converted else count * (width + 1)
