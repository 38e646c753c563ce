"""When an action counts as reviewed: one set of rules for the review, the signing and the compiler."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from metainfer_core.bundle.statement import ApprovedAction
from metainfer_core.bundle.trust import RISK_LEVELS, Person, RiskLevel, TrustFile
from metainfer_core.policy.policy import Policy, PolicyAction


class Standing(NamedTuple):
    """Who stands behind an action, and whether they are enough."""

    counted: tuple[str, ...]
    """Distinct people, sorted."""
    needed: int
    unjustified: tuple[str, ...]
    """Approved, but without the three lines that this action needs."""
    authors: tuple[str, ...]
    """Approved, but may not count for their own work."""
    outside: tuple[str, ...] = ()
    """Approved, but the trust file does not let them count for this chip or this risk."""

    @property
    def enough(self) -> bool:
        """Whether the quorum is reached."""
        return len(self.counted) >= self.needed


def risk_level(action: PolicyAction) -> RiskLevel:
    """Risk of an action; one that nothing assessed counts as high."""
    return "high" if action.risk is None else action.risk.level


def needs_justification(action: PolicyAction) -> bool:
    """Whether only a three-line justification lets this action stand."""
    return risk_level(action) == "high" or action.review_required is True


def standing(
    action: PolicyAction,
    approvals: Mapping[str, ApprovedAction],
    authors: Collection[str],
    trust: TrustFile,
    chip: str | None = None,
) -> Standing:
    """Who counts for `action` among the people whose valid approvals of exactly this action are given.

    The quorum is that of the highest risk which the policy states or any reviewer saw: a policy that was
    re-rated after its review cannot get through with fewer people. Without `chip`, nobody is held to their chips.
    """
    justified_only = needs_justification(action)
    unjustified = {who for who, approval in approvals.items() if justified_only and approval.justification is None}
    own_work = set() if trust.authors_may_approve else set(authors) & set(approvals)
    risks = [risk_level(action), *(approval.risk for approval in approvals.values())]
    highest = max(risks, key=RISK_LEVELS.index)
    outside = {who for who in approvals if not _in_scope(trust.person(who), highest, chip)}
    return Standing(
        counted=tuple(sorted(set(approvals) - unjustified - own_work - outside)),
        needed=trust.quorum.reviewers(highest),
        unjustified=tuple(sorted(unjustified)),
        authors=tuple(sorted(own_work)),
        outside=tuple(sorted(outside)),
    )


def _in_scope(person: Person | None, risk: RiskLevel, chip: str | None) -> bool:
    """Whether a person's approval can count for a risk and a chip; a stranger's is refused elsewhere."""
    if person is None:
        return True
    return RISK_LEVELS.index(risk) <= RISK_LEVELS.index(person.max_risk) and (chip is None or person.covers(chip))


def lineage(policy: Policy) -> str:
    """What the review history and the serials of a policy are kept under, over all its revisions.

    Policies without a name share one: what was said about one of them can only make another one stricter, because an
    approval binds the model, the spec, the rules and the action anyway.
    """
    return policy.name or "policy"
