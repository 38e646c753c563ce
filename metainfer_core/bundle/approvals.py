"""Reading reviewers' signed approvals: which of them count for which action, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metainfer_core.bundle.envelope import PAYLOAD_TYPE, envelope_from_plain, verify
from metainfer_core.bundle.reason import Reason, reason_of
from metainfer_core.bundle.statement import (
    APPROVAL_TYPE,
    ApprovalStatement,
    ApprovedAction,
    Digest,
    ReleaseStatement,
    read_payload,
    subject_digest,
)
from metainfer_core.bundle.trust import Mark, Person, Role, Time, TrustedKey, TrustFile
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.values import sha256


@dataclass(frozen=True)
class Binding:
    """What an approval holds for, besides the action itself. When one of these changes, it is stale."""

    model_digest: Digest | None
    spec_digest: Digest | None
    """`values_digest` of the spec."""
    ruleset_digest: Digest | None

    def difference(self, other: Binding) -> str | None:
        """What differs, in words, or None."""
        pairs = (
            ("the model", self.model_digest, other.model_digest),
            ("the hardware spec", self.spec_digest, other.spec_digest),
            ("the rule set", self.ruleset_digest, other.ruleset_digest),
        )
        changed = [what for what, mine, theirs in pairs if mine != theirs]
        return " and ".join(changed) or None


@dataclass(frozen=True)
class OpenedApproval:
    """One reviewer's approval after its checks: the statement if its signature holds, and what speaks against it."""

    statement: ApprovalStatement | None
    fault: Reason | None


def binding_of(statement: ApprovalStatement | ReleaseStatement) -> Binding:
    """What a statement holds for."""
    return Binding(
        subject_digest(statement, "model"), subject_digest(statement, "spec"), statement.predicate.ruleset_digest
    )


def open_approval(
    plain: Mapping[str, object], trust: TrustFile, now: Time, source: str, demo: Mark = None
) -> OpenedApproval:
    """Checks one signed approval: signature, key, person, role, form; and that it is a demo's just as the whole is.

    Args:
        plain: Its envelope.
        trust: Whose signatures count.
        now: The time.
        source: What it is called in reasons.
        demo: The mark of the whole that it is for.
    """
    try:
        envelope = envelope_from_plain(dict(plain), source)
    except InputError as error:
        return OpenedApproval(None, reason_of(error))
    if envelope.payload_type != PAYLOAD_TYPE:
        return OpenedApproval(None, _wrong_type(source, envelope.payload_type))
    owners = [trust.owner(key) for key in verify(envelope, trust.public_keys) if key is not None]
    signers = [owner for owner in owners if owner is not None]
    if not signers:
        return OpenedApproval(
            None,
            Reason(
                check="unknown_key",
                what=f"{source} is not signed by a key of the trust file.",
                why="Either another key signed it, or its bytes were changed afterwards.",
                fix="Have the reviewer sign again, with a key that stands in the trust file.",
            ),
        )
    try:
        plain_statement = read_payload(envelope.payload, APPROVAL_TYPE, source)
        statement = ApprovalStatement.from_plain(plain_statement, source)
    except (InputError, NotTrustedError) as error:
        return OpenedApproval(None, reason_of(error))
    fault = _signer_fault(statement, signers, now, sha256(envelope.payload), source)
    return OpenedApproval(statement, fault or _other_kind(statement.predicate.demo, demo, source))


def signer_fault(person: Person, key: TrustedKey, role: Role, now: Time, payload_digest: Digest) -> Reason | None:
    """Why a valid signature by this person's key on these bytes does not count for this role, or None."""
    fault = key.fault(now, payload_digest)
    if fault is not None:
        return Reason(
            check="revoked_key" if fault.startswith("was revoked") else "expired_key",
            what=f"The key of {person.id} that signed {fault}.",
            why=f"Key {key.id}.",
            fix=f"Have {person.id} sign again with a valid key.",
        )
    if role not in person.roles:
        return Reason(
            check="role",
            what=f"{person.id} signed, but does not have the role {role}.",
            why=f"Roles of {person.id} in the trust file: {', '.join(person.roles) or 'none'}.",
            fix=f"Have a {role} sign.",
        )
    return None


def demo_fault(key: TrustedKey, said: Mark, source: str) -> Reason | None:
    """Why a signature by this key does not count on what is marked as a demo, or is not, as `said`; or None."""
    if key.demo == said:
        return None
    if key.demo:
        return Reason(
            check="demo",
            what=f"{source} hides that a studio in demo mode signed it.",
            why=f"The trust file names key {key.id} as one of a demo; what it signed is not marked as a demo.",
            fix="Refuse it. Have people sign with keys of their own: `meta-infer keys new` makes one.",
        )
    return Reason(
        check="demo",
        what=f"{source} is marked as a demo, but the trust file does not name its key as one of a demo.",
        why=f"Key {key.id} stands there as a person's own. What is only a demo never counts as theirs.",
        fix="Have them sign with a key of their own, outside of the demo mode.",
    )


def valid_approvals(opened: Iterable[OpenedApproval], binding: Binding) -> dict[str, dict[str, ApprovedAction]]:
    """Action id to person to what they approved, from approvals without fault that hold for `binding`.

    Of several by one person the last one counts; whether its digest is still the action's is for the caller to see.
    """
    found: dict[str, dict[str, ApprovedAction]] = {}
    good = [each.statement for each in opened if each.statement is not None and each.fault is None]
    for statement in sorted(good, key=lambda each: each.predicate.at):
        if binding_of(statement).difference(binding) is None:
            for action in statement.predicate.actions:
                found.setdefault(action.id, {})[statement.predicate.person] = action
    return found


def _signer_fault(
    statement: ApprovalStatement,
    signers: list[tuple[Person, TrustedKey]],
    now: Time,
    payload_digest: Digest,
    source: str,
) -> Reason | None:
    person = statement.predicate.person
    own = [(owner, key) for owner, key in signers if owner.id == person]
    if not own:
        return Reason(
            check="unknown_key",
            what=f"{source} speaks for {person}, but {signers[0][0].id} signed it.",
            why="Only the reviewer's own key can approve in their name.",
            fix=f"Have {person} sign it.",
        )
    faults = [
        signer_fault(owner, key, "reviewer", now, payload_digest) or demo_fault(key, statement.predicate.demo, source)
        for owner, key in own
    ]
    return None if None in faults else faults[0]


def _other_kind(found: Mark, whole: Mark, source: str) -> Reason | None:
    """A demo holds approvals of the demo alone, and everything else none of them."""
    if found == whole:
        return None
    return Reason(
        check="demo",
        what=f"{source} is a demo's, but the whole is not."
        if found
        else f"{source} is not a demo's, but the whole is.",
        why="What a studio signs in demo mode never counts beside what people sign with keys of their own.",
        fix="Have everybody sign with keys of their own: `meta-infer keys new` makes one.",
    )


def _wrong_type(source: str, found: str) -> Reason:
    return Reason(
        check="wrong_type",
        what=f"{source} is signed, but not as a statement of meta-infer.",
        why=f"Payload type {found!r}, expected {PAYLOAD_TYPE!r}.",
        fix="Give the file that `meta-infer sign` wrote.",
    )
