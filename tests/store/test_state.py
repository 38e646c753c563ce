"""The fold: which decisions hold for which policy."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from review_maker import (
    ACTIONS,
    ADD_2,
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
from metainfer_core.policy.policy import Policy
from review_store.record.log import EventLog
from review_store.review.decide import current_state, low_risk_ids, undo_last
from review_store.review.state import fold, reviewed_policy

ALL = dict.fromkeys((CONV_0, CONV_1, ADD_2), "approved")


def test_nothing_is_reviewed_at_first():
    state = fold(POLICY, (), TRUST)
    assert {each.id: each.word for each in state.actions} == {CONV_0: "pending", CONV_1: "pending", ADD_2: "required"}
    assert len(state.unreviewed) == 3
    assert not state.registered


def test_approvals_make_it_reviewed(log):
    approve_all(log, POLICY, "bob")
    assert words(log, POLICY) == ALL
    state = current_state(log, POLICY, TRUST)
    assert state.unreviewed == ()
    assert state.action(CONV_0).standing.counted == ("bob",)
    assert reviewed_policy(state) == POLICY


@pytest.mark.parametrize("changed", ["model_digest", "spec_digest", "ruleset_digest"])
def test_another_model_spec_or_rule_set_outdates_all(log, changed):
    approve_all(log, POLICY, "bob")
    state = current_state(log, policy(**{changed: OTHER}), TRUST)
    assert {each.word for each in state.actions} == {"outdated"}
    word = {"model_digest": "the model", "spec_digest": "the hardware spec", "ruleset_digest": "the rule set"}[changed]
    assert state.actions[0].notes == (f"bob approved it on 2026-11-29T12:00:00Z, before {word} changed.",)
    assert words(log, POLICY) == ALL  # and nothing is lost for the one that was approved


def test_feature_01_one_changed_action_outdates_exactly_that_one(log):
    approve_all(log, POLICY, "bob")
    changed = policy(ACTIONS[0], action("conv_1", "medium", params={"bit_width": 4}), ACTIONS[2])
    assert words(log, changed) == ALL | {CONV_1: "outdated"}


def test_evidence_order_and_spelling_do_not_outdate(log):
    approve_all(log, POLICY, "bob")
    explained = action("conv_0", sentence="Quantize it.", constraint="The NPU has INT8 only.")
    assert words(log, policy(explained, *ACTIONS[1:])) == ALL
    assert words(log, policy(*reversed(ACTIONS))) == ALL
    respelled = Policy.from_json(json.dumps(dict(reversed(POLICY.plain().items())), indent=2).encode())
    assert words(log, respelled) == ALL


def test_an_approval_for_another_lineage_does_not_count(log):
    approve_all(log, POLICY, "bob")
    assert "approved" not in words(log, policy(name="other")).values()


def test_rejection_blocks_until_withdrawn_by_who_rejected(log):
    approve_all(log, POLICY, "bob")
    say(log, POLICY, "eve", CONV_0, "reject", reason="no")
    assert words(log, POLICY)[CONV_0] == "rejected"
    with pytest.raises(InputError, match="nothing here to withdraw"):
        say(log, POLICY, "ada", CONV_0, "withdraw")
    say(log, POLICY, "eve", CONV_0, "withdraw")
    assert words(log, POLICY)[CONV_0] == "approved"


def test_own_later_word_replaces_the_earlier_one(log):
    say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "bob", CONV_0, "reject", reason="on second thoughts")
    assert words(log, POLICY)[CONV_0] == "rejected"
    say(log, POLICY, "bob", CONV_0, "approve")
    assert words(log, POLICY)[CONV_0] == "approved"


def test_tag_reopens_and_only_a_justification_clears_it(log):
    say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "eve", CONV_0, "tag", reason="look at the range")
    state = current_state(log, POLICY, TRUST)
    assert state.action(CONV_0).word == "required"
    assert state.action(CONV_0).action.review_required is True
    with pytest.raises(InputError, match="needs a justification"):
        say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "bob", CONV_0, "approve", justification=JUSTIFICATION)
    assert words(log, POLICY)[CONV_0] == "approved"
    assert reviewed_policy(current_state(log, POLICY, TRUST)).actions[0].review_required is True


def test_override_changes_what_is_built_and_outdates_its_approval(log):
    approve_all(log, POLICY, "bob")
    say(log, POLICY, "ada", CONV_0, "override", override={"bit_width": 16}, reason="too coarse")
    state = current_state(log, POLICY, TRUST)
    assert words(log, POLICY) == ALL | {CONV_0: "outdated"}
    built = reviewed_policy(state)
    assert built.actions[0].override == {"bit_width": 16}
    assert built.actions[1:] == POLICY.actions[1:]
    say(log, POLICY, "bob", CONV_0, "approve", justification=JUSTIFICATION)
    assert words(log, POLICY) == ALL
    say(log, POLICY, "ada", CONV_0, "override", override=None, reason="back")
    assert reviewed_policy(current_state(log, POLICY, TRUST)) == POLICY


def test_override_and_its_approval_can_come_together(log):
    say(log, POLICY, "ada", ADD_2, "override", "approve", override=False, reason="off", justification=JUSTIFICATION)
    state = current_state(log, POLICY, TRUST)
    assert state.action(ADD_2).word == "approved"
    assert reviewed_policy(state).actions[2].override is False


def test_override_of_another_proposal_lapses_and_says_so(log):
    say(log, POLICY, "ada", CONV_0, "override", override=False, reason="off")
    again = policy(action("conv_0", params={"bit_width": 4}), *ACTIONS[1:])
    state = current_state(log, again, TRUST)
    assert state.action(CONV_0).action.override is None
    assert "no longer applies" in state.action(CONV_0).notes[0]
    assert state.action(CONV_0).word == "pending"


def test_quorum_and_own_work_are_those_of_the_trust_file(log):
    strict = trust_file(quorum=Quorum(high=2), authors_may_approve=False)
    approve_all(log, POLICY, "bob", trust=strict)
    assert words(log, POLICY, strict) == ALL | {ADD_2: "required"}
    approve_all(log, POLICY, "eve", trust=strict)
    assert words(log, POLICY, strict) == ALL
    say(log, POLICY, "bob", CONV_0, "override", "approve", override=False, reason="off", trust=strict)
    assert words(log, POLICY, strict)[CONV_0] == "outdated"
    assert current_state(log, POLICY, strict).action(CONV_0).standing.authors == ("bob",)
    say(log, POLICY, "eve", CONV_0, "approve", trust=strict)
    assert words(log, POLICY, strict)[CONV_0] == "approved"


def test_who_brings_in_a_policy_that_people_wrote_is_its_author(log):
    written = policy(objective={})
    strict = trust_file(authors_may_approve=False)
    approve_all(log, written, "bob", trust=strict)
    assert "approved" not in words(log, written, strict).values()
    assert current_state(log, written, strict).actions[0].authors == ("bob",)
    assert current_state(log, written, strict).registered


def test_unassessed_action_needs_a_justification(log):
    unknown = policy(action("conv_0", None))
    assert words(log, unknown) == {CONV_0: "required"}


def test_actions_with_one_id_cannot_be_reviewed():
    with pytest.raises(InputError, match="two actions with the id quantize@conv_0"):
        fold(policy(ACTIONS[0], ACTIONS[0]), (), TRUST)


def test_low_risk_batch_holds_only_pending_low_ones(log):
    many = policy(*ACTIONS, action("conv_3"), action("conv_4"), action("conv_5"))
    say(log, many, "eve", "quantize@conv_3", "tag", reason="look")
    say(log, many, "eve", "quantize@conv_4", "reject", reason="no")
    assert low_risk_ids(current_state(log, many, TRUST)) == (CONV_0, "quantize@conv_5")


VERDICTS = st.sampled_from(["approve", "reject", "tag", "withdraw", "override", "comment"])
STEPS = st.lists(st.tuples(st.sampled_from(["ada", "bob", "eve"]), st.sampled_from(sorted(ALL)), VERDICTS), max_size=12)


@settings(max_examples=25, deadline=None)
@given(STEPS, st.tuples(st.sampled_from(["ada", "bob", "eve"]), st.sampled_from(sorted(ALL)), VERDICTS))
def test_feature_07_undo_gives_the_state_before(tmp_path_factory, steps, last):
    log = EventLog(tmp_path_factory.mktemp("store"))

    def state():
        found = current_state(log, POLICY, TRUST)
        return [
            (each.word, each.approvals, each.rejections, each.tag, each.action, each.notes) for each in found.actions
        ]

    def take(step):
        who, target, verdict = step
        try:
            say(log, POLICY, who, target, verdict, reason="because", override=False, justification=JUSTIFICATION)
        except InputError:
            return False
        return True

    for step in steps:
        take(step)
    before = state()
    if take(last):
        undo_last(log, current_state(log, POLICY, TRUST), last[1], last[0], "2026-11-29T13:00:00Z")
    assert state() == before
    log.close()
