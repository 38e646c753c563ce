"""Loops as they were asked for, against those in the built program: unrolled, and with their likely branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep
from metainfer_core.verify.report import Difference

LIKELY = {0: "no branch hint", 1: "taps likely inside", 2: "taps likely in the padding"}
CODES = {"inside": 1, "padding": 2}


def not_written_out(action: Action, built: RealisedGraph) -> Iterator[Difference]:
    """Some kernel call of the node has the approved loop."""
    node = action.nodes[0]
    steps = [step for step in built.steps if node in step.node_ids and step.moved is None]
    wanted = _wanted(action)
    if not any(_form(step, action.kind) == wanted for step in steps):
        got = ", ".join(dict.fromkeys(_words(_form(step, action.kind), action.kind) for step in steps))
        approved = _words(wanted, action.kind)
        yield Difference(node_id=node, action=action.id, approved=approved, realised=got or "no step computes it")


def unapproved_loops(actions: Sequence[Action], built: RealisedGraph) -> Iterator[Difference]:
    """No loop is written out otherwise that no approved action names."""
    for kind in ("unroll", "branch_hint"):
        approved = {node for action in actions if action.kind == kind for node in action.nodes}
        for step in built.steps:
            if _form(step, kind) and not approved & set(step.node_ids):
                place = step.node_ids[0] if step.node_ids else step.kernel
                yield Difference(node_id=place, approved=_words(0, kind), realised=_words(_form(step, kind), kind))


def _wanted(action: Action) -> int:
    return int(action.params["factor"]) if action.kind == "unroll" else CODES[str(action.params["likely"])]


def _form(step: RealisedStep, kind: str) -> int:
    if step.loop is None:
        return 0
    return step.loop.unroll if kind == "unroll" else step.loop.likely_inside


def _words(form: int, kind: str) -> str:
    if kind == "branch_hint":
        return LIKELY[form]
    return f"{form} products a turn" if form else "the loop as the compiler has it"
