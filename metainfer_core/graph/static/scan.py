"""Scan unrolled: it runs once for each slice of its inputs, and how many there are is known from the shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.graph.edit import Editor
from metainfer_core.graph.shapes import static_shape
from metainfer_core.graph.static.unrolling import check_size, hand_over, joined, lifted, take_turn, unknown

BACKWARD = 1
"""In `scan_input_directions` and `scan_output_directions`."""


def unroll_scan(edit: Editor, node: ir.Node) -> list[ir.Node]:
    """Puts every turn of a Scan in front of it and removes it; gives the new nodes.

    Raises:
        UnsupportedError: The extent that it runs along is not known, it is 0, or the unrolled form is too long.
    """
    body = node.attributes["body"].as_graph()
    scanned = node.attributes.get_int("num_scan_inputs", 0)
    values = [value for value in node.inputs if value is not None]
    carried, inputs = values[: len(values) - scanned], values[len(values) - scanned :]
    input_axes = node.attributes.get_ints("scan_input_axes", [0] * scanned)
    backward = node.attributes.get_ints("scan_input_directions", [0] * scanned)
    turns = _turns(node, inputs, input_axes)
    check_size(node, turns, turns * len(body))
    made: list[ir.Node] = []
    stacked: list[list[ir.Value]] = [[] for _ in body.outputs[len(carried) :]]
    output_axes = node.attributes.get_ints("scan_output_axes", [0] * len(stacked))
    for turn in range(turns):
        slices = []
        for value, axis, direction in zip(inputs, input_axes, backward, strict=True):
            slices.append(_slice(edit, node, value, axis, turns - 1 - turn if direction == BACKWARD else turn))
        made += slices
        given = [*carried, *(one.outputs[0] for one in slices)]
        nodes, results = take_turn(edit, node, body, given, turn)
        made += nodes
        carried = results[: len(carried)]
        for stack, value, axis in zip(stacked, results[len(carried) :], output_axes, strict=True):
            made.append(lifted(edit, node, value, axis))
            stack.append(made[-1].outputs[0])
    directions = node.attributes.get_ints("scan_output_directions", [0] * len(stacked))
    results = [*carried]
    for stack, axis, direction in zip(stacked, output_axes, directions, strict=True):
        made.append(joined(edit, node, stack[::-1] if direction == BACKWARD else stack, axis))
        results.append(made[-1].outputs[0])
    return [*made, *hand_over(edit, node, results, turns)]


def _turns(node: ir.Node, inputs: list[ir.Value], axes: Sequence[int]) -> int:
    """How often it runs: the extent of its inputs along their scan axes, which must be one."""
    extents = set()
    for value, axis in zip(inputs, axes, strict=True):
        shape = static_shape(value)
        if shape is None or not -len(shape) <= axis < len(shape):
            raise unknown(
                node,
                f"How often it runs is the extent of {value.name} along axis {axis}, which is not known.",
                "Give the shape of the model's inputs with --input-shape.",
            )
        extents.add(shape[axis])
    if len(extents) != 1:
        told = ", ".join(map(str, sorted(extents))) or "none"
        raise unknown(node, f"The extents that it runs along differ: {told}.", "Export the model again.")
    return extents.pop()


def _slice(edit: Editor, node: ir.Node, value: ir.Value, axis: int, index: int) -> ir.Node:
    """One slice of an input, without the axis that is scanned."""
    place = edit.constant(f"{node.name}_index", np.array(index, np.int64))
    made = ir.node("Gather", [value, place], {"axis": axis}, name=edit.node_name(f"{node.name}_slice"))
    made.outputs[0].name = edit.value_name(f"{node.name}_element")
    edit.graph.insert_before(node, made)
    return made
