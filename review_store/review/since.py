"""What changed since a person last said something: about one action, and over a whole policy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metainfer_core.bundle.approvals import Binding
from metainfer_core.policy.policy import Policy, PolicyAction
from review_store.record.events import Approved, Registered, Rejected, Undone
from review_store.record.log import Record
from review_store.review.policy_diff import FieldChange, action_diff
from review_store.review.state import ReviewState, as_decided


@dataclass(frozen=True)
class Since:
    """What changed since a person's last verdict on an action."""

    verdict: Record
    bound_to: str | None
    """Of model, spec and rule set those that are others now, in words."""
    fields: tuple[FieldChange, ...] | None
    """What differs in the action; None where the revision that the verdict was on is not in the record."""
    others: tuple[Record, ...]
    """What other people wrote about it since, oldest first."""

    @property
    def is_anything(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.bound_to or self.fields is None or self.fields or self.others)


def since_verdict(
    state: ReviewState,
    records: Sequence[Record],
    action_id: str,
    person: str,
    value: Callable[[str], bytes | None],
) -> Since | None:
    """What changed since the person's last verdict that was not undone; None where they gave none.

    Args:
        state: The review as it is now.
        records: All events about the policy's lineage, oldest first.
        action_id: The action.
        person: Whose verdict.
        value: Gives what the record keeps under a digest, such as an earlier revision of the policy.
    """
    review = state.action(action_id)
    undone = {record.event.undoes for record in records if isinstance(record.event, Undone)}
    about = [record for record in records if record.event.subject == action_id and record.seq not in undone]
    own = [each for each in about if each.event.actor == person and isinstance(each.event, Approved | Rejected)]
    if review is None or not own:
        return None
    verdict = own[-1].event
    assert isinstance(verdict, Approved | Rejected)
    policy = state.policy
    before = _as_it_was(records, own[-1], verdict, value)
    if before is None and verdict.action_digest == review.action.content_digest:
        before = review.action
    return Since(
        verdict=own[-1],
        bound_to=verdict.binding.difference(Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)),
        fields=None if before is None else action_diff(before, review.action),
        others=tuple(each for each in about if each.seq > own[-1].seq and each.event.actor != person),
    )


def changed_since(state: ReviewState, records: Sequence[Record], person: str) -> frozenset[str]:
    """Actions that are another than when the person last said something about them.

    Others wrote about them since, or a verdict of the person no longer holds. What they never said anything about is
    not among them.
    """
    undone = {record.event.undoes for record in records if isinstance(record.event, Undone)}
    last_own: dict[str, int] = {}
    last_other: dict[str, int] = {}
    verdicts: dict[str, Approved | Rejected] = {}
    for record in records:
        event = record.event
        (last_own if event.actor == person else last_other)[event.subject] = record.seq
        if event.actor == person and record.seq not in undone and isinstance(event, Approved | Rejected):
            verdicts[event.subject] = event
    policy = state.policy
    binding = Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)
    found = set()
    for review in state.actions:
        verdict = verdicts.get(review.id)
        outdated = verdict is not None and (
            verdict.action_digest != review.action.content_digest or verdict.binding.difference(binding) is not None
        )
        if review.id in last_own and (outdated or last_other.get(review.id, 0) > last_own[review.id]):
            found.add(review.id)
    return frozenset(found)


def _as_it_was(
    records: Sequence[Record],
    record: Record,
    verdict: Approved | Rejected,
    value: Callable[[str], bytes | None],
) -> PolicyAction | None:
    """The action that a verdict was on: of the newest revision before it that has an action with its digest."""
    earlier = [each for each in records if each.seq < record.seq]
    about = [each for each in earlier if each.event.subject == verdict.action]
    for each in reversed(earlier):
        body = value(each.event.policy_digest) if isinstance(each.event, Registered) else None
        proposed = None if body is None else _proposed(body, verdict.action)
        if proposed is None:
            continue
        action = as_decided(proposed, about)
        if action.content_digest == verdict.action_digest:
            return action
    return None


def _proposed(body: bytes, action_id: str) -> PolicyAction | None:
    """The action with this id in a policy of the record."""
    return next((each for each in _revision(body).actions if each.id == action_id), None)


@functools.lru_cache(maxsize=8)
def _revision(body: bytes) -> Policy:
    """Read once: a page asks for the same revision at every look at one of its actions."""
    return Policy.from_json(body, "earlier revision")
