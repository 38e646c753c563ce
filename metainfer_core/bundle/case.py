"""One bundle whose signature holds, and what its checks compare it with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from metainfer_core import __version__
from metainfer_core.bundle.approvals import Binding, OpenedApproval, binding_of, open_approval, valid_approvals
from metainfer_core.bundle.review_rules import Standing, standing
from metainfer_core.bundle.seen import Seen
from metainfer_core.bundle.statement import ApprovedAction, Digest, ReleaseStatement
from metainfer_core.bundle.trust import Time, TrustFile
from metainfer_core.policy.policy import Policy, PolicyAction


@dataclass(frozen=True)
class Expected:
    """What the caller holds in its hands. None: not at hand, so not compared, and said so."""

    model_digest: Digest | None = None
    spec_digest: Digest | None = None
    """`values_digest` of the spec."""
    ruleset_digest: Digest | None = None
    policy_digest: Digest | None = None
    chip: str | None = None
    """Name of the spec."""


@dataclass(frozen=True)
class Case:
    """One bundle whose signature holds, with all that its checks look at."""

    statement: ReleaseStatement
    payload_digest: Digest
    releasers: tuple[str, ...]
    trust: TrustFile
    now: Time
    expected: Expected
    seen: Seen
    demo_allowed: bool = False
    """Whether whoever asks takes a demo for what it is."""
    tool_version: str = __version__
    """Of the program that checks."""

    @property
    def policy(self) -> Policy:
        """The policy inside."""
        return self.statement.predicate.policy

    @property
    def binding(self) -> Binding:
        """What its approvals must hold for."""
        return binding_of(self.statement)

    @cached_property
    def opened(self) -> tuple[OpenedApproval, ...]:
        """Every reviewer's approval, checked."""
        return tuple(
            open_approval(plain, self.trust, self.now, f"Approval {number}", self.statement.predicate.demo)
            for number, plain in enumerate(self.statement.predicate.approvals, start=1)
        )

    @cached_property
    def approvals(self) -> dict[str, dict[str, ApprovedAction]]:
        """Action id to person to approval, of exactly the action in the policy."""
        found = valid_approvals(self.opened, self.binding)
        return {
            action.id: {
                person: approval
                for person, approval in found.get(action.id, {}).items()
                if approval.content_digest == action.content_digest
            }
            for action in self.policy.actions
        }

    def standing(self, action: PolicyAction) -> Standing:
        """Who stands behind an action."""
        signed = self.statement.predicate.actions
        authors = next((each.authors for each in signed if each.id == action.id), ())
        return standing(action, self.approvals[action.id], authors, self.trust, self.statement.predicate.chip)
