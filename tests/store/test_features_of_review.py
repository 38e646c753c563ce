"""What experts expect of a review, feature by feature; docs/reference/review_features.md lists where each is tested."""

import csv
import io
import json
import random
import sqlite3

import pytest
from review_maker import (
    ACTIONS,
    ADD_2,
    AT,
    CONV_0,
    CONV_1,
    JUSTIFICATION,
    POLICY,
    TRUST,
    action,
    approve_all,
    person,
    policy,
    private_key,
    say,
    trust_file,
    words,
)

from metainfer_core.bundle.envelope import encode_base64
from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import Quorum, TrustedKey
from metainfer_core.errors import InputError
from metainfer_core.policy.policy import Policy
from metainfer_core.values import sha256
from review_store.export.review_text import action_text, records_csv, records_json_lines, state_data
from review_store.record.events import Released
from review_store.record.log import Conflict
from review_store.review.decide import current_state, undo_last
from review_store.review.policy_diff import ActionChange, FieldChange, change_text, policy_diff
from review_store.review.since import changed_since, since_verdict

COMMENTS_BLOCK = trust_file(comments_block=True)
CHANGED = policy(ACTIONS[0], action("conv_1", "high", params={"bit_width": 4}), ACTIONS[2])


def test_feature_01_a_changed_action_blocks_signing_and_its_approval_stays_in_the_record(log):
    approve_all(log, POLICY, "bob")
    assert current_state(log, POLICY, TRUST).unreviewed == ()
    state = current_state(log, CHANGED, TRUST)
    assert [each.id for each in state.unreviewed] == [CONV_1]
    assert state.action(CONV_1).approvals == {}
    assert any(each.event.actor == "bob" and each.event.subject == CONV_1 for each in log.records(state.lineage))
    assert words(log, POLICY)[CONV_1] == "approved"  # as it was, it is still the one that bob approved


def test_feature_02_two_people_are_two_people_with_two_keys(log):
    strict = trust_file(quorum=Quorum(high=2), authors_may_approve=False)
    approve_all(log, POLICY, "bob", trust=strict)
    approve_all(log, POLICY, "bob", trust=strict)  # saying it twice makes nobody two
    assert current_state(log, POLICY, strict).action(ADD_2).standing.counted == ("bob",)
    say(log, POLICY, "eve", ADD_2, "override", "approve", override=False, reason="off", justification=JUSTIFICATION,
        trust=strict)  # fmt: skip
    assert current_state(log, POLICY, strict).action(ADD_2).standing.counted == ()  # hers is her own work
    same_key = TrustedKey(public_key=encode_base64(private_key("bob").public_key))
    twin = person("bobby").model_copy(update={"keys": (same_key,)})
    with pytest.raises(ValueError, match=r"public key .* stands in the trust file twice"):
        trust_file(person("bob"), twin)
    with pytest.raises(ValueError, match=r"name .* stands in the trust file twice"):
        trust_file(*(person(each).model_copy(update={"name": "Bob  Builder"}) for each in ("bob", "bobby")))


def test_feature_03_changed_since_i_looked(log):
    approve_all(log, POLICY, "bob")

    def changed(of=POLICY, who="bob"):
        state = current_state(log, of, TRUST)
        return changed_since(state, log.records(state.lineage), who)

    assert changed() == frozenset()
    assert changed(CHANGED) == {CONV_1}
    say(log, POLICY, "eve", CONV_0, "comment", reason="which data?")
    assert changed() == {CONV_0}
    assert changed(who="ada") == frozenset()  # she never looked
    say(log, POLICY, "bob", CONV_0, "comment", reason="the calibration set")
    assert changed() == frozenset()
    assert changed(who="eve") == {CONV_0}


def test_feature_06_revisions_are_compared_by_meaning():
    added, removed = action("conv_9"), ACTIONS[0]
    assert policy_diff(POLICY, policy(ACTIONS[1], ACTIONS[2], added)) == (
        ActionChange(removed.id, "removed"),
        ActionChange(added.id, "added"),
    )
    assert policy_diff(POLICY, CHANGED) == (
        ActionChange(CONV_1, "changed", (FieldChange("params.bit_width", 8, 4), FieldChange("risk", "medium", "high"))),
    )
    said = [change_text(each) for each in policy_diff(POLICY, CHANGED)[0].fields]
    assert said == ["The bit width changed from 8 to 4.", "The risk changed from medium to high."]
    respelled = json.dumps(dict(reversed(POLICY.plain().items())), indent=3).encode()
    assert policy_diff(POLICY, Policy.from_json(respelled)) == ()
    assert policy_diff(POLICY, policy(*reversed(ACTIONS))) == ()
    explained = action("conv_0", sentence="Quantize it.", constraint="The NPU has INT8 only.")
    assert policy_diff(POLICY, policy(explained, *ACTIONS[1:])) == ()


def test_feature_06_what_changed_since_my_last_verdict(log):
    approve_all(log, POLICY, "bob")

    def since(of, action_id, who="bob"):
        state = current_state(log, of, TRUST)
        return since_verdict(state, log.records(state.lineage), action_id, who, log.value)

    assert since(POLICY, CONV_1, "ada") is None
    assert not since(POLICY, CONV_1).is_anything
    found = since(CHANGED, CONV_1)
    assert found.fields == (FieldChange("params.bit_width", 8, 4), FieldChange("risk", "medium", "high"))
    assert (found.bound_to, found.others) == (None, ())
    say(log, POLICY, "eve", CONV_1, "override", override={"bit_width": 16}, reason="more")
    found = since(POLICY, CONV_1)
    assert found.fields == (FieldChange("override.bit_width", None, 16), FieldChange("risk", "medium", "high"))
    assert [each.event.actor for each in found.others] == ["eve"]
    assert since(policy(spec_digest=sha256(b"other")), CONV_0).bound_to == "the hardware spec"
    say(log, POLICY, "bob", CONV_1, "approve", justification=JUSTIFICATION)
    assert not since(POLICY, CONV_1).is_anything


def test_feature_07_what_a_bundle_rests_on_is_not_undone(log):
    approve_all(log, POLICY, "bob")
    state = current_state(log, POLICY, TRUST)
    released = Released(actor="ada", at=AT, serial=1, policy_digest=POLICY.digest, payload_digest=sha256(b"payload"))
    log.append(state.lineage, [released])
    with pytest.raises(InputError) as refused:
        undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "bob", AT)
    assert refused.value.what == f"{CONV_0}: the decision of {AT} can no longer be undone."
    assert refused.value.why == "A bundle that rests on it was signed since."
    assert words(log, POLICY)[CONV_0] == "approved"
    say(log, POLICY, "bob", CONV_0, "reject", reason="found later")  # what follows is decided anew, and can be undone
    assert not isinstance(undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "bob", AT), Conflict)
    assert words(log, POLICY)[CONV_0] == "approved"


def test_feature_09_threads_are_answered_resolved_and_opened_again(log):
    def threads():
        found = current_state(log, POLICY, TRUST).action(CONV_0).threads
        return [(each.number, [record.event.text for record in each.comments], each.resolved_by) for each in found]

    (_, first) = say(log, POLICY, "eve", CONV_0, "comment", reason="which data?")
    say(log, POLICY, "ada", CONV_0, "comment", reason="the calibration set", thread=first.seq)
    (other,) = say(log, POLICY, "ada", CONV_0, "comment", reason="another matter")
    assert threads() == [
        (first.seq, ["which data?", "the calibration set"], None),
        (other.seq, ["another matter"], None),
    ]
    say(log, POLICY, "eve", CONV_0, "resolve", thread=first.seq)
    assert [each[2] for each in threads()] == ["eve", None]
    undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "eve", AT)
    assert [each[2] for each in threads()] == [None, None]
    say(log, POLICY, "eve", CONV_0, "resolve", thread=first.seq)
    say(log, POLICY, "bob", CONV_0, "comment", reason="not yet", thread=first.seq)  # an answer opens it again
    assert [each[2] for each in threads()] == [None, None]
    for verdict, number in (("resolve", other.seq + 100), ("comment", other.seq + 100), ("resolve", None)):
        with pytest.raises(InputError, match=r"it has no .*comment no"):
            say(log, POLICY, "eve", CONV_0, verdict, reason="?", thread=number)
    with pytest.raises(InputError, match="it has no open comment"):  # of another action
        say(log, POLICY, "eve", CONV_1, "resolve", thread=first.seq)


def test_feature_09_open_comments_block_where_the_trust_file_says_so(log):
    approve_all(log, POLICY, "bob")
    (comment,) = say(log, POLICY, "eve", CONV_0, "comment", reason="which data?")
    assert words(log, POLICY, TRUST)[CONV_0] == "approved"
    state = current_state(log, POLICY, COMMENTS_BLOCK)
    assert [each.id for each in state.unreviewed] == [CONV_0]
    assert state.action(CONV_0).notes == (
        f"The comment of eve (no. {comment.seq}) is open: it is not approved before that is resolved.",
    )
    with pytest.raises(InputError, match="cannot be approved while comments about it are open"):
        say(log, POLICY, "ada", CONV_0, "approve", trust=COMMENTS_BLOCK)
    say(log, POLICY, "eve", CONV_0, "resolve", thread=comment.seq, trust=COMMENTS_BLOCK)
    assert words(log, POLICY, COMMENTS_BLOCK)[CONV_0] == "approved"


@pytest.mark.parametrize("seed", range(5))
def test_feature_11_progress_is_what_the_tables_say(log, seed):
    chance = random.Random(seed)
    ids = [each.id for each in ACTIONS]
    for _ in range(30):
        verdict = chance.choice(["approve", "approve", "reject", "withdraw", "comment"])
        try:
            say(log, POLICY, chance.choice(["ada", "bob"]), chance.choice(ids), verdict, reason="because",
                justification=JUSTIFICATION)  # fmt: skip
        except InputError:
            continue
    connection = sqlite3.connect(log.path)
    query = """
        SELECT subject, json_extract(body, '$.actor'), json_extract(body, '$.kind') FROM event AS last
        WHERE json_extract(body, '$.kind') IN ('approved', 'rejected', 'withdrawn') AND seq = (
            SELECT max(seq) FROM event WHERE subject = last.subject
            AND json_extract(body, '$.actor') = json_extract(last.body, '$.actor')
            AND json_extract(body, '$.kind') IN ('approved', 'rejected', 'withdrawn'))"""
    last = connection.execute(query).fetchall()
    connection.close()
    expected = {}
    for each in ids:
        kinds = {kind for subject, _, kind in last if subject == each}
        still = "required" if each == ADD_2 else "pending"
        expected[each] = "rejected" if "rejected" in kinds else "approved" if "approved" in kinds else still
    told = state_data(current_state(log, POLICY, TRUST))
    assert {each["id"]: each["state"] for each in told["actions"]} == expected
    assert {word: count for word, count in told["counts"].items() if count} == {
        word: list(expected.values()).count(word) for word in set(expected.values())
    }
    assert told["blocking"] == [each for each in ids if expected[each] != "approved"]


def test_feature_14_send_back_has_a_reason_and_someone_who_is_asked(log):
    approve_all(log, POLICY, "bob")
    with pytest.raises(InputError, match="a tag needs a reason"):
        say(log, POLICY, "eve", CONV_0, "tag", assignee="ada")
    say(log, POLICY, "eve", CONV_0, "tag", reason="the first layer loses most", assignee="ada")
    review = current_state(log, POLICY, TRUST).action(CONV_0)
    assert (review.word, review.tag.assignee) == ("required", "ada")
    shown = action_text(review, log.records())
    assert "Tagged by eve, who asks ada to look: the first layer loses most" in shown
    with pytest.raises(InputError, match="an override needs a reason"):
        say(log, POLICY, "eve", CONV_0, "override", override=False)
    with pytest.raises(InputError, match="needs a justification"):
        say(log, POLICY, "eve", CONV_0, "approve")  # not without an answer, by who asked neither
    assert review.question == review.tag
    approve_all(log, POLICY, "ada")
    review = current_state(log, POLICY, TRUST).action(CONV_0)
    assert (review.word, review.question, review.tag.actor) == ("approved", None, "eve")
    assert "the first layer loses most (answered by its approval)" in action_text(review, log.records())


def test_feature_17_no_cell_of_an_export_is_a_formula(log):
    (_, written) = say(log, POLICY, "eve", CONV_0, "comment", reason='=HYPERLINK("http://example.org", "look")')
    hostile = action("conv_0", kind="+cmd|' /C calc'!A")
    say(log, policy(hostile), "eve", hostile.id, "comment", reason="@SUM(1)")
    rows = list(csv.reader(io.StringIO(records_csv(log.records()).decode(), newline="")))
    assert [row[3] for row in rows[1:] if row[3].endswith("conv_0")] == [CONV_0, f"'{hostile.id}"]
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@\t\r" and cell]
    lines = [json.loads(line) for line in records_json_lines(log.records()).splitlines()]
    assert lines[written.seq - 1]["text"] == '=HYPERLINK("http://example.org", "look")'  # exactly as it was said


def test_feature_14_reasons_are_as_long_as_the_trust_file_asks(log):
    ask = trust_file(least_reason=12)
    short, padded, enough = "too noisy", "too noisy .......", "too noisy on 3"  # 8, 8 and 11 + 1 letters and digits
    assert sum(map(str.isalnum, enough)) == 11
    for verdict, more in (("reject", {}), ("tag", {}), ("override", {"override": False})):
        for reason in (short, padded, enough):
            with pytest.raises(InputError, match="too short to follow") as caught:
                say(log, POLICY, "ada", CONV_0, verdict, reason=reason, trust=ask, **more)
            assert "the trust file asks for at least 12" in caught.value.why
    lines = {"why_allowed": "measured on the set", "accuracy_effect": "0.1 dB", "fallback": "keep it in float32"}
    with pytest.raises(InputError, match="the line accuracy_effect of the justification is too short"):
        say(log, POLICY, "ada", ADD_2, "approve", justification=Justification(**lines), trust=ask)
    assert log.records() == ()
    lines["accuracy_effect"] = "0.1 dB of the output"
    say(log, POLICY, "ada", ADD_2, "approve", justification=Justification(**lines), trust=ask)
    say(log, POLICY, "ada", CONV_0, "reject", reason=f"{enough}0", trust=ask)
    say(log, POLICY, "ada", CONV_1, "comment", reason="Why?", trust=ask)  # a question may be short
    say(log, POLICY, "bob", CONV_1, "reject", reason="No")  # where the trust file asks for nothing
    assert len(log.records()) == 5
