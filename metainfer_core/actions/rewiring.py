"""Small questions and edits on a graph that all action kinds share: who reads a value, add a constant, mark a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import DefectError

UNIT = "metainfer.unit"
PART_UNIT = "metainfer.part_unit"
"""On a part of a node that was shared between units: the one that computes it, whatever it computes in."""
FUSED_WITH = "metainfer.fused_with"
FROM = "metainfer.from"
MEMORY = "metainfer.memory"
KEEP_FLOAT = "metainfer.keep_float"
TILE = "metainfer.tile"
"""Axis and size of the tiles that the node's kernel call is cut into, such as `rows:28`."""
PREFETCH = "metainfer.prefetch"
"""The node's operands are brought to the local memory of its unit while the step before computes."""
HALF = "metainfer.half"
"""On a node in 16-bit floats: which ones."""
CONVERSION = "metainfer.conversion"
"""On a Cast that only changes between float32 and 16-bit floats for its neighbours."""
INTEGER = "metainfer.integer"
"""On what a quantize action was taken for: nodes between pairs without it stay float."""


def nodes_by_id(model: ir.Model) -> dict[str, ir.Node]:
    """Node id to node of the main graph."""
    return {str(node.name): node for node in model.graph}


def node(model: ir.Model, node_id: str) -> ir.Node:
    """The node of that id; KeyError if there is none (legality asks before any rewrite does)."""
    for candidate in model.graph:
        if candidate.name == node_id:
            return candidate
    raise KeyError(node_id)


def name_of(value: ir.Value | None) -> str:
    """A value's name; empty for an input that is left out."""
    return "" if value is None else str(value.name)


def data_of(target: ir.Node) -> ir.Value:
    """The first input of a node whose operator cannot do without it."""
    value = target.inputs[0]
    if value is None:
        raise DefectError(f"{target.name} has no first input, and the model was imported all the same.")
    return value


def array_of(value: ir.Value | None) -> np.ndarray | None:
    """The numbers of a constant; None if the value is not one. Never write into the array: clones share it."""
    if value is None or value.const_value is None or value.is_graph_input():
        return None
    return value.const_value.numpy()


def numbers_of(value: ir.Value | None) -> np.ndarray:
    """The numbers of a value that a law already found to be a constant."""
    array = array_of(value)
    if array is None:
        raise DefectError(f"{name_of(value)} was taken for a constant, which it is not.")
    return array


def scalar_of(value: ir.Value | None) -> float | None:
    """The number of a constant with exactly one element; else None."""
    array = array_of(value)
    return float(array.reshape(())) if array is not None and array.size == 1 else None


def readers(value: ir.Value) -> tuple[ir.Node, ...]:
    """The distinct nodes that read a value."""
    return tuple(dict.fromkeys(use.node for use in value.uses()))


def only_reader(value: ir.Value) -> ir.Node | None:
    """The one node that reads a value that nobody else can see; None if there are several or it is an output."""
    nodes = readers(value)
    return nodes[0] if len(nodes) == 1 and not value.is_graph_output() else None


def data_type(value: ir.Value | None) -> ir.DataType | None:
    """Element type of a value where it is known."""
    return None if value is None else value.dtype


def is_float(value: ir.Value | None) -> bool:
    """Whether a value holds float32 numbers."""
    return data_type(value) == ir.DataType.FLOAT


def add_constant(model: ir.Model, name: str, array: np.ndarray) -> ir.Value:
    """A new initializer; `name` gets a number behind it if it is taken."""
    taken = model.graph.initializers
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}.{count}"
    tensor = ir.tensor(np.array(array, order="C"), name=unique)  # keeps 0-d as it is
    value = ir.Value(name=unique, const_value=tensor, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype))
    model.graph.register_initializer(value)
    return value


def set_input(target: ir.Node, index: int, value: ir.Value | None) -> None:
    """Makes `value` input number `index`, whether or not the node had one there."""
    if index >= len(target.inputs):
        target.resize_inputs(index + 1)
    target.replace_input_with(index, value)


def new_value(name: str, like: ir.Value, shape: Sequence[int] | None = None) -> ir.Value:
    """A value of the same element type, and the same shape unless another is given."""
    return ir.Value(name=name, shape=ir.Shape(shape) if shape is not None else like.shape, type=like.type)


def detached(original: ir.Node, inputs: Sequence[ir.Value | None], attributes: Mapping[str, ir.Attr]) -> ir.Node:
    """The node as it would be with these inputs and attributes, apart from the model: to be held against a law."""
    copies = [
        value and ir.Value(name=value.name, shape=value.shape, type=value.type, const_value=value.const_value)
        for value in inputs
    ]
    outputs = [new_value(name_of(value), value) for value in original.outputs]
    return ir.Node(original.domain, original.op_type, copies, attributes, outputs=outputs, name=original.name)


def take_over(model: ir.Model, old: ir.Value, new: ir.Value) -> None:
    """All readers of `old`, and its place among the graph's outputs and its name, go to `new`."""
    name = old.name
    old.replace_all_uses_with(new, replace_graph_outputs=True)
    old.name = f"{name}.replaced"
    new.name = name


def remove(model: ir.Model, nodes: Sequence[ir.Node]) -> None:
    """Removes nodes whose outputs nobody reads any more."""
    model.graph.remove(list(nodes), safe=True)


def mark_origin(new: ir.Node, originals: Sequence[ir.Node]) -> None:
    """Records on a node the ids of the original nodes that it realises."""
    ids: dict[str, None] = {}
    for original in originals:
        for node_id in original.metadata_props.get(FROM, str(original.name)).split(","):
            ids[node_id] = None
    new.metadata_props[FROM] = ",".join(ids)


def followers(leader: ir.Node) -> tuple[ir.Node, ...]:
    """The nodes whose results the leader's kernel also computes, in order."""
    found: list[ir.Node] = []
    waiting = [leader]
    while waiting:
        for value in waiting.pop().outputs:
            near = readers(value)
            behind = (far for reader in near if reader.op_type == "QuantizeLinear" for far in _behind_pair(reader))
            for reader in (*near, *behind):
                if reader.metadata_props.get(FUSED_WITH) == leader.name and reader not in found:
                    found.append(reader)
                    waiting.append(reader)
    return tuple(found)


def _behind_pair(quantize: ir.Node) -> tuple[ir.Node, ...]:
    """The nodes that read a tensor through its QuantizeLinear and DequantizeLinear."""
    return tuple(reader for pair in readers(quantize.outputs[0]) for reader in readers(pair.outputs[0]))
