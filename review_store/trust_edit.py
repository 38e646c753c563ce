"""Changes to a trust file: each gives a new file with the next version."""

from __future__ import annotations

from typing import Any

from metainfer_core.bundle.trust import Revocation, Role, Time, TrustFile
from metainfer_core.errors import InputError
from review_store.keys import PublicKeyFile


def with_key(trust: TrustFile, file: PublicKeyFile, roles: tuple[Role, ...], name: str = "") -> TrustFile:
    """The trust file with a person's key, and with these roles beside those that the person has."""
    people = {person.id: person.plain() for person in trust.people}
    person: dict[str, Any] = people.setdefault(file.person, {"id": file.person, "roles": [], "keys": []})
    if name:
        person["name"] = name
    person["roles"] = sorted({*person["roles"], *roles})
    if file.key.id not in {key.id for each in trust.people if each.id == file.person for key in each.keys}:
        person["keys"] = [*person["keys"], file.key.plain()]
    return _next(trust, list(people.values()))


def revoke(trust: TrustFile, which: str, at: Time, reason: str) -> tuple[TrustFile, tuple[str, ...]]:
    """The trust file without a key, or without all keys of a person; and the ids of the keys that it concerns."""
    revocation = Revocation(at=at, reason=reason).plain()
    people: list[dict[str, Any]] = []
    revoked: list[str] = []
    for person in trust.people:
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
    return _next(trust, people), tuple(revoked)


def _next(trust: TrustFile, people: list[dict[str, Any]]) -> TrustFile:
    plain = trust.plain() | {"people": people, "version": trust.version + 1}
    return TrustFile.from_plain(plain, "trust file")
