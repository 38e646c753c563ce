"""Command `meta-infer review what-if`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.errors import InputError
from metainfer_core.explain.what_if_words import beside_the_record, what_if_lines
from metainfer_core.pipeline import prepare
from metainfer_core.values import read_json
from metainfer_core.verify.samples import SAMPLES
from review_store.commands.review_options import (
    Calib,
    Evaluation,
    PolicyFile,
    SampleCount,
    Workspace,
    opened,
    policy_of,
)
from review_store.review.decide import known_action, refuse_illegal
from review_store.review.legality import legality_of
from review_store.review.override_effect import effect_of_overrides
from review_store.review.state import overridden, reviewed_policy
from review_store.review.workspace import DEFAULT_WORKSPACE


def what_if_command(
    policy: PolicyFile,
    action: Annotated[list[str], typer.Option("--action", help="Id of the action; several times.")],
    model: Annotated[Path, typer.Option("--model", help="The ONNX model that it is for.")],
    hw_spec: Annotated[str, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another parameter, such as bit_width=16; several times."),
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Switch it off.")] = False,
    as_proposed: Annotated[bool, typer.Option("--as-proposed", help="Take its override back.")] = False,
    calib: Calib = None,
    evaluation: Evaluation = None,
    samples: SampleCount = SAMPLES,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Measures what an override would do, and writes nothing: its accuracy, and its predicted time and bytes."""
    override = _override(given or [], off, as_proposed)
    bound, spec = policy_of(policy, model, hw_spec)
    assert spec is not None
    _, state = opened(workspace, bound)
    changed = [overridden(known_action(state, each), override) for each in dict.fromkeys(action)]
    with progress("Measuring") as report:
        report("reading the model", 0, 0)
        prepared = prepare(model, bound.bound_shapes)
        report("whether it is legal", 0, 0)
        refuse_illegal(changed, legality_of(prepared.model, spec, reviewed_policy(state)))
        found = effect_of_overrides(state, changed, prepared, spec, calib, evaluation, samples, report)
    beside = beside_the_record(bound, found)
    emit(as_json, {"what_if": found.plain(), "beside_the_record": beside}, "\n".join((*what_if_lines(found), beside)))


def _override(given: list[str], off: bool, as_proposed: bool) -> dict[str, Any] | Literal[False] | None:
    """What the options ask for; exactly one of them does."""
    if bool(given) + off + as_proposed != 1:
        raise InputError(
            "It is not certain which override is meant.",
            f"{bool(given) + off + as_proposed} of --set, --off and --as-proposed are given.",
            "Give one of them; --set can be given several times.",
        )
    if not given:
        return False if off else None
    found = [_parameter(each) for each in given]
    if len(dict(found)) < len(found):
        raise InputError("--set names one parameter twice.", "Only one of the values could hold.", "Leave one out.")
    return dict(found)


def _parameter(given: str) -> tuple[str, Any]:
    """`bit_width=16`: the value is JSON where it can be read as that, else text."""
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise InputError(
            f"--set {given}: this is no parameter.", "It has the form NAME=VALUE.", "Write it as --set bit_width=16."
        )
    try:
        return name, read_json(value.encode(), f"--set {name}")
    except InputError:
        return name, value
