"""Decisions of people: checked against the state they were made on, then written as events, all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, Protocol

import pydantic

from metainfer_core.bundle.approvals import Binding
from metainfer_core.bundle.reason import listed
from metainfer_core.bundle.review_rules import lineage, needs_justification, risk_level
from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import Time, TrustFile
from metainfer_core.errors import InputError
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.what_if import WhatIf
from metainfer_core.values import first_fault
from review_store.record.events import (
    Approved,
    Commented,
    Event,
    Overridden,
    Registered,
    Rejected,
    Released,
    Resolved,
    Tagged,
    Undone,
    Withdrawn,
)
from review_store.record.log import Conflict, EventLog, Record
from review_store.review.override_effect import check_measured
from review_store.review.state import ActionReview, ReviewState, effective, fold, overridden, plain_override


class Legality(Protocol):
    """The check of overrides, that of switching off as that of other parameters."""

    def __call__(self, *changed: PolicyAction) -> str | None:
        """Why the policy cannot be built with these actions as they are now overridden, in a sentence; or None."""


Verdict = Literal["approve", "reject", "tag", "withdraw", "comment", "resolve", "override"]


@dataclass(frozen=True)
class Decision:
    """What one person wants to be written about some actions.

    An override can come together with an approval: then it is written first, and the approval is of its outcome.
    """

    person: str
    action_ids: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    justification: Justification | None = None
    reason: str = ""
    override: Mapping[str, Any] | Literal[False] | None = None
    """False switches the action off, an object replaces parameters, None takes an earlier override back."""
    expires: Time | None = None
    """Until when an override holds: nothing is built from it later. None: as long as the bundle."""
    measured: WhatIf | None = None
    """What an override does, measured beside all that is in force."""
    unmeasured: str = ""
    """Why that was not measured: an override comes with the one or the other."""
    assignee: str | None = None
    """Who a tag asks to look."""
    thread: int | None = None
    """First comment of the thread that a comment answers, or that is resolved."""


def decide(
    log: EventLog, state: ReviewState, decision: Decision, at: Time, legality: Legality | None
) -> tuple[Record, ...] | Conflict:
    """Writes a decision about what `state` shows; a conflict if others decided about the same actions since.

    Raises InputError if the decision cannot be made: unknown action, justification missing, override not legal.
    """
    reviews = [known_action(state, action_id) for action_id in dict.fromkeys(decision.action_ids)]
    if not reviews:
        raise InputError("No action is named.", fix="Name each action that you decide about with --action ID.")
    if not decision.verdicts:
        raise InputError("No decision is given.", fix="Give one, such as --approve or --reject.")
    events: list[Event] = [] if state.registered else [registration(state.policy, decision.person, at)]
    try:
        for review in reviews:
            events.extend(_events(state, review, decision, at))
    except pydantic.ValidationError as error:
        raise InputError(**first_fault(error, "decision")) from error
    if "override" in decision.verdicts:
        changed = [overridden(review, decision.override) for review in reviews]
        if legality is not None:
            refuse_illegal(changed, legality)
        check_measured(state, changed, decision.measured, decision.unmeasured)
    versions = {review.id: review.version for review in reviews}
    return log.append(state.lineage, events, versions, values=() if state.registered else (state.policy.to_json(),))


def undo_last(
    log: EventLog, state: ReviewState, action_id: str, person: str, at: Time, legality: Legality | None = None
) -> tuple[Record, ...] | Conflict:
    """Undoes the person's last event about an action. What was already signed into a bundle stays.

    To undo an override is to override anew, and is checked as that is.
    """
    review = known_action(state, action_id)
    records = log.records(state.lineage)
    undone = {record.event.undoes for record in records if isinstance(record.event, Undone)}
    own = [
        record
        for record in records
        if record.event.subject == action_id
        and record.event.actor == person
        and record.seq not in undone
        and not isinstance(record.event, Undone)
    ]
    if not own:
        raise InputError(
            f"{action_id}: {person} decided nothing about it that could be undone.",
            "People undo their own decisions only.",
            f"See `meta-infer review show` for who decided what about {action_id}.",
        )
    released = [record for record in records if isinstance(record.event, Released) and record.seq > own[-1].seq]
    if released:
        raise InputError(
            f"{action_id}: the decision of {own[-1].event.at} can no longer be undone.",
            "A bundle that rests on it was signed since.",
            "Decide anew; the next bundle will hold that.",
        )
    if isinstance(own[-1].event, Overridden) and legality is not None:
        gone = {*undone, own[-1].seq}
        kept = [each.event for each in records if each.event.subject == action_id and each.seq not in gone]
        overrides = [
            each for each in kept if isinstance(each, Overridden) and each.base_digest == review.proposed.content_digest
        ]
        refuse_illegal([_with_override(review, overrides[-1] if overrides else None)], legality)
    undo = Undone(actor=person, at=at, action=action_id, undoes=own[-1].seq)
    return log.append(state.lineage, [undo], {action_id: review.version})


def low_risk_ids(state: ReviewState) -> tuple[str, ...]:
    """Actions that may be approved together: low risk, pending, with nothing that speaks against them."""
    return tuple(each.id for each in state.actions if each.word == "pending" and risk_level(each.action) == "low")


def current_state(log: EventLog, policy: Policy, trust: TrustFile) -> ReviewState:
    """The state that the log gives for a policy."""
    return fold(policy, log.records(lineage(policy)), trust)


def known_action(state: ReviewState, action_id: str) -> ActionReview:
    """The action with this id; raises InputError naming the ids that look like it."""
    review = state.action(action_id)
    if review is None:
        close = get_close_matches(action_id, [each.id for each in state.actions], n=3, cutoff=0.4)
        raise InputError(
            f"{action_id}: the policy has no such action.",
            f"It has {len(state.actions)} actions" + (f"; the nearest: {listed(close)}." if close else "."),
            "Name an action by its id, as `meta-infer review list` shows it.",
        )
    return review


def _events(state: ReviewState, review: ActionReview, decision: Decision, at: Time) -> Sequence[Event]:
    policy, least = state.policy, state.least_reason
    person, events, action = decision.person, [], review.action
    for verdict in decision.verdicts:
        event: Event
        if verdict == "override":
            event = _override(review, decision, at, least)
            action = _with_override(review, event)
        elif verdict == "approve":
            event = _approval(policy, review, action, decision, at, least)
        elif verdict == "reject":
            event = Rejected(
                actor=person,
                at=at,
                action=review.id,
                action_digest=action.content_digest,
                reason=_needed(decision.reason, review, "a rejection", least),
                **_binding(policy),
            )
        elif verdict == "tag":
            event = Tagged(
                actor=person,
                at=at,
                action=review.id,
                reason=_needed(decision.reason, review, "a tag", least),
                assignee=decision.assignee,
            )
        elif verdict == "comment":
            text = _needed(decision.reason, review, "a comment", 0)
            answers = None if decision.thread is None else _thread(review, decision.thread, False)
            event = Commented(actor=person, at=at, action=review.id, text=text, answers=answers)
        elif verdict == "resolve":
            event = Resolved(actor=person, at=at, action=review.id, thread=_thread(review, decision.thread, True))
        else:
            event = _withdrawal(review, person, at)
        events.append(event)
    return events


def _override(review: ActionReview, decision: Decision, at: Time, least: int) -> Overridden:
    if decision.expires is not None and decision.expires <= at:
        raise InputError(
            f"{review.id}: this override would have expired already.",
            f"It is {at} now; the override is to hold until {decision.expires}.",
            "Give a later time, or none.",
        )
    return Overridden(
        actor=decision.person,
        at=at,
        action=review.id,
        base_digest=review.proposed.content_digest,
        override=plain_override(decision.override),
        reason=_needed(decision.reason, review, "an override", least),
        expires=decision.expires,
        measured=None if decision.measured is None else decision.measured.of_action(review.id),
        unmeasured=decision.unmeasured if decision.measured is None and decision.unmeasured.strip() else None,
    )


def _with_override(review: ActionReview, event: Overridden | None) -> PolicyAction:
    """The action as it would be built with this override instead of the one that it has."""
    in_force = None if event is None or event.override is None else event
    return effective(review.proposed, in_force, review.tag is not None)


def _thread(review: ActionReview, number: int | None, must_be_open: bool) -> int:
    """The number of a thread about the action, if it has one with this number."""
    for each in review.threads:
        if each.number == number and not (must_be_open and each.resolved_by is not None):
            return each.number
    there = [str(each.number) for each in review.threads if not must_be_open or each.resolved_by is None]
    raise InputError(
        f"{review.id}: it has no {'open ' if must_be_open else ''}comment no. {number}.",
        f"There are: {', '.join(there)}." if there else "There is none.",
        "Give the number that `meta-infer review show` tells before the comment.",
    )


def _approval(
    policy: Policy, review: ActionReview, action: PolicyAction, decision: Decision, at: Time, least: int
) -> Approved:
    if review.held_by:
        raise InputError(
            f"{review.id}: it cannot be approved while comments about it are open.",
            f"Open: no. {', '.join(str(each.number) for each in review.held_by)}; the trust file lets comments block.",
            "Deal with them, and resolve each with --resolve and its number.",
        )
    if decision.justification is None and needs_justification(action):
        why = "its risk is high" if risk_level(action) == "high" else "it is tagged review_required"
        raise InputError(
            f"{review.id}: this approval needs a justification.",
            f"An action needs the three lines when it is dangerous or tagged; here, {why}.",
            "Add --why-allowed, --accuracy-effect and --fallback.",
        )
    if decision.justification is not None:
        for name, line in decision.justification.plain().items():
            _refuse_short(line, f"{review.id}: the line {name} of the justification", least)
    return Approved(
        actor=decision.person,
        at=at,
        action=review.id,
        action_digest=action.content_digest,
        risk=risk_level(action),
        justification=decision.justification,
        **_binding(policy),
    )


def _withdrawal(review: ActionReview, person: str, at: Time) -> Withdrawn:
    tagged = review.tag is not None and review.tag.actor == person
    if person not in review.approvals and person not in review.rejections and not tagged:
        raise InputError(
            f"{review.id}: {person} has nothing here to withdraw.",
            "People withdraw their own approvals, rejections and tags only.",
            f"See `meta-infer review show` for who decided what about {review.id}.",
        )
    return Withdrawn(actor=person, at=at, action=review.id)


def refuse_illegal(changed: Sequence[PolicyAction], legality: Legality) -> None:
    """Raises InputError where the policy cannot be built with these actions as they are overridden."""
    why_not = legality(*changed)
    if why_not is not None:
        raise InputError(
            f"{listed([each.id for each in changed])}: this override is not legal.",
            why_not,
            "Choose other parameters, or override in the same command what depends on it.",
        )


def _binding(policy: Policy) -> dict[str, Any]:
    binding = Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)
    if binding.model_digest is None or binding.spec_digest is None:
        raise InputError(
            "This policy does not say which model and which hardware spec it is for.",
            "A decision holds for exactly one model and one spec.",
            "Give them with --model and --hw-spec.",
        )
    return {
        "model_digest": binding.model_digest,
        "spec_digest": binding.spec_digest,
        "ruleset_digest": binding.ruleset_digest,
    }


def registration(policy: Policy, person: str, at: Time) -> Registered:
    """The event that brings a policy under review."""
    return Registered(actor=person, at=at, policy_digest=policy.digest, proposed_by_tool=bool(policy.objective))


def _needed(reason: str, review: ActionReview, what: str, least: int) -> str:
    if not reason.strip():
        raise InputError(f"{review.id}: {what} needs a reason.", "Others must be able to follow it.", "Add --reason.")
    _refuse_short(reason, f"{review.id}: the reason of {what}", least)
    return reason


def _refuse_short(words: str, what: str, least: int) -> None:
    count = sum(char.isalnum() for char in words)
    if count < least:
        raise InputError(
            f"{what} is too short to follow.",
            f"It has {count} letters and digits; the trust file asks for at least {least}.",
            "Say what was looked at, and why that is enough.",
        )
