"""What can happen in a review. Events are facts, never changed or deleted: a further event mends a mistake."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pydantic

from metainfer_core.bundle.approvals import Binding
from metainfer_core.bundle.statement import ApprovedAction, Digest, Justification, Line
from metainfer_core.bundle.trust import Mark, PersonId, RiskLevel, Time
from metainfer_core.policy.what_if import WhatIf
from metainfer_core.values import JsonMap, Value, first_fault


class _Event(Value):
    actor: PersonId
    at: Time
    """What the actor's machine said the time was; the order is that of the log."""

    @property
    def subject(self) -> str:
        """Id of the action that it is about; empty where it is about the policy as a whole."""
        return ""


class _ActionEvent(_Event):
    action: str

    @property
    def subject(self) -> str:
        return self.action


class _Verdict(_ActionEvent):
    """A judgement of one action exactly as it was, for exactly one model, spec and rule set."""

    action_digest: Digest
    model_digest: Digest
    spec_digest: Digest
    ruleset_digest: Digest | None = None

    @property
    def binding(self) -> Binding:
        """What it holds for, besides the action itself."""
        return Binding(self.model_digest, self.spec_digest, self.ruleset_digest)


class Registered(_Event):
    """A revision of a policy came under review."""

    kind: Literal["registered"] = "registered"
    policy_digest: Digest
    proposed_by_tool: bool
    """Whether a search with an objective made it. Else people wrote it, and who registers it is its author."""


class Tagged(_ActionEvent):
    """Someone asks for a closer look: from here on only a three-line justification lets the action stand."""

    kind: Literal["tagged"] = "tagged"
    reason: Line
    assignee: PersonId | None = None
    """Who is asked to look."""


class Overridden(_ActionEvent):
    """Someone changes what the action does."""

    kind: Literal["overridden"] = "overridden"
    base_digest: Digest
    """Content of the action as proposed: an override does not carry over to another proposal."""
    override: Literal[False] | JsonMap | None = None
    """False switches it off, an object replaces parameters, None takes an earlier override back."""
    reason: Line
    expires: Time | None = None
    """Until when it holds."""
    measured: WhatIf | None = None
    """What it does, as measured before it was written; None in records of older programs, too."""
    unmeasured: Line | None = None
    """Why that was not measured."""


class Approved(_Verdict):
    """Someone stands behind the action."""

    kind: Literal["approved"] = "approved"
    risk: RiskLevel
    justification: Justification | None = None

    @property
    def approved_action(self) -> ApprovedAction:
        """As the reviewer signs it."""
        return ApprovedAction(
            id=self.action,
            content_digest=self.action_digest,
            risk=self.risk,
            at=self.at,
            justification=self.justification,
        )


class Rejected(_Verdict):
    """Someone forbids the action as it is."""

    kind: Literal["rejected"] = "rejected"
    reason: Line


class Withdrawn(_ActionEvent):
    """Someone takes back their own approval, rejection or tag."""

    kind: Literal["withdrawn"] = "withdrawn"


class Commented(_ActionEvent):
    """Someone says something that changes nothing: the first of a thread, or an answer in one."""

    kind: Literal["commented"] = "commented"
    text: Line
    answers: int | None = None
    """Sequence number of the thread's first comment; None: it begins one."""


class Resolved(_ActionEvent):
    """Someone says that a thread of comments is dealt with. A later answer opens it again."""

    kind: Literal["resolved"] = "resolved"
    thread: int
    """Sequence number of its first comment."""


class Undone(_ActionEvent):
    """Someone undoes their own event, which stays in the record."""

    kind: Literal["undone"] = "undone"
    undoes: int
    """Sequence number of that event."""


class SignedApproval(_Event):
    """A reviewer signed their approvals."""

    kind: Literal["signed"] = "signed"
    envelope: JsonMap
    """DSSE envelope of an approval statement."""
    demo: Mark = None
    """A studio in demo mode signed it."""


class Released(_Event):
    """A bundle was signed."""

    kind: Literal["released"] = "released"
    serial: int
    policy_digest: Digest
    payload_digest: Digest
    approval_digest: Digest | None = None
    """Of what the releaser signed as a reviewer within it."""
    demo: Mark = None
    """A studio in demo mode signed it."""


Event = Annotated[
    Registered
    | Tagged
    | Overridden
    | Approved
    | Rejected
    | Withdrawn
    | Commented
    | Resolved
    | Undone
    | SignedApproval
    | Released,
    pydantic.Field(discriminator="kind"),
]

_EVENT: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Event)


def read_event(body: str) -> Event:
    """The event in its canonical JSON; raises ValueError naming the first fault."""
    try:
        event: Event = _EVENT.validate_json(body)
    except pydantic.ValidationError as error:
        raise ValueError(first_fault(error, "event")["why"]) from error
    return event
