"""Commands `meta-infer review ...`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from metainfer_core.bundle.reason import listed
from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.statement import Justification, LogHead
from metainfer_core.bundle.trust import Time, time_text
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.errors import InputError
from metainfer_core.files import check_outputs, read_bytes, write_bytes
from metainfer_core.graph.load import load_model
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from metainfer_core.values import read_json
from review_store.check_log import check_log
from review_store.decide import (
    Decision,
    Legality,
    Verdict,
    current_state,
    decide,
    known_action,
    low_risk_ids,
    undo_last,
)
from review_store.legality import legality_on
from review_store.log import Conflict, EventLog, Record
from review_store.review_text import (
    action_data,
    action_text,
    record_text,
    records_csv,
    records_json_lines,
    state_data,
    state_text,
)
from review_store.state import ReviewState, reviewed_policy
from review_store.workspace import (
    DEFAULT_WORKSPACE,
    default_person,
    now,
    person_id,
    read_policy,
    trust_path,
)

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy under review.")]
Workspace = Annotated[Path, typer.Option("--workspace", help="Folder with the record of the review.")]
ModelFile = Annotated[Path | None, typer.Option("--model", help="The ONNX model; needed where the policy names none.")]
SpecFile = Annotated[str | None, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")]


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
    review.command("check", epilog="Example: meta-infer review check --bundle release.bundle")(check)
    review.command("export", epilog="Example: meta-infer review export model.policy --output reviewed.policy")(export)
    app.add_typer(review, name="review")


def list_actions(
    policy: PolicyFile,
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Lists all actions with their state, most pressing first."""
    _, state = _open(workspace, _policy(policy, model, hw_spec)[0])
    data, text = state_data(state), state_text(state)
    data["rules_are_current"] = state.policy.ruleset_digest == ruleset_digest()
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
    log, state = _open(workspace, _policy(policy, model, hw_spec)[0])
    records = log.records(state.lineage)
    data, texts = [], []
    for action_id in action:
        review = known_action(state, action_id)
        history = [record for record in records if record.event.subject == action_id]
        data.append(action_data(review) | {"history": [_record_data(each) for each in history]})
        texts.append(action_text(review, history))
    emit(as_json, {"actions": data}, "\n\n".join(texts))


def decide_command(
    policy: PolicyFile,
    action: Annotated[list[str] | None, typer.Option("--action", help="Id of an action; several times.")] = None,
    all_low_risk: Annotated[
        bool, typer.Option("--all-low-risk", help="All pending actions of low risk: lists them; with --yes, decides.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Decide about the actions that --all-low-risk lists.")] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Stand behind them.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Forbid them as they are.")] = False,
    tag: Annotated[bool, typer.Option("--tag", help="Ask for a closer look (review_required).")] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take back your approval, rejection or tag.")] = False,
    comment: Annotated[bool, typer.Option("--comment", help="Say something that decides nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo your last decision about them.")] = False,
    override: Annotated[
        str | None,
        typer.Option("--override", metavar="JSON", help="false: off; an object: new parameters; null: as proposed."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="DATE", help="Until when the override holds, as 2027-06-30.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; for all but approvals.")] = "",
    why_allowed: Annotated[str, typer.Option("--why-allowed", help="Justification: why it may stand.")] = "",
    accuracy_effect: Annotated[str, typer.Option("--accuracy-effect", help="Justification: what it costs.")] = "",
    fallback: Annotated[str, typer.Option("--fallback", help="Justification: what if it proves wrong.")] = "",
    person: Annotated[str | None, typer.Option("--as", metavar="PERSON", help="Who decides (default: git).")] = None,
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Decides about actions, named one by one: approve, reject, tag, override, withdraw, comment or undo."""
    who = default_person() if person is None else person_id(person)
    bound, spec = _policy(policy, model, hw_spec)
    log, state = _open(workspace, bound)
    ids = tuple(action or ())
    if all_low_risk:
        ids = tuple(dict.fromkeys((*ids, *low_risk_ids(state))))
        if not yes:
            text = f"{len(ids)} actions of low risk: {listed(ids, len(ids))}.\nAdd --yes to decide about them."
            emit(as_json, {"would_decide": list(ids)}, text)
            return
    legality = None
    if override is not None:
        legality = _legality(state, model, spec)
    if undo:
        if approve or reject or tag or withdraw or comment or override is not None:
            raise InputError("--undo stands alone.", fix="Leave the other decisions out.")
        check = None if model is None or spec is None else _legality(state, model, spec)
        written = [undo_last(log, _state(log, state, workspace), each, who, now(), check) for each in ids]
        _report(as_json, [each for each in written if not isinstance(each, Conflict)], written, state)
        return
    chosen: dict[Verdict, bool] = {
        "override": override is not None,
        "approve": approve,
        "reject": reject,
        "tag": tag,
        "withdraw": withdraw,
        "comment": comment,
    }
    verdicts = tuple(each for each, given in chosen.items() if given)
    if len(verdicts) > 1 and verdicts != ("override", "approve"):
        raise InputError(
            f"These do not go together: {', '.join(verdicts)}.",
            "One decision is written at a time; only an override may come with its approval.",
            "Give them one after the other.",
        )
    decision = Decision(
        person=who,
        action_ids=ids,
        verdicts=verdicts,
        justification=_justification(why_allowed, accuracy_effect, fallback),
        reason=reason,
        override=None if override is None else _read_override(override),
        expires=None if expires is None else _end_of(expires),
    )
    outcome = decide(log, state, decision, now(), legality)
    _report(as_json, [] if isinstance(outcome, Conflict) else [outcome], [outcome], state)


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


def export(
    policy: PolicyFile,
    output: Annotated[Path, typer.Option("--output", help="File to write.")],
    form: Annotated[
        str, typer.Option("--format", help="policy: with overrides applied; jsonl or csv: all events about it.")
    ] = "policy",
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Writes the reviewed policy, or the record of its review."""
    check_outputs([output], "export", [policy, model, hw_spec])
    log, state = _open(workspace, _policy(policy, model, hw_spec)[0])
    if form == "policy":
        data = reviewed_policy(state).to_json() + b"\n"
    elif form == "jsonl":
        data = records_json_lines(log.records(state.lineage))
    elif form == "csv":
        data = records_csv(log.records(state.lineage))
    else:
        raise InputError(f"--format {form}: there is no such format.", fix="Give policy, jsonl or csv.")
    write_bytes(output, data, "export")
    emit(as_json, {"output": str(output), "bytes": len(data)}, f"{output}: {len(data):,} bytes.")


def digests(model: Path | None, hw_spec: str | None) -> tuple[str | None, str | None, HardwareSpec | None]:
    """Digests of the model and of the spec's values, where they are given, and the spec."""
    spec = None if hw_spec is None else load_spec(hw_spec)
    with progress("Reading") as report:
        if model is not None:
            report(str(model), 0, 0)
        return (
            None if model is None else load_model(model).digest,
            None if spec is None else spec.values_digest,
            spec,
        )


def _policy(path: Path, model: Path | None, hw_spec: str | None) -> tuple[Policy, HardwareSpec | None]:
    model_digest, spec_digest, spec = digests(model, hw_spec)
    return read_policy(path, model_digest, spec_digest), spec


def _open(workspace: Path, policy: Policy) -> tuple[EventLog, ReviewState]:
    log = EventLog(workspace)
    return log, current_state(log, policy, read_trust(trust_path(workspace)))


def _state(log: EventLog, state: ReviewState, workspace: Path) -> ReviewState:
    return current_state(log, state.policy, read_trust(trust_path(workspace)))


def _legality(state: ReviewState, model: Path | None, spec: HardwareSpec | None) -> Legality:
    """The check of an override, beside all those in force: one that switches off can break what stays on."""
    if model is None or spec is None:
        raise InputError(
            "An override is checked against the model and the hardware before it is written.",
            "They are not given.",
            "Add --model and --hw-spec.",
        )
    return legality_on(model, spec, reviewed_policy(state))


def _read_override(text: str) -> dict[str, Any] | Literal[False] | None:
    plain = read_json(text.encode(), "--override")
    if plain is None or plain is False or isinstance(plain, dict):
        return plain
    raise InputError(
        f"--override {text}: this cannot be an override.",
        "false switches the action off, an object replaces parameters, null takes an override back.",
        """Give one of these, such as --override '{"bit_width": 16}'.""",
    )


def _end_of(date: str) -> Time:
    """The last second of a day, in UTC."""
    try:
        return time_text(datetime.strptime(date, "%Y-%m-%d").replace(hour=23, minute=59, second=59, tzinfo=UTC))
    except ValueError as error:
        raise InputError(f"--expires {date}: this is not a date.", f"{error}.", "Write it as 2027-06-30.") from error


def _justification(why_allowed: str, accuracy_effect: str, fallback: str) -> Justification | None:
    lines = {"why_allowed": why_allowed, "accuracy_effect": accuracy_effect, "fallback": fallback}
    if not any(lines.values()):
        return None
    missing = [f"--{key.replace('_', '-')}" for key, text in lines.items() if not text.strip()]
    if missing:
        raise InputError("The justification is not complete.", "It has three lines.", f"Add {' and '.join(missing)}.")
    return Justification.from_plain(lines, "justification")


def _report(
    as_json: bool,
    written: list[tuple[Record, ...]],
    outcomes: list[tuple[Record, ...] | Conflict],
    state: ReviewState,
) -> None:
    records = [record for each in written for record in each]
    conflicts = [record for each in outcomes if isinstance(each, Conflict) for record in each.others]
    lines = [f"{record.event.subject or state.lineage}: {record_text(record)}" for record in records]
    if conflicts:
        lines.append("Not written, because others decided about the same meanwhile:")
        lines += [f"{each.event.subject or state.lineage}: {record_text(each)}" for each in conflicts]
        lines.append("Look at it, and give the command again if you still mean it.")
    data = {
        "written": [_record_data(each) for each in records],
        "conflicts": [_record_data(each) for each in conflicts],
    }
    emit(as_json, data, "\n".join(lines))
    verdict(bool(conflicts))


def _record_data(record: Record) -> dict[str, Any]:
    return {"seq": record.seq} | record.event.plain()
