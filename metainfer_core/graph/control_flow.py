"""If, Loop and Scan: gone where what they do is known beforehand, refused with the reason where it is not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.edit import Editor

ITERATION_LIMIT = 1024
NODE_LIMIT = 50_000
"""Most nodes that unrolling may make."""


@dataclass
class _Progress:
    """How far a loop is unrolled."""

    iterations: int = 0
    stacked: list[list[ir.Value]] = field(default_factory=list)
    """For each scan output, what each iteration gave, with a leading axis of one."""


class ControlFlow:
    """Folds control flow of the main graph, one node at a time, while constants become known in front of it."""

    def __init__(self, edit: Editor, constant_conditions: frozenset[str]) -> None:
        self._edit = edit
        self._given = constant_conditions
        self._loops: dict[str, _Progress] = {}
        self._made = 0

    def fold(self, node: ir.Node) -> list[ir.Node] | None:
        """The nodes to look at next in place of `node`; None if it is not control flow.

        Raises:
            UnsupportedError: What it will do is not known before it runs.
        """
        if node.op_type == "If":
            return self._inline_branch(node)
        if node.op_type == "Loop":
            return self._unroll(node)
        if node.op_type == "Scan":
            raise _unknown(
                node, "Scan is not unrolled.", "Export the model with the recurrence unrolled, or as LSTM or GRU."
            )
        return None

    def _inline_branch(self, node: ir.Node) -> list[ir.Node]:
        condition = node.inputs[0]
        known = _scalar(condition)
        if condition is None or known is None:
            maker = condition.producer() if condition is not None else None
            made_by = f"made by {maker.name} ({maker.op_type})" if maker is not None else "an input of the model"
            raise _unknown(
                node,
                f"Which branch runs depends on {condition.name if condition else '?'!r}, {made_by}, at run time.",
                "Bind the input that decides with --input-value, or export the model with the branch that you need.",
            )
        branch = "then_branch" if known else "else_branch"
        origin = "is constant" if condition.name in self._given else "follows from the bound shapes and constants"
        inner = node.attributes[branch].as_graph()
        nodes = self._edit.adopt(inner, node.outputs, before=node)
        self._edit.record(
            "inline_branch", node, f"Its condition {origin}: {bool(known)}, so only the {branch} can run."
        )
        self._edit.remove(node)
        return nodes

    def _unroll(self, node: ir.Node) -> list[ir.Node]:
        """Takes one iteration out of the loop and puts it in front; ends the loop after the last one."""
        body = node.attributes["body"].as_graph()
        carried = len(node.inputs) - 2
        progress = self._loops.setdefault(node.name or "", _Progress())
        if not progress.stacked:
            progress.stacked = [[] for _ in range(len(body.outputs) - 1 - carried)]
        trips, condition = node.inputs[0], node.inputs[1]
        limit = None if trips is None else _scalar(trips)
        goes_on = True if condition is None else _scalar(condition)
        if (trips is not None and limit is None) or goes_on is None:
            what = "how often it runs" if goes_on is not None else "when it stops"
            raise _unknown(
                node,
                f"It is only known at run time {what}.",
                "Bind the input that decides with --input-value, or export the model with the loop unrolled.",
            )
        if not goes_on or (limit is not None and progress.iterations >= limit):
            return self._end(node, progress, carried)
        self._made += len(body)
        if progress.iterations >= ITERATION_LIMIT or self._made > NODE_LIMIT:
            raise _unknown(
                node,
                f"Unrolled it has over {progress.iterations} iterations and {self._made} nodes.",
                f"At most {ITERATION_LIMIT} iterations and {NODE_LIMIT} nodes are unrolled: shorten the loop.",
            )
        return [*self._peel(node, body, progress, carried), node]

    def _peel(self, node: ir.Node, body: ir.Graph, progress: _Progress, carried: int) -> list[ir.Node]:
        """Copies the body in front of the loop for one iteration, and lets the loop go on from its results."""
        turn = body.clone(allow_outer_scope_values=True)
        number = self._edit.constant(f"{node.name}_iteration", np.array(progress.iterations, np.int64))
        going = node.inputs[1] or self._edit.constant(f"{node.name}_condition", np.array(True))
        carried_in = [value for value in node.inputs[2:] if value is not None]
        for old, new in zip(turn.inputs, (number, going, *carried_in), strict=True):
            old.replace_all_uses_with(new)
            for index, value in enumerate(turn.outputs):
                if value is old:
                    turn.outputs[index] = new
        results = [ir.Value(name=self._edit.value_name(f"{node.name}_result")) for _ in turn.outputs]
        passed_on = list(turn.outputs)
        nodes = self._edit.adopt(turn, results, before=node, suffix=f"_turn{progress.iterations}")
        node.replace_input_with(1, passed_on[0])
        for index in range(carried):
            node.replace_input_with(2 + index, passed_on[1 + index])
        for stack, value in zip(progress.stacked, passed_on[1 + carried :], strict=True):
            axis = self._edit.constant(f"{node.name}_axis", np.array([0], np.int64))
            lifted = ir.node("Unsqueeze", [value, axis], name=self._edit.node_name(f"{node.name}_stack"))
            lifted.outputs[0].name = self._edit.value_name(f"{node.name}_stacked")
            self._edit.graph.insert_before(node, lifted)
            nodes.append(lifted)
            stack.append(lifted.outputs[0])
        progress.iterations += 1
        return nodes

    def _end(self, node: ir.Node, progress: _Progress, carried: int) -> list[ir.Node]:
        """Replaces the loop by what its iterations gave."""
        edit, made = self._edit, []
        results = [value for value in node.inputs[2:] if value is not None]
        for stack in progress.stacked:
            if not stack:
                raise _unknown(node, "It never runs, so what it stacks is empty.", "Export the model without the loop.")
            joined = ir.node("Concat", [edit.current(value) for value in stack], {"axis": 0})
            joined.name = edit.node_name(f"{node.name}_concat")
            joined.outputs[0].name = edit.value_name(f"{node.name}_scan")
            edit.graph.insert_before(node, joined)
            made.append(joined)
            results.append(joined.outputs[0])
        for old, new in zip(node.outputs, results, strict=True):
            if not edit.can_replace(old, new):
                bridge = ir.node("Identity", [new], name=edit.node_name(f"{node.name}_{old.name}"))
                bridge.outputs[0].name = edit.value_name(f"{old.name}_bridge")
                edit.graph.insert_before(node, bridge)
                made.append(bridge)
                new = bridge.outputs[0]
            edit.replace(old, new)
        edit.record("unroll_loop", node, f"It runs {progress.iterations} times, known from constants.")
        edit.remove(node)
        return made


def _scalar(value: ir.Value | None) -> int | None:
    """The one number of a constant; None where it is not known."""
    if value is None or value.const_value is None or value.const_value.size != 1:
        return None
    return int(value.const_value.numpy().reshape(()))


def _unknown(node: ir.Node, why: str, fix: str) -> UnsupportedError:
    return UnsupportedError(f"The node {node.name} ({node.op_type}) cannot be folded.", why, fix)
