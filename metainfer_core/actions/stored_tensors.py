"""Which tensors an adapted model keeps in memory, from when to when, and who touches them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.quantize_dequantize import bits_of, computes_on_integers, pair_of, pairs_of
from metainfer_core.actions.rewiring import FUSED_WITH, UNIT, array_of, readers
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


def stored_tensors(model: ir.Model, owner: str | None = None) -> tuple[Stored, ...]:
    """All activations of a model with static shapes, in the order in which they are made; or those of one owner."""
    order = _order(model)
    inputs = [value for value in model.graph.inputs if not value.is_initializer()]
    made = [*inputs, *(value for node in order for value in node.outputs if not _is_view(node))]
    wanted = [value for value in made if owner is None or _owner(value) == owner]
    return tuple(_stored(order, value, len(order)) for value in wanted if _is_stored(value))


def _order(model: ir.Model) -> dict[ir.Node, int]:
    """When each node is computed: a fused one by its leader's kernel, so while the leader's inputs are still alive."""
    nodes = [node for node in model.graph if node.op_type not in CONVERSIONS]
    places = {str(node.name): index for index, node in enumerate(nodes)}
    return {node: places.get(node.metadata_props.get(FUSED_WITH, ""), index) for index, node in enumerate(nodes)}


def stored_name(value: ir.Value) -> str:
    """Its name in memory: that of the model's output where a quantized result becomes one, not the raw value's."""
    pair = pair_of(value)
    leaves = pair is not None and pair.outputs[0].is_graph_output()
    return str(pair.outputs[0].name if pair is not None and leaves else value.name)


def bytes_shared(value: ir.Value) -> tuple[ir.Value, ...]:
    """The tensor, its views, and the integer and dequantized forms of each."""
    found: list[ir.Value] = []
    for tensor in (value, *_views(value)):
        found.append(tensor)
        for pair in pairs_of(tensor):
            found += [form for form in (*pair.inputs[:1], *pair.outputs) if form is not None]
    return tuple(found)


def _owner(value: ir.Value) -> str:
    producer = value.producer()
    return str(producer.name) if producer is not None else str(value.name)


def _is_view(node: ir.Node) -> bool:
    return node.op_type in VIEWS and array_of(node.inputs[0]) is None


def _views(value: ir.Value) -> list[ir.Value]:
    """All tensors that are the same bytes, from view to view."""
    found: list[ir.Value] = []
    for tensor in _forms(value):
        for reader in readers(tensor):
            if _is_view(reader) and reader.inputs[0] is tensor:
                found += [reader.outputs[0], *_views(reader.outputs[0])]
    return found


def _forms(value: ir.Value) -> tuple[ir.Value, ...]:
    """A tensor as its readers see it: as it is, and dequantized where pairs stand on it."""
    return (value, *(pair.outputs[0] for pair in pairs_of(value)))


def _is_stored(value: ir.Value) -> bool:
    """False for what only the kernel that makes it sees, and for what nobody reads."""
    forms, producer = _forms(value), value.producer()
    if any(form.is_graph_output() for form in forms):
        return True
    users = {reader for form in forms for reader in readers(form) if reader.op_type not in CONVERSIONS}
    fused = {user for user in users if producer is not None and user.metadata_props.get(FUSED_WITH) == producer.name}
    return bool(users) and users != fused


def _stored(order: dict[ir.Node, int], value: ir.Value, end: int) -> Stored:
    producer = value.producer()
    views = _views(value)
    forms = [form for tensor in (value, *views) for form in _forms(tensor)]
    users = [reader for form in forms for reader in readers(form) if reader in order]
    leaves = any(form.is_graph_output() for form in forms)
    start = order[producer] if producer is not None else 0
    last = max((order[user] for user in users), default=start)
    everyone = (producer, *(reader for form in forms for reader in readers(form)))  # conversions too
    touching = {node.metadata_props[UNIT] for node in everyone if node is not None and UNIT in node.metadata_props}
    return Stored(
        name=stored_name(value),
        views=tuple(str(view.name) for view in views),
        owner=_owner(value),
        size_bytes=_bytes_of(value, producer),
        start=start,
        end=end if leaves else last + 1,
        accesses=1 + len(users),
        units=tuple(sorted(unit for unit in touching if unit)),
    )


def _bytes_of(value: ir.Value, producer: ir.Node | None) -> int:
    """Its codes where the node that makes it computes on integers; all forms where it is stored in several."""
    count = 1
    for extent in static_shape(value) or (0,):
        count *= extent
    width = math.ceil(value.dtype.itemsize) if value.dtype is not None else 4
    pairs = pairs_of(value)
    if not pairs:
        return count * width
    whole = producer is not None and computes_on_integers(producer)
    only_converted = all(reader.op_type == "QuantizeLinear" for reader in readers(value))
    leaves = any(pair.outputs[0].is_graph_output() for pair in pairs)
    real = 0 if whole and only_converted and not leaves else width
    return count * (sum(2 if bits_of(pair) == 16 else 1 for pair in pairs) + real)
