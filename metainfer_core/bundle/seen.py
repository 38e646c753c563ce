"""What this machine trusted before: so that an older bundle or trust file is not passed off as the newest.

The record carries a check made with a key of its own, which lies beside it with the number of the last change: a
record that was cut, edited or put back is refused, and so is a missing one while its key is there. Who can write both
files can start it anew; then the first bundle is taken as the newest, and the verdict says so.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from metainfer_core.bundle.trust import TrustFile, TrustRoot
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.policy.policy import Policy
from metainfer_core.values import FrozenMap, Value, canonical_json, read_json


class SeenBundle(Value):
    """The newest bundle under one name by one set of keys."""

    serial: int
    payload_digest: str
    keys: tuple[str, ...] = ()
    """Ids of the releasers' keys."""

    def counts(self, trust: TrustFile) -> bool:
        """Whether its serial still binds: not if a key of it was revoked since, and with it this bundle.

        Else who stole a key once could release under the highest number there is, and lock out all that follow.
        """
        revoked = {
            key.id
            for person in trust.people
            for key in person.keys
            if key.revoked is not None and self.payload_digest not in key.revoked.kept
        }
        return not revoked.intersection(self.keys)


class Seen(Value):
    """The newest of everything that was trusted here."""

    format: Literal["metainfer.seen/2"] = "metainfer.seen/2"
    changes: int = 0
    """How often it was written."""
    trust_version: int = 0
    trust_digest: str = ""
    root: TrustRoot | None = None
    """Root keys of the trust file, once it had some."""
    latest: str = ""
    """The latest time at which something was trusted: the clock was set back if it is earlier now."""
    bundles: FrozenMap[tuple[SeenBundle, ...]] = {}
    """`seen_name` to the newest bundle of each set of keys."""

    def newest(self, name: str, trust: TrustFile) -> SeenBundle | None:
        """The newest bundle under a name, among those that still count."""
        found = [each for each in self.bundles.get(name, ()) if each.counts(trust)]
        return max(found, key=lambda each: each.serial, default=None)

    def older(self, name: str, serial: int, payload_digest: str, trust: TrustFile) -> str | None:
        """Why a bundle is older than, or not the same as, what was trusted before; or None."""
        newest = self.newest(name, trust)
        if newest is None or serial > newest.serial:
            return None
        if serial < newest.serial:
            return f"it has serial {serial}, and serial {newest.serial} of {name!r} was trusted here before"
        if payload_digest != newest.payload_digest:
            return f"another bundle of {name!r} with the same serial {serial} was trusted here before"
        return None

    def with_bundle(
        self, name: str, serial: int, payload_digest: str, trust: TrustFile, keys: Collection[str] = (), at: str = ""
    ) -> Seen:
        """This, and one bundle more."""
        found = SeenBundle(serial=serial, payload_digest=payload_digest, keys=tuple(sorted(keys)))
        others = tuple(each for each in self.bundles.get(name, ()) if each.keys != found.keys)
        return Seen(
            changes=self.changes + 1,
            trust_version=max(trust.version, self.trust_version),
            trust_digest=trust.digest if trust.version >= self.trust_version else self.trust_digest,
            root=trust.root or self.root,
            latest=max(at, self.latest),
            bundles={**self.bundles, name: (*others, found)},
        )

    def with_trust(self, trust: TrustFile) -> Seen:
        """This, with a signed trust file that took effect here."""
        return Seen(
            changes=self.changes + 1,
            trust_version=trust.version,
            trust_digest=trust.digest,
            root=trust.root,
            latest=self.latest,
            bundles=self.bundles,
        )


def seen_name(policy: Policy) -> str:
    """What bundles follow each other under: policies of one name, for one model and one spec."""
    digests = (each[:19] for each in (policy.model_digest, policy.spec_digest) if each)
    return " ".join((policy.name or "policy", *digests))


def seen_file(trust_file: Path) -> Path:
    """Where what was trusted under a trust file is remembered: beside it."""
    return trust_file.with_name(trust_file.stem + ".seen.json")


def read_seen(path: Path) -> Seen:
    """What was trusted before; nothing if nothing ever was. A broken or missing record is no fresh start."""
    key_path = _key_file(path)
    key, changes = _read_key(key_path)
    if not path.exists() and changes == 0:
        return Seen()
    if not path.exists():
        raise _unusable(path, f"{key_path.name} shows that there was one.")
    try:
        plain = read_json(read_bytes(path, "record of trusted bundles"), str(path))
        stated = plain.pop("check", "") if isinstance(plain, dict) else ""
        seen = Seen.from_plain(plain, str(path))
    except InputError as error:
        raise _unusable(path, error.why or error.what) from error
    if not key:
        raise _unusable(path, f"{key_path.name}, which its check was made with, is missing.")
    if not isinstance(stated, str) or not hmac.compare_digest(stated.encode(), _check(key, seen).encode()):
        raise _unusable(path, "Its check does not fit: it was changed by something else than meta-infer.")
    if seen.changes not in (changes, changes + 1):  # one more: stopped between writing the record and the number
        raise _unusable(path, f"It is that of change {seen.changes}; the last change was number {changes}.")
    return seen


def remember_trust(path: Path, trust: TrustFile) -> None:
    """Notes down a signed trust file that took effect: from here on none is taken that its root keys did not sign."""
    write_seen(path, read_seen(path).with_trust(trust))


def write_seen(path: Path, seen: Seen) -> None:
    """Writes the record with its check, then the number of its change beside it."""
    key_path = _key_file(path)
    key, _ = _read_key(key_path)
    if not key:
        key = secrets.token_hex(32)
        _write_key(key_path, key, 0)
    data = canonical_json(seen.plain() | {"check": _check(key, seen)}) + b"\n"
    write_bytes(path, data, "record of trusted bundles", lasting=True)  # before the number of its change
    _write_key(key_path, key, seen.changes)


def _key_file(path: Path) -> Path:
    return path.with_suffix(".key")


def _read_key(path: Path) -> tuple[str, int]:
    """The key, and the number of the last change; no key and 0 where there is none."""
    if not path.exists():
        return "", 0
    words = read_bytes(path, "key of the record of trusted bundles", 4096).decode("ascii", "replace").split()
    if len(words) != 2 or not words[1].isdecimal():
        raise _unusable(path.with_suffix(".json"), f"{path.name} is broken.")
    return words[0], int(words[1])


def _write_key(path: Path, key: str, changes: int) -> None:
    write_bytes(path, f"{key} {changes}\n".encode(), "key of the record of trusted bundles", mode=0o600, lasting=True)


def _check(key: str, seen: Seen) -> str:
    return "hmac-sha256:" + hmac.digest(key.encode(), seen.to_json(), "sha256").hex()


def _unusable(path: Path, why: str) -> NotTrustedError:
    return NotTrustedError(
        f"{path}: the record of what was trusted before cannot be used.",
        why,
        f"Restore it from a backup. Delete it and {_key_file(path).name} only if you are sure that no older bundle is "
        "being passed off as new.",
        check="downgrade",
    )
