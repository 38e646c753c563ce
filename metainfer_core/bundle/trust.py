"""The trust file: whose signature counts, for what, until when, and how many are needed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import pydantic

from metainfer_core.bundle.envelope import decode_base64, key_id, load_public_key
from metainfer_core.bundle.person_names import look_of, name_fault
from metainfer_core.errors import InputError
from metainfer_core.values import Value

PersonId = Annotated[str, pydantic.StringConstraints(pattern=r"^[a-z0-9][a-z0-9._@+-]{0,99}$")]
"""Small ASCII letters, digits and `._@+-`: no two ids look alike."""
Role = Literal["reviewer", "releaser"]
RiskLevel = Literal["low", "medium", "high"]
VERSION = r"^[0-9]+\.[0-9]+\.[0-9]+$"
RISK_LEVELS: tuple[RiskLevel, ...] = ("low", "medium", "high")


TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def _whole_second_utc(text: str) -> str:
    try:
        spelled = datetime.strptime(text, TIME_FORMAT).strftime(TIME_FORMAT)
    except ValueError:
        spelled = ""
    if spelled != text:
        raise ValueError(
            "a time is a date and a time of day in UTC, with two digits for each part, as in 2026-01-02T03:04:05Z"
        )
    return text


def _told_apart(name: str) -> str:
    fault = name_fault(name)
    if fault is not None:
        raise ValueError(fault)
    return name


def _only_true(mark: bool) -> bool:
    if not mark:
        raise ValueError("the mark is `true`, or is left out")
    return mark


Mark = Annotated[bool, pydantic.AfterValidator(_only_true), pydantic.WithJsonSchema({"const": True})] | None
"""A mark that stands there or does not: it has one spelling, and files without it keep their digests."""
Time = Annotated[
    str,
    pydantic.AfterValidator(_whole_second_utc),
    pydantic.WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}),
]
"""RFC 3339 in UTC and whole seconds, such as `2026-11-29T12:00:00Z`: text order is time order."""


def time_text(moment: datetime) -> Time:
    """An aware time as the text that values hold."""
    return moment.astimezone(UTC).strftime(TIME_FORMAT)


def moment(text: Time) -> datetime:
    """The time that a text of a value names."""
    return datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC)


class Revocation(Value):
    """Since when a key counts no more, and why."""

    at: Time
    reason: str
    event: int | None = None
    """Number of the first event of the review log that the key's holder may not have written; None: trust none."""
    kept: tuple[str, ...] = ()
    """Digests of what the key signed before that event, by the log: these signatures still count. A signature's own
    time is no help, since who holds the key can claim any."""


class TrustedKey(Value):
    """One public key of a person."""

    algorithm: Literal["ed25519", "ecdsa-p256"] = "ed25519"
    public_key: str
    """Base64 of the raw bytes: 32 for Ed25519, 65 (a point, not compressed) for ECDSA on P-256."""
    valid_from: Time | None = None
    valid_until: Time | None = None
    revoked: Revocation | None = None
    demo: Mark = None
    """A studio in demo mode holds it and signs for whoever sits there. It counts only in what is marked as a demo."""

    @pydantic.model_validator(mode="after")
    def _is_a_sound_key(self) -> TrustedKey:
        try:
            raw = decode_base64(self.public_key, "public_key")
            load_public_key(self.algorithm, raw)
        except InputError as error:
            raise ValueError(error.why) from error
        if self.algorithm == "ed25519" and _has_small_order(raw):
            raise ValueError("this key has small order: signatures by it can be made without a private key")
        return self

    @property
    def raw(self) -> bytes:
        """The bytes of the key."""
        return decode_base64(self.public_key, "public_key")

    @property
    def id(self) -> str:
        """Digest of the raw bytes: what a signature names."""
        return key_id(self.raw)

    def fault(self, now: Time, payload_digest: str = "") -> str | None:
        """Why a signature by this key on these bytes does not count at `now`, or None.

        A revoked key counts for what its revocation keeps, and for nothing else, whatever time a signature claims.
        """
        if self.revoked is not None:
            if payload_digest in self.revoked.kept:
                return None
            return f"was revoked at {self.revoked.at} ({self.revoked.reason})"
        if self.valid_from is not None and now < self.valid_from:
            return f"is valid only from {self.valid_from} on"
        if self.valid_until is not None and now > self.valid_until:
            return f"was valid only until {self.valid_until}"
        return None


class Person(Value):
    """Someone whose signature can count."""

    id: PersonId
    name: Annotated[str, pydantic.AfterValidator(_told_apart)] = ""
    roles: tuple[Role, ...]
    keys: tuple[TrustedKey, ...] = ()
    chips: tuple[str, ...] = ()
    """Names of the chips that this person counts for; none named: every chip."""
    max_risk: RiskLevel = "high"
    """The highest risk that this person counts for as a reviewer."""

    def covers(self, chip: str) -> bool:
        """Whether this person counts for bundles for a chip."""
        return not self.chips or chip in self.chips


class Quorum(Value):
    """How many distinct people must stand behind an action of each risk, and behind the whole."""

    low: Annotated[int, pydantic.Field(ge=1, le=100)] = 1
    medium: Annotated[int, pydantic.Field(ge=1, le=100)] = 1
    high: Annotated[int, pydantic.Field(ge=1, le=100)] = 1
    release: Annotated[int, pydantic.Field(ge=1, le=100)] = 1

    def reviewers(self, risk: RiskLevel) -> int:
        """How many reviewers an action of this risk needs."""
        return {"low": self.low, "medium": self.medium, "high": self.high}[risk]


class TrustRoot(Value):
    """Who may change a trust file: keys that sign it, and how many of them it takes."""

    keys: tuple[TrustedKey, ...]
    threshold: Annotated[int, pydantic.Field(ge=1)]

    @pydantic.model_validator(mode="after")
    def _can_be_reached(self) -> TrustRoot:
        _refuse_twice("root key", [key.public_key for key in self.keys])
        if self.threshold > len(self.keys):
            raise ValueError(f"{self.threshold} of {len(self.keys)} root keys can never sign")
        return self

    @property
    def public_keys(self) -> tuple[bytes, ...]:
        """Every root key."""
        return tuple(key.raw for key in self.keys)


class TrustFile(Value):
    """Whose signature counts. No person and no key can stand in it twice."""

    format: Literal["metainfer.trust/1"] = "metainfer.trust/1"
    """Name and version of this format."""
    version: Annotated[int, pydantic.Field(ge=1)] = 1
    """Rises with every change."""
    people: tuple[Person, ...] = ()
    """Whose signatures count, by which keys and as what."""
    quorum: Quorum = Quorum()
    """How many people must stand behind an action, by its risk, and behind the whole."""
    authors_may_approve: bool = True
    """Whether who wrote a policy or an override counts among its reviewers. Bundles made so say it."""
    comments_block: bool = False
    """Whether an open comment keeps its action from being approved, in reviews with this file."""
    least_reason: Annotated[int, pydantic.Field(ge=1, le=500)] | None = None
    """How many letters and digits a reason, and each line of a justification, has at least, in reviews with this file;
    None: it must not be empty."""
    expires: Time | None = None
    """When it must have been replaced by a newer version; None: never."""
    audience: str = ""
    """Who builds with this file, such as a fleet: bundles that are made for others are refused."""
    min_tool_version: Annotated[str, pydantic.StringConstraints(pattern=VERSION)] | None = None
    """Nothing that an older meta-infer made or checks is trusted."""
    root: TrustRoot | None = None
    """Who signs this file; None: it is not signed, and whoever can write it can change it."""

    @pydantic.model_validator(mode="after")
    def _nobody_counts_twice(self) -> TrustFile:
        _refuse_twice("person", [person.id for person in self.people])
        _refuse_twice("name", [look_of(person.name) for person in self.people if person.name])
        _refuse_twice("public key", [key.public_key for person in self.people for key in person.keys])
        return self

    def person(self, person_id: str) -> Person | None:
        """The person with this id."""
        return next((each for each in self.people if each.id == person_id), None)

    def owner(self, public_key: bytes) -> tuple[Person, TrustedKey] | None:
        """Whose key this is."""
        return next(((each, key) for each in self.people for key in each.keys if key.raw == public_key), None)

    @property
    def public_keys(self) -> tuple[bytes, ...]:
        """Every key in the file, revoked ones too, so that a verdict can name them."""
        return tuple(key.raw for person in self.people for key in person.keys)


def _refuse_twice(what: str, found: list[str]) -> None:
    twice = sorted({each for each in found if found.count(each) > 1})
    if twice:
        raise ValueError(f"the {what} {twice[0]} stands in the trust file twice, and would count twice")


def _has_small_order(raw: bytes) -> bool:
    """Whether the point lies in the subgroup of order 8: its y is one of five values, however it is spelled.

    Under such a key some signatures hold for every message, and need no private key.
    """
    prime = 2**255 - 19
    order_eight = 2707385501144840649318225287225658788936804267575313519463743609750303402022
    y = (int.from_bytes(raw, "little") & (2**255 - 1)) % prime
    return y in (0, 1, prime - 1, order_eight, prime - order_eight)
