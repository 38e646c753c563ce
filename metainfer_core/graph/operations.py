"""How much arithmetic one node does: multiply-accumulates, and all operations.

An operation is one addition, multiplication, comparison, division, or call of exp, log, tanh, erf, sqrt and the like;
composed functions count by their formula. A multiply-accumulate is two operations. Only data that moves counts none.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from metainfer_core.graph.shapes import static_shape

Shape = tuple[int, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"})
"""Their result is their input's bytes under another shape: nothing needs to move."""

SELECTIONS = frozenset({"Gather", "GatherElements", "GatherND", "Slice"})
"""They read no more of their data than they write."""

NO_ARITHMETIC = VIEWS.union(
    SELECTIONS,
    _names("Concat Split Transpose Pad Expand Tile Cast CastLike DepthToSpace SpaceToDepth Scatter ScatterElements"),
    _names("ScatterND Constant ConstantOfShape Shape Size Range EyeLike OneHot NonZero Compress ReverseSequence Trilu"),
    _names("MaxUnpool Unique CenterCropPad RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli"),
    _names("Multinomial"),
)

PER_OUTPUT_ELEMENT: dict[str, int] = {
    **dict.fromkeys(_names("Add Sub Mul Div Mod Pow Min Max Sum And Or Xor Not Equal Greater GreaterOrEqual Less"), 1),
    **dict.fromkeys(
        _names("LessOrEqual Where BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitShift Abs Neg Sign Ceil"), 1
    ),
    **dict.fromkeys(_names("Floor Round Sqrt Reciprocal Exp Log Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh"), 1),
    **dict.fromkeys(_names("Asinh Acosh Atanh Relu IsNaN IsInf CumSum"), 1),
    "Clip": 2,  # a minimum and a maximum
    "LeakyRelu": 2,
    "PRelu": 2,
    "ThresholdedRelu": 2,
    "Shrink": 3,
    "HardSigmoid": 4,  # times alpha, plus beta, clipped at both ends
    "HardSwish": 5,  # a hard sigmoid times x
    "Sigmoid": 4,  # negate, exp, plus one, divide
    "Softplus": 3,
    "Softsign": 3,
    "Elu": 4,
    "Celu": 6,
    "Selu": 5,
    "Mish": 5,
    "Gelu": 5,
    "Softmax": 5,  # greatest, subtract, exp, sum, divide
    "LogSoftmax": 5,
    "Hardmax": 2,
    "BatchNormalization": 2,  # one scale and one shift for each channel
    "InstanceNormalization": 7,  # mean 1, centre 1, variance 2, divide 1, scale and shift 2
    "LayerNormalization": 7,
    "GroupNormalization": 7,
    "MeanVarianceNormalization": 5,
    "LpNormalization": 3,
    "QuantizeLinear": 4,  # divide, round, plus zero point, saturate
    "DequantizeLinear": 2,
    "DynamicQuantizeLinear": 6,
}

REDUCTIONS: dict[str, int] = {
    **dict.fromkeys(_names("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ArgMax ArgMin"), 1),
    **dict.fromkeys(_names("GlobalAveragePool GlobalMaxPool"), 1),
    **dict.fromkeys(_names("ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp GlobalLpPool"), 2),
}
"""Operations for each element that is read."""

INTERPOLATION = {"nearest": 0, "linear": 2, "cubic": 4}
"""Values that Resize reads along each resized axis."""

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
GATE_OPERATIONS = {"RNN": 2, "GRU": 18, "LSTM": 24}
"""Activations and elementwise operations for each hidden element and time step, with sigmoid and tanh gates."""


def macs(node: ir.Node) -> int:
    """Multiply-accumulates of one node; 0 where it does none. Shapes must be static."""
    shapes = [static_shape(value) or () if value is not None else () for value in node.inputs]
    made = static_shape(node.outputs[0]) or ()
    match node.op_type:
        case "Conv" | "ConvInteger" | "DeformConv":
            return math.prod(made) * math.prod(shapes[1][1:])
        case "QLinearConv":
            return math.prod(made) * math.prod(shapes[3][1:])
        case "ConvTranspose":
            return math.prod(shapes[0]) * math.prod(shapes[1][1:])
        case "Gemm":
            return math.prod(made) * (shapes[0][0] if node.attributes.get_int("transA", 0) else shapes[0][1])
        case "MatMul" | "MatMulInteger" | "QLinearMatMul":
            return math.prod(made) * shapes[0][-1]
        case "RNN" | "GRU" | "LSTM":
            steps, batch = _steps_and_batch(node, shapes[0])
            directions, rows, width = shapes[1]
            return steps * batch * directions * rows * (width + shapes[2][2])
        case "Einsum":
            return _einsum_macs(node, shapes)
    return 0


def operations(node: ir.Node) -> int | None:
    """All operations of one node, multiply-accumulates counted as two; None where the operator is not known here."""
    op = node.op_type
    made = math.prod(static_shape(node.outputs[0]) or ())
    read = math.prod(static_shape(node.inputs[0]) or ()) if node.inputs and node.inputs[0] is not None else 0
    products = 2 * macs(node)
    if op in NO_ARITHMETIC:
        return 0
    if op in PER_OUTPUT_ELEMENT:
        operands = max(1, len(node.inputs) - 1) if op in ("Min", "Max", "Sum", "Mean") else 1
        return PER_OUTPUT_ELEMENT[op] * made * operands
    if op == "Mean":
        return made * len(node.inputs)
    if op in REDUCTIONS:
        return REDUCTIONS[op] * read
    if op in ("MaxPool", "AveragePool", "LpPool"):
        return made * math.prod(node.attributes.get_ints("kernel_shape", ()))
    if op in ("Conv", "ConvTranspose", "DeformConv", "Gemm"):
        has_bias = len(node.inputs) > 2 and node.inputs[2] is not None
        return products + (made if has_bias else 0)
    if op in ("ConvInteger", "MatMul", "MatMulInteger", "Einsum"):
        return products
    if op in ("QLinearConv", "QLinearMatMul"):
        return products + 4 * made  # bias or nothing, then requantization
    if op in GATES:
        shape = static_shape(node.inputs[0]) if node.inputs[0] is not None else None
        weight = static_shape(node.inputs[2]) if node.inputs[2] is not None else None
        steps, batch = _steps_and_batch(node, shape or (0, 0, 0))
        directions, hidden = ((weight or (0, 0, 0))[0], (weight or (0, 0, 0))[2])
        return products + GATE_OPERATIONS[op] * steps * batch * directions * hidden
    if op == "Resize":
        return _resize_operations(node, made)
    if op == "TopK":
        return 2 * read  # a comparison with the least kept, and the bookkeeping
    if op == "LRN":
        return read * (node.attributes.get_int("size", 1) * 2 + 4)
    if op in ("GridSample", "RoiAlign"):
        return made * 8
    return None


def _steps_and_batch(node: ir.Node, shape: Shape) -> tuple[int, int]:
    """Sequence length and batch of a recurrent node."""
    return (shape[1], shape[0]) if node.attributes.get_int("layout", 0) else (shape[0], shape[1])


def _einsum_macs(node: ir.Node, shapes: list[Shape]) -> int:
    """The product of the extents of all letters: what one nested loop over them computes."""
    equation = node.attributes.get_string("equation", "").replace(" ", "")
    terms = equation.split("->")[0].split(",")
    if "..." in equation or len(terms) != len(shapes) or len(shapes) < 2:
        return 0
    extents: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        extents.update(zip(term, shape, strict=False))
    return math.prod(extents.values())


def _resize_operations(node: ir.Node, made: int) -> int:
    """A weighted sum of the neighbours along each axis that changes."""
    before, after = static_shape(node.inputs[0]) if node.inputs[0] else None, static_shape(node.outputs[0])
    axes = sum(old != new for old, new in zip(before or (), after or (), strict=False))
    neighbours = INTERPOLATION.get(node.attributes.get_string("mode", "nearest"), 4)
    return made * 2 * neighbours**axes if neighbours else 0
