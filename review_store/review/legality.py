"""Whether overrides can really be done: the whole policy is applied with all of them, to the model it was made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import onnx_ir as ir

from metainfer_core.actions.staged_steps import asked_of
from metainfer_core.codegen.compile_plan import compile_plan
from metainfer_core.codegen.staging import as_asked
from metainfer_core.errors import DoesNotFitError, InputError, MetaInferError, UnsupportedError
from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.npu.device import devices
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.policy.apply import apply_line, finish
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.review.decide import Legality
from review_store.review.foreseen import foreseen_differences
from review_store.review.state import with_actions

Buildable = Callable[[Policy], None]
"""Raises where a reviewed policy cannot be built."""
OWN_FAULTS = (InputError, UnsupportedError, DoesNotFitError)


def legality_on(model_path: Path, spec: HardwareSpec, policy: Policy) -> Legality:
    """The check of overrides of `policy` on this model and spec."""
    return legality_of(prepared_for(model_path, policy), spec, policy)


def prepared_for(model_path: Path, policy: Policy) -> ir.Model:
    """The model as the policy's actions name its nodes: with the shapes that the policy binds."""
    return preprocess(load_model(model_path).model, policy.bound_shapes).model


def legality_of(prepared: ir.Model, spec: HardwareSpec, policy: Policy) -> Legality:
    """The check of overrides of a policy, which holds those that are in force already.

    What the policy could not do before is no fault of an override, so that it can be mended one action after another.
    The model, as `prepared_for` gave it, is left as it is.
    """

    def why_not(*changed: PolicyAction) -> str | None:
        found = faults(prepared, spec, with_actions(policy, changed))
        if not found:
            return None
        named = {action.id for action in changed}
        known = faults(prepared, spec, policy) if found.keys() - named else {}
        news = [sentence for action_id, sentence in found.items() if action_id in named or action_id not in known]
        return news[0] if news else None

    return why_not


def faults(prepared: ir.Model, spec: HardwareSpec, policy: Policy) -> Mapping[str, str]:
    """Action id to why it cannot be done as the policy says, with all others in force; empty if all can be.

    Nothing is built: each action is checked and done in order on a clone, and the graph that comes out is held against
    the policy as every compile does with what it built. A fault of no single action stands under the empty id.
    """
    return _tried(prepared, spec, policy)[0]


def buildable_on(model_path: Path, spec: HardwareSpec) -> Buildable:
    """The check before signing: every action can be done, and all that it needs fits into the chip's memories.

    What it hands out raises UnsupportedError or DoesNotFitError.
    """

    def check(policy: Policy) -> None:
        prepared = prepared_for(model_path, policy)
        found, lowered = _tried(prepared, spec, policy)
        if lowered is None:
            raise UnsupportedError(
                f"This policy cannot be built as it was reviewed ({len(found)} actions), so it is not signed.",
                next(iter(found.values())),
                "Override these actions so that they can be done, and have that reviewed: "
                f"{', '.join(action_id for action_id in found if action_id) or 'the policy as a whole'}.",
            )
        _place(lowered, spec)

    return check


def why_not_buildable(model_path: Path, spec: HardwareSpec, policy: Policy) -> Mapping[str, str]:
    """The same check with all that it finds: action id to why, under the empty id what no single action stands for.

    Empty exactly where the check before signing raises nothing.
    """
    found, lowered = _tried(prepared_for(model_path, policy), spec, policy)
    if lowered is None:
        return found
    try:
        _place(lowered, spec)
    except OWN_FAULTS as error:
        return {"": _sentence(error)}
    return {}


def _place(lowered: Lowered, spec: HardwareSpec) -> None:
    """Plans the memories, as every compile does; raises DoesNotFitError where they are too small."""
    is_fed = any(step.kernel == TRANSFER for step in lowered.program.steps)
    compile_plan(lowered, spec, tuple(devices(spec).values()) if is_fed else ())


def _tried(prepared: ir.Model, spec: HardwareSpec, policy: Policy) -> tuple[Mapping[str, str], Lowered | None]:
    """The faults, or what the policy makes of the model, with the tiles and early transfers that it asks for."""
    working = prepared.clone()
    found: dict[str, str] = {}
    for line in policy.actions:
        try:
            apply_line(working, spec, line, None)
        except OWN_FAULTS as error:
            found.setdefault(line.id, _sentence(error))
    if found:
        return found, None
    try:
        finish(working, spec)
        lowered = as_asked(lower(working), spec, asked_of(working))
        for each in foreseen_differences(prepared, spec, policy, lowered.program):
            where = f"{each.action or 'The policy'}: {each.node_id} would be {each.realised}"
            found.setdefault(each.action, f"{where}; the policy says: {each.approved}.")
    except OWN_FAULTS as error:
        found[""] = _sentence(error)
    return found, None if found else lowered


def _sentence(error: MetaInferError) -> str:
    return f"{error.what} {error.why}".strip()
