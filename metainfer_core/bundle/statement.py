"""What is signed: in-toto statements about one model, one spec and one policy.

A reviewer signs an `ApprovalStatement` with the actions that they stand behind; a releaser signs the
`ReleaseStatement`, which holds the policy and every reviewer's signed approval. What a compiler acts on stands in
the release statement and nowhere else.

Format: github.com/in-toto/attestation, spec/v1/statement.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic
import rfc8785

from metainfer_core.bundle.trust import Mark, PersonId, RiskLevel, Time
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.policy.policy import Policy
from metainfer_core.values import FrozenMap, JsonMap, Value, canonical_json, read_json

STATEMENT_TYPE: Literal["https://in-toto.io/Statement/v1"] = "https://in-toto.io/Statement/v1"
APPROVAL_TYPE: Literal["urn:metainfer:approval:1"] = "urn:metainfer:approval:1"
RELEASE_TYPE: Literal["urn:metainfer:release:1"] = "urn:metainfer:release:1"
AGAIN = "Sign it again with meta-infer."

Digest = Annotated[str, pydantic.StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Line = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class Justification(Value):
    """Why a dangerous action may stand: the three lines that clear `review_required`."""

    why_allowed: Line
    accuracy_effect: Line
    fallback: Line
    """What is done if it proves wrong."""


class ApprovedAction(Value):
    """One action that a reviewer stands behind, exactly as they saw it."""

    id: str
    content_digest: Digest
    """The action's `content_digest`."""
    risk: RiskLevel
    """The risk that the reviewer saw: it may fall later, the quorum does not."""
    at: Time
    justification: Justification | None = None


class Subject(Value):
    """One thing that a statement is about."""

    name: str
    digests: FrozenMap[str] = pydantic.Field(alias="digest")
    """Algorithm to hex text."""

    @property
    def sha256(self) -> Digest:
        """Its digest as the product writes it."""
        return "sha256:" + self.digests.get("sha256", "")


class ApprovalPredicate(Value):
    """Who approves which actions under which rules."""

    format: Literal["metainfer.approval/1"] = "metainfer.approval/1"
    """Name and version of this format."""
    person: PersonId
    """Who approves, as the trust file names them."""
    tool_version: str
    """Of the meta-infer that signed."""
    ruleset_digest: Digest | None = None
    """Of the rules that the actions were proposed by."""
    at: Time
    """When it was signed, by the signer's clock."""
    demo: Mark = None
    """A studio in demo mode signed it, in the name of whoever sat there."""
    actions: tuple[ApprovedAction, ...]
    """What they stand behind, each bound by its digest."""


class ApprovalStatement(Value):
    """What one reviewer signs. Subjects: model and spec; the actions bind by their own digests."""

    type: Literal["https://in-toto.io/Statement/v1"] = pydantic.Field(default=STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:metainfer:approval:1"] = pydantic.Field(default=APPROVAL_TYPE, alias="predicateType")
    predicate: ApprovalPredicate

    @pydantic.model_validator(mode="after")
    def _subjects_are_right(self) -> ApprovalStatement:
        _refuse_other_subjects(self.subject, ("model", "spec"))
        return self


class SignedOverride(Value):
    """Who changed an action from what was proposed, why, and until when that holds."""

    author: PersonId
    reason: Line
    at: Time
    expires: Time | None = None


class SignedAction(Value):
    """One action of the released policy."""

    id: str
    content_digest: Digest
    authors: tuple[PersonId, ...] = ()
    """Who brought in the policy, or set this action's override."""
    override: SignedOverride | None = None


class LogHead(Value):
    """The end of the review log when the bundle was made: rows cut off later are missed from then on."""

    seq: int
    hash: Digest


class ReleasePredicate(Value):
    """The reviewed policy, and everything that makes it trusted."""

    format: Literal["metainfer.release/1"] = "metainfer.release/1"
    """Name and version of this format."""
    tool_version: str
    """Of the meta-infer that signed."""
    ruleset_digest: Digest | None = None
    """Of the rules that the policy was made by."""
    serial: Annotated[int, pydantic.Field(ge=1)]
    """Rises with every release of one lineage."""
    created: Time
    """From when it is valid."""
    expires: Time
    """Until when it is valid."""
    chip: str = ""
    """Name of the chip that the spec describes."""
    audience: tuple[str, ...] = ()
    """For whom it is, by the audiences that trust files name; none named: for everybody."""
    demo: Mark = None
    """Signed throughout by a studio in demo mode: it proves nothing about who approved, and is refused unless asked."""
    policy: Policy
    """As it was reviewed, with all overrides: what is built."""
    actions: tuple[SignedAction, ...]
    """Each action of the policy, in its order: its digest, its authors, and its override."""
    approvals: tuple[JsonMap, ...]
    """Each reviewer's own signed `ApprovalStatement`, as a DSSE envelope."""
    review_log: LogHead
    """Where the record of the review stood."""


class ReleaseStatement(Value):
    """What a releaser signs. Subjects: model (with its external data), spec, policy."""

    type: Literal["https://in-toto.io/Statement/v1"] = pydantic.Field(default=STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:metainfer:release:1"] = pydantic.Field(default=RELEASE_TYPE, alias="predicateType")
    predicate: ReleasePredicate

    @pydantic.model_validator(mode="after")
    def _subjects_are_right(self) -> ReleaseStatement:
        _refuse_other_subjects(self.subject, ("model", "spec", "policy"))
        return self


def read_payload(payload: bytes, predicate_type: str, source: str) -> object:
    """JSON data of verified bytes that hold one kind of statement; raises NotTrustedError if they do not.

    The bytes must be the canonical spelling of what they say, so that nobody can read them differently.
    """
    try:
        plain = read_json(payload, source)
        canonical = canonical_json(plain)
    except (InputError, rfc8785.CanonicalizationError) as error:
        raise NotTrustedError(f"{source}: what is signed cannot be read.", f"{error}", AGAIN, "malformed") from error
    found = plain.get("predicateType") if isinstance(plain, dict) else None
    if found != predicate_type:
        raise NotTrustedError(
            f"{source}: it is signed, but as another kind of statement.",
            f"Predicate type {found!r}, expected {predicate_type!r}.",
            "Give the file that was signed for this purpose.",
            "wrong_type",
        )
    if canonical != payload:
        raise NotTrustedError(
            f"{source}: the signed JSON is not in canonical form.", "Two readers could differ.", AGAIN, "malformed"
        )
    return plain


def subjects(**digests: Digest) -> tuple[Subject, ...]:
    """Subjects by name, such as `subjects(model=..., spec=...)`."""
    return tuple(_subject(name, digest) for name, digest in digests.items())


def subject_digest(statement: ApprovalStatement | ReleaseStatement, name: str) -> Digest | None:
    """Digest of the subject with this name."""
    return next((each.sha256 for each in statement.subject if each.name == name), None)


def _refuse_other_subjects(found: tuple[Subject, ...], expected: tuple[str, ...]) -> None:
    names = tuple(each.name for each in found)
    if names != expected:
        raise ValueError(f"the subjects must be {', '.join(expected)}; found {', '.join(names) or 'none'}")


def _subject(name: str, digest: Digest) -> Subject:
    return Subject(name=name, digest={"sha256": digest.removeprefix("sha256:")})
