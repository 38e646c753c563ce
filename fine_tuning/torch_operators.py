"""ONNX operators in PyTorch, differentiable, with the model's own shapes: training runs them for many samples at once.

Only what a fixed-shape model of layers holds is here; a recurrent layer or a loop is refused by its name. Batch
normalization keeps its statistics, as it does when the model is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import torch
from torch.nn import functional

from metainfer_core.actions.rewiring import array_of
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.shapes import static_shape

Tensors = list[Any]
"""Inputs of a node; None for one that is left out."""
Operator = Callable[[ir.Node, Tensors], Any]


def run_node(node: ir.Node, inputs: Tensors) -> Tensors:
    """The outputs of one node."""
    result = OPERATORS[node.op_type](node, inputs)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check_operators(model: ir.Model) -> None:
    """Refuses a model with a node that is not known here.

    Raises:
        UnsupportedError: names the first such node.
    """
    for node in model.graph:
        if node.domain or node.op_type not in OPERATORS:
            raise UnsupportedError(
                f"The node {node.name} ({node.op_type}) cannot be trained through.",
                "Fine-tuning differentiates layers, activations, sums, shapes and reductions, no loops or recurrences.",
                "Train the model in its own training code, and give the new model to adapt.",
            )


def _whole_numbers(node: ir.Node, index: int, attribute: str = "") -> list[int] | None:
    """Axes, shapes and the like: a constant input, or the attribute of older opsets."""
    if index < len(node.inputs) and node.inputs[index] is not None:
        array = array_of(node.inputs[index])
        if array is None:
            raise UnsupportedError(
                f"The node {node.name} ({node.op_type}) cannot be trained through.",
                f"Its input {index} is computed, and shapes must be fixed.",
                "Fix the shapes first: meta-infer preprocess.",
            )
        return [int(each) for each in array.reshape(-1)]
    return [int(each) for each in node.attributes.get_ints(attribute, ())] if attribute in node.attributes else None


def _pads(node: ir.Node, kernel: list[int], strides: list[int], dilations: list[int]) -> list[int]:
    """Pads before and after each spatial axis, also where they follow from the kernel."""
    mode = node.attributes.get_string("auto_pad", "NOTSET")
    if mode in ("NOTSET", "VALID"):
        return (
            list(node.attributes.get_ints("pads", (0,) * (2 * len(kernel))))
            if mode == "NOTSET"
            else [0] * (2 * len(kernel))
        )
    size, out = _spatial(node.inputs[0]), _spatial(node.outputs[0])
    begin, end = [], []
    for axis, taps in enumerate(kernel):
        whole = max((out[axis] - 1) * strides[axis] + (taps - 1) * dilations[axis] + 1 - size[axis], 0)
        less = whole // 2
        begin.append(less if mode == "SAME_UPPER" else whole - less)
        end.append(whole - begin[-1])
    return [*begin, *end]


def _spatial(value: ir.Value | None) -> tuple[int, ...]:
    return tuple((static_shape(value) or ())[2:]) if value is not None else ()


def _padded(value: Any, pads: list[int], fill: float = 0.0) -> Any:
    """Pads as ONNX lists them (all begins, then all ends) on the last axes."""
    axes = len(pads) // 2
    if not any(pads):
        return value
    flat = [pads[axis + side * axes] for axis in reversed(range(axes)) for side in (0, 1)]
    return functional.pad(value, flat, value=fill)


def _taps(node: ir.Node, kernel: list[int]) -> tuple[list[int], list[int], list[int]]:
    strides = list(node.attributes.get_ints("strides", (1,) * len(kernel)))
    dilations = list(node.attributes.get_ints("dilations", (1,) * len(kernel)))
    return strides, dilations, _pads(node, kernel, strides, dilations)


def _conv(node: ir.Node, inputs: Tensors) -> Any:
    data, weight, bias = [*inputs, None][:3]
    axes = weight.ndim - 2
    strides, dilations, pads = _taps(node, list(weight.shape[2:]))
    run = (functional.conv1d, functional.conv2d, functional.conv3d)[axes - 1]
    groups = node.attributes.get_int("group", 1)
    even = pads[:axes] == pads[axes:]
    source = data if even else _padded(data, pads)
    return run(source, weight, bias, strides, pads[:axes] if even else 0, dilations, groups)


def _conv_transpose(node: ir.Node, inputs: Tensors) -> Any:
    data, weight, bias = [*inputs, None][:3]
    axes = weight.ndim - 2
    strides, dilations, pads = _taps(node, list(weight.shape[2:]))
    more = list(node.attributes.get_ints("output_padding", (0,) * axes))
    run = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[axes - 1]
    groups = node.attributes.get_int("group", 1)
    whole = run(data, weight, bias, strides, 0, more, groups, dilations)
    return _padded(whole, [-each for each in pads])


def _gemm(node: ir.Node, inputs: Tensors) -> Any:
    left, right, bias = [*inputs, None][:3]
    left = left.transpose(-1, -2) if node.attributes.get_int("transA", 0) else left
    right = right.transpose(-1, -2) if node.attributes.get_int("transB", 0) else right
    product = node.attributes.get_float("alpha", 1.0) * torch.matmul(left, right)
    return product if bias is None else product + node.attributes.get_float("beta", 1.0) * bias


def _max_pool(node: ir.Node, inputs: Tensors) -> Any:
    kernel = list(node.attributes.get_ints("kernel_shape", ()))
    strides, dilations, pads = _taps(node, kernel)
    run = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[len(kernel) - 1]
    source = _padded(inputs[0], pads, float("-inf"))
    return run(source, kernel, strides, 0, dilations, bool(node.attributes.get_int("ceil_mode", 0)))


def _average_pool(node: ir.Node, inputs: Tensors) -> Any:
    kernel = list(node.attributes.get_ints("kernel_shape", ()))
    strides, _, pads = _taps(node, kernel)
    run = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[len(kernel) - 1]
    ceil = node.attributes.get_int("ceil_mode", 0) == 1
    include = node.attributes.get_int("count_include_pad", 0) == 1
    taken = run(_padded(inputs[0], pads), kernel, strides, 0, ceil)
    if include or not any(pads):
        return taken
    return taken / run(_padded(torch.ones_like(inputs[0]), pads), kernel, strides, 0, ceil)


def _global(reduce: Callable[..., Any]) -> Operator:
    return lambda node, inputs: reduce(inputs[0], tuple(range(2, inputs[0].ndim)), keepdim=True)


def _batch_norm(node: ir.Node, inputs: Tensors) -> Any:
    data, scale, bias, mean, variance = inputs
    shape = (1, -1, *([1] * (data.ndim - 2)))
    factor = scale / torch.sqrt(variance + node.attributes.get_float("epsilon", 1e-5))
    return data * factor.reshape(shape) + (bias - mean * factor).reshape(shape)


def _layer_norm(node: ir.Node, inputs: Tensors) -> Any:
    data, scale, bias = [*inputs, None][:3]
    axis = node.attributes.get_int("axis", -1) % data.ndim
    over = tuple(range(axis, data.ndim))
    centred = data - data.mean(over, keepdim=True)
    power = (centred * centred).mean(over, keepdim=True)
    normal = centred / torch.sqrt(power + node.attributes.get_float("epsilon", 1e-5)) * scale
    return normal if bias is None else normal + bias


def _reduce(take: Callable[..., Any], index: int = 1) -> Operator:
    def run(node: ir.Node, inputs: Tensors) -> Any:
        axes = _whole_numbers(node, index, "axes")
        if not axes:
            if node.attributes.get_int("noop_with_empty_axes", 0):
                return inputs[0]
            axes = list(range(inputs[0].ndim))
        return take(inputs[0], tuple(axes), keepdim=bool(node.attributes.get_int("keepdims", 1)))

    return run


def _slice(node: ir.Node, inputs: Tensors) -> Any:
    data = inputs[0]
    starts, ends = _whole_numbers(node, 1, "starts") or [], _whole_numbers(node, 2, "ends") or []
    axes = _whole_numbers(node, 3, "axes") or list(range(len(starts)))
    steps = _whole_numbers(node, 4) or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        places = range(data.shape[axis])[slice(start, end if end > -(1 << 31) else None, step)]
        data = torch.index_select(data, axis % data.ndim, torch.tensor(list(places), dtype=torch.int64))
    return data


def _reshape(node: ir.Node, inputs: Tensors) -> Any:
    return inputs[0].reshape(static_shape(node.outputs[0]) or ())


def _pad(node: ir.Node, inputs: Tensors) -> Any:
    pads = _whole_numbers(node, 1, "pads") or []
    mode = node.attributes.get_string("mode", "constant")
    axes = _whole_numbers(node, 3)
    rank = inputs[0].ndim
    if axes is not None:
        spread = [0] * (2 * rank)
        for place, axis in enumerate(axes):
            spread[axis % rank], spread[axis % rank + rank] = pads[place], pads[place + len(axes)]
        pads = spread
    if mode == "constant":
        fill = array_of(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] is not None else None
        return _padded(inputs[0], pads, float(fill.reshape(-1)[0]) if fill is not None else 0.0)
    data = inputs[0]
    numpy_mode = {"reflect": "reflect", "edge": "edge"}.get(mode, "wrap")
    for axis in range(rank):
        if pads[axis] or pads[axis + rank]:
            around = [(pads[axis], pads[axis + rank])]
            places = np.pad(np.arange(data.shape[axis]), around, mode=numpy_mode)  # type: ignore[call-overload]
            data = torch.index_select(data, axis, torch.from_numpy(places))
    return data


def _resize(node: ir.Node, inputs: Tensors) -> Any:
    """By whole factors with the nearest number: each other kind is refused."""
    size, out = static_shape(node.inputs[0]) if node.inputs[0] else None, static_shape(node.outputs[0])
    factors = [o // i for i, o in zip(size or (), out or (), strict=True)]
    whole = size is not None and out is not None and all(i * f == o for i, f, o in zip(size, factors, out, strict=True))
    if node.attributes.get_string("mode", "nearest") != "nearest" or not whole:
        raise UnsupportedError(
            f"The node {node.name} (Resize) cannot be trained through.",
            "Only the nearest number, by whole factors, is repeated in training.",
            "Train the model in its own training code, and give the new model to adapt.",
        )
    data = inputs[0]
    for axis, factor in enumerate(factors):
        data = data.repeat_interleave(factor, axis) if factor > 1 else data
    return data


def _split(node: ir.Node, inputs: Tensors) -> Any:
    axis = node.attributes.get_int("axis", 0)
    sizes = [(static_shape(each) or ())[axis] for each in node.outputs]
    return torch.split(inputs[0], sizes, axis)


def _gather(node: ir.Node, inputs: Tensors) -> Any:
    axis = node.attributes.get_int("axis", 0) % inputs[0].ndim
    places = inputs[1].long() % inputs[0].shape[axis]
    shape = (*inputs[0].shape[:axis], *places.shape, *inputs[0].shape[axis + 1 :])
    return torch.index_select(inputs[0], axis, places.reshape(-1)).reshape(shape)


def _clip(node: ir.Node, inputs: Tensors) -> Any:
    low, high = [*inputs, None, None][1:3]
    low = node.attributes.get_float("min", -np.inf) if low is None else low
    high = node.attributes.get_float("max", np.inf) if high is None else high
    least, most = (torch.as_tensor(each, dtype=inputs[0].dtype) for each in (low, high))
    return torch.minimum(torch.maximum(inputs[0], least), most)


def _unsqueeze(node: ir.Node, inputs: Tensors) -> Any:
    return inputs[0].reshape(static_shape(node.outputs[0]) or ())


def _cast(node: ir.Node, inputs: Tensors) -> Any:
    kind = ir.DataType(node.attributes.get_int("to", int(ir.DataType.FLOAT)))
    return inputs[0].to(torch.from_numpy(np.empty(0, kind.numpy())).dtype)


def _gelu(node: ir.Node, inputs: Tensors) -> Any:
    return functional.gelu(inputs[0], approximate=node.attributes.get_string("approximate", "none"))


def _softmax(run: Callable[..., Any]) -> Operator:
    return lambda node, inputs: run(inputs[0], dim=node.attributes.get_int("axis", -1))


def _one(run: Callable[..., Any]) -> Operator:
    return lambda node, inputs: run(inputs[0])


def _two(run: Callable[..., Any]) -> Operator:
    return lambda node, inputs: run(inputs[0], inputs[1])


def _many(run: Callable[..., Any]) -> Operator:
    def fold(node: ir.Node, inputs: Tensors) -> Any:
        result = inputs[0]
        for each in inputs[1:]:
            result = run(result, each)
        return result

    return fold


def _parameter(name: str, default: float, run: Callable[[Any, float], Any]) -> Operator:
    return lambda node, inputs: run(inputs[0], node.attributes.get_float(name, default))


def _prelu(node: ir.Node, inputs: Tensors) -> Any:
    data, slope = inputs
    return torch.where(data < 0, data * slope, data)


def _hard_sigmoid(node: ir.Node, inputs: Tensors) -> Any:
    alpha, beta = node.attributes.get_float("alpha", 0.2), node.attributes.get_float("beta", 0.5)
    return torch.clamp(alpha * inputs[0] + beta, 0.0, 1.0)


OPERATORS: dict[str, Operator] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Gemm": _gemm,
    "MatMul": _two(torch.matmul),
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global(torch.mean),
    "GlobalMaxPool": _global(torch.amax),
    "ReduceMean": _reduce(torch.mean),
    "ReduceSum": _reduce(torch.sum),
    "ReduceMax": _reduce(torch.amax),
    "ReduceMin": _reduce(torch.amin),
    "Relu": _one(functional.relu),
    "LeakyRelu": _parameter("alpha", 0.01, functional.leaky_relu),
    "PRelu": _prelu,
    "Elu": _parameter("alpha", 1.0, functional.elu),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _one(lambda x: x * torch.clamp(x / 6 + 0.5, 0.0, 1.0)),
    "Sigmoid": _one(torch.sigmoid),
    "Tanh": _one(torch.tanh),
    "Gelu": _gelu,
    "Mish": _one(functional.mish),
    "Softplus": _one(functional.softplus),
    "Softmax": _softmax(torch.softmax),
    "LogSoftmax": _softmax(torch.log_softmax),
    "Clip": _clip,
    "Erf": _one(torch.erf),
    "Exp": _one(torch.exp),
    "Log": _one(torch.log),
    "Sqrt": _one(torch.sqrt),
    "Neg": _one(torch.neg),
    "Abs": _one(torch.abs),
    "Reciprocal": _one(torch.reciprocal),
    "Identity": _one(lambda x: x),
    "Add": _two(torch.add),
    "Sub": _two(torch.sub),
    "Mul": _two(torch.mul),
    "Div": _two(torch.div),
    "Pow": _two(torch.pow),
    "Max": _many(torch.maximum),
    "Min": _many(torch.minimum),
    "Sum": _many(torch.add),
    "Equal": _two(torch.eq),
    "Where": lambda node, inputs: torch.where(*inputs),
    "Cast": _cast,
    "Concat": lambda node, inputs: torch.cat(inputs, node.attributes.get_int("axis", 0)),
    "Reshape": _reshape,
    "Flatten": _reshape,
    "Squeeze": _reshape,
    "Unsqueeze": _unsqueeze,
    "Transpose": lambda node, inputs: inputs[0].permute(
        tuple(node.attributes.get_ints("perm", tuple(reversed(range(inputs[0].ndim)))))
    ),
    "Slice": _slice,
    "Split": _split,
    "Gather": _gather,
    "Pad": _pad,
    "Resize": _resize,
}
