"""What this machine trusted before: so that an older bundle or trust file is not passed off as the newest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.policy.policy import Policy
from metainfer_core.values import FrozenMap, Value

if TYPE_CHECKING:
    from metainfer_core.bundle.signed_bundle import Verified


class SeenBundle(Value):
    """The newest bundle under one name."""

    serial: int
    payload_digest: str


class Seen(Value):
    """The newest of everything that was trusted here."""

    format: Literal["metainfer.seen/1"] = "metainfer.seen/1"
    trust_version: int = 0
    bundles: FrozenMap[SeenBundle] = {}
    """`seen_name` to its newest bundle."""

    def older(self, name: str, serial: int, payload_digest: str) -> str | None:
        """Why a bundle is older than, or not the same as, what was trusted before; or None."""
        newest = self.bundles.get(name)
        if newest is None or serial > newest.serial:
            return None
        if serial < newest.serial:
            return f"it has serial {serial}, and serial {newest.serial} of {name!r} was trusted here before"
        if payload_digest != newest.payload_digest:
            return f"another bundle of {name!r} with the same serial {serial} was trusted here before"
        return None

    def with_bundle(self, name: str, serial: int, payload_digest: str, trust_version: int) -> Seen:
        """This, and one bundle more."""
        found = SeenBundle(serial=serial, payload_digest=payload_digest)
        return Seen(trust_version=max(trust_version, self.trust_version), bundles={**self.bundles, name: found})


def seen_name(policy: Policy) -> str:
    """What bundles follow each other under: policies of one name, for one model and one spec."""
    digests = (each[:19] for each in (policy.model_digest, policy.spec_digest) if each)
    return " ".join((policy.name or "policy", *digests))


def seen_file(trust_file: Path) -> Path:
    """Where what was trusted under a trust file is remembered: beside it."""
    return trust_file.with_name(trust_file.stem + ".seen.json")


def read_seen(path: Path) -> Seen:
    """What was trusted before; nothing if there is no such file yet. A broken file is a refusal, not a fresh start."""
    if not path.exists():
        return Seen()
    try:
        return Seen.from_json(read_bytes(path, "record of trusted bundles"), str(path))
    except InputError as error:
        raise NotTrustedError(
            f"{path}: the record of what was trusted before cannot be read.",
            error.why or error.what,
            "Restore it. Delete it only if you are sure that no older bundle is being passed off as new.",
            check="downgrade",
        ) from error


def remember(path: Path, verified: Verified) -> None:
    """Notes down a bundle that something is now built from, so that an older one is refused from here on."""
    serial = verified.statement.predicate.serial
    seen = read_seen(path).with_bundle(verified.name, serial, verified.payload_digest, verified.trust_version)
    write_bytes(path, seen.to_json() + b"\n", "record of trusted bundles")
