"""A Gather of constant, evenly stepped indices becomes the Slice that selects the same elements."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.graph.edit import Editor
from metainfer_core.graph.shapes import static_shape

TO_THE_FRONT = int(np.iinfo(np.int64).min)
"""End of a Slice that runs backwards through element 0."""


def gather_to_slice(edit: Editor, node: ir.Node) -> ir.Node | None:
    """The Slice that now stands for `node`, or None where there is no equivalent one.

    Proof: both select along one axis by a list of positions. The list that the Slice selects is computed and is
    equal to the Gather's, so both select the same elements of every input.
    """
    if node.op_type != "Gather" or node.inputs[0] is None or node.inputs[1] is None:
        return None
    shape, indices = static_shape(node.inputs[0]), node.inputs[1].const_value
    if shape is None or indices is None or len(indices.shape) != 1 or indices.size == 0:
        return None
    axis = node.attributes.get_int("axis", 0) % len(shape)
    positions = indices.numpy().astype(np.int64)
    positions = np.where(positions < 0, positions + shape[axis], positions)
    if positions.min() < 0 or positions.max() >= shape[axis]:
        return None
    step = int(positions[1] - positions[0]) if len(positions) > 1 else 1
    if step == 0:
        return None
    start, end = int(positions[0]), int(positions[-1]) + (1 if step > 0 else -1)
    selected = np.arange(shape[axis])[start : (end if end >= 0 else None) : step]
    if not np.array_equal(selected, positions):
        return None
    bounds = {"starts": start, "ends": end if end >= 0 else TO_THE_FRONT, "axes": axis, "steps": step}
    inputs = [edit.constant(f"{node.name}_{key}", np.array([number], np.int64)) for key, number in bounds.items()]
    name, result = node.name, node.outputs[0]
    sliced = ir.node("Slice", [node.inputs[0], *inputs], name=name)
    made = sliced.outputs[0]
    made.name, made.type, made.shape = edit.value_name(f"{result.name}_sliced"), result.type, result.shape
    made.metadata_props.update(result.metadata_props)
    sliced.metadata_props.update(node.metadata_props)
    edit.graph.insert_before(node, sliced)
    edit.replace(result, made, take_name=True)
    edit.record(
        "gather_to_slice",
        node,
        f"Its {len(positions)} indices run from {start} in steps of {step}: the Slice selects the same list.",
    )
    edit.remove(node)
    return sliced
