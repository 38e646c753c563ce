"""Known failures of the chip held against one action: what fails is refused, what hurts is told as a risk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.operator_rules import holds
from metainfer_core.actions.rewiring import nodes_by_id, readers
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.known_issues import KnownIssue


def known_failure(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    """Why the action is known to fail on this chip, with what to do in its place; None where nothing is known."""
    return next(_sentences(model, spec, action, "fails"), None)


def known_harm(model: ir.Model, spec: HardwareSpec, action: Action) -> tuple[str, ...]:
    """What is known to get worse on this chip by the action, a sentence each."""
    return tuple(_sentences(model, spec, action, "hurts"))


def _sentences(
    model: ir.Model, spec: HardwareSpec, action: Action, verdict: Literal["fails", "hurts"]
) -> Iterator[str]:
    if not spec.known_issues:
        return
    known = nodes_by_id(model)
    nodes = [known[name] for name in action.nodes if name in known]
    for name, issue in spec.known_issues.items():
        if issue.verdict != verdict or not _speaks_of(issue, action):
            continue
        met = next((chain for node in nodes if (chain := _chain(node, issue, nodes))), None)
        if met is not None:
            does = f"{action.kind} of {', '.join(str(node.name) for node in met)}"
            where = f" on {issue.unit}" if issue.unit else ""
            word = "fail" if verdict == "fails" else "hurt"
            yield f"{does}{where} is known to {word}: {issue.evidence} (known_issues.{name}). {issue.advice}".rstrip()


def _speaks_of(issue: KnownIssue, action: Action) -> bool:
    target = action.params.get("target_hw")
    if issue.action is not None and issue.action != action.kind:
        return False
    if issue.action is None and target is None:
        return False  # nothing is given to a unit
    return issue.unit is None or issue.unit == target


def _chain(first: ir.Node, issue: KnownIssue, nodes: list[ir.Node]) -> tuple[ir.Node, ...] | None:
    """The nodes from `first` on that are the issue's chain, or None; a chain of one action lies within its nodes."""
    if first.op_type != issue.operators[0] or not all(holds(condition, first, None) for condition in issue.when):
        return None
    chain = [first]
    for op_type in issue.operators[1:]:
        following = [reader for reader in readers(chain[-1].outputs[0]) if reader.op_type == op_type]
        within = [reader for reader in following if reader in nodes]
        if not (within or following):
            return None
        chain.append((within or following)[0])
    return tuple(chain)
