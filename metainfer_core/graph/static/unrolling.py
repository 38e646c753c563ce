"""What unrolled loops share: a turn of a body bound to its values, results stacked turn by turn, the hand-over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.edit import Editor

ITERATION_LIMIT = 1024
NODE_LIMIT = 50_000
"""Most nodes that unrolling may make."""


def take_turn(
    edit: Editor, node: ir.Node, body: ir.Graph, values: Sequence[ir.Value], number: int
) -> tuple[list[ir.Node], list[ir.Value]]:
    """Copies the body in front of the loop for one iteration.

    Args:
        edit: Editor of the main graph.
        node: The loop.
        body: Its body, which stays as it is.
        values: What each input of the body stands for.
        number: Of the iteration, from 0.

    Returns:
        The new nodes, and the value of each output of the body.
    """
    turn = body.clone(allow_outer_scope_values=True)
    for old, new in zip(turn.inputs, values, strict=True):
        old.replace_all_uses_with(new)
        for index, value in enumerate(turn.outputs):
            if value is old:
                turn.outputs[index] = new
    passed_on = list(turn.outputs)
    results = [ir.Value(name=edit.value_name(f"{node.name}_result")) for _ in turn.outputs]
    return edit.adopt(turn, results, before=node, suffix=f"_turn{number}"), passed_on


def lifted(edit: Editor, node: ir.Node, value: ir.Value, axis: int) -> ir.Node:
    """The value with a new axis of extent one, in front of the loop, to be joined with those of other turns."""
    place = edit.constant(f"{node.name}_axis", np.array([axis], np.int64))
    made = ir.node("Unsqueeze", [value, place], name=edit.node_name(f"{node.name}_stack"))
    made.outputs[0].name = edit.value_name(f"{node.name}_stacked")
    edit.graph.insert_before(node, made)
    return made


def joined(edit: Editor, node: ir.Node, stack: Sequence[ir.Value], axis: int) -> ir.Node:
    """The results of all turns as one value."""
    if not stack:
        raise unknown(node, "It never runs, so what it stacks is empty.", "Export the model without the loop.")
    made = ir.node("Concat", [edit.current(value) for value in stack], {"axis": axis})
    made.name = edit.node_name(f"{node.name}_concat")
    made.outputs[0].name = edit.value_name(f"{node.name}_scan")
    edit.graph.insert_before(node, made)
    return made


def hand_over(edit: Editor, node: ir.Node, results: Sequence[ir.Value], turns: int) -> list[ir.Node]:
    """Replaces the loop by its results, and gives the nodes that had to be put between."""
    made = []
    for old, new in zip(node.outputs, results, strict=True):
        if not edit.can_replace(old, new):
            bridge = ir.node("Identity", [new], name=edit.node_name(f"{node.name}_{old.name}"))
            bridge.outputs[0].name = edit.value_name(f"{old.name}_bridge")
            edit.graph.insert_before(node, bridge)
            made.append(bridge)
            new = bridge.outputs[0]
        edit.replace(old, new)
    edit.record("unroll_loop", node, f"It runs {turns} times, known from constants.")
    edit.remove(node)
    return made


def check_size(node: ir.Node, turns: int, nodes: int) -> None:
    """Raises UnsupportedError where a loop would become too long."""
    if turns > ITERATION_LIMIT or nodes > NODE_LIMIT:
        raise unknown(
            node,
            f"Unrolled it has over {turns - 1} iterations and {nodes} nodes.",
            f"At most {ITERATION_LIMIT} iterations and {NODE_LIMIT} nodes are unrolled: shorten the loop.",
        )


def unknown(node: ir.Node, why: str, fix: str) -> UnsupportedError:
    """The refusal of a node whose control flow cannot be folded."""
    return UnsupportedError(f"The node {node.name} ({node.op_type}) cannot be folded.", why, fix)
