import json
import sqlite3
import threading

import pytest
from review_maker import (
    ADD_2,
    AT,
    CONV_0,
    CONV_1,
    JUSTIFICATION,
    MODEL,
    OTHER,
    POLICY,
    RULES,
    SPEC,
    TRUST,
    UNTIL,
    approve_all,
    person,
    policy,
    private_key,
    say,
    trust_file,
    words,
)
from securesystemslib.dsse import Envelope as OtherEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.trust import Quorum, Revocation
from metainfer_core.errors import InputError, NotTrustedError
from review_store.record.events import Released
from review_store.record.log import EventLog
from review_store.record.migrations import guards
from review_store.review.decide import current_state, undo_last
from review_store.signing.signing import release, sign_approvals

EXPECTED = Expected(MODEL, SPEC, RULES)


def released(log, of=POLICY, who="ada", trust=TRUST, approvals=()):
    return release(log, of, trust, private_key(who), AT, UNTIL, approvals)


def refused(log, check, **more):
    with pytest.raises(NotTrustedError) as refusal:
        released(log, **more)
    assert refusal.value.check == check
    assert not [each for each in log.records() if isinstance(each.event, Released)]
    return refusal.value


def test_one_person_may_do_all_where_the_trust_file_lets_them(log):
    approve_all(log, POLICY, "ada")
    made = released(log)
    verified = open_bundle(made.bundle, TRUST, AT, EXPECTED)
    assert verified == made.verified
    assert verified.policy == POLICY
    assert set(verified.reviewers.values()) == {("ada",)}


def test_each_reviewer_signs_their_own_and_the_releaser_the_whole(log):
    approve_all(log, POLICY, "bob")
    refusal = refused(log, "missing_approval")
    assert "bob" in refusal.fix
    assert "--approve-only" in refusal.fix
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    verified = open_bundle(released(log).bundle, TRUST, AT, EXPECTED)
    assert set(verified.reviewers.values()) == {("bob",)}


def test_approvals_can_come_as_files_from_other_machines(log, tmp_path):
    elsewhere = EventLog(tmp_path / "elsewhere")
    approve_all(elsewhere, POLICY, "bob")
    file = sign_approvals(elsewhere, POLICY, TRUST, private_key("bob"), AT).plain()
    elsewhere.close()
    verified = open_bundle(released(log, approvals=[file]).bundle, TRUST, AT, EXPECTED)
    assert set(verified.reviewers.values()) == {("bob",)}


def test_file_does_not_outvote_a_rejection_here(log, tmp_path):
    elsewhere = EventLog(tmp_path / "elsewhere")
    approve_all(elsewhere, POLICY, "bob")
    file = sign_approvals(elsewhere, POLICY, TRUST, private_key("bob"), AT).plain()
    elsewhere.close()
    say(log, POLICY, "eve", CONV_0, "reject", reason="no")
    assert "rejected: quantize@conv_0" in refused(log, "missing_approval", approvals=[file]).what


def test_file_signed_before_a_closer_look_was_asked_for_does_not_answer_it(log, tmp_path):
    def signed(at):
        elsewhere = EventLog(tmp_path / at)
        approve_all(elsewhere, POLICY, "bob", at=at)
        file = sign_approvals(elsewhere, POLICY, TRUST, private_key("bob"), AT).plain()
        elsewhere.close()
        return file

    approve_all(log, POLICY, "ada", at="2026-11-29T11:00:00Z")
    say(log, POLICY, "eve", CONV_0, "tag", reason="channel 3?", at="2026-11-29T11:30:00Z")
    for before in ("2026-11-29T11:00:00Z", "2026-11-29T11:30:00Z"):
        assert "required: quantize@conv_0" in refused(log, "review_required", approvals=[signed(before)]).what
    say(log, POLICY, "eve", CONV_1, "comment", reason="which data?")
    holding = TRUST.model_copy(update={"comments_block": True})
    after = signed("2026-11-29T11:30:01Z")
    refused(log, "missing_approval", approvals=[after], trust=holding)
    assert released(log, approvals=[after]).verified.reviewers[CONV_0] == ("bob",)


def test_a_quorum_of_two_answers_a_closer_look_together(log, tmp_path):
    two = TRUST.model_copy(update={"quorum": Quorum(low=2, medium=1, high=1)})
    elsewhere = EventLog(tmp_path / "elsewhere")
    approve_all(elsewhere, POLICY, "bob", at="2026-11-29T11:00:00Z", trust=two)
    file = sign_approvals(elsewhere, POLICY, two, private_key("bob"), AT).plain()
    elsewhere.close()
    say(log, POLICY, "eve", CONV_0, "tag", reason="channel 3?", at="2026-11-29T11:30:00Z", trust=two)
    approve_all(log, POLICY, "ada", trust=two)
    assert "required: quantize@conv_0" in refused(log, "review_required", approvals=[file], trust=two).what


def test_unreviewed_actions_are_listed(log):
    say(log, POLICY, "ada", CONV_0, "approve")
    refusal = refused(log, "review_required")
    assert "fuse@add_2" in refusal.what
    assert "missing_approval" in refusal.why


def test_stale_approvals_block(log):
    approve_all(log, POLICY, "ada")
    assert "3 of 3" in refused(log, "stale_approval", of=policy(model_digest=OTHER)).what


def test_overrides_are_in_what_is_signed(log):
    approve_all(log, POLICY, "ada")
    say(log, POLICY, "ada", ADD_2, "override", "approve", override=False, reason="off", justification=JUSTIFICATION)
    verified = open_bundle(released(log).bundle, TRUST, AT, EXPECTED)
    assert verified.policy.actions[2].override is False
    assert verified.statement.predicate.actions[2].authors == ("ada",)


def test_approval_signed_before_it_was_withdrawn_is_left_out(log):
    approve_all(log, POLICY, "bob")
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    approve_all(log, POLICY, "ada")
    say(log, POLICY, "bob", CONV_0, "withdraw")
    verified = open_bundle(released(log).bundle, TRUST, AT, EXPECTED)
    assert set(verified.reviewers.values()) == {("ada",)}


def test_quorum_of_two_for_high_risk(log):
    trust = trust_file(quorum=Quorum(high=2))
    approve_all(log, POLICY, "ada", trust=trust)
    assert "fuse@add_2" in refused(log, "review_required", trust=trust).what
    approve_all(log, POLICY, "eve", trust=trust)
    assert words(log, POLICY, trust)[ADD_2] == "approved"
    assert "fuse@add_2" in refused(log, "quorum", trust=trust).what  # decided, but not yet signed by eve
    sign_approvals(log, POLICY, trust, private_key("eve"), AT)
    assert open_bundle(released(log, trust=trust).bundle, trust, AT, EXPECTED).reviewers[ADD_2] == ("ada", "eve")


def test_key_of_a_stranger_a_reviewer_or_a_revoked_one_cannot_release(log):
    approve_all(log, POLICY, "ada")
    sign_approvals(log, POLICY, TRUST, private_key("ada"), AT)
    refused(log, "unknown_key", who="mallory")
    refused(log, "role", who="bob")
    lost = trust_file(person("ada", "reviewer", "releaser", revoked=Revocation(at=AT, reason="lost")))
    refused(log, "revoked_key", trust=lost)


def test_policy_without_model_or_spec_cannot_be_decided_or_signed(log):
    with pytest.raises(InputError, match="which model"):
        approve_all(log, policy(model_digest=None), "ada")
    with pytest.raises(InputError, match="approved nothing"):
        sign_approvals(log, POLICY, TRUST, private_key("ada"), AT)


def test_a_bundle_can_be_signed_for_others(log):
    approve_all(log, POLICY, "ada")
    made = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL, audience=("line 4", "line 5"))
    assert made.verified.statement.predicate.audience == ("line 4", "line 5")
    assert open_bundle(made.bundle, trust_file(audience="line 5"), AT, EXPECTED)
    with pytest.raises(NotTrustedError) as refusal:
        open_bundle(made.bundle, TRUST, AT, EXPECTED)
    assert refusal.value.check == "audience"


def test_serials_rise_and_are_in_the_record(log):
    approve_all(log, POLICY, "ada")
    serials = [released(log).verified.statement.predicate.serial for _ in range(3)]
    assert serials == [1, 2, 3]
    assert [each.serial for each in current_state(log, POLICY, TRUST).released] == serials


def test_bundles_made_at_once_get_different_serials(log):
    approve_all(log, POLICY, "ada")
    found, threads = [], []
    for _ in range(6):
        threads.append(threading.Thread(target=lambda: found.append(released(log).verified.statement.predicate.serial)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [1, 2, 3, 4, 5, 6]


def test_what_was_signed_can_no_longer_be_undone(log):
    approve_all(log, POLICY, "ada")
    released(log)
    with pytest.raises(InputError, match="can no longer be undone"):
        undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "ada", AT)


def test_same_decisions_give_the_same_bundle(tmp_path):
    bundles = []
    for name in ("one", "two"):
        log = EventLog(tmp_path / name)
        approve_all(log, POLICY, "ada")
        bundles.append(released(log).bundle)
        log.close()
    assert bundles[0] == bundles[1]


def test_changed_row_in_the_store_cannot_get_into_a_bundle(log):
    """The bundle holds reviewers' own signatures: a forged approval in the database is not one of them."""
    say(log, POLICY, "mallory", [each.id for each in POLICY.actions], "approve", justification=JUSTIFICATION)
    log.close()
    connection = sqlite3.connect(log.path, isolation_level=None)
    for name in guards():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("""UPDATE event SET body = replace(body, '"mallory"', '"bob"')""")
    connection.close()
    assert set(words(log, POLICY).values()) == {"approved"}
    refused(log, "missing_approval")


def test_securesystemslib_verifies_our_envelope(log):
    approve_all(log, POLICY, "ada")
    plain = json.loads(released(log).bundle)
    key = SSlibKey(
        plain["signatures"][0]["keyid"],
        "ed25519",
        "ed25519",
        {"public": private_key("ada").public_key.hex()},
    )
    other = OtherEnvelope.from_dict(json.loads(json.dumps(plain)))
    assert list(other.verify([key], 1)) == [private_key("ada").id]
    other.payload += b" "
    with pytest.raises(VerificationError):
        other.verify([key], 1)


def test_policy_made_under_other_rules_than_will_compile_it_is_not_signed(log):
    approve_all(log, POLICY, "ada")
    with pytest.raises(NotTrustedError) as refusal:
        release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL, ruleset_digest=OTHER)
    assert refusal.value.check == "wrong_rules"
