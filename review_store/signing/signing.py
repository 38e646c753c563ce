"""Signing: each reviewer their own approvals, a releaser the whole. Nothing leaves here that would not be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from metainfer_core import __version__
from metainfer_core.bundle.approvals import Binding, open_approval, valid_approvals
from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.envelope import Envelope
from metainfer_core.bundle.reason import Reason, listed, not_trusted
from metainfer_core.bundle.review_rules import standing
from metainfer_core.bundle.signed_bundle import inspect_bundle
from metainfer_core.bundle.statement import (
    ApprovalPredicate,
    ApprovalStatement,
    Digest,
    ReleasePredicate,
    ReleaseStatement,
    SignedAction,
    SignedOverride,
    subjects,
)
from metainfer_core.bundle.trust import Mark, Person, Time, TrustedKey, TrustFile
from metainfer_core.bundle.verified import Verified
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import Pending
from metainfer_core.policy.policy import Policy
from metainfer_core.values import sha256
from review_store.record.events import Event, Released, SignedApproval
from review_store.record.log import Conflict, EventLog
from review_store.review.decide import current_state, registration
from review_store.review.state import REVIEW_WORDS, ActionReview, ReviewState, reviewed_policy
from review_store.signing.external_keys import SigningKey
from review_store.signing.sign_payload import sign_payload

ROUNDS = 50
"""How often signing starts again because someone decided meanwhile."""


@dataclass(frozen=True)
class Release:
    """A signed bundle, recorded in the log."""

    bundle: bytes
    verified: Verified


def owner_of(key: SigningKey, trust: TrustFile) -> tuple[Person, TrustedKey]:
    """Whose key this is, and its entry; raises NotTrustedError if it is nobody's in the trust file."""
    owner = trust.owner(key.public_key)
    if owner is None:
        raise NotTrustedError(
            "This key does not stand in the trust file, so what it signs would not be trusted.",
            f"Its id is {key.id}.",
            "Have its public key added with `meta-infer keys trust`.",
            "unknown_key",
        )
    return owner


def sign_approvals(log: EventLog, policy: Policy, trust: TrustFile, key: SigningKey, at: Time) -> Envelope:
    """A reviewer's own approvals of this policy, signed and recorded."""
    person, entry = owner_of(key, trust)
    state = current_state(log, policy, trust)
    envelope = _approval_envelope(state, person.id, key, at, entry.demo)
    if envelope is None:
        raise InputError(
            f"{person.id} has approved nothing in this policy as it is now.",
            "There is nothing to sign.",
            "Approve first with `meta-infer review decide`.",
        )
    signed = SignedApproval(actor=person.id, at=at, envelope=envelope.plain(), demo=entry.demo)
    log.append(state.lineage, [signed])
    return envelope


def release(
    log: EventLog,
    policy: Policy,
    trust: TrustFile,
    key: SigningKey,
    at: Time,
    expires: Time,
    approvals: Sequence[Mapping[str, object]] = (),
    ruleset_digest: Digest | None = None,
    buildable: Callable[[Policy], None] | None = None,
    chip: str = "",
    audience: Sequence[str] = (),
    file: Pending | None = None,
) -> Release:
    """Signs the whole, if all of it is reviewed; raises NotTrustedError listing what is not.

    Args:
        log: The record; the release is written into it, under the next serial.
        policy: As proposed, bound to its model and spec; overrides come from the record.
        trust: Whose approvals count. The bundle is opened with it before it is given out.
        key: Of a releaser. One that the trust file names as a demo's makes a demo, and signs only beside such keys.
        at: Now.
        expires: Until when the bundle is valid.
        approvals: Reviewers' signed approvals that came as files.
        ruleset_digest: Of the rules that will compile it; None: those that the policy names.
        buildable: Raises where the reviewed policy cannot be built; None: that was not looked at.
        chip: Name of the chip that the spec describes.
        audience: For whom the bundle is; nobody named: for everybody.
        file: Where the bundle goes. It is safe on the disk before its serial is used up, so a full disk uses up none.
    """
    owner, entry = owner_of(key, trust)
    person, demo = owner.id, entry.demo
    built: Policy | None = None
    for _ in range(ROUNDS):
        state = current_state(log, policy, trust)
        _refuse_unreviewed(state, trust, at, approvals, demo)
        serial = max((each.serial for each in state.released), default=0) + 1
        reviewed = reviewed_policy(state)
        if buildable is not None and reviewed != built:
            buildable(reviewed)
            built = reviewed
        own = _approval_envelope(state, person, key, at, demo)
        embedded = [*_usable(state, trust, at, (each.envelope for each in state.signed), demo), *approvals]
        statement = ReleaseStatement(
            subject=subjects(
                model=_digest(reviewed.model_digest), spec=_digest(reviewed.spec_digest), policy=reviewed.digest
            ),
            predicate=ReleasePredicate(
                tool_version=__version__,
                ruleset_digest=reviewed.ruleset_digest,
                serial=serial,
                created=at,
                expires=expires,
                chip=chip,
                audience=tuple(sorted(set(audience))),
                demo=demo,
                policy=reviewed,
                actions=tuple(_signed_action(each) for each in state.actions),
                approvals=tuple(dict(each) for each in (*embedded, *([own.plain()] if own else []))),
                review_log=log.head(),
            ),
        )
        payload = statement.to_json()
        bundle = sign_payload(payload, [key]).to_json()
        rules = ruleset_digest or reviewed.ruleset_digest
        expected = Expected(reviewed.model_digest, reviewed.spec_digest, rules)
        recipient = _as_recipient(trust, audience)
        inspection = inspect_bundle(bundle, recipient, at, expected, demo_allowed=demo is True)
        if inspection.verified is None:
            raise not_trusted(_with_unsigned_reviewers(state, inspection.reasons, person), "This policy")
        events: list[Event] = [] if state.registered else [registration(policy, person, at)]
        events.append(
            Released(
                actor=person,
                at=at,
                serial=serial,
                policy_digest=reviewed.digest,
                payload_digest=sha256(payload),
                approval_digest=sha256(own.payload) if own else None,
                demo=demo,
            )
        )
        if file is not None:
            file.write(bundle)
        try:
            written = log.append(
                state.lineage, events, stream_version=state.version, values=(policy.to_json(), reviewed.to_json())
            )
        except InputError:
            if file is not None and _is_recorded(log, sha256(payload)):  # what failed came after: its checkpoint
                file.settle(lasting=True)
            raise
        if not isinstance(written, Conflict):
            if file is not None:
                file.settle(lasting=True)
            return Release(bundle, inspection.verified)
    raise InputError("Others keep deciding about this policy, so that it cannot be signed.", fix="Try again later.")


def _is_recorded(log: EventLog, payload_digest: Digest) -> bool:
    """Whether the record says that this was released."""
    released = (each.event for each in log.records() if isinstance(each.event, Released))
    return any(each.payload_digest == payload_digest for each in released)


def _as_recipient(trust: TrustFile, audience: Sequence[str]) -> TrustFile:
    """The trust file as one has it for whom the bundle is: whoever signs need not be among them."""
    return TrustFile.from_plain(trust.plain() | {"audience": audience[0]}, "trust file") if audience else trust


def _signed_action(review: ActionReview) -> SignedAction:
    given = review.override
    note = None
    if given is not None:
        note = SignedOverride(author=given.actor, reason=given.reason, at=given.at, expires=given.expires)
    return SignedAction(
        id=review.id, content_digest=review.action.content_digest, authors=review.authors, override=note
    )


def _approval_envelope(state: ReviewState, person: str, key: SigningKey, at: Time, demo: Mark) -> Envelope | None:
    approved = tuple(each.approvals[person] for each in state.actions if person in each.approvals)
    if not approved:
        return None
    policy = state.policy
    statement = ApprovalStatement(
        subject=subjects(model=_digest(policy.model_digest), spec=_digest(policy.spec_digest)),
        predicate=ApprovalPredicate(
            person=person,
            tool_version=__version__,
            ruleset_digest=policy.ruleset_digest,
            at=at,
            demo=demo,
            actions=approved,
        ),
    )
    return sign_payload(statement.to_json(), [key])


def _usable(
    state: ReviewState, trust: TrustFile, now: Time, envelopes: Iterable[Mapping[str, object]], demo: Mark
) -> list[Mapping[str, object]]:
    """The newest signed approval of each reviewer, if all that it says is still what its reviewer says.

    Those of a demo and all others are kept apart: neither takes the place of the other.
    """
    newest: dict[str, Mapping[str, object]] = {}
    current = {each.id: each for each in state.actions}
    for envelope in envelopes:
        opened = open_approval(envelope, trust, now, "signed approval", demo)
        if opened.statement is None or opened.statement.predicate.demo != demo:
            continue
        person = opened.statement.predicate.person
        newest.pop(person, None)
        if all(
            each.id in current and current[each.id].approvals.get(person) == each
            for each in opened.statement.predicate.actions
        ):
            newest[person] = envelope
    return list(newest.values())


def _refuse_unreviewed(
    state: ReviewState, trust: TrustFile, now: Time, approvals: Sequence[Mapping[str, object]], demo: Mark
) -> None:
    """Raises NotTrustedError that lists the actions which neither the record nor the given approvals cover."""
    policy = state.policy
    binding = Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)
    opened = [open_approval(each, trust, now, f"Approval {n}", demo) for n, each in enumerate(approvals, start=1)]
    covered = valid_approvals(opened, binding)

    def open_still(review: ActionReview) -> bool:
        given = covered.get(review.id, {}).items()
        by_file = {who: each for who, each in given if each.content_digest == review.action.content_digest}
        if review.word == "rejected" or review.held_by or not by_file:
            return True
        if review.tag is None:
            return False
        asked_at = review.tag.at  # who approved before did not know what the tag says
        later = {who: each for who, each in by_file.items() if each.at > asked_at}
        return not standing(review.action, {**review.approvals, **later}, review.authors, trust).enough

    open_actions = [each for each in state.unreviewed if open_still(each)]
    checks = {"outdated": "stale_approval", "required": "review_required"}
    reasons = [
        Reason(
            check=checks.get(word, "missing_approval"),
            what=f"{len(ids)} of {len(state.actions)} actions are {word}: {listed(ids)}.",
            why=meaning,
            fix="Decide with `meta-infer review decide`; see `meta-infer review show`.",
            actions=tuple(ids),
        )
        for word, meaning in REVIEW_WORDS.items()
        if (ids := [each.id for each in open_actions if each.word == word])
    ]
    if reasons:
        raise not_trusted(reasons, "This policy")


def _with_unsigned_reviewers(state: ReviewState, reasons: Sequence[Reason], signer: str) -> list[Reason]:
    """The reasons, and who approved but has yet to sign."""
    people = sorted({person for each in state.actions for person in each.approvals} - {signer})
    if not people:
        return list(reasons)
    hint = f"Approved in the record: {listed(people)}. Each of them signs with `meta-infer sign --approve-only`."
    return [
        Reason(check=each.check, what=each.what, why=each.why, fix=f"{each.fix} {hint}".strip(), actions=each.actions)
        for each in reasons
    ]


def _digest(digest: str | None) -> str:
    if digest is None:
        raise InputError(
            "This policy does not say which model and which hardware spec it is for.",
            "A signature holds for exactly one model and one spec.",
            "Give them with --model and --hw-spec.",
        )
    return digest
