"""A bundle that passed every check, and that from then on no older one takes the place of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.bundle.seen import read_seen, seen_name, write_seen
from metainfer_core.bundle.statement import Digest, ReleaseStatement
from metainfer_core.bundle.trust import Time, TrustFile
from metainfer_core.policy.policy import Policy


@dataclass(frozen=True)
class Verified:
    """A bundle that passed every check."""

    statement: ReleaseStatement
    payload_digest: Digest
    """Digest of the signed bytes: what names this bundle."""
    releasers: tuple[str, ...]
    """Who signed the whole."""
    reviewers: Mapping[str, tuple[str, ...]]
    """Action id to the people who stand behind it."""
    trust: TrustFile
    """The trust file that vouches for it."""
    key_ids: tuple[str, ...]
    """Of the releasers' keys that count."""
    at: Time
    """When it was checked."""
    sentences: tuple[str, ...]
    """In plain words: what is signed by whom, and what was not compared."""

    @property
    def policy(self) -> Policy:
        """The reviewed policy."""
        return self.statement.predicate.policy

    @property
    def is_demo(self) -> bool:
        """Whether a studio in demo mode signed it."""
        return self.statement.predicate.demo is True

    @property
    def name(self) -> str:
        """What it is remembered under."""
        return seen_name(self.policy)


def remember(path: Path, verified: Verified) -> None:
    """Notes down a bundle that something is now built from, so that an older one is refused from here on."""
    serial, name = verified.statement.predicate.serial, verified.name
    seen = read_seen(path).with_bundle(
        name, serial, verified.payload_digest, verified.trust, verified.key_ids, verified.at
    )
    write_seen(path, seen)
