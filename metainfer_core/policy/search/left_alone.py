"""Why a node has no action: every node that no action names and no kind refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

import onnx_ir as ir

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.half_laws import form_against
from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.rewiring import is_float
from metainfer_core.graph.shapes import size_bytes
from metainfer_core.policy.objective import Objective, Precision

KIND, HALF_KIND = "quantize", "half_precision"
"""The kinds that such a refusal is said of, INT8 or 16-bit floats as was asked for: each asks every node."""


def left_alone(
    model: ir.Model,
    actions: Sequence[Action],
    refusals: Iterable[Refusal],
    objective: Objective,
    no_integers: str | None = None,
) -> tuple[Refusal, ...]:
    """One refusal for each node of the unchanged model that nothing else is said of; placing is not counted.

    Args:
        model: The preprocessed model.
        actions: Those of the policy.
        refusals: Those of the policy.
        objective: Says whether a lower precision was asked for.
        no_integers: Why nothing runs in INT8, where the chosen candidate has none although another had.
    """
    spoken_of = {node for action in actions if action.kind != "place" for node in action.nodes}
    spoken_of |= {node for refusal in refusals if refusal.kind != "place" for node in refusal.nodes}
    kind = HALF_KIND if objective.precision is Precision.FP16 else KIND
    return tuple(
        Refusal(kind=kind, nodes=(str(node.name),), reason=_reason(node, objective, no_integers))
        for node in model.graph
        if node.name not in spoken_of
    )


def _reason(node: ir.Node, objective: Objective, no_integers: str | None) -> str:
    if not any(is_float(value) for value in node.outputs):
        return f"{node.name} computes no floats, so there is no precision to lower."
    if objective.precision is Precision.FLOAT32:
        return f"No precision below float32 was asked for, and no other kind fits {node.name}."
    if objective.precision is Precision.FP16:
        moves = f"{node.name} only moves values between nodes that stay float32."
        return form_against(node) or moves
    form = integer_form(node)
    if isinstance(form, str):
        return form
    if no_integers is not None:
        return no_integers
    moved = sum(size_bytes(value) or 0 for value in (*node.inputs, *node.outputs) if _is_converted(value))
    return (
        f"{node.name} stands among nodes that stay float, so INT8 would only add conversions, of {moved:,} bytes "
        "of floats."
    )


def _is_converted(value: ir.Value | None) -> TypeGuard[ir.Value]:
    """Whether a float value would be converted: constants are written in INT8 once."""
    return value is not None and is_float(value) and value.const_value is None
