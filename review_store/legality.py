"""Whether an override can really be done: the whole policy is applied with it, to the model it was made for."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.load import load_model
from metainfer_core.graph.preprocess import preprocess
from metainfer_core.policy.apply import apply
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.decide import Legality


def legality_on(model_path: Path, spec: HardwareSpec, policy: Policy) -> Legality:
    """The check of overrides of `policy` on this model and spec."""
    return legality_of(prepared_for(model_path, policy), spec, policy)


def prepared_for(model_path: Path, policy: Policy) -> ir.Model:
    """The model as the policy's actions name its nodes: with the shapes that the policy binds."""
    return preprocess(load_model(model_path).model, policy.bound_shapes).model


def legality_of(prepared: ir.Model, spec: HardwareSpec, policy: Policy) -> Legality:
    """The check of overrides of `policy` on a model that `prepared_for` gave; it is left as it is."""

    def why_not(action: PolicyAction) -> str | None:
        lines = [action.plain() if each.id == action.id else each.plain() for each in policy.actions]
        try:
            apply(prepared, spec, Policy.from_plain(policy.plain() | {"actions": lines}, "policy"))
        except (InputError, UnsupportedError) as error:
            return f"{error.what} {error.why}".strip()
        return None

    return why_not
