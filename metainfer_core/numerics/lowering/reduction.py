"""Reductions, softmax and normalisations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.broadcast import strides, walk_params
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import absorb, float_ending, refuse_unfused
from metainfer_core.numerics.lowering.model_reader import optional, required, unsupported
from metainfer_core.numerics.lowering.pooling import mean_of_planes
from metainfer_core.numerics.program import ELEMENT_BYTES, ElementType
from metainfer_core.numerics.signatures import SIGNATURES

REDUCTIONS = {
    "ReduceSum": "sum",
    "ReduceMean": "mean",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceProd": "prod",
    "ReduceL1": "l1",
    "ReduceL2": "l2",
    "ReduceSumSquare": "sum_square",
    "ReduceLogSum": "log_sum",
}


def reduce(b: Builder, node: ir.Node) -> None:
    """One number for all elements along some axes."""
    refuse_unfused(b, node)
    value = required(node, 0)
    shape, element = b.shape(value), b.element_type(value)
    axes = _axes(b, node, len(shape))
    kernel = f"reduce_{REDUCTIONS[node.op_type]}_{element}"
    if kernel not in SIGNATURES:
        raise unsupported(node, f"There is no kernel for {element}.")
    if not axes:
        raise unsupported(node, "It reduces no axis.", "Remove the node.")
    if node.op_type == "ReduceMean" and axes == list(range(axes[0], len(shape))):
        mean_of_planes(b, node, math.prod(shape[: axes[0]]), math.prod(shape[axes[0] :]))
        return
    source, extents = _contiguous(b, node, b.tensor(value), shape, axes, element)
    b.emit(kernel, (node,), (source,), (b.output(node.outputs[0]),), extents)


def _axes(b: Builder, node: ir.Node, rank: int) -> list[int]:
    """The axes, sorted; all of them where none are named."""
    named = optional(node, 1)
    array = b.array(named)
    if named is not None and array is None:
        raise unsupported(node, "Its axes are computed at run time.")
    axes: Sequence[int] = [] if array is None else [int(axis) for axis in array.reshape(-1)]
    if not axes and not node.attributes.get_int("noop_with_empty_axes", 0):
        axes = range(rank)
    return sorted({axis % rank for axis in axes})


def _contiguous(
    b: Builder, node: ir.Node, source: str, shape: Sequence[int], axes: Sequence[int], element: ElementType
) -> tuple[str, dict[str, int]]:
    """The tensor with the axes side by side (transposed where they are not), and its [outer][count][inner]."""
    wide = [axis for axis in axes if shape[axis] > 1] or [axes[0]]
    between = [axis for axis in range(wide[0], wide[-1]) if axis not in wide and shape[axis] > 1]
    count = math.prod(shape[axis] for axis in axes)
    if not between:
        extents = {
            "outer": math.prod(shape[: wide[0]]),
            "count": count,
            "inner": math.prod(shape[wide[-1] + 1 :]),
        }
        return source, extents
    order = [axis for axis in range(len(shape)) if axis not in axes] + list(axes)
    steps, moved = strides(shape), [shape[axis] for axis in order]
    target = b.declare(f"{node.name}.moved", element, moved)
    walk = walk_params(moved, in_step=[steps[axis] for axis in order], out_step=strides(moved))
    b.emit(f"copy_{8 * ELEMENT_BYTES[element]}", (node,), (source, ""), (target,), walk)
    return target, {"outer": math.prod(shape) // count, "count": count, "inner": 1}


def arg_extreme(b: Builder, node: ir.Node) -> None:
    """Where the greatest or least element stands; the first of equal ones."""
    refuse_unfused(b, node)
    value = required(node, 0)
    if b.element_type(value) != "float32" or node.attributes.get_int("select_last_index", 0) != 0:
        raise unsupported(node, "Its input is not float32, or it asks for the last of equal elements.")
    extents = _along(b, node, node.attributes.get_int("axis", 0))
    kernel = "arg_max_float32" if node.op_type == "ArgMax" else "arg_min_float32"
    b.emit(kernel, (node,), (b.tensor(value),), (b.output(node.outputs[0]),), extents)


def softmax(b: Builder, node: ir.Node) -> None:
    """Exponentials that add up to one along an axis."""
    refuse_unfused(b, node)
    kernel = f"{'softmax' if node.op_type == 'Softmax' else 'log_softmax'}_{b.element_type(required(node, 0))}"
    if kernel not in SIGNATURES:
        raise unsupported(node, f"There is no kernel for {b.element_type(required(node, 0))}.")
    extents = _along(b, node, node.attributes.get_int("axis", -1))
    b.emit(kernel, (node,), (b.tensor(required(node, 0)),), (b.output(node.outputs[0]),), extents)


def _along(b: Builder, node: ir.Node, axis: int) -> dict[str, int]:
    shape = b.shape(required(node, 0))
    axis %= max(len(shape), 1)
    return {
        "outer": math.prod(shape[:axis]),
        "count": shape[axis] if shape else 1,
        "inner": math.prod(shape[axis + 1 :]),
    }


def batch_normalization(b: Builder, node: ir.Node) -> None:
    """A scale and a shift for each channel, made from constant statistics."""
    arrays = [b.array(required(node, index)) for index in range(1, 5)]
    if any(array is None for array in arrays) or node.attributes.get_int("training_mode", 0) != 0:
        raise unsupported(node, "Its statistics are computed at run time.", "Export the model for inference.")
    scale, shift, mean, variance = (np.asarray(array, np.float64) for array in arrays)
    factor = scale / np.sqrt(variance + np.float64(node.attributes.get_float("epsilon", 1e-5)))
    _affine(b, node, b.tensor(required(node, 0)), factor, shift - mean * factor, 1)


def layer_normalization(b: Builder, node: ir.Node) -> None:
    """Each row to mean 0 and variance 1, then a scale and a shift along it."""
    value = required(node, 0)
    shape = b.shape(value)
    axis = node.attributes.get_int("axis", -1) % len(shape)
    if any(output.uses() or output.is_graph_output() for output in node.outputs[1:]):
        raise unsupported(node, "Its mean or deviation is read, which no kernel gives.")
    columns = math.prod(shape[axis:])
    normal = _normalized(b, node, math.prod(shape[:axis]), columns)
    scale, shift = b.array(required(node, 1)), b.array(optional(node, 2))
    if scale is None or (shift is None and optional(node, 2) is not None):
        raise unsupported(node, "Its scale or shift is computed at run time.")
    scale = np.broadcast_to(scale, shape[axis:])
    shift = np.zeros(shape[axis:]) if shift is None else np.broadcast_to(shift, shape[axis:])
    _affine(b, node, normal, scale.reshape(-1), shift.reshape(-1), None, shape[:axis])


def instance_normalization(b: Builder, node: ir.Node) -> None:
    """Each plane to mean 0 and variance 1, then a scale and a shift for each channel."""
    shape = b.shape(required(node, 0))
    normal = _normalized(b, node, math.prod(shape[:2]), math.prod(shape[2:]))
    scale, shift = b.array(required(node, 1)), b.array(required(node, 2))
    if scale is None or shift is None:
        raise unsupported(node, "Its scale or shift is computed at run time.")
    _affine(b, node, normal, scale, shift, 1)


def group_normalization(b: Builder, node: ir.Node) -> None:
    """Each group of channels to mean 0 and variance 1, then a scale and a shift for each channel."""
    shape = b.shape(required(node, 0))
    groups = node.attributes.get_int("num_groups", 1)
    normal = _normalized(b, node, shape[0] * groups, math.prod(shape[1:]) // groups)
    scale, shift = b.array(required(node, 1)), b.array(required(node, 2))
    if scale is None or shift is None or scale.size != shape[1]:
        raise unsupported(node, "Its scale or shift is computed at run time, or is not one number a channel.")
    _affine(b, node, normal, scale, shift, 1)


def _normalized(b: Builder, node: ir.Node, rows: int, columns: int) -> str:
    value = required(node, 0)
    element = b.element_type(value)
    source, target = b.tensor(value), b.declare(f"{node.name}.normal", element, b.shape(value))
    epsilon = float(node.attributes.get_float("epsilon", 1e-5))
    params = {"rows": rows, "columns": columns, "epsilon": epsilon}
    b.emit(f"normalize_{element}", (node,), (source,), (target,), params)
    return target


def _affine(
    b: Builder,
    node: ir.Node,
    source: str,
    scale: np.ndarray,
    shift: np.ndarray,
    axis: int | None,
    rows: Sequence[int] = (),
) -> None:
    """Scale and shift along `axis`; None: along all that follows `rows`."""
    shape, ending = b.shape(required(node, 0)), float_ending(b, node)
    outer = math.prod(rows) if axis is None else math.prod(shape[:axis])
    params = {"outer": outer, "channels": scale.size, "inner": math.prod(shape) // outer // scale.size}
    inputs = (
        source,
        b.constant(f"{node.name}.scale", scale.astype(np.float32)),
        b.constant(f"{node.name}.shift", shift.astype(np.float32)),
    )
    element = b.element_type(required(node, 0))
    b.emit(f"affine_{element}", ending.nodes, inputs, (b.output(ending.value),), {**params, **ending.params})
    absorb(b, ending.nodes)


OPERATORS = {
    **dict.fromkeys(REDUCTIONS, reduce),
    "ArgMax": arg_extreme,
    "ArgMin": arg_extreme,
    "Softmax": softmax,
    "LogSoftmax": softmax,
    "BatchNormalization": batch_normalization,
    "LayerNormalization": layer_normalization,
    "InstanceNormalization": instance_normalization,
    "GroupNormalization": group_normalization,
}
