"""Retrained weights, filters, overrides that are no longer needed, and people who are still missing."""

import json

import pytest
from review_maker import (
    ADD_2,
    AT,
    CONV_0,
    CONV_1,
    JUSTIFICATION,
    OTHER,
    POLICY,
    TRUST,
    action,
    approve_all,
    policy,
    say,
    trust_file,
    words,
)

from metainfer_core.bundle.trust import Quorum
from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.policy import Evidence
from review_store.export.review_text import state_data, state_text
from review_store.review.carry import Carry, carry, earlier_revision
from review_store.review.decide import current_state
from review_store.review.overrides import overrides
from review_store.review.review_filter import Filter


def measured(db, dead=0, flips=0, samples=512):
    output = OutputEffect(output="y", sqnr_db=db, worst_channel_sqnr_db=db, dead_channels=dead, argmax_flips=flips)
    return Evidence(alone=Effect(outputs=(output,), samples=samples, data="calibration.npz"))


def line(node="conv_0", risk="low", db=30.0, bits=8, **more):
    params = {"bit_width": bits, "ranges": {"x": (0.0, db)}}
    figures = {key: more.pop(key) for key in ("dead", "flips") if key in more}
    return action(node, risk, params=params, evidence=measured(db, **figures), **more)


@pytest.mark.parametrize(
    ("now", "obstacle"),
    [
        (line(), ""),
        (line(db=29.1), ""),
        (line(db=35.9), ""),
        (line(db=36.1), "the signal-to-noise ratio of y went from 30.0 dB to 36.1 dB"),
        (line(db=28.9), "the signal-to-noise ratio of y went from 30.0 dB to 28.9 dB"),
        (line(bits=4), "its parameters changed"),
        (line(risk="medium"), "its risk was low and is medium"),
        (line(risk="high"), "it is dangerous or tagged, and is looked at by itself"),
        (line(dead=1), "y had 0 dead channels and has 1"),
        (line(flips=1), ""),
        (line(flips=2), "more than one further sample of y changes its answer"),
    ],
)
def test_only_what_is_as_before_is_offered(log, now, obstacle):
    before, after = policy(line()), policy(now, model_digest=OTHER)
    approve_all(log, before, "bob")
    new = current_state(log, after, TRUST)
    assert new.actions[0].word == "outdated"
    old = earlier_revision(log, new, TRUST)
    assert old.policy == before
    assert carry(old, new, "bob") == (Carry(CONV_0, obstacle),)
    assert carry(old, new, "eve") == ()  # who did not approve then has nothing to confirm now


@pytest.mark.parametrize(
    ("samples", "may_fall"),
    [(8, 3.0), (32, 3.0), (64, 2.171), (128, 1.535), (512, 1.0), (100_000, 1.0)],
)
def test_an_effect_may_fall_by_its_spread(log, samples, may_fall):
    """Twice 4.343 dB times the root of 2 / n for each of both."""
    old = policy(action("conv_0", evidence=measured(30.0, samples=samples)))
    approve_all(log, old, "bob")
    for fall, fits in ((may_fall - 0.01, True), (may_fall + 0.01, False)):
        new = policy(action("conv_0", evidence=measured(30.0 - fall, samples=samples)), model_digest=OTHER)
        state = current_state(log, new, TRUST)
        (found,) = carry(earlier_revision(log, state, TRUST), state, "bob")
        assert (found.obstacle == "") == fits


@pytest.mark.parametrize(
    ("before", "now", "obstacle"),
    [
        ((30.0, None), (30.0, None), ""),
        ((None, 25.0), (None, 25.5), ""),  # made without measuring each action alone
        ((None, 25.0), (None, 20.0), "the signal-to-noise ratio of y went from 25.0 dB to 20.0 dB"),
        ((30.0, 25.0), (30.0, 20.0), ""),  # another action moved, this one did not
        ((30.0, 25.0), (None, 25.0), "its effect was measured only once"),
        ((None, None), (None, None), "its effect was never measured"),
        ((130.0, None), (140.0, None), ""),  # the rounding of float32
        ((130.0, None), (90.0, None), "the signal-to-noise ratio of y went from 130.0 dB to 90.0 dB"),
    ],
)
def test_without_an_effect_of_its_own_that_of_all_together_counts(log, before, now, obstacle):
    def of(alone, together):
        effects = [None if db is None else measured(db).alone for db in (alone, together)]
        return action("conv_0", params={"bit_width": 8}, evidence=Evidence(alone=effects[0], together=effects[1]))

    old, new = policy(of(*before)), policy(of(*now), model_digest=OTHER)
    approve_all(log, old, "bob")
    state = current_state(log, new, TRUST)
    assert carry(earlier_revision(log, state, TRUST), state, "bob") == (Carry(CONV_0, obstacle),)


def test_nothing_is_carried_where_the_spec_or_the_rules_changed(log):
    approve_all(log, policy(line()), "bob")
    for changed in ("spec_digest", "ruleset_digest"):
        new = current_state(log, policy(line(), model_digest=OTHER, **{changed: OTHER}), TRUST)
        with pytest.raises(InputError, match="No approval can be carried over"):
            carry(earlier_revision(log, new, TRUST), new, "bob")


def test_without_an_earlier_revision_there_is_nothing_to_carry(log):
    with pytest.raises(InputError, match="no earlier revision"):
        earlier_revision(log, current_state(log, POLICY, TRUST), TRUST)


def test_what_was_confirmed_or_rejected_is_not_offered_again(log):
    before, after = policy(line(), line("conv_1")), policy(line(), line("conv_1"), model_digest=OTHER)
    approve_all(log, before, "bob")
    say(log, after, "bob", CONV_0, "approve")
    say(log, after, "eve", CONV_1, "reject", reason="no")
    new = current_state(log, after, TRUST)
    assert carry(earlier_revision(log, new, TRUST), new, "bob") == (Carry(CONV_1, "it is rejected"),)


def test_filters_leave_what_is_wanted_and_count_all(log):
    say(log, POLICY, "bob", CONV_0, "approve")
    state = current_state(log, POLICY, TRUST)
    for given, ids in (
        (Filter.of((), (), (), ()), [CONV_0, CONV_1, ADD_2]),
        (Filter.of(("high", "medium"), (), (), ()), [CONV_1, ADD_2]),
        (Filter.of((), ("quantize",), (), ("pending",)), [CONV_1]),
        (Filter.of((), (), ("npu",), ()), []),
    ):
        data = state_data(state, given)
        assert [each["id"] for each in data["actions"]] == ids
        assert data["counts"] == {"rejected": 0, "required": 1, "outdated": 0, "pending": 1, "approved": 1}
        assert state_text(state, given).count("@") == len(ids)
    assert "1 of 3 actions: 1 required, 1 pending, 1 approved." in state_text(state, Filter(risks=("high",)))
    with pytest.raises(InputError, match="--risk huge"):
        Filter.of(("huge",), (), (), ())


def test_after_one_of_two_approvals_it_says_that_another_person_is_missing(log):
    trust = trust_file(quorum=Quorum(high=2))
    say(log, POLICY, "ada", ADD_2, "approve", justification=JUSTIFICATION, trust=trust)
    assert words(log, POLICY, trust)[ADD_2] == "required"
    text = state_text(current_state(log, POLICY, trust))
    assert "Note: ada approved it; another person is missing: 2 must stand behind it." in text
    say(log, POLICY, "eve", ADD_2, "approve", justification=JUSTIFICATION, trust=trust)
    assert "missing" not in state_text(current_state(log, POLICY, trust))


def test_fault_10_override_that_is_no_longer_needed_is_counted_apart(log):
    say(log, POLICY, "ada", CONV_0, "override", override={"bit_width": 16}, reason="finer")
    say(log, POLICY, "ada", CONV_1, "override", override=False, reason="off", expires="2026-12-31T23:59:59Z")
    state = current_state(log, POLICY, TRUST)
    assert overrides(state, AT) == {"used": (CONV_0, CONV_1), "unneeded": (), "expired": ()}
    assert overrides(state, "2027-01-01T00:00:00Z") == {"used": (CONV_0,), "unneeded": (), "expired": (CONV_1,)}
    finer = policy(action("conv_0", params={"bit_width": 16}), *POLICY.actions[1:])
    later = current_state(log, finer, TRUST)
    assert overrides(later, AT) == {"used": (CONV_1,), "unneeded": (CONV_0,), "expired": ()}
    assert "Overrides: used 1, unneeded 1, expired 0; unneeded: quantize@conv_0." in state_text(later, now=AT)
    say(log, finer, "ada", CONV_0, "override", override={"bit_width": 16}, reason="the same again")
    assert overrides(current_state(log, finer, TRUST), AT)["unneeded"] == (CONV_0,)


def test_override_that_ended_already_is_refused(log):
    with pytest.raises(InputError, match="expired already"):
        say(log, POLICY, "ada", CONV_0, "override", override=False, reason="x", expires="2026-01-01T00:00:00Z")
    assert json.loads(json.dumps(state_data(current_state(log, POLICY, TRUST))))["overrides"]["used"] == []
