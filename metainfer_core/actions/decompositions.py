"""Operators as compositions of simpler ones, by their definitions in the ONNX operator specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.recurrent_decompositions import GRU_PIECES, PIECES, can_be_written_out, gru, lstm
from metainfer_core.actions.rewiring import array_of, numbers_of, scalar_of
from metainfer_core.graph.shapes import static_shape


@dataclass(frozen=True)
class Decomposition:
    """One way to compute an operator by others."""

    pieces: tuple[str, ...]
    """Operator types that it uses."""
    build: Callable[[Pieces], ir.Value | Sequence[ir.Value | None]]
    """Makes the nodes and gives what stands for the original's output, or for each of its outputs that is read."""
    applies: Callable[[ir.Node], bool] = lambda node: True


def _softmax(at: Pieces, log: bool = False) -> ir.Value:
    axis = (at.axis("axis", -1),)
    shifted = at.op("Sub", [at.source, at.reduce("ReduceMax", at.source, axis)])
    powers = at.op("Exp", [shifted])
    total = at.reduce("ReduceSum", powers, axis)
    if log:
        return at.op("Sub", [shifted, at.op("Log", [total], static_shape(total))])
    return at.op("Div", [powers, total])


def _hard_sigmoid(at: Pieces) -> ir.Value:
    return _ramp(at, at.attribute("alpha", 0.2), at.attribute("beta", 0.5))


def _ramp(at: Pieces, alpha: float, beta: float) -> ir.Value:
    scaled = at.op("Mul", [at.source, at.number(alpha)])
    shifted = at.op("Add", [scaled, at.number(beta)])
    return at.op("Clip", [shifted, at.number(0.0), at.number(1.0)])


def _normalised(at: Pieces, value: ir.Value, axes: Sequence[int], epsilon: float) -> ir.Value:
    shape = static_shape(value)
    centred = at.op("Sub", [value, at.reduce("ReduceMean", value, axes)], shape)
    variance = at.reduce("ReduceMean", at.op("Mul", [centred, centred], shape), axes)
    shifted = at.op("Add", [variance, at.number(epsilon)], static_shape(variance))
    return at.op("Div", [centred, at.op("Sqrt", [shifted], static_shape(variance))], shape)


def _layer_normalization(at: Pieces) -> ir.Value:
    axes = range(at.axis("axis", -1), len(at.shape))
    result = _normalised(at, at.source, list(axes), at.attribute("epsilon", 1e-5))
    scale, *bias = at.original.inputs[1:]
    result = at.op("Mul", [result, scale])
    return at.op("Add", [result, bias[0]]) if bias and bias[0] is not None else result


def _channel_normalization(at: Pieces, groups: int) -> ir.Value:
    """GroupNormalization; with as many groups as channels, InstanceNormalization."""
    batch, channels, *space = at.shape
    split = [batch, groups, channels // groups * int(np.prod(space, dtype=np.int64))]
    grouped = at.op("Reshape", [at.source, at.numbers(np.array(split, dtype=np.int64))], split)
    result = _normalised(at, grouped, [2], at.attribute("epsilon", 1e-5))
    result = at.op("Reshape", [result, at.numbers(np.array(at.shape, dtype=np.int64))])
    per_channel = (1, channels, *(1,) * len(space))
    scale, bias = (at.numbers(numbers_of(value).reshape(per_channel)) for value in at.original.inputs[1:3])
    return at.op("Add", [at.op("Mul", [result, scale]), bias])


def _batch_normalization(at: Pieces) -> ir.Value:
    scale, shift, mean, variance = (numbers_of(value).astype(np.float64) for value in at.original.inputs[1:5])
    gain = scale / np.sqrt(variance + at.attribute("epsilon", 1e-5))
    per_channel = (1, -1, *(1,) * (len(at.shape) - 2))
    gains, offsets = (
        at.numbers(array.astype(np.float32).reshape(per_channel)) for array in (gain, shift - mean * gain)
    )
    return at.op("Add", [at.op("Mul", [at.source, gains]), offsets])


def _gelu(at: Pieces) -> ir.Value:
    if at.original.attributes.get_string("approximate", "none") == "tanh":
        cube = at.op("Mul", [at.op("Mul", [at.source, at.source]), at.source])
        inner = at.op("Add", [at.source, at.op("Mul", [cube, at.number(0.044715)])])
        bent = at.op("Tanh", [at.op("Mul", [inner, at.number(float(np.sqrt(2 / np.pi)))])])
    else:
        bent = at.op("Erf", [at.op("Mul", [at.source, at.number(float(np.sqrt(0.5)))])])
    half = at.op("Mul", [at.source, at.number(0.5)])
    return at.op("Mul", [half, at.op("Add", [bent, at.number(1.0)])])


def _sigmoid(at: Pieces) -> ir.Value:
    power = at.op("Exp", [at.op("Neg", [at.source])])
    return at.op("Div", [at.number(1.0), at.op("Add", [power, at.number(1.0)])])


def _softplus(at: Pieces) -> ir.Value:
    # log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow
    small = at.op("Exp", [at.op("Neg", [at.op("Abs", [at.source])])])
    return at.op("Add", [at.op("Relu", [at.source]), at.op("Log", [at.op("Add", [small, at.number(1.0)])])])


def _leaky_relu(at: Pieces) -> ir.Value:
    return _bent(at, at.number(at.attribute("alpha", 0.01)))


def _bent(at: Pieces, slope: ir.Value | None) -> ir.Value:
    """X above 0, slope * x below: relu(x) - slope * relu(-x)."""
    below = at.op("Mul", [at.op("Relu", [at.op("Neg", [at.source])]), slope])
    return at.op("Sub", [at.op("Relu", [at.source]), below])


def _elu(at: Pieces) -> ir.Value:
    """X above 0, alpha * (exp(x) - 1) below; the exponent never rises above 0, so that it cannot overflow."""
    below = at.op("Neg", [at.op("Relu", [at.op("Neg", [at.source])])])
    bent = at.op("Mul", [at.op("Sub", [at.op("Exp", [below]), at.number(1.0)]), at.number(at.attribute("alpha", 1.0))])
    return at.op("Add", [at.op("Relu", [at.source]), bent])


def _tanh(at: Pieces) -> ir.Value:
    """2 * sigmoid(2 x) - 1."""
    curve = at.op("Sigmoid", [at.op("Mul", [at.source, at.number(2.0)])])
    return at.op("Sub", [at.op("Mul", [curve, at.number(2.0)]), at.number(1.0)])


def _pool(at: Pieces, op_type: str) -> ir.Value:
    return at.reduce(op_type, at.source, list(range(2, len(at.shape))))


def _local_response(at: Pieces) -> ir.Value:
    """The sum of squares over the window by an average pool along the channels whose padding counts."""
    size, (batch, channels, *space) = at.original.attributes.get_int("size", 1), at.shape
    before, planes = (size - 1) // 2, [batch, 1, channels, int(np.prod(space, dtype=np.int64))]
    squares = at.op("Reshape", [at.op("Mul", [at.source, at.source]), at.numbers(np.array(planes, np.int64))], planes)
    pads = (before, 0, size - 1 - before, 0)
    pooled = at.op("AveragePool", [squares], planes, kernel_shape=(size, 1), pads=pads, count_include_pad=1)
    mean = at.op("Reshape", [pooled, at.numbers(np.array(at.shape, np.int64))])
    scaled = at.op("Mul", [mean, at.number(at.attribute("alpha", 1e-4))])
    shifted = at.op("Add", [scaled, at.number(at.attribute("bias", 1.0))])
    return at.op("Div", [at.source, at.op("Pow", [shifted, at.number(at.attribute("beta", 0.75))])])


def _gemm(at: Pieces) -> ir.Value:
    rows, columns = static_shape(at.original.outputs[0]) or (0, 0)
    product = at.op("MatMul", [at.source, _second_factor(at)], (rows, columns))
    bias = at.original.inputs[2] if len(at.original.inputs) > 2 else None
    return product if bias is None else at.op("Add", [product, bias], (rows, columns))


def _second_factor(at: Pieces) -> ir.Value:
    weight = numbers_of(at.original.inputs[1])
    weight = weight.T if at.original.attributes.get_int("transB", 0) else weight
    return at.numbers(weight * np.float32(at.attribute("alpha", 1.0)))


def _power(at: Pieces) -> ir.Value:
    exponent = scalar_of(at.original.inputs[1])
    if exponent == 0.5:
        return at.op("Sqrt", [at.source])
    square = at.op("Mul", [at.source, at.source])
    return square if exponent == 2.0 else at.op("Mul", [square, at.source])


def _raises_to(*exponents: float) -> Callable[[ir.Node], bool]:
    """Whether a power has one of these constants as its exponent, and its base's shape."""

    def applies(node: ir.Node) -> bool:
        base = node.inputs[0]
        same = base is not None and static_shape(base) == static_shape(node.outputs[0])
        return same and scalar_of(node.inputs[1]) in exponents

    return applies


def _plain_gemm(node: ir.Node) -> bool:
    whole = array_of(node.inputs[1]) is not None and node.attributes.get_float("beta", 1.0) == 1.0
    return whole and not node.attributes.get_int("transA", 0)


def _constant_parameters(node: ir.Node) -> bool:
    source = node.inputs[0]
    shape = static_shape(source) if source is not None else None
    return all(array_of(value) is not None for value in node.inputs[1:]) and len(shape or ()) >= 3


def _has_channels(node: ir.Node) -> bool:
    source = node.inputs[0]
    return source is not None and len(static_shape(source) or ()) >= 2


def _one_output(node: ir.Node) -> bool:
    return not any(output.uses() or output.is_graph_output() for output in node.outputs[1:])


DECOMPOSITIONS: dict[str, tuple[Decomposition, ...]] = {
    "Softmax": (Decomposition(("ReduceMax", "Sub", "Exp", "ReduceSum", "Div"), _softmax),),
    "LogSoftmax": (Decomposition(("ReduceMax", "Sub", "Exp", "ReduceSum", "Log"), lambda at: _softmax(at, log=True)),),
    "HardSwish": (
        Decomposition(
            ("HardSigmoid", "Mul"),
            lambda at: at.op("Mul", [at.source, at.op("HardSigmoid", [at.source], alpha=1 / 6, beta=0.5)]),
        ),
        Decomposition(("Mul", "Add", "Clip"), lambda at: at.op("Mul", [at.source, _ramp(at, 1 / 6, 0.5)])),
    ),
    "HardSigmoid": (Decomposition(("Mul", "Add", "Clip"), _hard_sigmoid),),
    "Sigmoid": (Decomposition(("Neg", "Exp", "Add", "Div"), _sigmoid),),
    "Softplus": (Decomposition(("Abs", "Neg", "Exp", "Relu", "Log", "Add"), _softplus),),
    "Mish": (
        Decomposition(
            ("Softplus", "Tanh", "Mul"),
            lambda at: at.op("Mul", [at.source, at.op("Tanh", [at.op("Softplus", [at.source])])]),
        ),
        Decomposition(
            ("Abs", "Neg", "Exp", "Relu", "Log", "Add", "Tanh", "Mul"),
            lambda at: at.op("Mul", [at.source, at.op("Tanh", [_softplus(at)])]),
        ),
    ),
    "Gelu": (
        Decomposition(
            ("Erf", "Mul", "Add"), _gelu, lambda node: node.attributes.get_string("approximate", "none") == "none"
        ),
        Decomposition(
            ("Tanh", "Mul", "Add"), _gelu, lambda node: node.attributes.get_string("approximate", "none") == "tanh"
        ),
    ),
    "LayerNormalization": (
        Decomposition(("ReduceMean", "Sub", "Mul", "Add", "Sqrt", "Div"), _layer_normalization, _one_output),
    ),
    "InstanceNormalization": (
        Decomposition(
            ("Reshape", "ReduceMean", "Sub", "Mul", "Add", "Sqrt", "Div"),
            lambda at: _channel_normalization(at, at.shape[1]),
            _constant_parameters,
        ),
    ),
    "GroupNormalization": (
        Decomposition(
            ("Reshape", "ReduceMean", "Sub", "Mul", "Add", "Sqrt", "Div"),
            lambda at: _channel_normalization(at, at.original.attributes.get_int("num_groups", 1)),
            _constant_parameters,
        ),
    ),
    "BatchNormalization": (
        Decomposition(
            ("Mul", "Add"), _batch_normalization, lambda node: _one_output(node) and _constant_parameters(node)
        ),
    ),
    "GlobalAveragePool": (Decomposition(("ReduceMean",), lambda at: _pool(at, "ReduceMean")),),
    "GlobalMaxPool": (Decomposition(("ReduceMax",), lambda at: _pool(at, "ReduceMax")),),
    "LRN": (Decomposition(("Mul", "Reshape", "AveragePool", "Add", "Pow", "Div"), _local_response, _has_channels),),
    "Gemm": (Decomposition(("MatMul", "Add"), _gemm, _plain_gemm),),
    "LSTM": (Decomposition(PIECES, lstm, can_be_written_out),),
    "GRU": (Decomposition(GRU_PIECES, gru, can_be_written_out),),
    "LeakyRelu": (Decomposition(("Relu", "Neg", "Mul", "Sub"), _leaky_relu),),
    "PRelu": (Decomposition(("Relu", "Neg", "Mul", "Sub"), lambda at: _bent(at, at.original.inputs[1])),),
    "Elu": (Decomposition(("Relu", "Neg", "Exp", "Sub", "Mul", "Add"), _elu),),
    "Tanh": (Decomposition(("Mul", "Sigmoid", "Sub"), _tanh),),
    "Relu": (Decomposition(("Clip",), lambda at: at.op("Clip", [at.source, at.number(0.0)])),),
    "Pow": (Decomposition(("Mul",), _power, _raises_to(2.0, 3.0)), Decomposition(("Sqrt",), _power, _raises_to(0.5))),
    "Reciprocal": (Decomposition(("Div",), lambda at: at.op("Div", [at.number(1.0), at.source])),),
}
"""Operator type to the ways to compute it, in order of preference."""
