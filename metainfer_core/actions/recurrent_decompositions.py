"""LSTM and GRU step by step, as products, sums and curves, by their equations in the ONNX operator specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import array_of, numbers_of
from metainfer_core.graph.shapes import static_shape

MOST_STEPS = 256
"""Steps of all directions together that are written out; longer ones would drown the graph."""
PIECES = ("Reshape", "MatMul", "Add", "Slice", "Sigmoid", "Tanh", "Mul", "Concat")
GRU_PIECES = (*PIECES, "Sub")
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}
_SEQUENCE_LENGTHS, _INITIAL_H, _INITIAL_C, _PEEPHOLES = 4, 5, 6, 7
"""Positions of optional inputs."""


def can_be_written_out(node: ir.Node) -> bool:
    """Whether the weights are constants, the curves the usual ones, and nothing but the steps is computed."""
    given = {index for index, value in enumerate(node.inputs) if value is not None}
    weights = [node.inputs[index] for index in (1, 2, *given & {3})]
    shape = static_shape(node.inputs[0]) if node.inputs[0] is not None else None
    directions = _directions(node)
    usual = _USUAL[node.op_type] * len(directions)
    return (
        shape is not None
        and all(array_of(value) is not None for value in weights)
        and not given & {_SEQUENCE_LENGTHS, _PEEPHOLES}
        and shape[0] * len(directions) <= MOST_STEPS
        and list(node.attributes.get_strings("activations", usual)) == usual
        and not set(node.attributes) & {"clip", "activation_alpha", "activation_beta"}
        and not node.attributes.get_int("layout", 0)
        and not node.attributes.get_int("input_forget", 0)
    )


def lstm(at: Pieces) -> Sequence[ir.Value | None]:
    """Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden]."""
    return _written_out(at, gates=4, states=2, step=_lstm_step)


def gru(at: Pieces) -> Sequence[ir.Value | None]:
    """Y [steps, directions, batch, hidden] and Y_h [directions, batch, hidden]."""
    return _written_out(at, gates=3, states=1, step=_gru_step)


@dataclass(frozen=True)
class _Layer:
    """The constants of one direction, ready to be multiplied from the right."""

    recurrent: np.ndarray
    """[hidden, gates * hidden]"""
    recurrent_bias: np.ndarray
    """[gates * hidden]"""
    hidden: int


Step = Callable[[Pieces, _Layer, ir.Value, list[ir.Value]], list[ir.Value]]
"""From the projected input [batch, gates * hidden] and the states to the next states, the visible one first."""


def _written_out(at: Pieces, gates: int, states: int, step: Step) -> Sequence[ir.Value | None]:
    steps, batch, size = at.shape
    weights, recurrent = (numbers_of(value) for value in at.original.inputs[1:3])
    hidden = recurrent.shape[2]
    given = array_of(at.original.inputs[3]) if len(at.original.inputs) > 3 else None
    bias = np.zeros((len(weights), 2 * gates * hidden), np.float32) if given is None else given
    flat = at.op("Reshape", [at.source, at.numbers(np.array([steps * batch, size]))], [steps * batch, size])
    rows: list[list[ir.Value]] = []
    last: list[list[ir.Value]] = []
    for index, backward in enumerate(_directions(at.original)):
        width = gates * hidden
        layer = _Layer(recurrent[index].T, bias[index, width:], hidden)
        projected = at.op("MatMul", [flat, at.numbers(weights[index].T)], [steps * batch, width])
        projected = at.op("Add", [projected, at.numbers(bias[index, :width])], [steps * batch, width])
        now = [_initial(at, number, index, (batch, hidden)) for number in range(states)]
        seen: list[ir.Value | None] = [None] * steps
        for moment in reversed(range(steps)) if backward else range(steps):
            now = step(at, layer, _part(at, projected, 0, moment * batch, (batch, width)), now)
            seen[moment] = now[0]
        rows.append([value for value in seen if value is not None])
        last.append(now)
    results = [_every_step(at, rows, (batch, hidden)) if at.wants(0) else None]
    for number in range(states):
        ends = [now[number] for now in last]
        results.append(_by_direction(at, ends, (batch, hidden)) if at.wants(1 + number) else None)
    return results


def _every_step(at: Pieces, rows: list[list[ir.Value]], shape: tuple[int, int]) -> ir.Value:
    """[steps, directions, batch, hidden] of what each direction saw at each step."""
    deep = [1, 1, *shape]
    lifted = [[at.op("Reshape", [value, at.numbers(np.array(deep))], deep) for value in row] for row in rows]
    return _joined(at, [_joined(at, row, 0) for row in lifted], 1)


def _by_direction(at: Pieces, ends: list[ir.Value], shape: tuple[int, int]) -> ir.Value:
    """[directions, batch, hidden] of the last state of each direction."""
    deep = [1, *shape]
    return _joined(at, [at.op("Reshape", [value, at.numbers(np.array(deep))], deep) for value in ends], 0)


def _lstm_step(at: Pieces, layer: _Layer, projected: ir.Value, states: list[ir.Value]) -> list[ir.Value]:
    hidden, cell = states
    shape = static_shape(hidden) or ()
    wide = static_shape(projected) or ()
    product = at.op("MatMul", [hidden, at.numbers(layer.recurrent)], wide)
    total = at.op("Add", [projected, at.op("Add", [product, at.numbers(layer.recurrent_bias)], wide)], wide)
    let_in, let_out, keep, new = (_part(at, total, 1, gate * layer.hidden, shape) for gate in range(4))
    kept = at.op("Mul", [at.op("Sigmoid", [keep], shape), cell], shape)
    added = at.op("Mul", [at.op("Sigmoid", [let_in], shape), at.op("Tanh", [new], shape)], shape)
    cell = at.op("Add", [kept, added], shape)
    return [at.op("Mul", [at.op("Sigmoid", [let_out], shape), at.op("Tanh", [cell], shape)], shape), cell]


def _gru_step(at: Pieces, layer: _Layer, projected: ir.Value, states: list[ir.Value]) -> list[ir.Value]:
    (hidden,) = states
    shape = static_shape(hidden) or ()
    size = layer.hidden
    from_state = at.op("MatMul", [hidden, at.numbers(layer.recurrent[:, : 2 * size])], [shape[0], 2 * size])
    from_state = at.op("Add", [from_state, at.numbers(layer.recurrent_bias[: 2 * size])], [shape[0], 2 * size])
    sums = (
        at.op("Add", [_part(at, projected, 1, start, shape), _part(at, from_state, 1, start, shape)], shape)
        for start in (0, size)
    )
    update, reset = (at.op("Sigmoid", [total], shape) for total in sums)
    weights, bias = at.numbers(layer.recurrent[:, 2 * size :]), at.numbers(layer.recurrent_bias[2 * size :])
    if at.original.attributes.get_int("linear_before_reset", 0):
        state = at.op("Mul", [reset, at.op("Add", [at.op("MatMul", [hidden, weights], shape), bias], shape)], shape)
    else:
        state = at.op("Add", [at.op("MatMul", [at.op("Mul", [reset, hidden], shape), weights], shape), bias], shape)
    new = at.op("Tanh", [at.op("Add", [_part(at, projected, 1, 2 * size, shape), state], shape)], shape)
    rest = at.op("Mul", [at.op("Sub", [at.number(1.0), update], shape), new], shape)
    return [at.op("Add", [rest, at.op("Mul", [update, hidden], shape)], shape)]


def _directions(node: ir.Node) -> tuple[bool, ...]:
    """For each direction whether it runs backward."""
    return {"forward": (False,), "reverse": (True,)}.get(
        node.attributes.get_string("direction", "forward"), (False, True)
    )


def _initial(at: Pieces, number: int, direction: int, shape: tuple[int, int]) -> ir.Value:
    """State number 0 (hidden) or 1 (cell) before the first step; zeros where none is given."""
    index = (_INITIAL_H, _INITIAL_C)[number]
    given = at.original.inputs[index] if len(at.original.inputs) > index else None
    if given is None:
        return at.numbers(np.zeros(shape, np.float32))
    own = _part(at, given, 0, direction, (1, *shape))
    return at.op("Reshape", [own, at.numbers(np.array(shape))], shape)


def _part(at: Pieces, value: ir.Value, axis: int, start: int, shape: Sequence[int]) -> ir.Value:
    """What lies from `start` on along an axis, as much as the shape has there."""
    bounds = [at.numbers(np.array([number])) for number in (start, start + shape[axis], axis)]
    return at.op("Slice", [value, *bounds], shape)


def _joined(at: Pieces, values: Sequence[ir.Value], axis: int) -> ir.Value:
    """The values after each other along an axis; one alone stays as it is."""
    if len(values) == 1:
        return values[0]
    shape = list(static_shape(values[0]) or ())
    shape[axis] *= len(values)
    return at.op("Concat", values, shape, axis=axis)
