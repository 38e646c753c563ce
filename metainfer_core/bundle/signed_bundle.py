"""Opening a signed bundle: every check that must pass before anything is built from it.

The signature is verified over the file's bytes first. Then those very bytes are parsed, once, and what a compiler acts
on comes from them alone. The clock, the trust file and what was seen before are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metainfer_core.bundle.approvals import demo_fault, signer_fault
from metainfer_core.bundle.case import Case, Expected
from metainfer_core.bundle.checks import BUNDLE_CHECKS
from metainfer_core.bundle.envelope import (
    PAYLOAD_TYPE,
    Envelope,
    envelope_from_plain,
    is_envelope,
    read_signed_file,
    verify,
)
from metainfer_core.bundle.reason import Reason, listed, not_trusted, reason_of
from metainfer_core.bundle.review_rules import lineage
from metainfer_core.bundle.seen import Seen, seen_name
from metainfer_core.bundle.statement import RELEASE_TYPE, ReleaseStatement, SignedAction, read_payload
from metainfer_core.bundle.trust import Person, Time, TrustedKey, TrustFile
from metainfer_core.bundle.verified import Verified
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.values import sha256

DEMO = (
    "This is a demo: a studio signed it with keys of its own, for whoever sat there. It proves nothing about who "
    "approved what."
)


@dataclass(frozen=True)
class Inspection:
    """The outcome of all checks: trusted if there is no reason against it."""

    verified: Verified | None
    reasons: tuple[Reason, ...]


def open_bundle(
    data: bytes,
    trust: TrustFile,
    now: Time,
    expected: Expected | None = None,
    seen: Seen | None = None,
    source: str = "bundle",
    demo_allowed: bool = False,
) -> Verified:
    """The bundle in `data`, if it can be trusted; raises NotTrustedError with the name of the check that failed.

    A demo is refused, unless `demo_allowed` says that it is taken for what it is.
    """
    inspection = inspect_bundle(data, trust, now, expected, seen, source, demo_allowed)
    if inspection.verified is None:
        raise not_trusted(inspection.reasons, source)
    return inspection.verified


def inspect_bundle(
    data: bytes,
    trust: TrustFile,
    now: Time,
    expected: Expected | None = None,
    seen: Seen | None = None,
    source: str = "bundle",
    demo_allowed: bool = False,
) -> Inspection:
    """Runs every check and gives all reasons against the bundle; raises InputError if it is no JSON at all."""
    plain = read_signed_file(data, source)
    if not is_envelope(plain):
        return Inspection(None, (_unsigned(source),))
    envelope = envelope_from_plain(plain, source)
    if not envelope.signatures:
        return Inspection(None, (_unsigned(source),))
    if envelope.payload_type != PAYLOAD_TYPE:
        return Inspection(None, (_wrong_type(envelope.payload_type),))
    signers, reasons = _releasers(envelope, trust, now)
    if not signers:
        return Inspection(None, tuple(dict.fromkeys(reasons)))
    try:
        statement = ReleaseStatement.from_plain(read_payload(envelope.payload, RELEASE_TYPE, source), source)
    except (InputError, NotTrustedError) as error:
        return Inspection(None, (reason_of(error),))
    faults = [demo_fault(key, statement.predicate.demo, "The bundle") for _, key in signers]
    if None not in faults:
        return Inspection(None, tuple(dict.fromkeys(each for each in faults if each is not None)))
    signers = [signer for signer, fault in zip(signers, faults, strict=True) if fault is None]
    releasers = tuple(sorted({person.id for person, _ in signers}))
    case = Case(
        statement,
        sha256(envelope.payload),
        releasers,
        trust,
        now,
        expected or Expected(),
        seen or Seen(),
        demo_allowed,
    )
    found = tuple(reason for check in BUNDLE_CHECKS for reason in check(case))
    if found:
        return Inspection(None, found)
    reviewers = {action.id: case.standing(action).counted for action in case.policy.actions}
    verified = Verified(
        statement,
        case.payload_digest,
        releasers,
        reviewers,
        trust,
        tuple(sorted({key.id for _, key in signers})),
        now,
        _sentences(case, reviewers, seen),
    )
    return Inspection(verified, ())


def _releasers(envelope: Envelope, trust: TrustFile, now: Time) -> tuple[list[tuple[Person, TrustedKey]], list[Reason]]:
    """Who signed the whole and counts, with which key; and what speaks against each signature that does not."""
    known = {key.id for person in trust.people for key in person.keys}
    counted: list[tuple[Person, TrustedKey]] = []
    reasons: list[Reason] = []
    for signature, signer in zip(envelope.signatures, verify(envelope, trust.public_keys), strict=True):
        owner = None if signer is None else trust.owner(signer)
        if owner is None:
            reasons.append(_tampered() if signature.key_id in known else _unknown_key(signature.key_id))
            continue
        fault = signer_fault(*owner, "releaser", now, sha256(envelope.payload))
        if fault is None:
            counted.append(owner)
        else:
            reasons.append(fault)
    return counted, reasons


def _sentences(case: Case, reviewers: Mapping[str, tuple[str, ...]], seen: Seen | None) -> tuple[str, ...]:
    made, trust, expected = case.statement.predicate, case.trust, case.expected
    by_person: dict[str, int] = {}
    for people in reviewers.values():
        for person in people:
            by_person[person] = by_person.get(person, 0) + 1
    lines = [DEMO] if made.demo else []
    lines += [
        f"Released by {', '.join(case.releasers)} on {made.created} as number {made.serial} of "
        f"{lineage(case.policy)!r}, valid until {made.expires}.",
        f"{len(case.policy.actions)} actions, all approved: "
        + "; ".join(f"{person} signed for {count}" for person, count in sorted(by_person.items()))
        + ".",
    ]
    overridden = [each for each in made.actions if each.override is not None]
    if overridden:
        count = "1 action is" if len(overridden) == 1 else f"{len(overridden)} actions are"
        lines.append(f"{count} not as proposed: {listed([_override(each) for each in overridden])}.")
    if made.audience:
        lines.append(f"Made for {listed(made.audience)}.")
    if trust.authors_may_approve:
        lines.append("Authors may approve their own work here (trust file).")
    if max(trust.quorum.low, trust.quorum.medium, trust.quorum.high) == 1:
        lines.append("One reviewer is enough for every risk here (trust file).")
    missing = [
        name
        for name, given in (
            ("the model", expected.model_digest),
            ("the hardware spec", expected.spec_digest),
            ("the rule set", expected.ruleset_digest),
        )
        if given is None
    ]
    if seen is not None and seen.newest(seen_name(case.policy), trust) is None:
        lines.append("Nothing of this name was built here before, so an older bundle would not be noticed.")
    if trust.root is None:
        lines.append("The trust file is not signed: whoever can write it decides what is trusted.")
    if missing:
        lines.append(f"Not compared, because it was not given: {', '.join(missing)}.")
    return tuple(lines)


def _override(action: SignedAction) -> str:
    note = action.override
    assert note is not None
    until = "" if note.expires is None else f" until {note.expires}"
    return f"{action.id} (by {note.author}{until}: {note.reason})"


def _unsigned(source: str) -> Reason:
    return Reason(
        check="unsigned",
        what=f"{source} is not signed.",
        why="Only what people approved and a releaser signed is built as trusted.",
        fix="Review it and run `meta-infer sign`, or build with --development, which marks the package unreviewed.",
    )


def _wrong_type(found: str) -> Reason:
    return Reason(
        check="wrong_type",
        what="What is signed is not a statement of meta-infer.",
        why=f"Payload type {found!r}, expected {PAYLOAD_TYPE!r}.",
        fix="Give the bundle that `meta-infer sign` wrote.",
    )


def _tampered() -> Reason:
    return Reason(
        check="tampered",
        what="The signature does not fit the bytes.",
        why="The key is known, so the content or the signature was changed after signing.",
        fix="Get the bundle again from who signed it, or sign it again.",
    )


def _unknown_key(key_id: str | None) -> Reason:
    return Reason(
        check="unknown_key",
        what="No key of the trust file made this signature.",
        why=f"The signature names {key_id or 'no key'}.",
        fix="If you trust the signer, add their key with `meta-infer keys trust`; otherwise refuse the bundle.",
    )
