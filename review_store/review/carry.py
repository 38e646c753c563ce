"""After the weights were trained anew: which of a person's earlier approvals may be confirmed together.

All approvals are outdated then. An action whose parameters and risk are as before, and whose measured effect stayed
within its spread, needs no new thought; it still needs a person to say so, by its id. What is dangerous or tagged is
looked at one by one. Where a policy was made without measuring actions alone, the effect of all together counts: then
one action that moved keeps all others from being offered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from metainfer_core.actions.catalog import kind
from metainfer_core.bundle.review_rules import needs_justification, risk_level
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.policy import Policy, PolicyAction
from review_store.record.events import Registered
from review_store.record.log import EventLog
from review_store.review.state import ActionReview, ReviewState, fold

LEAST_DB, MOST_DB = 1.0, 3.0
"""A signal-to-noise ratio may fall by its spread, but by no more than twice the noise; by one decibel, a quarter more
noise, it may always. Assumptions, as is the next."""
BETTER_DB = 6.0
"""How far it may rise: with a quarter of the noise, the effect is another one than was approved, if no bad one."""
ROUNDING_DB = 100.0
"""From here on noise is that of float32 itself: how much of it there is says nothing about the weights."""
MEASURED = ("ranges", "codes", "changes")
"""Parameters that calibration measures or the weights decide; what they change shows in the measured effect."""


@dataclass(frozen=True)
class Carry:
    """One action that a person approved in an earlier revision."""

    action_id: str
    obstacle: str
    """Why it must be looked at again; empty: it may be confirmed together with others."""


def carry(old: ReviewState, new: ReviewState, person: str) -> tuple[Carry, ...]:
    """What a person approved of the old revision and has not decided about in the new one, in the policy's order."""
    if old.policy.spec_digest != new.policy.spec_digest or old.policy.ruleset_digest != new.policy.ruleset_digest:
        changed = "the hardware spec" if old.policy.spec_digest != new.policy.spec_digest else "the rule set"
        raise InputError(
            f"No approval can be carried over: {changed} changed.",
            "What an action is allowed to do follows from both; only the model's weights may differ.",
            "Review the new policy as a new one.",
        )
    found = []
    for review in new.actions:
        before = old.action(review.id)
        if before is None or person not in before.approvals or person in review.approvals:
            continue
        found.append(Carry(review.id, _obstacle(before, review)))
    return tuple(found)


def earlier_revision(log: EventLog, new: ReviewState, trust: TrustFile) -> ReviewState:
    """The revision that was under review before this one; raises InputError where there is none."""
    records = log.records(new.lineage)
    digests = [record.event.policy_digest for record in records if isinstance(record.event, Registered)]
    for digest in reversed(digests):
        body = log.value(digest) if digest != new.policy.digest else None
        if body is not None:
            return fold(Policy.from_json(body, "earlier revision"), records, trust)
    raise InputError(
        f"{new.lineage}: there is no earlier revision to carry approvals over from.",
        "The record holds no other policy of this name.",
        "Approve its actions with `meta-infer review decide`.",
    )


def _obstacle(before: ActionReview, now: ActionReview) -> str:
    if now.rejections:
        return "it is rejected"
    if needs_justification(now.action):
        return "it is dangerous or tagged, and is looked at by itself"
    if _chosen(before.action) != _chosen(now.action):
        return "its parameters changed"
    if risk_level(before.action) != risk_level(now.action):
        return f"its risk was {risk_level(before.action)} and is {risk_level(now.action)}"
    effects = [(each.action.evidence.alone, each.action.evidence.together) for each in (before, now)]
    alone, together = zip(*effects, strict=True)
    if any(alone):
        return _moved(*alone)
    if not any(together) and _changes_numbers(now.action):
        return "its effect was never measured"
    return _moved(*together)


def _changes_numbers(action: PolicyAction) -> bool:
    known = kind(action.action)
    return known is None or known.obligation.relative != 0.0


def _chosen(action: PolicyAction) -> dict[str, object]:
    """What will be done, but for what calibration measured."""
    plain = action.plain()
    keys = ("node_id", "action", "nodes", "override", "zero_point_clip", "precision_sensitive")
    params = {key: value for key, value in plain.get("params", {}).items() if key not in MEASURED}
    return {key: plain.get(key) for key in keys} | {"params": params}


def _moved(before: Effect | None, now: Effect | None) -> str:
    """How the measured effect left its spread, or empty."""
    if before is None and now is None:
        return ""
    if before is None or now is None:
        return "its effect was measured only once"
    if [each.output for each in before.outputs] != [each.output for each in now.outputs]:
        return "its effect was measured on other outputs"
    pairs = zip(before.outputs, now.outputs, strict=True)
    may_fall = min(MOST_DB, max(LEAST_DB, spread_db(before.samples, now.samples)))
    return next((words for old, new in pairs if (words := _output_moved(old, new, may_fall))), "")


def spread_db(*samples: int) -> float:
    """Two standard errors of the difference between two noise powers that were estimated from so many samples each.

    The noise of a sample is taken as one draw of a normal distribution: the power of n draws has the relative
    standard error sqrt(2 / n).
    """
    return 2 * 10 / math.log(10) * math.sqrt(sum(2 / max(1, count) for count in samples))


def _output_moved(before: OutputEffect, now: OutputEffect, may_fall: float) -> str:
    for what, old, new in (
        ("signal-to-noise ratio", before.sqnr_db, now.sqnr_db),
        ("worst channel", before.worst_channel_sqnr_db, now.worst_channel_sqnr_db),
    ):
        was, is_now = (math.inf if figure is None else figure for figure in (old, new))
        if min(was, is_now) < ROUNDING_DB and not -may_fall <= is_now - was <= BETTER_DB:
            return f"the {what} of {now.output} went from {_db(old)} to {_db(new)}"
    if now.dead_channels != before.dead_channels:
        return f"{now.output} had {before.dead_channels} dead channels and has {now.dead_channels}"
    if now.argmax_flips is not None and now.argmax_flips > (before.argmax_flips or 0) + 1:
        return f"more than one further sample of {now.output} changes its answer"
    return ""


def _db(figure: float | None) -> str:
    return "exact" if figure is None else f"{figure:.1f} dB"
