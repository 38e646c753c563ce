"""Demo mode: the studio holds keys of its own and signs for whoever sits there, so that a first look gets to the end.

What it signs is marked, and so are its keys in the trust file. Nothing takes a demo for more than that: it never counts
beside a person's own key, and `verify` and `compile` refuse it unless they are asked to take it for what it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from metainfer_core.bundle.envelope import encode_base64
from metainfer_core.bundle.statement import Digest
from metainfer_core.bundle.trust import Role, Time, TrustedKey, TrustFile
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import Pending, alone
from metainfer_core.policy.policy import Policy
from review_store.record.log import EventLog
from review_store.review.decide import current_state
from review_store.signing.keys import PrivateKey, PublicKeyFile, new_key
from review_store.signing.signing import Release, release, sign_approvals
from review_store.signing.trust_edit import with_key, write_trust

ROLES: tuple[Role, ...] = ("reviewer", "releaser")


class DemoKeys:
    """The keys of one running studio, one a person. They live in its memory alone and end with it."""

    def __init__(self) -> None:
        """Holds no key yet."""
        self._keys: dict[str, PrivateKey] = {}
        self._lock = threading.Lock()

    def of(self, person: str) -> PrivateKey:
        """The key that signs for a person; made when first asked for."""
        with self._lock:
            return self._keys.setdefault(person, new_key())


def refuse_demo(trust: TrustFile, source: str) -> None:
    """Raises NotTrustedError where a trust file is no demo's: then people sign with their own keys, and nobody else."""
    own = sorted(person.id for person in trust.people if any(not key.demo for key in person.keys))
    if own or trust.root is not None:
        raise NotTrustedError(
            f"{source}: in this workspace people sign with keys of their own, so the demo does not sign here.",
            f"The trust file names a key of {own[0]}." if own else "The trust file has root keys.",
            "Use a workspace of its own for the demo, as in `meta-infer studio --demo --sample --workspace demo`.",
            "demo",
        )


def sign_demo(
    log: EventLog,
    policy: Policy,
    trust_file: Path,
    keys: DemoKeys,
    person: str,
    at: Time,
    expires: Time,
    ruleset_digest: Digest | None = None,
    buildable: Callable[[Policy], None] | None = None,
    chip: str = "",
    file: Pending | None = None,
) -> Release:
    """Signs for everybody who approved, and releases the whole for `person`; the bundle is marked as a demo.

    Args:
        log: The record.
        policy: As proposed, bound to its model and spec.
        trust_file: Of the workspace; the demo's keys are put into it, marked.
        keys: Of this studio.
        person: Who sits there.
        at: Now.
        expires: Until when the bundle is valid.
        ruleset_digest: Of the rules that will compile it.
        buildable: Raises where the reviewed policy cannot be built.
        chip: Name of the chip that the spec describes.
        file: Where the bundle goes.

    Raises:
        NotTrustedError: The trust file names a key that is no demo's, or something is not reviewed.
    """
    if not person:
        raise InputError("It is not known who sits here.", fix="Say who you are, at the left.")
    with alone(trust_file):
        trust = read_trust(trust_file)
        refuse_demo(trust, str(trust_file))
        state = current_state(log, policy, trust)
        others = sorted({name for each in state.actions for name in each.approvals} - {person})
        trust = _with_demo_keys(trust, trust_file, keys, (person, *others))
    for name in others:
        sign_approvals(log, policy, trust, keys.of(name), at)
    return release(
        log,
        policy,
        trust,
        keys.of(person),
        at,
        expires,
        ruleset_digest=ruleset_digest,
        buildable=buildable,
        chip=chip,
        file=file,
    )


def _with_demo_keys(trust: TrustFile, path: Path, keys: DemoKeys, people: Iterable[str]) -> TrustFile:
    """The trust file with this studio's key for each of these people, written where that changed it."""
    changed = trust
    for name in people:
        key = TrustedKey(public_key=encode_base64(keys.of(name).public_key), demo=True)
        if changed.owner(key.raw) is None:
            changed = with_key(changed, PublicKeyFile(person=name, key=key), ROLES)
    if changed is not trust:
        write_trust(path, changed)
    return changed
