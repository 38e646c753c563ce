"""Operators that a model spells out in several nodes, told by what the nodes compute and not by how they are written.

Exporters write one and the same layer normalization, Gelu or softmax in dozens of ways. So a group of nodes that works
on one tensor is computed in float64 for probes (`region_values`) and held against the definition of each operator in
the ONNX operator specification; scale, shift and epsilon of a normalization are solved for. Another constant, another
axis or an epsilon beside the root give other numbers, and match nothing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.activations import SpelledOut
from metainfer_core.actions.region_values import KNOWN, POINTWISE, REDUCTIONS, RegionValue, axes_of, region_values
from metainfer_core.actions.rewiring import (
    add_constant,
    array_of,
    is_float,
    mark_origin,
    new_value,
    readers,
    remove,
    take_over,
)
from metainfer_core.graph.shapes import static_shape

MOST_NODES = 24
"""Of one operator."""
LONGEST_ROW = 1 << 16
"""Elements that a probe has at most."""
TELLTALES = frozenset({"Erf", "Tanh", "Exp", "Softplus", "Sqrt", "Pow"})
"""Each operator that is known here has one of them in it, however it is spelled."""
CLOSE = 2e-6
"""Of a normalized row: constants such as 1/n are float32."""
CURVE_CLOSE = 1e-6

_GRID = np.concatenate([np.linspace(-12, 12, 481), [-1e4, -300.0, -50.0, -20.0, -1e-3, 1e-3, 20.0, 50.0, 300.0, 1e4]])
_BENT = _GRID + 0.044715 * _GRID**3
_SOFTPLUS = POINTWISE["Softplus"](_GRID)
_CURVES: tuple[tuple[str, dict[str, str], np.ndarray], ...] = (
    ("Gelu", {}, 0.5 * _GRID * (1 + POINTWISE["Erf"](_GRID * math.sqrt(0.5)))),
    ("Gelu", {"approximate": "tanh"}, 0.5 * _GRID * (1 + np.tanh(math.sqrt(2 / math.pi) * _BENT))),
    ("Mish", {}, _GRID * np.tanh(_SOFTPLUS)),
    ("Sigmoid", {}, POINTWISE["Sigmoid"](_GRID)),
    ("Tanh", {}, np.tanh(_GRID)),
    ("Softplus", {}, _SOFTPLUS),
)
_FIRST = (100, 200, 220, 260, 280, 330, 400)
"""Places in the grid that are looked at before all of it is."""
_ROWS = ((0.0, 0.0), (1.0, 0.0), (1e-3, 0.0), (1e-2, 0.03), (3.0, 2.0), (1e-4, 1e-4), (100.0, 50.0))
"""Deviation and mean of each probe of a row: the first three to solve with, the others to check with."""


class _Normalization(NamedTuple):
    scale: np.ndarray
    shift: np.ndarray
    epsilon: float


def spelled_operators(model: ir.Model) -> Iterator[SpelledOut]:
    """Every operator that the graph spells out, in execution order of what it is applied to; no node is in two."""
    order = {node: index for index, node in enumerate(model.graph)}
    taken: set[ir.Node] = set()
    for source in [*model.graph.inputs, *(value for node in model.graph for value in node.outputs)]:
        if not is_float(source) or static_shape(source) is None:
            continue
        found = _told(_around(source, order), source)
        if found is not None and taken.isdisjoint(found.nodes):
            taken.update(found.nodes)
            yield found


def spelled_by(nodes: Sequence[ir.Node]) -> SpelledOut | None:
    """The operator that exactly these nodes spell out, in their execution order."""
    inside = {value for node in nodes for value in node.outputs}
    outside = [v for node in nodes for v in node.inputs if v is not None and v not in inside and array_of(v) is None]
    sources = tuple(dict.fromkeys(outside))
    if len(sources) != 1 or len(nodes) > MOST_NODES or not is_float(sources[0]) or static_shape(sources[0]) is None:
        return None
    found = _told([node for node in nodes if node.op_type in KNOWN], sources[0])
    return found if found is not None and found.nodes == tuple(nodes) else None


def as_one(model: ir.Model, pattern: SpelledOut) -> ir.Node:
    """One node in place of the pattern; it keeps the last node's id and the name of its output."""
    last = pattern.nodes[-1]
    name, output = str(last.name), last.outputs[0]
    result = new_value(f"{output.name}.activated", output)
    operands = [
        add_constant(model, f"{name}.{called}", array)
        for called, array in zip(("scale", "shift"), pattern.operands, strict=False)
    ]
    inputs = [pattern.source, *operands]
    new = ir.node(pattern.op_type, inputs, dict(pattern.attributes), outputs=[result], name=f"{name}.activation")
    mark_origin(new, pattern.nodes)
    model.graph.insert_after(last, new)
    take_over(model, output, result)
    remove(model, pattern.nodes)
    new.name = name
    return new


def _around(source: ir.Value, order: Mapping[ir.Node, int]) -> list[ir.Node]:
    """Nodes that read nothing but the source, constants, and one another; in execution order."""
    inside: set[ir.Value | None] = {source}
    nodes: list[ir.Node] = []
    waiting = [order[node] for node in readers(source) if node in order]
    by_index = {order[node]: node for node in readers(source) if node in order}
    heapq.heapify(waiting)
    while waiting and len(nodes) < MOST_NODES:
        node = by_index[heapq.heappop(waiting)]
        if node.op_type not in KNOWN or not all(v in inside or array_of(v) is not None for v in node.inputs):
            continue
        nodes.append(node)
        inside.update(node.outputs)
        for reader in (each for value in node.outputs for each in readers(value)):
            if reader in order and order[reader] not in by_index:
                by_index[order[reader]] = reader
                heapq.heappush(waiting, order[reader])
    return nodes


def _told(nodes: Sequence[ir.Node], source: ir.Value) -> SpelledOut | None:
    """The operator of most nodes that some of these nodes are, all of whose inner values only they read."""
    if len(nodes) < 2 or not any(node.op_type in TELLTALES for node in nodes):
        return None
    rows = any(node.op_type in REDUCTIONS for node in nodes)
    return (_told_of_rows(nodes, source) if rows else None) or _told_curve(nodes, source)


def _told_curve(nodes: Sequence[ir.Node], source: ir.Value) -> SpelledOut | None:
    pointwise = [node for node in nodes if node.op_type not in REDUCTIONS]
    grid = _GRID.reshape(-1, *(1,) * len(static_shape(source) or ()))
    few = region_values(pointwise, source, (), grid[list(_FIRST)])
    lasts = {node for node in pointwise if (out := node.outputs[0]) in few and _may_be_a_curve(few[out].array)}
    if not lasts:
        return None
    values = region_values(pointwise, source, (), grid)
    for members, value in _ends(pointwise, source, values, lasts):
        result = value.array.reshape(-1)
        defined = np.isfinite(result)  # exp of a large number overflows in the spelling, and not in the operator
        for op_type, attributes, curve in _CURVES:
            if defined.sum() > len(_GRID) // 2 and _equal(result[defined], curve[defined], CURVE_CLOSE):
                return SpelledOut(op_type, members, source, attributes=attributes)
    return None


def _may_be_a_curve(result: np.ndarray) -> bool:
    few = result.reshape(-1)
    return few.size == len(_FIRST) and any(
        all(abs(one - curve[place]) < 1e-4 for one, place in zip(few, _FIRST, strict=True)) for _, _, curve in _CURVES
    )


def _told_of_rows(nodes: Sequence[ir.Node], source: ir.Value) -> SpelledOut | None:
    axes, shape = axes_of(nodes, source), static_shape(source) or ()
    extents = tuple(extent if axes and axis in axes else 1 for axis, extent in enumerate(shape))
    if not axes or not 1 < math.prod(extents) <= LONGEST_ROW:
        return None
    drawn = np.random.default_rng(0).normal(size=(len(_ROWS), *extents))
    drawn[2] = drawn[1]
    along = tuple(axis + 1 for axis in axes)
    probes = np.stack([deviation * row + mean for (deviation, mean), row in zip(_ROWS, drawn, strict=True)])
    values = region_values(nodes, source, axes, probes)
    trailing = axes == tuple(range(axes[0], len(shape)))
    for members, value in _ends(nodes, source, values, set(nodes)):
        if len(axes) == 1:
            softmax = _softmax(value.array, probes, along)
            if softmax is not None:
                return SpelledOut(softmax, members, source, attributes={"axis": axes[0]})
        for centred, op_type in ((True, "LayerNormalization"), (False, "RMSNormalization")):
            found = _normalization(value.array, probes, along, centred)
            if found is None:
                continue
            lacking = "" if trailing else f"{op_type} in ONNX runs along the last axes, not along {list(axes)}"
            lacking = lacking if centred else f"the opset that models are kept in has no {op_type}"
            row = tuple(shape[axis] for axis in axes)
            operands = (found.scale.reshape(row), *([found.shift.reshape(row)] if np.any(found.shift) else []))
            attributes = {"axis": axes[0] - len(shape), "epsilon": found.epsilon}
            return SpelledOut(op_type, members, source, attributes=attributes, operands=operands, lacking=lacking)
    return None


def _ends(
    nodes: Sequence[ir.Node], source: ir.Value, values: Mapping[ir.Value, RegionValue], lasts: set[ir.Node]
) -> Iterator[tuple[tuple[ir.Node, ...], RegionValue]]:
    """All that makes one of these whole tensors, where nobody else sees what is inside; what comes last first."""
    within = set(nodes)
    for last in (node for node in reversed(nodes) if node in lasts):
        value = values.get(last.outputs[0])
        members = _made_by(last, source, within)
        inner = [output for node in members if node is not last for output in node.outputs]
        closed = not any(
            output.is_graph_output() or any(reader not in members for reader in readers(output)) for output in inner
        )
        if value is not None and value.form == "whole" and len(members) > 1 and closed:
            yield tuple(node for node in nodes if node in members), value


def _made_by(last: ir.Node, source: ir.Value, within: set[ir.Node]) -> set[ir.Node]:
    members, waiting = {last}, [last]
    while waiting:
        for value in waiting.pop().inputs:
            producer = value.producer() if value is not None and value is not source else None
            if producer is not None and producer in within and producer not in members:
                members.add(producer)
                waiting.append(producer)
    return members


def _softmax(result: np.ndarray, probes: np.ndarray, along: tuple[int, ...]) -> str | None:
    shifted = probes - probes.max(axis=along, keepdims=True)
    total = np.exp(shifted).sum(axis=along, keepdims=True)
    if _equal(result, np.exp(shifted) / total, 1e-9):
        return "Softmax"
    return "LogSoftmax" if _equal(result, shifted - np.log(total), 1e-9) else None


def _normalization(
    result: np.ndarray, probes: np.ndarray, along: tuple[int, ...], centred: bool
) -> _Normalization | None:
    """Scale, shift and epsilon with which the result is (x - mean) / sqrt(variance + epsilon) * scale + shift.

    A row of zeros gives the shift. The same row v at deviation 1 and t then gives a ratio r = f(v) / f(t v) of what
    is left, from which r² = (t² V + epsilon) / (t² (V + epsilon)) for its variance V is solved for epsilon.
    """
    result = np.broadcast_to(result, probes.shape)
    middle = probes.mean(axis=along, keepdims=True) if centred else 0.0
    offset = probes - middle
    variance = (offset**2).mean(axis=along, keepdims=True)
    shift, t = result[0], _ROWS[2][0]
    large, small = result[1] - shift, result[2] - shift
    if not np.all(np.isfinite(result)) or not np.any(large):
        return None
    seen = np.abs(large) > 1e-3 * np.abs(large).max()
    if np.any(small[seen] == 0.0):
        return None
    squared, power = float(np.median((large[seen] / small[seen]) ** 2)), float(variance[1].reshape(()))
    epsilon = t**2 * power * (squared - 1) / (1 - squared * t**2) if squared * t**2 != 1 else -1.0
    if epsilon < -1e-15:
        return None
    epsilon = max(epsilon, 0.0)
    scale = large * np.sqrt(power + epsilon) / offset[1]
    normal = np.divide(offset, np.sqrt(variance + epsilon), out=np.zeros_like(offset), where=variance + epsilon > 0)
    wanted = normal * scale + shift
    limit = CLOSE * (np.abs(scale).max() + np.abs(shift).max())
    if not np.all(np.abs(result - wanted) <= limit):
        return None
    return _Normalization(scale.astype(np.float32), shift.astype(np.float32), float(np.float32(epsilon)))


def _equal(result: np.ndarray, wanted: np.ndarray, close: float) -> bool:
    return result.shape == wanted.shape and bool(np.all(np.abs(result - wanted) <= close * (1 + np.abs(wanted))))
