"""The state of a review: a pure fold of the events over one policy. The log is the truth, this is rebuilt from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from metainfer_core.bundle.approvals import Binding
from metainfer_core.bundle.review_rules import Standing, lineage, needs_justification, standing
from metainfer_core.bundle.statement import ApprovedAction
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.errors import InputError
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.what_if import risk_as_overridden
from review_store.record.events import (
    Approved,
    Overridden,
    Registered,
    Rejected,
    Released,
    SignedApproval,
    Tagged,
    Undone,
    Withdrawn,
)
from review_store.record.log import Record
from review_store.review.threads import Thread, open_threads, threads

ReviewWord = Literal["approved", "pending", "required", "outdated", "rejected"]
REVIEW_WORDS: dict[ReviewWord, str] = {
    "rejected": "Someone forbids it as it is: override it, or have the rejection withdrawn.",
    "required": "It needs approval with the three-line justification.",
    "outdated": "It was approved before it changed, or before the model, spec or rule set did.",
    "pending": "It needs approval.",
    "approved": "Enough people stand behind it.",
}
"""Every state and what it means, most pressing first."""


@dataclass(frozen=True)
class ActionReview:
    """One action with all that people decided about it."""

    proposed: PolicyAction
    """As the policy has it."""
    action: PolicyAction
    """As it would be built, with people's overrides and tags."""
    word: ReviewWord
    standing: Standing
    approvals: Mapping[str, ApprovedAction]
    """Person to approval, of those that hold for the action as it is now."""
    rejections: Mapping[str, Rejected]
    tag: Tagged | None
    override: Overridden | None
    authors: tuple[str, ...]
    notes: tuple[str, ...]
    """Sentences on what no longer holds."""
    version: int
    """Number of the last event about this action; 0: none."""
    left_behind: Overridden | None = None
    """An override of an earlier proposal of this action, which no longer applies."""
    threads: tuple[Thread, ...] = ()
    """What was said about it."""
    held_by: tuple[Thread, ...] = ()
    """Open threads that keep it from being approved, where the trust file says that comments do."""

    @property
    def id(self) -> str:
        """The action's id."""
        return self.action.id

    @property
    def question(self) -> Tagged | None:
        """The closer look that is still asked for: enough people's approval with three lines answers it."""
        return None if self.word == "approved" else self.tag


@dataclass(frozen=True)
class ReviewState:
    """A policy under review."""

    policy: Policy
    lineage: str
    actions: tuple[ActionReview, ...]
    signed: tuple[SignedApproval, ...]
    """Approvals that reviewers signed, oldest first."""
    released: tuple[Released, ...]
    registered: bool
    version: int
    """Number of the last event on this policy's lineage."""
    least_reason: int = 0
    """How many letters and digits a reason has at least; 0: it is not empty."""

    def action(self, action_id: str) -> ActionReview | None:
        """The action with this id."""
        return next((each for each in self.actions if each.id == action_id), None)

    @property
    def unreviewed(self) -> tuple[ActionReview, ...]:
        """Actions that block signing."""
        return tuple(each for each in self.actions if each.word != "approved")


def fold(policy: Policy, records: Iterable[Record], trust: TrustFile) -> ReviewState:
    """What the records of the policy's lineage mean for this policy; raises InputError if its ids are not unique."""
    ids = [action.id for action in policy.actions]
    twice = sorted({each for each in ids if ids.count(each) > 1})
    if twice:
        raise InputError(
            f"The policy has two actions with the id {twice[0]}.",
            "A decision about one of them could not be told from a decision about the other.",
            "Merge them, or remove one.",
        )
    records = tuple(records)
    undone = {record.event.undoes for record in records if isinstance(record.event, Undone)}
    by_subject: dict[str, list[Record]] = {}
    for record in records:
        by_subject.setdefault(record.event.subject, []).append(record)
    events = [record.event for record in records if record.seq not in undone]
    registrations = [each for each in events if isinstance(each, Registered) and each.policy_digest == policy.digest]
    authors = tuple(each.actor for each in registrations[:1] if not each.proposed_by_tool)
    binding = Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)
    return ReviewState(
        policy=policy,
        lineage=lineage(policy),
        actions=tuple(
            _review(action, by_subject.get(action.id, []), undone, binding, authors, trust) for action in policy.actions
        ),
        signed=tuple(each for each in events if isinstance(each, SignedApproval)),
        released=tuple(each for each in events if isinstance(each, Released)),
        registered=bool(registrations),
        version=max((record.seq for record in records), default=0),
        least_reason=trust.least_reason or 0,
    )


def reviewed_policy(state: ReviewState) -> Policy:
    """The policy as reviewed, with overrides and tags: what is signed and built."""
    plain = state.policy.plain()
    return Policy.from_plain(plain | {"actions": [each.action.plain() for each in state.actions]}, "reviewed policy")


def with_actions(policy: Policy, changed: Iterable[PolicyAction]) -> Policy:
    """The policy with these actions in the place of those with their ids."""
    news = {action.id: action.plain() for action in changed}
    lines = [news.get(each.id) or each.plain() for each in policy.actions]
    return Policy.from_plain(policy.plain() | {"actions": lines}, "policy")


def bound_policy(policy: Policy, binding: Binding) -> Policy:
    """The policy with the digests of its model, spec and rules filled in where it has none, as plain policies do."""
    plain = policy.plain()
    for key in ("model_digest", "spec_digest", "ruleset_digest"):
        if getattr(binding, key) is not None:
            plain.setdefault(key, getattr(binding, key))
    return Policy.from_plain(plain, "policy")


def effective(proposed: PolicyAction, override: Overridden | None, tagged: bool) -> PolicyAction:
    """The action as it would be built, with an override and a tag, and with the risk that it then has."""
    reviewers: dict[str, Any] = {}
    if override is not None:
        reviewers["override"] = override.plain().get("override")
    if tagged:
        reviewers["review_required"] = True
    if not reviewers:
        return proposed
    action = PolicyAction.from_plain(proposed.plain() | reviewers, proposed.id)
    if override is None:
        return action
    risk = risk_as_overridden(action, override.measured, override.unmeasured or "")
    return action if risk == action.risk else action.model_copy(update={"risk": risk})


def overridden(review: ActionReview, override: Mapping[str, Any] | Literal[False] | None) -> PolicyAction:
    """The action as it would be built with this override in the place of the one that it has."""
    given = {} if override is None else {"override": plain_override(override)}
    without = effective(review.proposed, None, review.tag is not None)
    return PolicyAction.from_plain(without.plain() | given, review.id)


def plain_override(override: Mapping[str, Any] | Literal[False] | None) -> dict[str, Any] | Literal[False] | None:
    """An override as JSON data."""
    return dict(override) if isinstance(override, Mapping) else override


def as_decided(proposed: PolicyAction, records: Iterable[Record]) -> PolicyAction:
    """A proposed action as it would be built after these records about it, and no others."""
    about = tuple(records)
    undone = {record.event.undoes for record in about if isinstance(record.event, Undone)}
    said = _said(proposed, [record for record in about if record.seq not in undone])
    return effective(proposed, said.override, said.tag is not None)


@dataclass
class _Said:
    """What people said about one action so far."""

    approvals: dict[str, Approved] = field(default_factory=dict)
    rejections: dict[str, Rejected] = field(default_factory=dict)
    tag: Tagged | None = None
    override: Overridden | None = None
    left_behind: Overridden | None = None
    notes: list[str] = field(default_factory=list)


def _review(
    proposed: PolicyAction,
    records: list[Record],
    undone: set[int],
    binding: Binding,
    policy_authors: tuple[str, ...],
    trust: TrustFile,
) -> ActionReview:
    standing_records = [record for record in records if record.seq not in undone]
    said, comments = _said(proposed, standing_records), threads(standing_records)
    held_by = open_threads(comments) if trust.comments_block else ()
    action = effective(proposed, said.override, said.tag is not None)
    digest = action.content_digest
    verdicts: list[Approved | Rejected] = [*said.approvals.values(), *said.rejections.values()]
    outdated = [
        f"{verdict.actor} {verdict.kind} it on {verdict.at}, before {changed} changed."
        for verdict in verdicts
        if (changed := _changed(verdict, binding, digest)) is not None
    ]
    approvals = {
        person: verdict.approved_action
        for person, verdict in said.approvals.items()
        if _changed(verdict, binding, digest) is None
    }
    rejections = {
        person: verdict for person, verdict in said.rejections.items() if _changed(verdict, binding, digest) is None
    }
    authors = tuple(sorted({*policy_authors, *([said.override.actor] if said.override else [])}))
    stands = standing(action, approvals, authors, trust)
    return ActionReview(
        proposed=proposed,
        action=action,
        word=_word(action, stands, bool(rejections), bool(outdated), said.tag is not None, bool(held_by)),
        standing=stands,
        approvals=approvals,
        rejections=rejections,
        tag=said.tag,
        override=said.override,
        authors=authors,
        notes=(*said.notes, *outdated, *map(_held, held_by)),
        version=max((record.seq for record in records), default=0),
        left_behind=said.left_behind,
        threads=comments,
        held_by=held_by,
    )


def _changed(verdict: Approved | Rejected, binding: Binding, digest: str) -> str | None:
    """What changed since the verdict, in words, or None: then it still holds."""
    return verdict.binding.difference(binding) or ("the action" if verdict.action_digest != digest else None)


def _said(proposed: PolicyAction, records: list[Record]) -> _Said:
    said = _Said()
    for record in records:
        event = record.event
        if isinstance(event, Approved):
            said.approvals[event.actor] = event
            said.rejections.pop(event.actor, None)
        elif isinstance(event, Rejected):
            said.rejections[event.actor] = event
            said.approvals.pop(event.actor, None)
        elif isinstance(event, Tagged):
            said.tag = event
            said.approvals.clear()  # who approved before did not know what the tag says
        elif isinstance(event, Overridden) and event.base_digest == proposed.content_digest:
            said.override, said.left_behind = (None if event.override is None else event), None
        elif isinstance(event, Overridden):
            said.left_behind = None if event.override is None else event
        elif isinstance(event, Withdrawn):
            said.approvals.pop(event.actor, None)
            said.rejections.pop(event.actor, None)
            if said.tag is not None and said.tag.actor == event.actor:
                said.tag = None
    if said.left_behind is not None:
        said.notes.append(
            f"The override by {said.left_behind.actor} on {said.left_behind.at} no longer applies, because the action "
            "is proposed differently now: set it again, or leave it."
        )
    return said


def _held(thread: Thread) -> str:
    first = thread.comments[0].event
    return f"The comment of {first.actor} (no. {thread.number}) is open: it is not approved before that is resolved."


def _word(
    action: PolicyAction, stands: Standing, rejected: bool, outdated: bool, tagged: bool, held: bool
) -> ReviewWord:
    if rejected:
        return "rejected"
    if stands.enough and not held:
        return "approved"
    if tagged:
        return "required"
    if outdated:
        return "outdated"
    return "required" if needs_justification(action) else "pending"
