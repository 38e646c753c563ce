"""What nodes that work on one tensor compute, in float64, for probes in place of that tensor.

The nodes are elementwise, or reduce along one set of axes; every other axis has one element here, since whatever is
computed is the same all along it. Probes stand side by side along a new first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import array_of
from metainfer_core.graph.shapes import static_shape

POINTWISE: Mapping[str, Callable[..., np.ndarray]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Max": lambda *values: np.max(np.broadcast_arrays(*values), axis=0),
    "Min": lambda *values: np.min(np.broadcast_arrays(*values), axis=0),
    "Neg": np.negative,
    "Abs": np.abs,
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Exp": np.exp,
    "Log": np.log,
    "Tanh": np.tanh,
    "Erf": np.vectorize(math.erf, otypes=[np.float64]),
    "Relu": lambda x: np.maximum(x, 0.0),
    "Sigmoid": lambda x: 0.5 * (1.0 + np.tanh(0.5 * x)),
    "Softplus": lambda x: np.logaddexp(x, 0.0),
}
REDUCTIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "ReduceMean": np.mean,
    "ReduceSum": np.sum,
    "ReduceMax": np.max,
}
VIEWS = frozenset({"Reshape", "Unsqueeze", "Squeeze"})
"""Of a row's one number, they only put an axis of one element in or out."""
KNOWN = frozenset({*POINTWISE, *REDUCTIONS, *VIEWS})

_Form = Literal["whole", "row", "bare row"]
"""A value of each element; one of each row; one of each row without the axes that were reduced."""


class RegionValue(NamedTuple):
    """A tensor for each probe."""

    array: np.ndarray
    """[probes, ...] with the axes of the source, one element along those that are not reduced."""
    form: _Form


def axes_of(nodes: Sequence[ir.Node], source: ir.Value) -> tuple[int, ...] | None:
    """The axes of the source along which the nodes reduce, sorted; none where all are elementwise; None: unknown."""
    rank = len(static_shape(source) or ())
    for node in nodes:
        if node.op_type in REDUCTIONS:
            return reduced_axes(node, rank)
    return ()


def region_values(
    nodes: Sequence[ir.Node], source: ir.Value, axes: tuple[int, ...], probes: np.ndarray
) -> dict[ir.Value, RegionValue]:
    """What each node gives for the probes; without those of which that cannot be said.

    Args:
        nodes: In execution order.
        source: What the probes stand for.
        axes: Along which the nodes reduce.
        probes: [probes, ...] with the source's extents along `axes`, and one element along the others.
    """
    known = {source: RegionValue(probes, "whole")}
    shape = static_shape(source) or ()
    with np.errstate(all="ignore"):
        for node in nodes:
            found = _value(node, known, shape, axes)
            if found is not None:
                known[node.outputs[0]] = found
    return known


def _value(
    node: ir.Node, known: Mapping[ir.Value, RegionValue], shape: tuple[int, ...], axes: tuple[int, ...]
) -> RegionValue | None:
    if len(node.outputs) != 1 or node.domain:
        return None
    form = _form(static_shape(node.outputs[0]), shape, axes)
    first = known.get(node.inputs[0]) if node.inputs[0] is not None else None
    if form is None:
        return None
    if node.op_type in VIEWS:
        return RegionValue(first.array, form) if first is not None and "whole" not in (form, first.form) else None
    if node.op_type in REDUCTIONS:
        if first is None or first.form != "whole" or reduced_axes(node, len(shape)) != axes:
            return None
        along = tuple(axis + 1 for axis in axes)
        return RegionValue(REDUCTIONS[node.op_type](first.array, axis=along, keepdims=True), form)
    operands = [_operand(value, known, form, len(shape), axes) for value in node.inputs]
    arrays = [each for each in operands if each is not None]
    if len(arrays) != len(operands):
        return None
    return RegionValue(np.asarray(POINTWISE[node.op_type](*arrays)), form)


def _operand(
    value: ir.Value | None, known: Mapping[ir.Value, RegionValue], form: _Form, rank: int, axes: tuple[int, ...]
) -> np.ndarray | None:
    """Numbers of an operand; None where it is unknown, or meets the others along axes that do not belong together."""
    found = known.get(value) if value is not None else None
    if found is not None:
        return found.array if (found.form == "bare row") == (form == "bare row") else None
    constant = array_of(value)
    if constant is None or constant.dtype != np.float32:
        return None
    if constant.size == 1:
        return constant.reshape(()).astype(np.float64)
    wide = [axis + rank - constant.ndim for axis, extent in enumerate(constant.shape) if extent > 1]
    if form == "bare row" or constant.ndim > rank or not set(wide) <= set(axes):
        return None
    return constant.astype(np.float64)


def _form(made: tuple[int, ...] | None, shape: tuple[int, ...], axes: tuple[int, ...]) -> _Form | None:
    if made == shape:
        return "whole"
    if made == tuple(1 if axis in axes else extent for axis, extent in enumerate(shape)):
        return "row"
    if made == tuple(extent for axis, extent in enumerate(shape) if axis not in axes):
        return "bare row"
    return None


def reduced_axes(node: ir.Node, rank: int) -> tuple[int, ...] | None:
    """The axes that a reduction names, sorted; None where they are not constant, or it names none."""
    axes = array_of(node.inputs[1]) if len(node.inputs) > 1 else None
    if axes is None or not axes.size or not rank:
        return None
    return tuple(sorted({int(axis) % rank for axis in axes.reshape(-1)}))
