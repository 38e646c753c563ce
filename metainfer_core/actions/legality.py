"""The one door to a rewrite: an action is legal on a model and a spec, or there is a sentence why not."""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Refusal
from metainfer_core.actions.known_issues import known_failure
from metainfer_core.actions.rewiring import nodes_by_id
from metainfer_core.errors import InputError
from metainfer_core.spec.hardware_spec import HardwareSpec


def refusal(model: ir.Model, spec: HardwareSpec, kind: ActionKind, action: Action) -> Refusal | None:
    """Why the action is not legal here, or None: its nodes, parameters, the kind's laws, known issues."""
    known = nodes_by_id(model)
    inputs = {str(value.name) for value in model.graph.inputs}
    missing = [name for name in action.nodes if name not in known and not (kind.stands_on_inputs and name in inputs)]
    if missing:
        return Refusal(kind=kind.name, nodes=action.nodes, reason=f"The model has no node {missing[0]}.")
    try:
        kind.Params.from_plain(action.params, "params")
    except InputError as error:
        parts = (error.what, error.why)
        return Refusal(kind=kind.name, nodes=action.nodes, reason=" ".join(part for part in parts if part))
    refused = kind.refusal(model, spec, action)
    if refused is not None:
        return refused
    failure = known_failure(model, spec, action)
    return Refusal(kind=kind.name, nodes=action.nodes, reason=failure) if failure else None
