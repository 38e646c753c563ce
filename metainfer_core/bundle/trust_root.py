"""Reading a trust file: a plain one, or one that its root keys signed, which nobody else can change.

A new version of a signed trust file is signed by enough of its own root keys and by enough of those that this machine
knows from before, as in The Update Framework (theupdateframework.github.io/specification, 5.3): whoever takes over the
file alone can neither change it nor put other root keys in.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from metainfer_core.bundle.envelope import (
    Envelope,
    envelope_from_plain,
    is_envelope,
    read_signed_file,
    verify,
)
from metainfer_core.bundle.seen import Seen, read_seen, seen_file
from metainfer_core.bundle.trust import TrustFile, TrustRoot
from metainfer_core.errors import NotTrustedError
from metainfer_core.files import read_bytes
from metainfer_core.values import canonical_json, read_json

TRUST_TYPE = "application/vnd.metainfer.trust+json"
TRUST_LIMIT_BYTES = 1 << 20


def read_trust(path: Path) -> TrustFile:
    """The trust file at `path`, held against what was trusted here before; one that trusts nobody if there is none.

    Raises NotTrustedError where its root keys did not sign it, or it is not a successor of the one known here.
    """
    if not path.exists():
        return TrustFile()
    return open_trust(read_bytes(path, "trust file", TRUST_LIMIT_BYTES), str(path), read_seen(seen_file(path)))


def missing_trust(path: Path) -> NotTrustedError | None:
    """The refusal where there is no trust file at all, or None."""
    if path.exists():
        return None
    return NotTrustedError(
        f"{path}: there is no trust file, so nobody's signature counts.",
        "It says whose keys count, and for what.",
        "Give it with --trust; or make it in the workspace, with `meta-infer keys trust PUBLIC_KEY`.",
        "unknown_key",
    )


def open_trust(data: bytes, source: str, seen: Seen) -> TrustFile:
    """The trust file in these bytes, if it may stand where the one stood that this machine saw."""
    plain = read_signed_file(data, source)
    envelope = envelope_from_plain(plain, source) if is_envelope(plain) else None
    if seen.root is not None:
        _refuse_short(signed_by(envelope, seen.root), seen.root, source, "the root keys that this machine knows")
    trust = TrustFile.from_plain(plain, source) if envelope is None else _payload(envelope, source)
    if trust.root is not None:
        _refuse_short(signed_by(envelope, trust.root), trust.root, source, "its own root keys")
        _refuse_older(trust, seen, source)
    return trust


def signed_by(envelope: Envelope | None, root: TrustRoot) -> int:
    """How many distinct keys of a root signed."""
    if envelope is None:
        return 0
    return len({key for key in verify(envelope, root.public_keys) if key is not None})


def short_of(envelope: Envelope | None, roots: Iterable[TrustRoot | None]) -> int:
    """How many signatures are still missing until every root is satisfied."""
    return max((each.threshold - signed_by(envelope, each) for each in roots if each is not None), default=0)


def _payload(envelope: Envelope, source: str) -> TrustFile:
    """What a signed file says; that its root keys signed it is for the caller to see to, before it is used."""
    if envelope.payload_type != TRUST_TYPE:
        raise NotTrustedError(
            f"{source}: what is signed is not a trust file.",
            f"Payload type {envelope.payload_type!r}, expected {TRUST_TYPE!r}.",
            "Give the trust file that `meta-infer keys sign-trust` wrote.",
            "wrong_type",
        )
    plain = read_json(envelope.payload, source)
    trust = TrustFile.from_plain(plain, source)
    if canonical_json(plain) != envelope.payload or trust.root is None:
        raise _not_by_root(source, "It is not in canonical form, or names no root keys.")
    return trust


def _refuse_short(count: int, root: TrustRoot, source: str, whose: str) -> None:
    if count < root.threshold:
        raise _not_by_root(source, f"{count} of {whose} signed it; {root.threshold} must.")


def _refuse_older(trust: TrustFile, seen: Seen, source: str) -> None:
    """Its root keys signed every former version too: whoever puts one back undoes the revocations since."""
    if trust.version < seen.trust_version:
        raise NotTrustedError(
            f"{source}: the trust file is older than one that was used here before.",
            f"It has version {trust.version}; version {seen.trust_version} was used before.",
            "Use the newest trust file.",
            "downgrade",
        )


def _not_by_root(source: str, why: str) -> NotTrustedError:
    return NotTrustedError(
        f"{source}: the trust file is not signed by those who may change it.",
        why,
        "Get the newest trust file from whoever keeps it; they sign it with `meta-infer keys sign-trust`.",
        "trust_root",
    )
