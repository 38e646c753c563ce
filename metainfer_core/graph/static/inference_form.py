"""Training leftovers and nodes that do nothing: brought into inference form, or taken out."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.edit import Editor
from metainfer_core.graph.shapes import static_shape


def to_inference(edit: Editor, node: ir.Node) -> None:
    """Turns training forms of Dropout and BatchNormalization into their inference forms, in place."""
    if node.op_type == "Dropout":
        _dropout_to_inference(edit, node)
    elif node.op_type == "BatchNormalization" and node.attributes.get_int("training_mode"):
        if any(value.uses() or value.is_graph_output() for value in node.outputs[1:]):
            raise UnsupportedError(
                f"The node {node.name} (BatchNormalization) is in training mode and its running statistics are used.",
                "A model for a chip runs in inference form only.",
                "Export the model in evaluation mode.",
            )
        node.attributes["training_mode"] = ir.AttrInt64("training_mode", 0)
        node.resize_outputs(1)
        edit.record("inference_form", node, "It was in training mode; it now uses its running mean and variance.", True)


def _dropout_to_inference(edit: Editor, node: ir.Node) -> None:
    """Drops nothing: only data remains as input. A mask that is read is all true."""
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        mode = node.inputs[2].const_value
        trains = mode is None or bool(mode.numpy())
        ratio = node.inputs[1].const_value if node.inputs[1] is not None else None
        drops = trains and not (ratio is not None and float(ratio.numpy()) == 0.0)
        if drops:
            edit.record("inference_form", node, "It was in training mode; in inference nothing is dropped.", True)
    node.resize_inputs(1)


def no_op_reason(node: ir.Node) -> str | None:
    """Why the node's first output always equals its first input; None if it may differ. Shapes are inferred already."""
    if not node.inputs or node.inputs[0] is None:
        return None
    data, result = node.inputs[0], node.outputs[0]
    same_shape = static_shape(data) is not None and static_shape(data) == static_shape(result)
    match node.op_type:
        case "Identity":
            return "Identity passes its input on."
        case "Dropout":
            return "Dropout does nothing in inference."
        case "Cast" | "CastLike" if data.dtype == result.dtype:
            return "It casts to the type that its input has already."
        case "Reshape" | "Flatten" | "Expand" | "Squeeze" | "Unsqueeze" | "Tile" if same_shape:
            return "Its result has the shape that its input has already."
        case "Transpose" if _moves_nothing(node, data):
            return "The order of the axes stays."
        case "Concat" | "Sum" | "Max" | "Min" | "Mean" if len(node.inputs) == 1:
            return "It has one input only."
        case "Pad" if same_shape and _all_zero(node.inputs[1]):
            return "It pads nothing."
        case "Slice" if same_shape and _steps_forward(node):
            return "It keeps everything."
    return None


def mask_is_all_true(edit: Editor, node: ir.Node) -> None:
    """Lets readers of a Dropout's mask read a constant."""
    if len(node.outputs) < 2 or not node.outputs[1].uses():
        return
    shape = static_shape(node.outputs[1])
    if shape is not None and edit.can_replace(node.outputs[1], node.outputs[1]):
        mask = edit.constant(f"{node.name}_mask", np.ones(shape, bool))
        edit.replace(node.outputs[1], mask)


def _moves_nothing(node: ir.Node, data: ir.Value) -> bool:
    """Whether a Transpose keeps the order of all axes that are longer than one element ... of equal shape."""
    rank = len(data.shape) if data.shape is not None else None
    order = node.attributes.get_ints("perm")
    if rank is None:
        return False
    return list(order if order is not None else range(rank)[::-1]) == list(range(rank))


def _all_zero(value: ir.Value | None) -> bool:
    return value is not None and value.const_value is not None and not np.any(value.const_value.numpy())


def _steps_forward(node: ir.Node) -> bool:
    """Whether every step of a Slice is one: with an unchanged shape it then keeps all elements in order."""
    if len(node.inputs) < 5 or node.inputs[4] is None:
        return True
    steps = node.inputs[4].const_value
    return steps is not None and bool(np.all(steps.numpy() == 1))
