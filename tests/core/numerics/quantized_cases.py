"""Models in QDQ form, one for each integer kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper
from operator_cases import Case, build, draw


@dataclass
class Qdq:
    """A graph that is written node by node; `quantized` puts a pair on a tensor."""

    name: str
    unsigned: bool = False
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    feed: dict[str, np.ndarray] = field(default_factory=dict)

    def input(self, name: str, *shape: int, scale: float = 1.0) -> str:
        """A float input."""
        self.feed[name] = (draw(f"{self.name}{name}", *shape) * scale).astype(np.float32)
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, fused_with: str = "", **attributes: object) -> str:
        """A node that is called after its output."""
        node = helper.make_node(op, list(inputs), [output], name=f"{output}.node", **attributes)
        if fused_with:
            entry = node.metadata_props.add()
            entry.key, entry.value = "metainfer.fused_with", f"{fused_with}.node"
        self.nodes.append(node)
        return output

    def pair(self, tensor: str, low: float, high: float) -> str:
        """Quantizes and dequantizes; returns the dequantized name."""
        low, high = min(low, 0.0), max(high, 0.0)
        scale = np.float32((high - low) / 255)
        zero = int(np.clip(np.rint(-128 - low / scale), -128, 127))
        kind = np.uint8 if self.unsigned else np.int8
        self.constants[f"{tensor}.scale"] = np.array(scale)
        self.constants[f"{tensor}.zero"] = np.array(zero + 128 if self.unsigned else zero, kind)
        self.node("QuantizeLinear", [tensor, f"{tensor}.scale", f"{tensor}.zero"], f"{tensor}.q")
        return self.node("DequantizeLinear", [f"{tensor}.q", f"{tensor}.scale", f"{tensor}.zero"], f"{tensor}.dq")

    def weights(self, name: str, array: np.ndarray, axis: int | None) -> str:
        """A constant in int8, with one scale or one for each output."""
        others = tuple(i for i in range(array.ndim) if i != axis)
        greatest = np.abs(array).max(axis=others if axis is not None else None, keepdims=True)
        scales = np.maximum(greatest, 1e-6).astype(np.float32) / np.float32(127)
        self.constants[f"{name}.q"] = np.clip(np.rint(array / scales), -127, 127).astype(np.int8)
        flat = scales.reshape(-1) if axis is not None else scales.reshape(())
        self.constants[f"{name}.scale"] = flat.astype(np.float32)
        self.constants[f"{name}.zero"] = np.zeros(flat.shape, np.int8)
        attributes = {} if axis is None else {"axis": axis}
        names = [f"{name}.q", f"{name}.scale", f"{name}.zero"]
        return self.node("DequantizeLinear", names, f"{name}.dq", **attributes)

    def bias(self, name: str, array: np.ndarray, source: str, weights: str) -> str:
        """A constant in int32 with scale = input scale * weight scale."""
        scale = np.asarray(self.constants[f"{source}.scale"] * self.constants[f"{weights}.scale"], np.float32)
        self.constants[f"{name}.q"] = np.rint(array / scale).astype(np.int32)
        self.constants[f"{name}.scale"] = scale
        self.constants[f"{name}.zero"] = np.zeros(scale.shape, np.int32)
        attributes = {} if scale.ndim == 0 else {"axis": 0}
        names = [f"{name}.q", f"{name}.scale", f"{name}.zero"]
        return self.node("DequantizeLinear", names, f"{name}.dq", **attributes)

    def case(self, *outputs: str) -> Case:
        """The finished model."""
        return build(self.name, self.nodes, self.feed, self.constants, dict.fromkeys(outputs, "float32"))


def conv_case(
    name: str,
    shape: Sequence[int],
    weight: Sequence[int],
    per_channel: bool = True,
    activation: str = "",
    unsigned: bool = False,
    **attributes: object,
) -> Case:
    """A convolution with bias, with an activation fused into it or none."""
    g = Qdq(name, unsigned)
    x = g.pair(g.input("x", *shape), -3.0, 2.5)
    w = g.weights("w", draw(f"{name}w", *weight), 0 if per_channel else None)
    b = g.bias("b", draw(f"{name}b", weight[0]), "x", "w")
    y = g.node("Conv", [x, w, b], "sum", **attributes)
    spread = float(np.sqrt(np.prod(weight[1:]))) * 2
    if activation in ("Relu", "Clip"):
        g.constants["low"], g.constants["high"] = np.array(-0.5, np.float32), np.array(1.25, np.float32)
        y = g.node(activation, [y, "low", "high"] if activation == "Clip" else [y], "active", "sum")
        return _finished(g, y, 0.0 if activation == "Relu" else -spread, spread)
    if activation:
        y = g.node(activation, [g.pair(y, -spread, spread)], "active", "sum")
    return _finished(g, y, -spread, spread)


def _finished(g: Qdq, y: str, low: float, high: float) -> Case:
    return g.case(g.pair(y, low, high))


def gemm_case(name: str, rows: int, depth: int, columns: int, op: str = "Gemm", activation: str = "") -> Case:
    """A product with a constant matrix."""
    g = Qdq(name)
    x = g.pair(g.input("x", rows, depth), -2.5, 3.0)
    transposed = op == "Gemm"
    matrix = draw(f"{name}w", *((columns, depth) if transposed else (depth, columns)))
    w = g.weights("w", matrix, 0 if transposed else 1)
    if transposed:
        y = g.node("Gemm", [x, w, g.bias("b", draw(f"{name}b", columns), "x", "w")], "sum", transB=1)
    else:
        y = g.node("MatMul", [x, w], "sum")
    if activation:
        y = g.node(activation, [y], "active", "sum")
    return _finished(g, y, -2.0 * depth**0.5, 2.0 * depth**0.5)


def binary_case(name: str, op: str, left: Sequence[int], right: Sequence[int], activation: str = "") -> Case:
    """An operator on two int8 tensors of different scales."""
    g = Qdq(name)
    a = g.pair(g.input("a", *left), -3.0, 3.5)
    b = g.pair(g.input("b", *right, scale=0.3), -1.0, 0.8)
    y = g.node(op, [a, b], "sum")
    if activation == "Relu":
        y = g.node("Relu", [y], "active", "sum")
    elif activation:
        y = g.node(activation, [g.pair(y, -3.0, 3.0)], "active", "sum")
    return _finished(g, y, -2.5, 3.0)


def constant_add_case() -> Case:
    """A constant int8 operand."""
    g = Qdq("add_constant")
    a = g.pair(g.input("a", 2, 3, 4), -3.0, 3.5)
    return _finished(g, g.node("Add", [a, g.weights("c", draw("c", 3, 1), None)], "sum"), -3.0, 4.0)


def unary_case(name: str, op: str, low: float = -4.0, high: float = 4.0, **attributes: object) -> Case:
    """A curve."""
    g = Qdq(name)
    x = g.pair(g.input("x", 3, 50, scale=2.0), low, high)
    return _finished(g, g.node(op, [x], "y", **attributes), -1.0, 3.0)


def moved_case(name: str, op: str, constants: Sequence[np.ndarray] = (), **attributes: object) -> Case:
    """An operator that only moves; its result has the same scale."""
    g = Qdq(name)
    x = g.pair(g.input("x", 1, 4, 6, 8), -3.0, 2.0)
    for i, array in enumerate(constants):
        g.constants[f"c{i}"] = array
    y = g.node(op, [x, *(f"c{i}" for i in range(len(constants)))], "y", **attributes)
    return _finished(g, y, -3.0, 2.0)


def pool_case(name: str, op: str, **attributes: object) -> Case:
    """A mean of windows, with a scale of its own."""
    g = Qdq(name)
    x = g.pair(g.input("x", 2, 3, 7, 9), -3.0, 2.0)
    return _finished(g, g.node(op, [x], "y", **attributes), -1.5, 1.5)


def concat_case() -> Case:
    """Branches of three scales; the last is the result's own."""
    g = Qdq("concat_q")
    a = g.pair(g.input("a", 1, 2, 5), -3.0, 3.0)
    b = g.pair(g.input("b", 1, 3, 5, scale=0.1), -0.4, 0.4)
    c = g.pair(g.input("c", 1, 1, 5), -2.0, 4.0)
    return _finished(g, g.node("Concat", [a, b, c], "y", axis=1), -2.0, 4.0)


def island_case() -> Case:
    """A float operator without an integer form between two integer ones, and a tensor that both kinds read."""
    g = Qdq("island")
    x = g.pair(g.input("x", 1, 3, 8, 8), -3.0, 3.0)
    y = g.pair(g.node("Conv", [x, g.weights("w", draw("islandw", 4, 3, 1, 1), 0)], "sum"), -5.0, 5.0)
    s = g.node("Softmax", [y], "soft", axis=1)
    z = g.node("Mul", [g.pair(s, 0.0, 1.0), y], "product")
    return g.case(g.pair(z, -3.0, 5.0), "soft")


EXACT_CASES: tuple[Case, ...] = (
    conv_case("q_conv", (1, 3, 9, 21), (8, 3, 3, 3), pads=[1, 1, 1, 1]),
    conv_case("q_conv_tensor", (1, 3, 9, 21), (6, 3, 3, 3), per_channel=False, strides=[2, 2], pads=[1, 1, 1, 1]),
    conv_case("q_conv_relu", (2, 5, 8, 20), (7, 5, 3, 3), activation="Relu", pads=[0, 1, 1, 0]),
    conv_case("q_conv_clip", (1, 4, 8, 20), (5, 4, 3, 3), activation="Clip", dilations=[2, 1]),
    conv_case("q_conv_uint8", (1, 4, 8, 20), (5, 4, 3, 3), unsigned=True, pads=[1, 1, 1, 1]),
    conv_case("q_pointwise", (1, 9, 10, 10), (12, 9, 1, 1)),
    conv_case("q_rows", (1, 17, 3, 3), (33, 17, 3, 3), pads=[1, 1, 1, 1]),
    conv_case("q_one_pixel", (1, 21, 1, 1), (40, 21, 1, 1), activation="Relu"),
    conv_case("q_grouped", (1, 6, 8, 18), (8, 3, 3, 3), group=2, pads=[1, 1, 1, 1]),
    conv_case("q_depthwise", (2, 6, 9, 40), (6, 1, 3, 3), group=6, pads=[1, 1, 1, 1]),
    conv_case("q_depthwise_stride2", (1, 5, 11, 13), (5, 1, 5, 4), group=5, pads=[2, 2, 2, 2], strides=[2, 2]),
    conv_case("q_one_axis", (1, 7, 40), (9, 7, 4), strides=[2]),
    gemm_case("q_gemm", 5, 37, 75),
    gemm_case("q_gemm_one", 1, 301, 10, activation="Relu"),
    gemm_case("q_matmul", 3, 20, 70, "MatMul"),
    binary_case("q_add", "Add", (2, 3, 5), (2, 3, 5)),
    binary_case("q_add_stretched", "Add", (2, 3, 5), (3, 1), "Relu"),
    binary_case("q_sub", "Sub", (4, 5), (5,)),
    binary_case("q_mul", "Mul", (2, 3, 5), (2, 3, 5)),
    binary_case("q_mul_stretched", "Mul", (1, 4, 3, 3), (1, 4, 1, 1)),
    constant_add_case(),
    pool_case("q_average", "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    pool_case("q_average_padded", "AveragePool", kernel_shape=[2, 3], pads=[1, 0, 0, 1], count_include_pad=1),
    pool_case("q_global_average", "GlobalAveragePool"),
)
"""Sums that are requantised: checked to the last bit against exact arithmetic."""

TABLE_CASES: tuple[Case, ...] = (
    *(unary_case(f"q_{op.lower()}", op) for op in ("Sigmoid", "HardSwish", "Tanh", "HardSigmoid", "LeakyRelu", "Elu")),
    *(unary_case(f"q_{op.lower()}", op) for op in ("Gelu", "Softplus", "Mish", "Exp", "Erf", "Abs", "Neg", "Relu")),
    unary_case("q_sqrt", "Sqrt", 0.0, 4.0),
    unary_case("q_hard_sigmoid_slope", "HardSigmoid", alpha=0.1, beta=0.4),
    conv_case("q_conv_hardswish", (1, 3, 9, 21), (8, 3, 3, 3), activation="HardSwish"),
    conv_case("q_depthwise_sigmoid", (1, 3, 9, 21), (3, 1, 3, 3), activation="Sigmoid", group=3),
    conv_case("q_rows_tanh", (1, 3, 3, 3), (30, 3, 3, 3), activation="Tanh"),
    binary_case("q_add_tanh", "Add", (2, 3), (2, 3), "Tanh"),
    binary_case("q_mul_sigmoid", "Mul", (2, 3), (2, 3), "Sigmoid"),
    moved_case("q_max_pool", "MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    moved_case("q_global_max", "GlobalMaxPool"),
    moved_case("q_transpose", "Transpose", perm=[0, 2, 3, 1]),
    moved_case("q_reshape", "Reshape", [np.array([4, -1], np.int64)]),
    moved_case("q_slice", "Slice", [np.array(n, np.int64) for n in ([1], [3], [1])]),
    moved_case("q_pad", "Pad", [np.array([0, 0, 1, 1, 0, 0, 0, 2], np.int64)]),
    moved_case("q_pad_edge", "Pad", [np.array([0, 0, 1, 1, 0, 0, 0, 2], np.int64)], mode="edge"),
    moved_case("q_gather", "Gather", [np.array([2, 0], np.int64)], axis=1),
    moved_case("q_depth_to_space", "DepthToSpace", blocksize=2),
    concat_case(),
    island_case(),
)
"""Tables and movement: against ONNX Runtime, to one step of the result's scale."""
