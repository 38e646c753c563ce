"""The one kernel call of a node whose loops an action has written out otherwise."""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.actions.rewiring import node
from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.signatures import signature


def call_with(model: ir.Model, name: str, field: str, mark: str) -> Step | str:
    """The call that computes the node, whose kernel knows the parameter; or why there is none.

    Args:
        model: Adapted so far.
        name: The node.
        field: The parameter of the kernel.
        mark: What the node bears once it was asked for.
    """
    if mark in node(model, name).metadata_props:
        return f"{name} was asked for that already."
    try:
        steps = [step for step in lower(model).program.steps if step.node_ids[:1] == (name,)]
    except UnsupportedError as error:
        return " ".join(part for part in (error.what, error.why) if part)
    known = [step for step in steps if field in {each.name for each in signature(step.kernel).fields}]
    if len(known) == 1:
        return known[0]
    kernels = ", ".join(step.kernel for step in steps) or "no kernel of its own"
    return f"{name} is computed by {kernels}, which has no such loop."
