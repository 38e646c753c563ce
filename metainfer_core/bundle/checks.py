"""The checks of a bundle whose signature holds: each yields the reasons why it cannot be trusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from metainfer_core.bundle.approvals import Binding, binding_of
from metainfer_core.bundle.case import Case
from metainfer_core.bundle.reason import Reason, listed
from metainfer_core.bundle.seen import seen_name
from metainfer_core.bundle.statement import Digest, subject_digest
from metainfer_core.bundle.trust import VERSION, moment
from metainfer_core.policy.policy import PolicyAction

CLOCK_TOLERANCE = timedelta(days=1)
"""How far a clock may go back without being called set back."""


def _check_demo(case: Case) -> Iterator[Reason]:
    if case.statement.predicate.demo and not case.demo_allowed:
        yield Reason(
            check="demo",
            what="The bundle is a demo: a studio signed it with keys of its own, for whoever sat there.",
            why="It proves nothing about who approved what.",
            fix="Have the people sign with keys of their own (`meta-infer keys new`). To look at the demo as such, add "
            "--allow-demo to `meta-infer verify` or `meta-infer compile`.",
        )


def _check_releasers(case: Case) -> Iterator[Reason]:
    needed = case.trust.quorum.release
    if len(case.releasers) < needed:
        yield Reason(
            check="quorum",
            what=f"{len(case.releasers)} of {needed} releasers signed it.",
            why=f"Signed and counted: {', '.join(case.releasers)}.",
            fix="Have another releaser sign it too.",
        )


def _check_chips_of_releasers(case: Case) -> Iterator[Reason]:
    chip = case.statement.predicate.chip
    for name in case.releasers:
        person = case.trust.person(name)
        if person is not None and not person.covers(chip):
            yield Reason(
                check="scope",
                what=f"{name} released it, but may not for this chip.",
                why=f"The bundle is for {chip or 'a chip that it does not name'}; the trust file lets {name} release "
                f"for {listed(person.chips)}.",
                fix="Have someone release it who may for this chip.",
            )


def _check_audience(case: Case) -> Iterator[Reason]:
    meant, here = case.statement.predicate.audience, case.trust.audience
    if meant and here not in meant:
        yield Reason(
            check="audience",
            what="The bundle was made for others.",
            why=f"It is for {listed(meant)}; the trust file here is that of {here or 'no named audience'}.",
            fix="Use a bundle that was signed for this audience.",
        )


def _check_tools(case: Case) -> Iterator[Reason]:
    least = case.trust.min_tool_version
    if least is None:
        return
    made = [("the bundle", case.statement.predicate.tool_version), ("this check", case.tool_version)]
    made += [
        (f"the approval by {each.statement.predicate.person}", each.statement.predicate.tool_version)
        for each in case.opened
        if each.statement is not None
    ]
    for what, version in made:
        if _numbers(version) < _numbers(least):
            yield Reason(
                check="tool_version",
                what=f"A meta-infer that is too old made {what}.",
                why=f"It has version {version}; the trust file asks for {least} or newer.",
                fix="Use the newer program, and sign again with it.",
            )


def _numbers(version: str) -> tuple[int, ...]:
    """A version for comparing; one that is none comes before all others."""
    return tuple(int(part) for part in version.split(".")) if re.fullmatch(VERSION, version) else ()


def _check_overrides(case: Case) -> Iterator[Reason]:
    notes = [(each.id, each.override) for each in case.statement.predicate.actions if each.override is not None]
    gone = [(each, note) for each, note in notes if note.expires is not None and case.now > note.expires]
    if gone:
        action_id, note = gone[0]
        yield Reason(
            check="override_expired",
            what=f"{len(gone)} overrides no longer hold: {listed([each for each, _ in gone])}.",
            why=f"{action_id}: {note.author} set it until {note.expires} ({note.reason}).",
            fix="Set it again with a later date, or take it back; then approve and sign again.",
            actions=tuple(each for each, _ in gone),
        )


def _check_time(case: Case) -> Iterator[Reason]:
    made = case.statement.predicate
    if case.trust.expires is not None and case.now > case.trust.expires:
        yield Reason(
            check="expired",
            what=f"The trust file was valid until {case.trust.expires}.",
            why=f"It is {case.now} now. What has been revoked since does not stand in it.",
            fix="Get the newest trust file from whoever keeps it.",
        )
    if case.seen.latest and moment(case.now) < moment(case.seen.latest) - CLOCK_TOLERANCE:
        yield Reason(
            check="expired",
            what="The clock of this machine was set back.",
            why=f"It says {case.now}; something was trusted here at {case.seen.latest} already.",
            fix="Set the clock right.",
        )
    if case.now > made.expires:
        yield Reason(
            check="expired",
            what=f"The bundle was valid until {made.expires}.",
            why=f"It is {case.now} now.",
            fix="Sign the policy again.",
        )
    if case.now < made.created:
        yield Reason(
            check="expired",
            what=f"The bundle is valid only from {made.created} on.",
            why=f"It is {case.now} now, by the clock of this machine.",
            fix="Set the clock right, or have it signed again.",
        )


def _check_subjects(case: Case) -> Iterator[Reason]:
    expected, binding = case.expected, case.binding
    if expected.model_digest is not None and expected.model_digest != binding.model_digest:
        yield _differs("wrong_model", "model", binding.model_digest, expected.model_digest)
    if expected.spec_digest is not None and expected.spec_digest != binding.spec_digest:
        yield _differs("wrong_spec", "hardware spec", binding.spec_digest, expected.spec_digest)
    made_for = case.statement.predicate.chip
    if expected.chip is not None and made_for not in ("", expected.chip):
        yield Reason(
            check="wrong_spec",
            what="The bundle names another chip than the hardware spec.",
            why=f"Signed: {made_for}; given: {expected.chip}.",
            fix="Give the hardware spec that was reviewed.",
        )
    if expected.ruleset_digest is not None and expected.ruleset_digest != binding.ruleset_digest:
        yield Reason(
            check="wrong_rules",
            what="The bundle was reviewed under another rule set than that of this program.",
            why=f"Signed: {binding.ruleset_digest or 'none'}; this program: {expected.ruleset_digest}.",
            fix="Use the meta-infer that it was made with, or make the policy anew with this one and review it.",
        )


def _check_policy(case: Case) -> Iterator[Reason]:
    policy, signed = case.policy, subject_digest(case.statement, "policy")
    if policy.digest != signed:
        yield _differs("wrong_policy", "policy", signed, policy.digest)
    if case.expected.policy_digest is not None and policy.digest != case.expected.policy_digest:
        yield _differs("wrong_policy", "policy", policy.digest, case.expected.policy_digest)
    bound = Binding(policy.model_digest, policy.spec_digest, policy.ruleset_digest)
    difference = bound.difference(case.binding)
    if difference is not None:
        yield Reason(
            check="wrong_policy",
            what="The policy inside was made for something else than the bundle says.",
            why=f"These differ: {difference}.",
            fix="Sign the policy again, with the model and the spec that it was made for.",
        )
    ids = [action.id for action in policy.actions]
    found = [(action.id, action.content_digest) for action in case.statement.predicate.actions]
    if len(set(ids)) < len(ids) or found != [(action.id, action.content_digest) for action in policy.actions]:
        yield Reason(
            check="wrong_policy",
            what="The list of signed actions is not the policy's list of actions.",
            why="Each action must stand once in both, in the same order and with the same digest.",
            fix="Sign the policy again.",
        )


def _check_approvals(case: Case) -> Iterator[Reason]:
    """One reason per check that fails, with all the actions that it holds up."""
    short: dict[str, list[str]] = {}
    details: dict[str, Reason] = {}
    for action in case.policy.actions:
        if not case.standing(action).enough:
            reason = _why_not_approved(case, action)
            short.setdefault(reason.check, []).append(action.id)
            details.setdefault(reason.check, reason)
    for check, ids in short.items():
        reason = details[check]
        yield Reason(
            check=check,
            what=f"Not enough people stand behind {len(ids)} of {len(case.policy.actions)} actions: {listed(ids)}.",
            why=reason.why,
            fix=reason.fix,
            actions=tuple(ids),
        )


def _why_not_approved(case: Case, action: PolicyAction) -> Reason:
    """The most telling reason why an action is short of approvals."""
    stands = case.standing(action)
    for each in case.opened:
        if each.statement is None or action.id not in {one.id for one in each.statement.predicate.actions}:
            continue
        if each.fault is not None:
            return Reason(check=each.fault.check, what="", why=each.fault.what, fix=each.fault.fix)
        approved = next(one for one in each.statement.predicate.actions if one.id == action.id)
        difference = binding_of(each.statement).difference(case.binding)
        if difference is None and approved.content_digest != action.content_digest:
            difference = "the action"
        if difference is not None:
            why = f"{action.id}: {each.statement.predicate.person} approved before {difference} changed."
            return Reason(check="stale_approval", what="", why=why, fix="Have it reviewed again.")
    if stands.unjustified:
        return Reason(
            check="review_required",
            what="",
            why=f"{action.id}: {listed(stands.unjustified)} approved it without the three-line justification.",
            fix="Approve with --why-allowed, --accuracy-effect and --fallback.",
        )
    if stands.authors:
        return Reason(
            check="own_work",
            what="",
            why=f"{action.id}: {listed(stands.authors)} approved their own work, which the trust file does not count.",
            fix="Have someone else approve it.",
        )
    if stands.outside:
        return Reason(
            check="scope",
            what="",
            why=f"{action.id}: {listed(stands.outside)} approved it, but the trust file does not let them for this "
            "chip or this risk.",
            fix="Have someone approve it who may.",
        )
    if stands.counted:
        why = f"{action.id}: {len(stands.counted)} of {stands.needed} reviewers ({listed(stands.counted)})."
        return Reason(check="quorum", what="", why=why, fix="Have another reviewer approve and sign.")
    broken = [each.fault for each in case.opened if each.statement is None and each.fault is not None]
    why = f"{action.id}: no signed approval." + (f" {broken[0].what}" if broken else "")
    return Reason(check="missing_approval", what="", why=why, fix="Have a reviewer approve and sign.")


def _check_downgrade(case: Case) -> Iterator[Reason]:
    serial = case.statement.predicate.serial
    older = case.seen.older(seen_name(case.policy), serial, case.payload_digest, case.trust)
    if older is not None:
        yield Reason(
            check="downgrade",
            what="An older bundle is being passed off as the newest.",
            why=older[:1].upper() + older[1:] + ".",
            fix="Use the newest bundle, or sign this policy again to go back to it on purpose.",
        )
    if case.trust.version < case.seen.trust_version:
        yield Reason(
            check="downgrade",
            what="The trust file is older than one that was used here before.",
            why=f"It has version {case.trust.version}; version {case.seen.trust_version} was used before.",
            fix="Use the newest trust file.",
        )
    same_version = case.trust.version == case.seen.trust_version
    if same_version and case.seen.trust_digest and case.trust.digest != case.seen.trust_digest:
        yield Reason(
            check="downgrade",
            what="The trust file was changed without a new version.",
            why=f"Another one with version {case.trust.version} was used here before.",
            fix="Raise `version` in the trust file with every change; `meta-infer keys` does.",
        )


BUNDLE_CHECKS: tuple[Callable[[Case], Iterator[Reason]], ...] = (
    _check_demo,
    _check_releasers,
    _check_chips_of_releasers,
    _check_time,
    _check_audience,
    _check_tools,
    _check_overrides,
    _check_subjects,
    _check_policy,
    _check_approvals,
    _check_downgrade,
)


def _differs(check: str, what: str, signed: Digest | None, given: Digest | None) -> Reason:
    return Reason(
        check=check,
        what=f"The bundle was signed for another {what}.",
        why=f"Signed: {signed or 'none'}; given: {given or 'none'}.",
        fix=f"Give the {what} that was reviewed, or review and sign anew for this one.",
    )
