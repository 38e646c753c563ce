"""Command `meta-infer review decide`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from metainfer_core.bundle.reason import listed
from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import Time, time_text
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.errors import InputError
from metainfer_core.pipeline import prepare
from metainfer_core.policy.policy import PolicyAction
from metainfer_core.policy.what_if import WhatIf
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import read_json
from metainfer_core.verify.samples import SAMPLES
from review_store.commands.review_options import (
    Calib,
    Evaluation,
    ModelFile,
    PolicyFile,
    SampleCount,
    SpecFile,
    Workspace,
    opened,
    policy_of,
)
from review_store.export.review_text import record_data, record_text
from review_store.record.events import Approved
from review_store.record.log import Conflict, EventLog, Record
from review_store.review.decide import (
    Decision,
    Legality,
    Verdict,
    current_state,
    decide,
    known_action,
    low_risk_ids,
    refuse_illegal,
    undo_last,
)
from review_store.review.legality import legality_on
from review_store.review.override_effect import CHANGES_NOTHING, changes_anything, effect_of_overrides
from review_store.review.state import ReviewState, overridden, reviewed_policy
from review_store.review.workspace import DEFAULT_WORKSPACE, default_person, now, person_id, trust_path


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
    answers: Annotated[
        int | None, typer.Option("--answers", metavar="NUMBER", help="With --comment: the comment that it answers.")
    ] = None,
    resolve: Annotated[
        int | None, typer.Option("--resolve", metavar="NUMBER", help="This comment, with its answers, is dealt with.")
    ] = None,
    assignee: Annotated[
        str | None, typer.Option("--assignee", metavar="PERSON", help="With --tag: who is asked to look.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo your last decision about them.")] = False,
    override: Annotated[
        str | None,
        typer.Option("--override", metavar="JSON", help="false: off; an object: new parameters; null: as proposed."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="DATE", help="Until when the override holds, as 2027-06-30.")
    ] = None,
    calib: Calib = None,
    evaluation: Evaluation = None,
    samples: SampleCount = SAMPLES,
    unmeasured: Annotated[
        str, typer.Option("--unmeasured", metavar="REASON", help="Why the override's effect is not measured.")
    ] = "",
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
    bound, spec = policy_of(policy, model, hw_spec)
    log, state = opened(workspace, bound)
    ids = tuple(action or ())
    if all_low_risk:
        ids = tuple(dict.fromkeys((*ids, *low_risk_ids(state))))
        if not yes:
            text = f"{len(ids)} actions of low risk: {listed(ids, len(ids))}.\nAdd --yes to decide about them."
            emit(as_json, {"would_decide": list(ids)}, text)
            return
    if expires is not None and override is None:
        raise InputError(
            "--expires stands alone.",
            "Only an override has an end; what else is decided holds until it is changed.",
            "Give --override too, or leave --expires out.",
        )
    legality, wanted = None, None if override is None else _read_override(override)
    if override is not None:
        legality = _legality(state, model, spec)
    if undo:
        if approve or reject or tag or withdraw or comment or resolve is not None or override is not None:
            raise InputError("--undo stands alone.", fix="Leave the other decisions out.")
        check = _ask_for_model if model is None or spec is None else _legality(state, model, spec)
        written = [undo_last(log, _state(log, state, workspace), each, who, now(), check) for each in ids]
        report(as_json, [each for each in written if not isinstance(each, Conflict)], written, state)
        return
    chosen: dict[Verdict, bool] = {
        "override": override is not None,
        "approve": approve,
        "reject": reject,
        "tag": tag,
        "withdraw": withdraw,
        "comment": comment,
        "resolve": resolve is not None,
    }
    verdicts = tuple(each for each, given in chosen.items() if given)
    if len(verdicts) > 1 and verdicts != ("override", "approve"):
        raise InputError(
            f"These do not go together: {', '.join(verdicts)}.",
            "One decision is written at a time; only an override may come with its approval.",
            "Give them one after the other.",
        )
    measured = None
    is_to_be_measured = override is not None and not unmeasured.strip() and bool(reason.strip())
    if is_to_be_measured and legality is not None and model is not None and spec is not None:
        changed = [overridden(known_action(state, each), wanted) for each in dict.fromkeys(ids)]
        refuse_illegal(changed, legality)
        if changes_anything(state, changed):
            measured = _effect(state, changed, model, spec, calib, evaluation, samples)
        else:
            unmeasured = CHANGES_NOTHING
    decision = Decision(
        person=who,
        action_ids=ids,
        verdicts=verdicts,
        justification=_justification(why_allowed, accuracy_effect, fallback),
        reason=reason,
        override=wanted,
        expires=None if expires is None else _end_of(expires),
        measured=measured,
        unmeasured=unmeasured,
        assignee=None if assignee is None else person_id(assignee),
        thread=resolve if answers is None else answers,
    )
    outcome = decide(log, state, decision, now(), legality)
    report(as_json, [] if isinstance(outcome, Conflict) else [outcome], [outcome], state)


def _state(log: EventLog, state: ReviewState, workspace: Path) -> ReviewState:
    return current_state(log, state.policy, read_trust(trust_path(workspace)))


def _ask_for_model(*changed: PolicyAction) -> NoReturn:
    """In the place of the check of overrides, where what it needs is missing: only an override asks for it."""
    raise InputError(
        "An override is checked against the model and the hardware before it is written, and before it is undone.",
        "They are not given.",
        "Add --model and --hw-spec.",
    )


def _legality(state: ReviewState, model: Path | None, spec: HardwareSpec | None) -> Legality:
    """The check of an override, beside all those in force: one that switches off can break what stays on."""
    if model is None or spec is None:
        _ask_for_model()
    return legality_on(model, spec, reviewed_policy(state))


def _effect(
    state: ReviewState,
    changed: list[PolicyAction],
    model: Path,
    spec: HardwareSpec,
    calib: str | None,
    evaluation: str | None,
    samples: int,
) -> WhatIf:
    """What the override does, measured before it is written."""
    with progress("Measuring what it does") as report:
        report("reading the model", 0, 0)
        prepared = prepare(model, state.policy.bound_shapes)
        return effect_of_overrides(state, changed, prepared, spec, calib, evaluation, samples, report)


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


def _answered(state: ReviewState, records: Sequence[Record]) -> list[str]:
    """What approvals answer besides, of what was asked before them."""
    found = []
    for record in records:
        review = state.action(record.event.subject)
        if isinstance(record.event, Approved) and review is not None and review.question is not None:
            asked = review.question
            found.append(f"{review.id}: the three lines answer the closer look of {asked.actor}: {asked.reason}")
    return found


def report(
    as_json: bool,
    written: list[tuple[Record, ...]],
    outcomes: list[tuple[Record, ...] | Conflict],
    state: ReviewState,
) -> None:
    """Tells what was written and what was not; status 1 where others were faster."""
    records = [record for each in written for record in each]
    conflicts = [record for each in outcomes if isinstance(each, Conflict) for record in each.others]
    lines = [f"{record.event.subject or state.lineage}: {record_text(record)}" for record in records]
    lines += _answered(state, records)
    if conflicts:
        lines.append("Not written, because others decided about the same meanwhile:")
        lines += [f"{each.event.subject or state.lineage}: {record_text(each)}" for each in conflicts]
        lines.append("Look at it, and give the command again if you still mean it.")
    data = {
        "written": [record_data(each) for each in records],
        "conflicts": [record_data(each) for each in conflicts],
    }
    emit(as_json, data, "\n".join(lines))
    verdict(bool(conflicts))
