"""If, Loop and Scan: gone where what they do is known beforehand, refused with the reason where it is not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from metainfer_core.graph.edit import Editor
from metainfer_core.graph.static.scan import unroll_scan
from metainfer_core.graph.static.unrolling import check_size, hand_over, joined, lifted, take_turn, unknown


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
            return unroll_scan(self._edit, node)
        return None

    def _inline_branch(self, node: ir.Node) -> list[ir.Node]:
        condition = node.inputs[0]
        known = _scalar(condition)
        if condition is None or known is None:
            maker = condition.producer() if condition is not None else None
            made_by = f"made by {maker.name} ({maker.op_type})" if maker is not None else "an input of the model"
            raise unknown(
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
            raise unknown(
                node,
                f"It is only known at run time {what}.",
                "Bind the input that decides with --input-value, or export the model with the loop unrolled.",
            )
        if not goes_on or (limit is not None and progress.iterations >= limit):
            return self._end(node, progress, carried)
        self._made += len(body)
        check_size(node, progress.iterations + 1, self._made)
        return [*self._peel(node, body, progress, carried), node]

    def _peel(self, node: ir.Node, body: ir.Graph, progress: _Progress, carried: int) -> list[ir.Node]:
        """Copies the body in front of the loop for one iteration, and lets the loop go on from its results."""
        number = self._edit.constant(f"{node.name}_iteration", np.array(progress.iterations, np.int64))
        going = node.inputs[1] or self._edit.constant(f"{node.name}_condition", np.array(True))
        carried_in = [value for value in node.inputs[2:] if value is not None]
        values = (number, going, *carried_in)
        nodes, passed_on = take_turn(self._edit, node, body, values, progress.iterations)
        node.replace_input_with(1, passed_on[0])
        for index in range(carried):
            node.replace_input_with(2 + index, passed_on[1 + index])
        for stack, value in zip(progress.stacked, passed_on[1 + carried :], strict=True):
            nodes.append(lifted(self._edit, node, value, 0))
            stack.append(nodes[-1].outputs[0])
        progress.iterations += 1
        return nodes

    def _end(self, node: ir.Node, progress: _Progress, carried: int) -> list[ir.Node]:
        """Replaces the loop by what its iterations gave."""
        made = []
        results = [value for value in node.inputs[2:] if value is not None]
        for stack in progress.stacked:
            made.append(joined(self._edit, node, stack, 0))
            results.append(made[-1].outputs[0])
        return [*made, *hand_over(self._edit, node, results, progress.iterations)]


def _scalar(value: ir.Value | None) -> int | None:
    """The one number of a constant; None where it is not known."""
    if value is None or value.const_value is None or value.const_value.size != 1:
        return None
    return int(value.const_value.numpy().reshape(()))
