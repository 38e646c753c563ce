"""Makes small models of kinds that no test was written for, with seeded random weights, to try the product on.

They differ in what they are (a U-Net, a ViT, a GRU, a detector ...), in how they were exported (opset 7 to the newest,
open batch, names with blanks, dots, slashes and Chinese) and in what is hard about each; sizes are small, shapes real.

    python tools/other_kinds.py FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NEWEST = 28
"""The newest opset that is made here."""


class Net:
    """A graph that grows node by node; each method adds nodes and gives the name of the result."""

    def __init__(self, name: str, opset: int, seed: int = 0, prefix: str = "") -> None:
        self.name, self.opset, self.prefix = name, opset, prefix
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(seed)

    def weight(self, *shape: int, scale: float | None = None, mean: float = 0.0) -> str:
        """A random float weight; without a scale, one that keeps the size of what it multiplies."""
        fan_in = int(np.prod(shape[1:])) or 1
        spread = (2 / fan_in) ** 0.5 if scale is None else scale
        return self.constant((mean + spread * self.random.standard_normal(shape)).astype(np.float32))

    def constant(self, array: object, kind: type | None = None) -> str:
        """An initializer."""
        name = f"{self.prefix}w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(array, kind, order="C"), name))
        return name

    def whole(self, *numbers: int) -> str:
        """An initializer of int64."""
        return self.constant(numbers, np.int64)  # type: ignore[arg-type]

    def op(self, op_type: str, *inputs: str, outputs: int = 1, to: str = "", **attributes: object) -> str:
        """One node; its first output."""
        name = f"{self.prefix}{op_type}_{len(self.nodes)}"
        names = [to or f"{name}_out", *(f"{name}_out{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(op_type, list(inputs), names, name=name, **attributes))
        return names[0]

    def parts(self, op_type: str, count: int, *inputs: str, **attributes: object) -> list[str]:
        """One node; all its outputs."""
        self.op(op_type, *inputs, outputs=count, **attributes)
        return list(self.nodes[-1].output)

    def conv(
        self, x: str, maps: int, channels: int, kernel: int = 3, *, bias: bool = True, **attributes: object
    ) -> str:
        """A square convolution that keeps the size, unless `pads` or `strides` say otherwise."""
        group = int(attributes.get("group", 1))  # type: ignore[call-overload]
        attributes.setdefault("pads", [kernel // 2] * 4)
        inputs = [x, self.weight(maps, channels // group, kernel, kernel)]
        return self.op("Conv", *inputs, *([self.weight(maps, scale=0.1)] if bias else []), **attributes)

    def norm(self, x: str, channels: int) -> str:
        """Batch normalization whose factors and variances are all over the place, as trained ones are."""
        gamma, beta = self.weight(channels, scale=0.3, mean=1.0), self.weight(channels, scale=0.3)
        mean = self.weight(channels, scale=0.2)
        variance = self.constant(self.random.uniform(0.3, 2.0, channels).astype(np.float32))
        return self.op("BatchNormalization", x, gamma, beta, mean, variance)

    def dense(self, x: str, units: int, features: int, **attributes: object) -> str:
        """A Gemm with the weight stored by output, as PyTorch does."""
        return self.op("Gemm", x, self.weight(units, features), self.weight(units, scale=0.1), transB=1, **attributes)

    def project(self, x: str, features: int, units: int) -> str:
        """A MatMul over the last axis, and its bias."""
        kernel = self.weight(features, units, scale=features**-0.5)
        return self.op("Add", self.op("MatMul", x, kernel), self.weight(units, scale=0.1))

    def layer_norm(self, x: str, features: int) -> str:
        """Layer normalization over the last axis."""
        return self.op(
            "LayerNormalization",
            x,
            self.weight(features, scale=0.2, mean=1.0),
            self.weight(features, scale=0.1),
            axis=-1,
        )

    def swish(self, x: str) -> str:
        """SiLU as exporters write it."""
        return self.op("Mul", x, self.op("Sigmoid", x))

    def model(self, inputs: dict[str, list[object]], outputs: dict[str, list[object]], **types: int) -> onnx.ModelProto:
        """The model; inputs and outputs with their shapes, `types` for those that are not float."""

        def infos(named: dict[str, list[object]]) -> list[onnx.ValueInfoProto]:
            return [
                helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shape)
                for name, shape in named.items()
            ]

        listed = infos(inputs)
        if self.opset < 9:  # as exporters did: an initializer is an input, too
            listed += [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in self.weights]
        graph = helper.make_graph(self.nodes, self.name, listed, infos(outputs), self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 3 if self.opset < 9 else min(helper.find_min_ir_version_for(model.opset_import), 14)
        onnx.checker.check_model(model, full_check=True)
        return model


def unet() -> onnx.ModelProto:
    """Segmentation: two levels, skips through Concat, ConvTranspose up, InstanceNormalization in the middle."""
    net = Net("unet", 13)

    def block(x: str, maps: int, channels: int) -> str:
        for inputs in (channels, maps):
            x = net.op("Relu", net.norm(net.conv(x, maps, inputs, bias=False), maps))
        return x

    first = block("image", 16, 3)
    second = block(net.op("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 32, 16)
    x = net.conv(net.op("MaxPool", second, kernel_shape=[2, 2], strides=[2, 2]), 64, 32)
    x = net.op(
        "LeakyRelu", net.op("InstanceNormalization", x, net.weight(64, scale=0.2, mean=1), net.weight(64)), alpha=0.1
    )
    for maps, skip in ((32, second), (16, first)):
        up = net.op(
            "ConvTranspose", x, net.weight(2 * maps, maps, 2, 2), net.weight(maps), kernel_shape=[2, 2], strides=[2, 2]
        )
        x = block(net.op("Concat", up, skip, axis=1), maps, 2 * maps)
    net.op("Sigmoid", net.conv(x, 1, 16, 1), to="mask")
    return net.model({"image": ["N", 3, 64, 64]}, {"mask": ["N", 1, 64, 64]})


def vit() -> onnx.ModelProto:
    """Vision transformer: patches, a class token, attention spelled out and as an operator; newest opset."""
    net, dim, heads, tokens = Net("vit", NEWEST), 64, 4, 65
    x = net.conv("pixels", dim, 3, 8, strides=[8, 8], pads=[0, 0, 0, 0])
    x = net.op("Transpose", net.op("Reshape", x, net.whole(0, dim, -1)), perm=[0, 2, 1])
    x = net.op("Concat", net.weight(1, 1, dim, scale=0.5), x, axis=1)
    x = net.op("Add", x, net.weight(1, tokens, dim, scale=0.2))
    for spelled in (True, False):
        q, k, v = net.parts("Split", 3, net.project(net.layer_norm(x, dim), dim, 3 * dim), axis=-1, num_outputs=3)
        if spelled:
            split = [net.op("Reshape", each, net.whole(1, tokens, heads, dim // heads)) for each in (q, k, v)]
            q, k, v = (
                net.op("Transpose", each, perm=perm)
                for each, perm in zip(split, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
            )
            scores = net.op("Div", net.op("MatMul", q, k), net.constant(4.0, np.float32))
            mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
            mixed = net.op("Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), net.whole(1, tokens, dim))
        else:
            mixed = net.op("Attention", q, k, v, q_num_heads=heads, kv_num_heads=heads)
        x = net.op("Add", x, net.project(mixed, dim, dim))
        hidden = net.op(
            "Gelu", net.project(net.layer_norm(x, dim), dim, 2 * dim), approximate="tanh" if spelled else "none"
        )
        x = net.op("Add", x, net.project(hidden, 2 * dim, dim))
    x = net.op("RMSNormalization", x, net.weight(dim, scale=0.2, mean=1.0))
    net.dense(net.op("Gather", x, net.constant(0, np.int64), axis=1), 10, dim, to="logits")
    return net.model({"pixels": [1, 3, 64, 64]}, {"logits": [1, 10]})


def gru() -> onnx.ModelProto:
    """Keyword spotter: MFCC, a GRU in both directions, Softmax; open batch, names as PyTorch scopes them."""
    net, hidden = Net("gru", 14, prefix="/model/encoder.0/"), 32
    x = net.op("Transpose", net.project("mfcc.features", 10, 24), perm=[1, 0, 2])
    gates = [net.weight(2, 3 * hidden, size, scale=0.25) for size in (24, hidden)]
    _, last = net.parts(
        "GRU",
        2,
        x,
        *gates,
        net.weight(2, 6 * hidden, scale=0.1),
        hidden_size=hidden,
        direction="bidirectional",
        linear_before_reset=1,
    )
    x = net.op("Reshape", net.op("Transpose", last, perm=[1, 0, 2]), net.whole(-1, 2 * hidden))
    net.op("Softmax", net.dense(x, 12, 2 * hidden), axis=-1, to="keyword/probabilities")
    return net.model({"mfcc.features": ["batch", 49, 10]}, {"keyword/probabilities": ["batch", 12]})


def tcn() -> onnx.ModelProto:
    """Temporal convolutions: causal Pad, dilations 1 to 8 in one dimension, residual Add, mean over time; opset 11."""
    net, maps = Net("tcn", 11), 24
    x, channels = "accelerometer", 6
    for dilation in (1, 2, 4, 8):
        padded = net.op("Pad", x, net.whole(0, 0, 2 * dilation, 0, 0, 0))
        y = net.op("Conv", padded, net.weight(maps, channels, 3), kernel_shape=[3], dilations=[dilation])
        y = net.op("Relu", net.norm(y, maps))
        kept = x if channels == maps else net.op("Conv", x, net.weight(maps, channels, 1), kernel_shape=[1])
        x, channels = net.op("Relu", net.op("Add", y, kept)), maps
    mean = net.op("ReduceMean", x, axes=[2], keepdims=0)
    net.op("Softmax", net.dense(mean, 6, maps), axis=1, to="activity")
    return net.model({"accelerometer": [1, 6, 128]}, {"activity": [1, 6]})


def convnext() -> onnx.ModelProto:
    """ConvNeXt: 7x7 depthwise, LayerNorm over channels between two Transposes, Gelu by Erf, layer scale, two stages."""
    net = Net("convnext", 17)

    def normalized(x: str, channels: int) -> str:
        last = net.layer_norm(net.op("Transpose", x, perm=[0, 2, 3, 1]), channels)
        return net.op("Transpose", last, perm=[0, 3, 1, 2])

    x, channels = net.conv("image", 24, 3, 4, strides=[4, 4], pads=[0, 0, 0, 0]), 24
    for maps in (24, 48):
        if maps != channels:
            x = net.conv(normalized(x, channels), maps, channels, 2, strides=[2, 2], pads=[0, 0, 0, 0])
        y = net.op("Transpose", net.conv(x, maps, maps, 7, group=maps), perm=[0, 2, 3, 1])
        y = net.project(net.layer_norm(y, maps), maps, 4 * maps)
        erf = net.op("Erf", net.op("Div", y, net.constant(2**0.5, np.float32)))
        y = net.op(
            "Mul", net.op("Mul", y, net.op("Add", erf, net.constant(1, np.float32))), net.constant(0.5, np.float32)
        )
        y = net.op("Mul", net.project(y, 4 * maps, maps), net.weight(maps, scale=0.1, mean=0.3))
        x, channels = net.op("Add", x, net.op("Transpose", y, perm=[0, 3, 1, 2])), maps
    x = net.layer_norm(net.op("ReduceMean", x, axes=[2, 3], keepdims=0), channels)
    net.dense(x, 10, channels, to="logits")
    return net.model({"image": [1, 3, 64, 64]}, {"logits": [1, 10]})


def shufflenet() -> onnx.ModelProto:
    """ShuffleNet: grouped 1x1 convolutions, shuffled channels, Concat; opset 7, weights listed as inputs."""
    net, groups = Net("shufflenet", 7), 3

    def unit(x: str, maps: int, channels: int, stride: int) -> str:
        y = net.op("Relu", net.norm(net.conv(x, maps // 4, channels, 1, bias=False, group=groups), maps // 4))
        side = 16 if stride == 2 else 8
        y = net.op("Reshape", y, net.whole(1, groups, maps // 4 // groups, side, side))
        y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3, 4]), net.whole(1, maps // 4, side, side))
        y = net.norm(
            net.conv(y, maps // 4, maps // 4, bias=False, group=maps // 4, strides=[stride, stride]), maps // 4
        )
        rest = maps - channels if stride == 2 else maps
        y = net.norm(net.conv(y, rest, maps // 4, 1, bias=False, group=groups), rest)
        if stride == 1:
            return net.op("Relu", net.op("Add", x, y))
        pooled = net.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        return net.op("Relu", net.op("Concat", pooled, y, axis=1))

    x = net.op("Relu", net.norm(net.conv("data", 24, 3, bias=False, strides=[2, 2]), 24))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = unit(unit(x, 60, 24, 2), 60, 60, 1)
    x = net.op("Dropout", net.op("Flatten", net.op("GlobalAveragePool", x)), ratio=0.2)
    net.op("Softmax", net.dense(x, 10, 60), to="prob")
    return net.model({"data": [1, 3, 64, 64]}, {"prob": [1, 10]})


def efficientnet() -> onnx.ModelProto:
    """Inverted residuals, squeeze and excitation, HardSwish; names in Chinese with blanks; open batch."""
    net = Net("efficientnet", 16, prefix="主干 层/")
    x = net.op("HardSwish", net.norm(net.conv("图像 输入", 16, 3, bias=False, strides=[2, 2]), 16))
    for maps, channels, kernel, stride in ((24, 16, 3, 2), (24, 24, 5, 1), (40, 24, 5, 2)):
        wide = 4 * channels
        y = net.op("HardSwish", net.norm(net.conv(x, wide, channels, 1, bias=False), wide))
        y = net.conv(y, wide, wide, kernel, bias=False, group=wide, strides=[stride, stride])
        y = net.op("HardSwish", net.norm(y, wide))
        squeezed = net.op("Relu", net.conv(net.op("ReduceMean", y, axes=[2, 3]), 8, wide, 1))
        y = net.op("Mul", y, net.op("HardSigmoid", net.conv(squeezed, wide, 8, 1), alpha=1 / 6, beta=0.5))
        y = net.norm(net.conv(y, maps, wide, 1, bias=False), maps)
        x = net.op("Add", x, y) if (maps, stride) == (channels, 1) else y
    pooled = net.op("Flatten", net.op("GlobalAveragePool", net.op("HardSwish", net.conv(x, 96, 40, 1))))
    net.dense(pooled, 10, 96, to="类别 得分")
    return net.model({"图像 输入": ["批", 3, 96, 96]}, {"类别 得分": ["批", 10]})


def _detector(net: Net, classes: int = 4) -> tuple[str, str]:
    """Boxes [1, 180, 4] and scores [1, 180, classes] of a detector with two scales and anchors."""
    x = net.op(
        "Clip", net.conv("picture", 16, 3, strides=[2, 2]), net.constant(0, np.float32), net.constant(6, np.float32)
    )
    x = net.op("PRelu", net.conv(x, 24, 16, strides=[2, 2]), net.constant(np.full((24, 1, 1), 0.25, np.float32)))
    fine = net.op("Relu", net.conv(x, 32, 24, strides=[4, 4]))
    coarse = net.op("Relu", net.conv(fine, 48, 32, strides=[2, 2]))
    boxes, scores = [], []
    for level, channels in ((fine, 32), (coarse, 48)):
        for found, width in ((boxes, 4), (scores, classes)):
            head = net.op("Transpose", net.conv(level, 4 * width, channels), perm=[0, 2, 3, 1])
            found.append(net.op("Reshape", head, net.whole(1, -1, width)))
    deltas = net.op("Concat", *boxes, axis=1)
    anchors = net.random.uniform(0.1, 0.9, (1, 180, 4)).astype(np.float32)
    centre = net.op("Slice", deltas, net.whole(0), net.whole(2), net.whole(2))
    size = net.op("Slice", deltas, net.whole(2), net.whole(4), net.whole(2))
    centre = net.op("Add", net.op("Mul", centre, net.constant(0.1, np.float32)), net.constant(anchors[..., :2]))
    clipped = net.op("Clip", size, net.constant(-4, np.float32), net.constant(4, np.float32))
    size = net.op(
        "Mul", net.op("Exp", net.op("Mul", clipped, net.constant(0.2, np.float32))), net.constant(anchors[..., 2:])
    )
    half = net.op("Div", size, net.constant(2, np.float32))
    corners = net.op("Concat", net.op("Sub", centre, half), net.op("Add", centre, half), axis=2)
    return corners, net.op("Sigmoid", net.op("Concat", *scores, axis=1))


def ssd_topk() -> onnx.ModelProto:
    """Detector with two scales, anchors decoded by Exp, and the ten best classes by TopK."""
    net = Net("ssd_topk", 18)
    corners, scores = _detector(net)
    best = net.op("ReduceMax", scores, net.whole(2), keepdims=0)
    values, indices = net.parts("TopK", 2, best, net.whole(10), axis=1)
    net.op("Identity", values, to="best scores")
    net.op("GatherND", corners, net.op("Unsqueeze", indices, net.whole(2)), batch_dims=1, to="best boxes")
    return net.model({"picture": [1, 3, 96, 96]}, {"best boxes": [1, 10, 4], "best scores": [1, 10]})


def ssd_nms() -> onnx.ModelProto:
    """The same detector with NonMaxSuppression, whose output has as many rows as the data decide: to be refused."""
    net = Net("ssd_nms", 13)
    corners, scores = _detector(net)
    flipped = net.op("Transpose", scores, perm=[0, 2, 1])
    limits = net.whole(5), net.constant([0.5], np.float32), net.constant([0.4], np.float32)  # type: ignore[arg-type]
    net.op("NonMaxSuppression", corners, flipped, *limits, to="selected")
    return net.model({"picture": [1, 3, 96, 96]}, {"selected": ["found", 3]}, selected=TensorProto.INT64)


def super_resolution() -> onnx.ModelProto:
    """Three times the size: DepthToSpace, a cubic Resize of the input added, Clip; open batch."""
    net = Net("super_resolution", 13)
    x = net.op("Tanh", net.conv("luma", 24, 1, 5))
    x = net.conv(net.op("Tanh", net.conv(x, 16, 24)), 9, 16)
    x = net.op("DepthToSpace", x, blocksize=3, mode="CRD")
    scales = net.constant([1, 1, 3, 3], np.float32)  # type: ignore[arg-type]
    large = net.op("Resize", "luma", "", scales, mode="cubic", coordinate_transformation_mode="half_pixel")
    limits = net.constant(-2, np.float32), net.constant(2, np.float32)
    net.op("Clip", net.op("Add", x, large), *limits, to="large")
    return net.model({"luma": ["N", 1, 32, 32]}, {"large": ["N", 1, 96, 96]})


def autoencoder() -> onnx.ModelProto:
    """Anomaly detector: Gemm, BatchNormalization, Relu to a narrow middle and back; the squared error beside it."""
    net = Net("autoencoder", 9)
    x, features = "log mel", 320
    for units in (64, 8, 64):
        x, features = net.op("Relu", net.norm(net.dense(x, units, features), units)), units
    x = net.dense(x, 320, features, to="rebuilt")
    squares = net.op("Pow", net.op("Sub", "log mel", x), net.constant(2, np.float32))
    net.op("ReduceMean", squares, axes=[1], keepdims=1, to="anomaly")
    return net.model({"log mel": ["N", 320]}, {"rebuilt": ["N", 320], "anomaly": ["N", 1]})


def control_flow() -> onnx.ModelProto:
    """An If on the rank of a tensor and a Loop of three turns, both of which fold away; opset 16."""
    net = Net("control_flow", 16)
    kernel, bias = net.weight(8, 8, 3, 3), net.weight(8, scale=0.1)
    x = net.op("Relu", net.conv("frame", 8, 1))
    body = helper.make_graph(
        [
            helper.make_node("Conv", ["state", kernel, bias], ["convolved"], name="turn", pads=[1, 1, 1, 1]),
            helper.make_node("Tanh", ["convolved"], ["next"], name="bend"),
            helper.make_node("Identity", ["go on"], ["going on"], name="keep on"),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn number", TensorProto.INT64, []),
            helper.make_tensor_value_info("go on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, 8, 28, 28]),
        ],
        [
            helper.make_tensor_value_info("going on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 8, 28, 28]),
        ],
    )
    x = net.op("Loop", net.constant(3, np.int64), net.constant(True), x, body=body)
    rank = net.op("Size", net.op("Shape", x))
    branches = []
    for name, op_type in (("four", "GlobalAveragePool"), ("other", "Identity")):
        shape = [1, 8, 1, 1] if name == "four" else [1, 8, 28, 28]
        value = helper.make_tensor_value_info(f"{name} out", TensorProto.FLOAT, shape)
        branches.append(helper.make_graph([helper.make_node(op_type, [x], [value.name], name=name)], name, [], [value]))
    x = net.op("If", net.op("Equal", rank, net.constant(4, np.int64)), then_branch=branches[0], else_branch=branches[1])
    net.dense(net.op("Flatten", x), 5, 8, to="class")
    return net.model({"frame": [1, 1, 28, 28]}, {"class": [1, 5]})


def two_inputs() -> onnx.ModelProto:
    """A picture and a vector of sensors, joined by Concat; a category through an embedding; opset 15, open batch."""
    net = Net("two_inputs", 15, prefix="net.")
    x = net.op("Relu", net.conv("camera", 16, 3, strides=[2, 2]))
    x = net.op("Flatten", net.op("GlobalMaxPool", net.op("Elu", net.conv(x, 32, 16, strides=[2, 2]))))
    vector = net.op("Softplus", net.dense("sensors", 16, 7))
    category = net.op("Gather", net.weight(256, 8, scale=0.5), "category")
    joined = net.op("Concat", x, vector, category, axis=1)
    net.op("Tanh", net.dense(net.op("Relu", net.dense(joined, 32, 56)), 2, 32), to="steer")
    inputs: dict[str, list[object]] = {"camera": ["N", 3, 48, 64], "sensors": ["N", 7], "category": ["N"]}
    return net.model(inputs, {"steer": ["N", 2]}, category=TensorProto.INT64)


def crnn() -> onnx.ModelProto:
    """Text reader: convolutions to a row of columns, an LSTM in both directions, LogSoftmax; opset 12."""
    net, hidden = Net("crnn", 12), 24
    x = net.op("MaxPool", net.op("Relu", net.conv("line", 16, 1)), kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("MaxPool", net.op("Relu", net.norm(net.conv(x, 32, 16), 32)), kernel_shape=[2, 1], strides=[2, 1])
    x = net.op("Relu", net.op("Conv", x, net.weight(32, 32, 8, 1), net.weight(32), kernel_shape=[8, 1]))
    x = net.op("Transpose", net.op("Squeeze", x, axes=[2]), perm=[2, 0, 1])
    gates = [net.weight(2, 4 * hidden, size, scale=0.25) for size in (32, hidden)]
    x = net.op("LSTM", x, *gates, net.weight(2, 8 * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional")
    x = net.op("Reshape", net.op("Transpose", x, perm=[0, 2, 1, 3]), net.whole(0, 0, -1))
    net.op("LogSoftmax", net.project(x, 2 * hidden, 40), axis=2, to="symbols")
    return net.model({"line": [1, 1, 32, 64]}, {"symbols": [32, 1, 40]})


def yolo() -> onnx.ModelProto:
    """Detector of today: SiLU, Split, pooled pyramid, nearest Resize, box edges as a Softmax over bins; opset 22."""
    net = Net("yolo", 22, prefix="/model.")

    def block(x: str, maps: int, channels: int, kernel: int = 3, stride: int = 1) -> str:
        return net.swish(net.conv(x, maps, channels, kernel, strides=[stride, stride]))

    x = block(block("images", 8, 3, stride=2), 16, 8, stride=2)
    left, right = net.parts("Split", 2, block(x, 16, 16, 1), axis=1, num_outputs=2)
    fine = block(
        net.op("Concat", left, net.op("Add", right, block(block(right, 8, 8), 8, 8)), axis=1), 24, 16, stride=2
    )
    pooled = [block(block(fine, 32, 24, stride=2), 16, 32, 1)]
    for _ in range(3):
        pooled.append(net.op("MaxPool", pooled[-1], kernel_shape=[5, 5], pads=[2, 2, 2, 2], strides=[1, 1]))
    deep = block(net.op("Concat", *pooled, axis=1), 32, 64, 1)
    scales = net.constant([1, 1, 2, 2], np.float32)  # type: ignore[arg-type]
    large = net.op(
        "Resize", deep, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )
    both = block(net.op("Concat", large, fine, axis=1), 32, 56)
    edges = net.op("Reshape", net.conv(both, 32, 32, 1), net.whole(1, 4, 8, 64))
    shares = net.op("Softmax", net.op("Transpose", edges, perm=[0, 2, 1, 3]), axis=1)
    bins = net.constant(np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1))
    distances = net.op("Reshape", net.op("Conv", shares, bins), net.whole(1, 4, 64))
    classes = net.op("Sigmoid", net.op("Reshape", net.conv(both, 6, 32, 1), net.whole(1, 6, 64)))
    net.op("Concat", distances, classes, axis=1, to="output0")
    return net.model({"images": [1, 3, 64, 64]}, {"output0": [1, 10, 64]})


KINDS: Sequence[Callable[[], onnx.ModelProto]] = (
    unet,
    vit,
    gru,
    tcn,
    convnext,
    shufflenet,
    efficientnet,
    ssd_topk,
    ssd_nms,
    super_resolution,
    autoencoder,
    control_flow,
    two_inputs,
    crnn,
    yolo,
)


def main() -> None:
    """Writes them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="Where the models go.")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        (folder / f"{kind.__name__}.onnx").write_bytes(kind().SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
