"""What onnx's shape inference lets pass: operands of one node whose sizes do not go together."""

from __future__ import annotations

import math

import onnx_ir as ir

from metainfer_core.graph.shapes import static_shape

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def operand_mismatch(node: ir.Node) -> str | None:
    """Why the operands cannot go together, in one sentence; None where they do, or where a shape is not known."""
    shapes = [static_shape(value) if value is not None else None for value in node.inputs]
    made = static_shape(node.outputs[0])
    match node.op_type:
        case "Reshape":
            return _reshape(shapes[0], made)
        case "Conv":
            return _conv(node, shapes)
        case "ConvTranspose":
            return _conv_transpose(node, shapes)
        case "Gemm":
            return _gemm(node, shapes)
        case "BatchNormalization" | "InstanceNormalization":
            return _per_channel(shapes)
        case "RNN" | "GRU" | "LSTM":
            return _recurrent(node, shapes)
    return None


Shape = tuple[int, ...] | None


def _reshape(data: Shape, made: Shape) -> str | None:
    if data is None or made is None or math.prod(data) == math.prod(made):
        return None
    return f"{math.prod(data)} elements cannot be given the shape {list(made)}, which has {math.prod(made)}"


def _conv(node: ir.Node, shapes: list[Shape]) -> str | None:
    data, weight = shapes[0], shapes[1]
    group = node.attributes.get_int("group", 1)
    if data is None or weight is None or len(data) < 3 or len(weight) != len(data):
        return None
    if group < 1 or weight[0] % group:
        return f"{weight[0]} output channels cannot be split into {group} groups"
    if data[1] != weight[1] * group:
        return f"the weights want {weight[1] * group} input channels and the data has {data[1]}"
    return _bias(shapes, weight[0])


def _conv_transpose(node: ir.Node, shapes: list[Shape]) -> str | None:
    data, weight = shapes[0], shapes[1]
    group = node.attributes.get_int("group", 1)
    if data is None or weight is None or len(data) < 3 or len(weight) != len(data):
        return None
    if group < 1 or weight[0] % group:
        return f"{weight[0]} input channels cannot be split into {group} groups"
    if data[1] != weight[0]:
        return f"the weights want {weight[0]} input channels and the data has {data[1]}"
    return _bias(shapes, weight[1] * group)


def _bias(shapes: list[Shape], channels: int) -> str | None:
    bias = shapes[2] if len(shapes) > 2 else None
    if bias is not None and bias != (channels,):
        return f"the bias has the shape {list(bias)} where there are {channels} output channels"
    return None


def _gemm(node: ir.Node, shapes: list[Shape]) -> str | None:
    left, right = shapes[0], shapes[1]
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return None
    inner = left[0] if node.attributes.get_int("transA", 0) else left[1]
    wanted = right[1] if node.attributes.get_int("transB", 0) else right[0]
    return None if inner == wanted else f"rows of {inner} elements meet columns of {wanted}"


def _per_channel(shapes: list[Shape]) -> str | None:
    data = shapes[0]
    if data is None or len(data) < 2:
        return None
    wrong = next((shape for shape in shapes[1:] if shape is not None and shape != (data[1],)), None)
    return f"there are {data[1]} channels and a parameter of shape {list(wrong)}" if wrong is not None else None


def _recurrent(node: ir.Node, shapes: list[Shape]) -> str | None:
    data, weight, recurrent = (*shapes, None, None, None)[:3]
    if data is None or weight is None or recurrent is None or (len(data), len(weight), len(recurrent)) != (3, 3, 3):
        return None
    directions = 2 if node.attributes.get_string("direction", "forward") == "bidirectional" else 1
    hidden = node.attributes.get_int("hidden_size", recurrent[2])
    rows = GATES[node.op_type] * hidden
    wanted = ((directions, rows, data[2]), (directions, rows, hidden))
    if (weight, recurrent) != wanted:
        return f"weights of shape {list(wanted[0])} and {list(wanted[1])} are wanted"
    return None
