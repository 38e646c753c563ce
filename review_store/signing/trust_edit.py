"""Changes to a trust file: each gives a new file with the next version; a signed one waits for its root keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metainfer_core.bundle.envelope import Envelope, Signature, envelope_from_plain, read_signed_file
from metainfer_core.bundle.person_names import name_fault, spelled_alike
from metainfer_core.bundle.seen import Seen, read_seen, remember_trust, seen_file
from metainfer_core.bundle.trust import Revocation, RiskLevel, Role, Time, TrustFile, TrustRoot
from metainfer_core.bundle.trust_root import TRUST_LIMIT_BYTES, TRUST_TYPE, read_trust, short_of
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.values import sha256
from review_store.record.events import Released, SignedApproval
from review_store.record.log import Record
from review_store.signing.external_keys import SigningKey
from review_store.signing.keys import PublicKeyFile
from review_store.signing.sign_payload import sign_payload


@dataclass(frozen=True)
class Written:
    """Where a changed trust file went."""

    path: Path
    missing: int
    """Signatures of root keys that it still needs before it takes effect."""


def with_key(
    trust: TrustFile,
    file: PublicKeyFile,
    roles: tuple[Role, ...],
    name: str = "",
    chips: tuple[str, ...] = (),
    max_risk: RiskLevel | None = None,
) -> TrustFile:
    """The trust file with a person's key, and with these roles beside those that the person has."""
    _refuse_key(trust, file)
    _refuse_name(trust, file.person, name)
    if not all(each.strip() for each in chips):
        raise InputError("--chip: the chip has no name.", fix="Give the name that its spec has, such as rk3588.")
    people = {person.id: person.plain() for person in trust.people}
    person: dict[str, Any] = people.setdefault(file.person, {"id": file.person, "roles": [], "keys": []})
    if name:
        person["name"] = name
    if chips:
        person["chips"] = sorted({*person.get("chips", ()), *chips})
    if max_risk is not None:
        person["max_risk"] = max_risk
    person["roles"] = sorted({*person["roles"], *roles})
    if file.key.id not in {key.id for each in trust.people if each.id == file.person for key in each.keys}:
        person["keys"] = [*person["keys"], file.key.plain()]
    return _next(trust, people=list(people.values()))


def with_root(trust: TrustFile, files: Sequence[PublicKeyFile], threshold: int) -> TrustFile:
    """The trust file with these root keys: from now on so many of them sign every change of it."""
    ids = [each.key.id for each in files]
    if twice := [each for each in files if ids.count(each.key.id) > 1]:
        raise InputError(
            f"{twice[0].person}: this root key is given twice.",
            f"Its id is {twice[0].key.id}. It would count twice.",
            "Give each public key once.",
        )
    if not 1 <= threshold <= len(files):
        raise InputError(
            f"--threshold {threshold}: so many root keys can never sign.",
            f"{len(files)} public keys are given.",
            f"Give a number from 1 to {len(files)}.",
        )
    return _next(trust, root={"keys": [each.key.plain() for each in files], "threshold": threshold})


def revoke(
    trust: TrustFile, which: str, at: Time, reason: str, records: Sequence[Record] = (), since: int | None = None
) -> tuple[TrustFile, tuple[str, ...]]:
    """The trust file without a key, or without all keys of a person; and the ids of the keys that it concerns.

    Args:
        trust: As it was.
        which: A key's id, or a person.
        at: Now.
        reason: Why.
        records: The whole review log, where `since` is given.
        since: Number of the first event that the person may not have written: what they signed before still counts.
    """
    if since is not None and not 1 <= since <= len(records) + 1:
        raise InputError(
            f"--since {since}: the record has no such event.",
            f"It holds {len(records)} events.",
            "Give the number of the first event that another may have written; `meta-infer review show` numbers them.",
        )
    people: list[dict[str, Any]] = []
    revoked: list[str] = []
    for person in trust.people:
        kept = () if since is None else _signed_before(records, person.id, since)
        revocation = Revocation(at=at, reason=reason, event=since, kept=kept).plain()
        keys = []
        for key in person.keys:
            concerned = which in (key.id, person.id) and key.revoked is None
            revoked.extend([key.id] if concerned else [])
            keys.append(key.plain() | ({"revoked": revocation} if concerned else {}))
        people.append(person.plain() | {"keys": keys})
    if not revoked:
        raise InputError(
            f"{which}: the trust file has no such key or person with a valid key.",
            "Nothing was revoked.",
            "See `meta-infer keys list`.",
        )
    return _next(trust, people=people), tuple(revoked)


def editable_trust(path: Path) -> TrustFile:
    """What an edit starts from: the next version that waits for signatures, or else the trust file."""
    waiting = _waiting(path)
    return read_trust(path) if waiting is None else TrustFile.from_json(waiting.payload, str(pending_path(path)))


def write_trust(path: Path, trust: TrustFile) -> Written:
    """Writes a changed trust file: at once, or beside it where root keys have to sign it first."""
    now = read_trust(path)
    if trust.root is None and now.root is None:
        write_bytes(path, trust.to_json() + b"\n", "trust file", lasting=True)
        return Written(path, 0)
    plain = trust.plain() | {"version": now.version + 1}
    return _settle(path, Envelope(TRUST_TYPE, TrustFile.from_plain(plain, str(path)).to_json(), ()))


def sign_trust(path: Path, key: SigningKey) -> Written:
    """Adds a root key's signature to the version that waits; it takes effect once enough of the old and new sign."""
    waiting = _waiting(path)
    if waiting is None:
        raise InputError(
            f"{path}: no change of the trust file waits to be signed.",
            f"{pending_path(path)} is not there.",
            "Change it first, with `meta-infer keys trust`, `revoke` or `root`.",
        )
    roots = _roots(path, waiting)
    if key.public_key not in {raw for root in roots for raw in root.public_keys}:
        raise NotTrustedError(
            "This key is no root key of the trust file.",
            f"Its id is {key.id}.",
            "Sign with a root key; see `meta-infer keys list`.",
            "trust_root",
        )
    made = sign_payload(waiting.payload, [key], TRUST_TYPE).signatures
    others = tuple(each for each in waiting.signatures if each.key_id != key.id)
    signatures: tuple[Signature, ...] = (*others, *made)
    return _settle(path, Envelope(TRUST_TYPE, waiting.payload, signatures))


def pending_path(path: Path) -> Path:
    """Where the next version of a signed trust file waits for its signatures."""
    return path.with_name(f"{path.stem}.next.json")


def _refuse_key(trust: TrustFile, file: PublicKeyFile) -> None:
    """Raises where adding a key would change nothing, or count one key for two people."""
    owner = trust.owner(file.key.raw)
    if owner is None:
        return
    person, key = owner
    if person.id != file.person:
        raise InputError(
            f"{file.person}: this is the key of {person.id}.",
            f"Its id is {key.id}. One key cannot count for two people.",
            f"Ask {file.person} for their own public key.",
        )
    if key.revoked is not None:
        raise InputError(
            f"{person.id}: this key was revoked and is not trusted again.",
            f"Its id is {key.id}; it was revoked at {key.revoked.at} ({key.revoked.reason}).",
            "Add a new key: `meta-infer keys new` makes one.",
        )


def _refuse_name(trust: TrustFile, person: str, name: str) -> None:
    fault = name_fault(name)
    if fault is not None:
        raise InputError(
            f"--name {name}: this name could be taken for another one.",
            f"{fault[0].upper()}{fault[1:]}.",
            "Type the name in the letters of one script.",
        )
    alike = [each.id for each in trust.people if each.id != person and each.name and spelled_alike(each.name, name)]
    if alike:
        raise InputError(
            f"--name {name}: {alike[0]} has this name already.",
            "Two people whose names look the same cannot be told apart.",
            "Give a name that tells them apart.",
        )


def _settle(path: Path, envelope: Envelope) -> Written:
    missing = short_of(envelope, _roots(path, envelope))
    place = pending_path(path) if missing else path
    write_bytes(place, envelope.to_json() + b"\n", "trust file", lasting=True)
    if not missing:
        pending_path(path).unlink(missing_ok=True)
        remember_trust(seen_file(path), TrustFile.from_json(envelope.payload, str(path)))
    return Written(place, missing)


def _roots(path: Path, envelope: Envelope) -> list[TrustRoot]:
    """The roots that must sign: that of the file as it is, that which this machine knows, and the new one."""
    new = TrustFile.from_json(envelope.payload, str(path))
    seen: Seen = read_seen(seen_file(path))
    return [root for root in (read_trust(path).root, seen.root, new.root) if root is not None]


def _waiting(path: Path) -> Envelope | None:
    pending = pending_path(path)
    if not pending.exists():
        return None
    data = read_bytes(pending, "trust file", TRUST_LIMIT_BYTES)
    return envelope_from_plain(read_signed_file(data, str(pending)), str(pending))


def _signed_before(records: Sequence[Record], person: str, since: int) -> tuple[str, ...]:
    """Digests of everything that a person signed before an event, by the log."""
    found: set[str] = set()
    for record in records:
        event = record.event
        if record.seq >= since or event.actor != person:
            continue
        if isinstance(event, Released):
            found.update(each for each in (event.payload_digest, event.approval_digest) if each)
        elif isinstance(event, SignedApproval):
            found.add(sha256(envelope_from_plain(event.envelope, "record").payload))
    return tuple(sorted(found))


def _next(trust: TrustFile, **changed: Any) -> TrustFile:
    return TrustFile.from_plain(trust.plain() | changed | {"version": trust.version + 1}, "trust file")
