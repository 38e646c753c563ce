"""Which operators have an integer form, what their inputs are in it, and which range their outputs take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.activations import ACTIVATIONS
from metainfer_core.actions.quantize_dequantize import raw
from metainfer_core.actions.region_values import reduced_axes
from metainfer_core.actions.rewiring import array_of, is_float, name_of, readers, scalar_of
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration

Role = Literal["weighted", "binary", "average", "same_scale", "concat", "activation"]

ROLES: dict[str, Role] = {
    **dict.fromkeys(("Conv", "Gemm", "MatMul"), "weighted"),
    **dict.fromkeys(("Add", "Sub", "Mul"), "binary"),
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "ReduceMean"), "average"),
    **dict.fromkeys(("MaxPool", "GlobalMaxPool", "Reshape", "Flatten", "Squeeze", "Unsqueeze"), "same_scale"),
    **dict.fromkeys(
        ("Transpose", "Slice", "Split", "Identity", "DepthToSpace", "SpaceToDepth", "Pad", "Gather"), "same_scale"
    ),
    "Concat": "concat",
    **dict.fromkeys((*ACTIVATIONS, "Abs", "Neg", "Sqrt", "Erf", "Selu", "Softsign"), "activation"),
}
RECURRENT = ("LSTM", "GRU", "RNN")
DOMAINS: dict[str, tuple[float, float]] = {
    "Relu": (0.0, math.inf),
    "Sigmoid": (-8.0, 8.0),
    "Tanh": (-4.0, 4.0),
    "HardSwish": (-3.0, math.inf),
    "Gelu": (-5.0, math.inf),
    "Softplus": (-8.0, math.inf),
    "Mish": (-10.0, math.inf),
}
"""Function to where its values still change by more than half a step of an 8-bit result."""
HEAVY = ("Conv", "ConvTranspose", "Gemm", "MatMul", *RECURRENT)
"""Operators with weights, for which staying float is a decision of its own."""


@dataclass(frozen=True)
class IntegerForm:
    """How a node computes on integers."""

    role: Role
    activations: tuple[int, ...]
    """Indices of inputs that are int8 tensors."""
    constants: tuple[int, ...] = ()
    """Indices of constant inputs that become int8, other than weight and bias."""
    weight_axis: int | None = None
    """Output channels of the weight, which is input 1."""
    bias: int | None = None
    """Index of the bias, where there is one."""


def integer_form(node: ir.Node) -> IntegerForm | str:
    """How the node computes on integers, or the sentence why it does not."""
    role = ROLES.get(node.op_type) if node.domain == "" else None
    if node.op_type in RECURRENT:
        return f"{node.op_type} carries state from step to step, where rounding adds up: it stays float."
    if role is None:
        return f"{node.op_type} has no integer kernel."
    if not node.inputs or (not is_float(node.inputs[0]) and array_of(node.inputs[0]) is None):
        return f"{name_of(node.inputs[0]) if node.inputs else 'its input'} is not float32."
    if not all(is_float(output) for output in node.outputs):
        return f"{name_of(node.outputs[0])} is not float32."
    if role == "weighted":
        return _weighted(node)
    if role in ("binary", "concat"):
        constant = tuple(i for i, value in enumerate(node.inputs) if array_of(value) is not None)
        live = tuple(i for i in range(len(node.inputs)) if i not in constant)
        if not live:
            return f"{node.name} reads constants only."
        return IntegerForm(role, live, constant)
    if array_of(node.inputs[0]) is not None:
        return f"{node.name} reads a constant."
    if node.op_type == "Clip" and any(value is not None and scalar_of(value) is None for value in node.inputs[1:]):
        return f"The limits of {node.name} are not constants."
    if role == "same_scale" and any(array_of(value) is None for value in node.inputs[1:] if value is not None):
        return f"{node.name} takes its shape or indices from another node, not from a constant."
    if node.op_type == "ReduceMean" and not _pools_planes(node):
        return f"{node.op_type} over other axes than height and width has no integer kernel."
    if node.op_type == "Pad" and _pads_with(node):
        return f"{node.name} pads with other values than 0, which the input's scale need not hold."
    if node.op_type == "MaxPool" and len([output for output in node.outputs if output.uses()]) > 1:
        return f"{node.name} also gives the indices of its maxima."
    return IntegerForm(role, (0,))


def _pools_planes(node: ir.Node) -> bool:
    """Whether a mean is over height and width of [batch, channels, height, width], which is a global pool.

    Along a row it is mostly a part of a normalization, whose differences from it would be rounded away.
    """
    assert node.inputs[0] is not None
    rank = len(static_shape(node.inputs[0]) or ())
    return rank == 4 and reduced_axes(node, rank) == (2, 3)


def _pads_with(node: ir.Node) -> float:
    """The constant that a Pad writes; 0 where it names none, or repeats values of its input."""
    if node.attributes.get_string("mode", "constant") != "constant":
        return 0.0
    return (scalar_of(node.inputs[2]) or 0.0) if len(node.inputs) > 2 else 0.0


def _weighted(node: ir.Node) -> IntegerForm | str:
    weight = array_of(node.inputs[1])
    if weight is None:
        return f"{name_of(node.inputs[1])} is not a constant: a product of two activations has no integer kernel."
    if weight.dtype != np.float32:
        return f"{name_of(node.inputs[1])} holds {weight.dtype} numbers, not float32."
    if not np.isfinite(weight).all():
        return f"{name_of(node.inputs[1])} holds NaN or infinity."
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    bias_array = array_of(bias)
    if bias is not None and bias_array is None:
        return f"{bias.name} is not a constant, so it cannot be added as an integer."
    if bias_array is not None and not np.isfinite(bias_array).all():
        return f"{name_of(bias)} holds NaN or infinity."
    index = 2 if bias is not None else None
    if node.op_type == "Conv":
        return IntegerForm("weighted", (0,), weight_axis=0, bias=index)
    if weight.ndim != 2:
        return f"{name_of(node.inputs[1])} has {weight.ndim} dimensions; the integer kernel takes 2."
    if node.op_type == "MatMul":
        return IntegerForm("weighted", (0,), weight_axis=1)
    attributes = node.attributes
    if attributes.get_float("alpha", 1.0) != 1.0 or attributes.get_float("beta", 1.0) != 1.0:
        return f"{node.name} scales its sum (alpha, beta), which the integer kernel does not."
    if attributes.get_int("transA", 0):
        return f"{node.name} transposes its input, which the integer kernel does not."
    axis = 0 if attributes.get_int("transB", 0) else 1
    if bias_array is not None and bias_array.size != weight.shape[axis]:
        return f"{name_of(bias)} has {bias_array.size} numbers for {weight.shape[axis]} outputs."
    return IntegerForm("weighted", (0,), weight_axis=axis, bias=index)


def range_of(value: ir.Value, calibration: Calibration) -> tuple[float, float] | None:
    """Range that the tensor's scale is made from, widened to hold 0.

    What only moves values keeps the range of what it moves, so that its input and output have one scale. What only
    saturating functions read is cut to where they still change: a logit of -40 needs no code of its own.
    """
    producer = value.producer()
    while producer is not None and ROLES.get(producer.op_type) == "same_scale" and producer.inputs[0] is not None:
        value = raw(producer.inputs[0])
        producer = value.producer()
    found = calibration.ranges.get(str(value.name))
    if found is None:
        return None
    least, most = useful_domain(value)
    low, high = min(max(found.low, least), 0.0), max(min(found.high, most), 0.0)
    # The outermost codes stand for all that lies beyond: two steps further out the function is surely flat there,
    # while a code just inside the edge would give each of them the same small error. 0 itself is always exact.
    margin = 2 * (high - low) / 255
    low = max(low - margin, found.low) if low == least < 0.0 else low
    return low, (min(high + margin, found.high) if high == most > 0.0 else high)


def useful_domain(value: ir.Value) -> tuple[float, float]:
    """Where all that read the tensor still change; outside they are constant to within half an 8-bit step."""
    domains = [_domain(reader) for reader in readers(value)]
    if value.is_graph_output() or not domains:
        return -math.inf, math.inf
    return min(low for low, _ in domains), max(high for _, high in domains)


def _domain(reader: ir.Node) -> tuple[float, float]:
    if reader.op_type == "Clip":
        low, high = (*(scalar_of(value) for value in reader.inputs[1:]), None, None)[:2]
        return (-math.inf if low is None else low), (math.inf if high is None else high)
    if reader.op_type == "HardSigmoid":
        alpha, beta = reader.attributes.get_float("alpha", 0.2), reader.attributes.get_float("beta", 0.5)
        return (-beta / alpha, (1.0 - beta) / alpha) if alpha > 0 else (-math.inf, math.inf)
    return DOMAINS.get(reader.op_type, (-math.inf, math.inf))
