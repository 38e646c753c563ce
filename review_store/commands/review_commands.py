"""Commands `meta-infer review ...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.statement import LogHead
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.files import read_bytes
from metainfer_core.policy.ruleset import ruleset_digest
from review_store.commands.carry_command import carry_command
from review_store.commands.decide_command import decide_command
from review_store.commands.diff_command import diff_command
from review_store.commands.export_command import export
from review_store.commands.reapply_command import reapply_command
from review_store.commands.review_options import ModelFile, PolicyFile, SpecFile, Workspace, opened, policy_of
from review_store.commands.what_if_command import what_if_command
from review_store.export.review_text import (
    action_data,
    action_text,
    record_data,
    state_data,
    state_text,
)
from review_store.record.check_log import check_log
from review_store.record.log import EventLog
from review_store.review.decide import known_action
from review_store.review.legality import why_not_buildable
from review_store.review.review_filter import Filter
from review_store.review.state import reviewed_policy
from review_store.review.workspace import DEFAULT_WORKSPACE, now, trust_path


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    review = typer.Typer(help="Who decided what about which action.", no_args_is_help=True, rich_markup_mode=None)
    review.command("list", epilog="Example: meta-infer review list model.policy")(list_actions)
    review.command("show", epilog="Example: meta-infer review show model.policy --action quantize@Conv_12")(show)
    review.command(
        "decide",
        epilog="Example: meta-infer review decide model.policy --action quantize@Conv_12 --approve "
        '--why-allowed "..." --accuracy-effect "..." --fallback "..."',
    )(decide_command)
    review.command(
        "what-if",
        epilog="Example: meta-infer review what-if model.policy --action quantize@Conv_12 --set bit_width=16 "
        "--model model.onnx --hw-spec rk3588 --calib data.npz",
    )(what_if_command)
    review.command("carry", epilog="Example: meta-infer review carry retrained.policy --as ada")(carry_command)
    review.command(
        "reapply",
        epilog="Example: meta-infer review reapply model.policy --before model.onnx --model retrained.onnx "
        "--hw-spec rk3588 --calib data.npz --output retrained.policy",
    )(reapply_command)
    review.command("diff", epilog="Example: meta-infer review diff first.policy second.policy")(diff_command)
    review.command("check", epilog="Example: meta-infer review check --bundle release.bundle")(check)
    review.command(
        "buildable", epilog="Example: meta-infer review buildable model.policy --model model.onnx --hw-spec rk3588"
    )(buildable)
    review.command("export", epilog="Example: meta-infer review export model.policy --output reviewed.policy")(export)
    app.add_typer(review, name="review")


def list_actions(
    policy: PolicyFile,
    risk: Annotated[list[str] | None, typer.Option("--risk", help="Only of this risk: low, medium, high.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only of this kind, such as quantize.")] = None,
    unit: Annotated[list[str] | None, typer.Option("--unit", help="Only on this compute unit.")] = None,
    state: Annotated[list[str] | None, typer.Option("--state", help="Only in this state, such as pending.")] = None,
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Lists actions with their state, most pressing first; each filter can be given several times."""
    wanted = Filter.of(risk or (), kind or (), unit or (), state or ())
    _, found = opened(workspace, policy_of(policy, model, hw_spec)[0])
    data, text = state_data(found, wanted, now()), state_text(found, wanted, now())
    data["rules_are_current"] = found.policy.ruleset_digest == ruleset_digest()
    if not data["rules_are_current"]:
        text += "\nIt was made under another rule set than that of this program: make it anew before it is signed."
    emit(as_json, data, text)


def show(
    policy: PolicyFile,
    action: Annotated[list[str], typer.Option("--action", help="Id of an action; can be given several times.")],
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Shows actions with everything that people decided about them."""
    log, state = opened(workspace, policy_of(policy, model, hw_spec)[0])
    records = log.records(state.lineage)
    data, texts = [], []
    for action_id in action:
        review = known_action(state, action_id)
        history = [record for record in records if record.event.subject == action_id]
        data.append(action_data(review) | {"history": [record_data(each) for each in history]})
        texts.append(action_text(review, history))
    emit(as_json, {"actions": data}, "\n\n".join(texts))


def buildable(
    policy: PolicyFile,
    model: Annotated[Path, typer.Option("--model", help="The ONNX model that it is for.")],
    hw_spec: Annotated[str, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")],
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Says whether a policy can be built as it was reviewed so far: what `sign` asks before it signs."""
    bound, spec = policy_of(policy, model, hw_spec)
    assert spec is not None
    reviewed = reviewed_policy(opened(workspace, bound)[1])
    with progress("Checking") as report:
        report("whether all of it can be built together", 0, 0)
        found = why_not_buildable(model, spec, reviewed)
    faults = [{"action": action_id, "why": why} for action_id, why in found.items()]
    text = "\n".join(found.values()) or f"All {len(reviewed.actions)} actions can be built as they were reviewed."
    emit(as_json, {"policy": reviewed.digest, "buildable": not faults, "faults": faults}, text)
    verdict(bool(faults))


def check(
    workspace: Workspace = DEFAULT_WORKSPACE,
    bundle: Annotated[
        list[Path] | None, typer.Option("--bundle", help="A signed bundle that bears witness; several times.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Checks that nobody changed, cut or rewrote the record."""
    log = EventLog(workspace)
    trust = read_trust(trust_path(workspace))
    witnesses: list[LogHead] = []
    for path in bundle or ():
        verified = open_bundle(read_bytes(path, "bundle"), trust, now(), source=str(path))
        witnesses.append(verified.statement.predicate.review_log)
    with progress("Checking the record") as report:
        report("hash chain, triggers, checkpoints", 0, 0)
        faults = check_log(log, tuple(witnesses))
        count = log.head().seq
    text = "\n".join(fault.what for fault in faults) or f"The record is whole: {count} events."
    emit(as_json, {"whole": not faults, "events": count, "faults": [each.plain() for each in faults]}, text)
    verdict(bool(faults))
