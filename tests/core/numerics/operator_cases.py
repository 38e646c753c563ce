"""One small model for each operator and kernel, as float32 (or integers) and, by `quantized`, in QDQ form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess

TYPES = {
    "float32": TensorProto.FLOAT,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
}


@dataclass(frozen=True)
class Case:
    """A model with inputs for it."""

    name: str
    proto: onnx.ModelProto
    feed: Mapping[str, np.ndarray]

    def model(self) -> ir.Model:
        """As the product sees it."""
        return preprocess(import_model(self.proto.SerializeToString(), self.name).model).model


def draw(name: str, *shape: int) -> np.ndarray:
    """Normal random numbers that depend on the name alone."""
    return np.random.default_rng(sum(name.encode())).normal(size=shape).astype(np.float32)


def build(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    feed: Mapping[str, np.ndarray],
    constants: Mapping[str, np.ndarray] | None = None,
    outputs: Mapping[str, str] | None = None,
    opset: int = 21,
) -> Case:
    """A case from nodes; outputs are `name: element type`, `y: float32` where none are given."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(n, TYPES[a.dtype.name], a.shape) for n, a in feed.items()],
        [helper.make_tensor_value_info(n, TYPES[t], None) for n, t in (outputs or {"y": "float32"}).items()],
        [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    inferred = onnx.shape_inference.infer_shapes(proto)
    return Case(name, inferred, feed)


def one(
    name: str,
    op: str,
    inputs: Sequence[np.ndarray],
    constants: Sequence[np.ndarray | None] = (),
    outputs: Sequence[str] = ("float32",),
    **attributes: object,
) -> Case:
    """A model of one node: run-time inputs first, then constant ones (None: left out)."""
    feed = {f"x{i}": array for i, array in enumerate(inputs)}
    named = {f"c{i}": array for i, array in enumerate(constants) if array is not None}
    operands = [*feed, *("" if array is None else f"c{i}" for i, array in enumerate(constants))]
    results = {f"y{i}" if i else "y": kind for i, kind in enumerate(outputs)}
    node = helper.make_node(op, operands, list(results), name="node", **attributes)
    return build(name, [node], feed, named, results)


def reference(proto: onnx.ModelProto, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What ONNX Runtime computes, optimiser off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feed)), strict=True))


def i64(*values: int) -> np.ndarray:
    """A constant of shapes, axes or indices."""
    return np.array(values, np.int64)


def conv(name: str, shape: Sequence[int], weight: Sequence[int], bias: bool = True, **attributes: object) -> Case:
    """A convolution."""
    constants = [draw(name + "w", *weight), draw(name + "b", weight[0]) if bias else None]
    return one(name, "Conv", [draw(name, *shape)], constants, **attributes)


def recurrent(op: str, gates: int, direction: str, batch: int, states: bool, **attributes: object) -> Case:
    """An LSTM or GRU over 5 steps of 6 numbers, 9 hidden."""
    d, hidden, name = 2 if direction == "bidirectional" else 1, 9, f"{op}_{direction}_{batch}{attributes}"
    constants: list[np.ndarray | None] = [
        draw(name + "w", d, gates * hidden, 6) / 3,
        draw(name + "r", d, gates * hidden, hidden) / 3,
        draw(name + "b", d, 2 * gates * hidden) if states else None,
        None,
        draw(name + "h", d, batch, hidden) if states else None,
    ]
    if op == "LSTM" and states:
        constants.append(draw(name + "c", d, batch, hidden))
    outputs = ["float32"] * (3 if op == "LSTM" else 2)
    x = [draw(name, 5, batch, 6)]
    return one(name, op, x, constants, outputs, hidden_size=hidden, direction=direction, **attributes)


def _unary() -> list[Case]:
    x = np.concatenate(
        [draw("unary", 40) * 3, np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 30.0, -30.0], np.float32)]
    )
    positive = np.abs(x) + np.float32(0.01)
    names = "Relu LeakyRelu HardSigmoid HardSwish Sigmoid Tanh Elu Gelu Softplus Mish Exp Neg Abs Erf Floor Ceil Round"
    cases = [one(op.lower(), op, [x]) for op in [*names.split(), "Sign", "Selu", "Softsign"]]
    cases += [one(op.lower(), op, [positive]) for op in ("Log", "Sqrt", "Reciprocal")]
    cases.append(one("gelu_tanh", "Gelu", [x], approximate="tanh"))
    cases.append(one("clip", "Clip", [x], [np.float32(-1.5).reshape(()), np.float32(2).reshape(())]))
    cases.append(one("clip_low", "Clip", [x], [np.float32(-1.5).reshape(())]))
    cases.append(one("square", "Pow", [x], [np.float32(2).reshape(())]))
    cases.append(one("root", "Pow", [positive], [np.float32(0.5).reshape(())]))
    cases.append(one("pow", "Pow", [positive], [draw("exponent", 49)]))
    cases.append(one("not", "Not", [x > 0], outputs=["bool"]))
    cases.append(one("isnan", "IsNaN", [np.array([1, np.nan, np.inf, -0.0], np.float32)], outputs=["bool"]))
    return cases


def _binary() -> list[Case]:
    shapes = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (4,)), ((3, 1), (2, 3, 4)), ((2, 1, 4), (1, 3, 1)), ((5,), ())]
    cases = []
    for i, (a, b) in enumerate(shapes):
        left, right = draw(f"l{i}", *a), draw(f"r{i}", *b)
        whole = np.asarray(left * 10).astype(np.int32), np.where(right > 0, 3, -2).astype(np.int32)
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
            cases.append(one(f"{op.lower()}_{i}", op, [left, right]))
            if i < 2:
                for kind in (np.int32, np.int64):
                    operands = [number.astype(kind) for number in whole]
                    cases.append(one(f"{op}_{kind.__name__}_{i}", op, operands, (), [kind.__name__]))
        for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
            equal = np.asarray(np.round(left)), np.asarray(np.round(right))
            cases.append(one(f"{op.lower()}_{i}", op, equal, outputs=["bool"]))
            if i == 0:
                cases += [
                    one(f"{op}_{t.__name__}", op, [np.asarray(n).astype(t) for n in equal], outputs=["bool"])
                    for t in (np.int32, np.int64)
                ]
        for op in ("And", "Or", "Xor"):
            cases.append(one(f"{op.lower()}_{i}", op, [np.asarray(left > 0), np.asarray(right > 0)], outputs=["bool"]))
        chosen = [left > 0.5, left, np.broadcast_to(right, np.broadcast_shapes(a, b)).copy()]
        cases.append(one(f"where_{i}", "Where", chosen))
    cases.append(one("prelu", "PRelu", [draw("prelu", 2, 3, 4)], [draw("slope", 3, 1)]))
    cases.append(one("max_of_three", "Max", [draw("a", 2, 3), draw("b", 3), draw("c", 2, 1)]))
    cases.append(one("sum_of_three", "Sum", [draw("a", 2, 3), draw("b", 3), draw("c", 2, 1)]))
    six = draw("six", 2, 1, 3, 1, 2, 1), draw("other", 1, 2, 1, 3, 1, 2)
    cases.append(one("six_axes", "Add", six))
    where = [np.array([[True], [False]]), np.arange(4, dtype=np.int64).reshape(1, 4), np.zeros((2, 4), np.int64)]
    cases.append(one("where_int64", "Where", where, outputs=["int64"]))
    return cases


def _casts() -> list[Case]:
    usual = ("float32", "int32", "int64", "bool")
    pairs = [
        *((s, t) for s in usual for t in usual if s != t),
        *((s, t) for s in ("uint8", "int8") for t in ("float32", "int32")),
    ]
    values = np.array([0.0, -1.75, 2.5, 100.2, -3.0])
    cases = []
    for source, target in pairs:
        x = np.abs(values).astype(source) if source == "uint8" else values.astype(source)
        cases.append(one(f"cast_{source}_{target}", "Cast", [x], (), [target], to=TYPES[target]))
    return cases


def _convolutions() -> list[Case]:
    return [
        conv("conv3", (1, 3, 9, 11), (8, 3, 3, 3), pads=[1, 1, 1, 1]),
        conv("conv3_stride2", (2, 5, 13, 20), (7, 5, 3, 3), pads=[1, 0, 1, 1], strides=[2, 2]),
        conv("conv_wide", (1, 4, 6, 40), (9, 4, 3, 5), pads=[0, 2, 1, 2], dilations=[1, 2]),
        conv("conv_stride3", (1, 2, 15, 31), (5, 2, 3, 5), strides=[3, 3], dilations=[2, 1]),
        conv("pointwise", (1, 16, 8, 8), (24, 16, 1, 1)),
        conv("pointwise_large", (1, 5, 30, 30), (6, 5, 1, 1), bias=False),
        conv("pointwise_stride2", (1, 8, 20, 40), (6, 8, 1, 1), strides=[2, 2]),
        conv("rows", (2, 20, 3, 3), (33, 20, 3, 3), pads=[1, 1, 1, 1]),
        conv("one_pixel", (1, 70, 1, 1), (90, 70, 1, 1)),
        conv("grouped", (1, 12, 10, 17), (8, 3, 3, 3), group=4, pads=[1, 1, 1, 1]),
        conv("depthwise", (2, 6, 12, 50), (6, 1, 3, 3), group=6, pads=[1, 1, 1, 1]),
        conv("depthwise_stride2", (1, 5, 11, 13), (5, 1, 5, 5), group=5, pads=[2, 2, 2, 2], strides=[2, 2]),
        conv("depthwise_twice", (1, 3, 7, 19), (6, 1, 3, 2), group=3),
        conv("same_upper", (1, 3, 10, 10), (4, 3, 4, 4), auto_pad="SAME_UPPER", strides=[2, 2]),
        conv("one_axis", (1, 7, 60), (11, 7, 5), pads=[2, 2]),
        conv("one_axis_strided", (1, 1, 640), (20, 1, 64), strides=[16]),
        conv("high", (1, 6, 70, 1), (9, 6, 5, 1)),
        conv("bands", (1, 64, 40, 60), (4, 64, 3, 3), pads=[1, 1, 1, 1]),
        one(
            "transposed",
            "ConvTranspose",
            [draw("t", 1, 4, 6, 7)],
            [draw("tw", 4, 5, 3, 3), draw("tb", 5)],
            strides=[2, 2],
            pads=[1, 1, 1, 1],
            output_padding=[1, 1],
        ),
        one("transposed_grouped", "ConvTranspose", [draw("u", 1, 4, 9)], [draw("uw", 4, 3, 4)], group=2, strides=[3]),
    ]


def _products() -> list[Case]:
    x, w = draw("gx", 5, 37), draw("gw", 37, 75)
    return [
        one("gemm", "Gemm", [x], [w, draw("gb", 75)]),
        one("gemm_scaled", "Gemm", [x], [w.T.copy(), draw("gb", 1, 75)], transB=1, alpha=0.5, beta=2.0),
        one(
            "gemm_matrix",
            "Gemm",
            [
                x,
            ],
            [w, draw("gm", 5, 75)],
        ),
        one("gemm_one_row", "Gemm", [draw("g1", 1, 300)], [draw("g2", 300, 10), draw("g3", 10)]),
        one("matmul", "MatMul", [draw("m", 2, 3, 37)], [w]),
        one("matmul_vector", "MatMul", [draw("m1", 37)], [w]),
        one("matmul_batch", "MatMul", [draw("b1", 2, 3, 4, 5), draw("b2", 2, 3, 5, 6)]),
        one("matmul_stretched", "MatMul", [draw("b3", 2, 1, 4, 5), draw("b4", 3, 5, 6)]),
        one("matmul_shared", "MatMul", [draw("b5", 4, 5), draw("b6", 3, 5, 6)]),
        one("matmul_column", "MatMul", [draw("b7", 3, 4, 5), draw("b8", 5)]),
    ]


def _movements() -> list[Case]:
    x = draw("move", 2, 3, 4, 5)
    whole = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    flags = whole % 3 == 0
    many = [draw(f"part{i}", 2, 1 + i % 3) for i in range(20)]
    return [
        one("transpose", "Transpose", [x], perm=[0, 3, 1, 2]),
        one("transpose_int64", "Transpose", [whole], outputs=["int64"]),
        one("transpose_bool", "Transpose", [flags], outputs=["bool"], perm=[1, 2, 0]),
        one("reshape", "Reshape", [x], [i64(6, -1)]),
        one("flatten", "Flatten", [x], axis=2),
        one("unsqueeze", "Unsqueeze", [x], [i64(0, 3)]),
        one("squeeze", "Squeeze", [draw("sq", 2, 1, 3)], [i64(1)]),
        one("expand", "Expand", [draw("ex", 3, 1)], [i64(2, 3, 4)]),
        one("tile", "Tile", [draw("ti", 2, 3)], [i64(2, 3)]),
        one("slice", "Slice", [x], [i64(1, -1), i64(100, -10), i64(1, 3), i64(1, -2)]),
        one("split", "Split", [x], [i64(1, 2)], ["float32", "float32"], axis=1),
        one("depth_to_space", "DepthToSpace", [draw("ds", 1, 8, 2, 3)], blocksize=2),
        one("depth_to_space_crd", "DepthToSpace", [draw("ds", 1, 8, 2, 3)], blocksize=2, mode="CRD"),
        one("space_to_depth", "SpaceToDepth", [draw("sd", 1, 2, 4, 6)], blocksize=2),
        one("concat", "Concat", [x, draw("more", 2, 2, 4, 5)], axis=1),
        one("concat_int64", "Concat", [whole, whole], outputs=["int64"], axis=-1),
        one("concat_bool", "Concat", [flags, flags], outputs=["bool"], axis=0),
        one("concat_many", "Concat", many, axis=1),
        one("gather", "Gather", [x], [np.array([[0, -1], [2, 1]], np.int64)], axis=2),
        one("gather_at_run_time", "Gather", [x, np.array([1, 0, -1], np.int32)], axis=1),
        one("gather_by_int64", "Gather", [x, np.array([1, -2], np.int64)], axis=3),
        one("gather_int64", "Gather", [whole, np.array([1, 2], np.int32)], outputs=["int64"], axis=1),
        one("gather_int64_by_int64", "Gather", [whole, np.array([1, 2], np.int64)], outputs=["int64"], axis=1),
        one("gather_bool", "Gather", [flags, np.array([1, 2], np.int32)], outputs=["bool"], axis=2),
        one("gather_bool_by_int64", "Gather", [flags, np.array([1, 2], np.int64)], outputs=["bool"], axis=2),
        one("pad", "Pad", [x], [i64(0, 1, 0, 2, 1, 0, 0, 1), np.float32(0.5).reshape(())]),
        one("pad_crops", "Pad", [x], [i64(0, 0, -1, 2, 0, 0, 0, -1)]),
        one("pad_int64", "Pad", [whole], [i64(1, 0, 0, 0, 0, 2), np.array(7, np.int64)], outputs=["int64"]),
        one("pad_reflect", "Pad", [x], [i64(0, 0, 2, 3, 0, 0, 1, 2)], mode="reflect"),
        one("pad_edge", "Pad", [x], [i64(1, 0, 0, 2, 0, 1, 0, 0)], mode="edge"),
        one("pad_wrap", "Pad", [x], [i64(0, 1, 0, 0, 0, 2, 0, 0)], mode="wrap"),
    ]


def _resizes() -> list[Case]:
    x = draw("resize", 1, 2, 5, 7)
    two = np.array([1, 1, 2, 3], np.float32)
    odd = i64(1, 2, 8, 4)
    cases = [
        one(f"nearest_{t}_{n}", "Resize", [x], [None, None, odd], mode="nearest", nearest_mode=n,
            coordinate_transformation_mode=t)
        for t, n in (("half_pixel", "round_prefer_floor"), ("asymmetric", "floor"), ("align_corners", "ceil"),
                     ("pytorch_half_pixel", "round_prefer_ceil"))
    ]  # fmt: skip
    cases += [
        one(f"linear_{t}", "Resize", [x], [None, two], mode="linear", coordinate_transformation_mode=t)
        for t in ("half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric")
    ]
    cases += [
        one(f"cubic_{t}_{n}", "Resize", [x], [None, None, size], mode="cubic", coordinate_transformation_mode=t, **more)
        for n, (t, size, more) in enumerate([
            ("half_pixel", odd, {}), ("asymmetric", i64(1, 2, 10, 21), {}), ("align_corners", odd, {}),
            ("half_pixel", odd, {"cubic_coeff_a": -0.5, "exclude_outside": 1}),
        ])
    ]  # fmt: skip
    cases.append(one("linear_larger", "Resize", [x], [None, two], mode="linear", antialias=1))
    return cases


def _pools() -> list[Case]:
    x = draw("pool", 2, 3, 9, 13)
    wide = draw("wide", 1, 2, 4, 150)
    return [
        one("max_pool", "MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 1]),
        one("max_pool_dilated", "MaxPool", [x], kernel_shape=[2, 3], dilations=[2, 2]),
        one("max_pool_ceil", "MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        one("max_pool_wide", "MaxPool", [wide], kernel_shape=[2, 3], pads=[0, 1, 0, 1]),
        one("average_pool", "AveragePool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        one("average_pool_padded", "AveragePool", [x], kernel_shape=[3, 2], pads=[1, 1, 1, 0], count_include_pad=1),
        one("average_pool_ceil", "AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        one("average_pool_whole", "AveragePool", [x], kernel_shape=[9, 13]),
        one("global_average", "GlobalAveragePool", [x]),
        one("global_max", "GlobalMaxPool", [x]),
        one("max_pool_one_axis", "MaxPool", [draw("p1", 1, 3, 20)], kernel_shape=[4], strides=[3]),
    ]


def _reductions() -> list[Case]:
    x = np.abs(draw("reduce", 2, 5, 3, 40)) + np.float32(0.1)
    whole = np.arange(-12, 12, dtype=np.int32).reshape(2, 3, 4)
    cases = []
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum"):
        for axes in ((3,), (1,), (2, 3), (1, 3), (0, 1, 2, 3)):
            name = f"reduce_{op}_{axes}"
            cases.append(one(name, f"Reduce{op}", [x], [i64(*axes)], keepdims=int(axes != (1,))))
    for op in ("Sum", "Max", "Min", "Prod"):
        for kind in (np.int32, np.int64):
            x_int = whole.astype(kind)
            cases.append(one(f"reduce_{op}_{kind.__name__}", f"Reduce{op}", [x_int], [i64(1)], [kind.__name__]))
    cases += [one(f"softmax_{axis}", "Softmax", [x * 4], axis=axis) for axis in (-1, 1)]
    cases.append(one("log_softmax", "LogSoftmax", [x * 4], axis=2))
    cases += [one(op.lower(), op, [np.round(x, 1)], (), ["int64"], axis=1, keepdims=0) for op in ("ArgMax", "ArgMin")]
    return cases


def _normalisations() -> list[Case]:
    x = draw("norm", 2, 6, 5, 7) * 3 + 1
    scale, shift = draw("scale", 6), draw("shift", 6)
    statistics = [scale, shift, draw("mean", 6), np.abs(draw("variance", 6)) + 0.1]
    return [
        one("batch_norm", "BatchNormalization", [x], [a.astype(np.float32) for a in statistics]),
        one("layer_norm", "LayerNormalization", [x], [draw("ls", 5, 7), draw("lb", 5, 7)], axis=2),
        one("layer_norm_last", "LayerNormalization", [x], [draw("l1", 7)]),
        one("instance_norm", "InstanceNormalization", [x], [scale, shift]),
        one("local_response", "LRN", [x], size=3, alpha=0.6, beta=0.4, bias=1.5),
        one("local_response_wide", "LRN", [x], size=9, alpha=2.0),
        one("group_norm", "GroupNormalization", [x], [scale, shift], num_groups=3),
    ]


def _recurrent() -> list[Case]:
    directions = ("forward", "reverse", "bidirectional")
    cases = [recurrent("LSTM", 4, d, b, d != "reverse") for d, b in zip(directions, (1, 2, 3), strict=True)]
    cases += [recurrent("GRU", 3, d, b, d != "reverse") for d, b in zip(directions, (1, 2, 3), strict=True)]
    cases.append(recurrent("GRU", 3, "bidirectional", 2, True, linear_before_reset=1))
    return cases


def _dequantized() -> list[Case]:
    """Integers from outside."""
    codes = np.arange(-12, 12).reshape(2, 3, 4)
    scales = np.array([0.5, 0.25, 2.0], np.float32)
    cases = []
    for kind in (np.int8, np.uint8, np.int32):
        x = np.abs(codes).astype(kind) if kind == np.uint8 else codes.astype(kind)
        zeros = np.array([0, 0, 0] if kind == np.int32 else [1, 2, 3], kind)
        cases.append(
            one(f"dequantize_{kind.__name__}", "DequantizeLinear", [x], [scales[0].reshape(()), zeros[0].reshape(())])
        )
        cases.append(one(f"dequantize_axis_{kind.__name__}", "DequantizeLinear", [x], [scales, zeros], axis=1))
    return cases


def _whole_graphs() -> list[Case]:
    """An input that goes out as it is, a constant that goes out, and integers that go out."""
    x = {"x": draw("same", 2, 3)}
    same = helper.make_node("Identity", ["x"], ["y"], name="same")
    out = helper.make_node("Identity", ["c"], ["z"], name="constant")
    constants = {"c": draw("constant", 4), "s": np.array(0.1, np.float32)}
    zeros = {"uint8": np.array(9, np.uint8), "int8": np.array(-3, np.int8)}
    cases = [build("identity", [same], x), build("constant", [same, out], x, constants, dict.fromkeys("yz", "float32"))]
    for kind, zero in zeros.items():
        quantize = helper.make_node("QuantizeLinear", ["x", "s", "zero"], ["q"], name="quantize")
        cases.append(build(f"quantize_{kind}", [quantize], x, {**constants, "zero": zero}, {"q": kind}))
    return cases


WHERE_BOOL = one(
    "where_bool",
    "Where",
    [np.array([True, False, True]), np.array([True, True, False]), np.array([False, False, True])],
    outputs=["bool"],
)
"""ONNX Runtime has no kernel for it."""

FLOAT_CASES: tuple[Case, ...] = tuple(
    case
    for cases in (
        _unary(),
        _binary(),
        _casts(),
        _convolutions(),
        _products(),
        _movements(),
        _resizes(),
        _pools(),
        _reductions(),
        _normalisations(),
        _recurrent(),
        _dequantized(),
        _whole_graphs(),
    )
    for case in cases
)
