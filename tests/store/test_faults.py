"""Faults that users met in other tools, in the review and its record. Each name holds its number in the list."""

import csv
import io
import json
import os
import random
import subprocess
import sys

import pytest
from forging import chain_anew, tamper
from hypothesis import given, settings
from hypothesis import strategies as st
from review_maker import (
    ACTIONS,
    ADD_2,
    AT,
    CONV_0,
    CONV_1,
    JUSTIFICATION,
    OTHER,
    POLICY,
    TRUST,
    UNTIL,
    action,
    approve_all,
    policy,
    private_key,
    say,
    trust_file,
    words,
)
from writer import start

from metainfer_core.bundle.trust import Quorum
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.policy.policy import Policy
from metainfer_core.values import read_json
from review_store.export.review_text import record_text, records_csv, records_json_lines
from review_store.record.check_log import check_log
from review_store.record.log import Conflict, EventLog
from review_store.review.decide import Decision, current_state, decide, low_risk_ids, undo_last
from review_store.review.workspace import read_policy
from review_store.signing.signing import release


@pytest.mark.parametrize("changed", ["model_digest", "spec_digest", "ruleset_digest"])
def test_fault_01_same_text_of_the_action_over_something_else_is_outdated(log, changed):
    """The action is the same byte for byte; what it was approved for is not."""
    approve_all(log, POLICY, "ada")
    revision = policy(**{changed: OTHER})
    assert [each.content_digest for each in revision.actions] == [each.content_digest for each in ACTIONS]
    assert set(words(log, revision).values()) == {"outdated"}
    with pytest.raises(NotTrustedError) as refusal:
        release(log, revision, TRUST, private_key("ada"), AT, UNTIL)
    assert refusal.value.check == "stale_approval"
    assert all(each.id in refusal.value.what for each in ACTIONS)


def test_fault_03_nothing_is_outdated_when_only_the_writing_changed(log):
    """Other order of the keys, other sentences and evidence: all approvals stay."""
    approve_all(log, POLICY, "ada")
    plain = POLICY.plain()
    plain["actions"] = [dict(reversed(each.items())) | {"sentence": "Said otherwise."} for each in plain["actions"]]
    again = Policy.from_plain(dict(reversed(plain.items())) | {"warnings": ["another"], "calibration": "moved.npz"})
    assert again.digest != POLICY.digest
    assert set(words(log, again).values()) == {"approved"}


def test_fault_03_nothing_is_outdated_by_another_file(log, tmp_path):
    """Written by another program, under another name, at another time."""
    plain = {**POLICY.plain(), "actions": [dict(reversed(each.items())) for each in POLICY.plain()["actions"]]}
    (tmp_path / "one.policy").write_bytes(POLICY.to_json())
    (tmp_path / "another.policy").write_text(json.dumps(dict(reversed(plain.items())), indent=3) + "\n\n")
    os.utime(tmp_path / "another.policy", (1, 1))
    approve_all(log, read_policy(tmp_path / "one.policy"), "ada")
    assert set(words(log, read_policy(tmp_path / "another.policy")).values()) == {"approved"}


def test_fault_03_last_editor_does_not_count_and_others_stay_counted(log):
    strict = trust_file(authors_may_approve=False)
    say(log, POLICY, "ada", CONV_0, "override", override={"bit_width": 16}, reason="finer", trust=strict)
    say(log, POLICY, "ada", CONV_0, "approve", justification=JUSTIFICATION, trust=strict)
    assert words(log, POLICY, strict)[CONV_0] == "required"
    say(log, POLICY, "bob", CONV_0, "approve", justification=JUSTIFICATION, trust=strict)
    review = current_state(log, POLICY, strict).action(CONV_0)
    assert (review.word, review.standing.counted, review.standing.authors) == ("approved", ("bob",), ("ada",))


def test_fault_04_bulk_approval_approves_exactly_what_was_ticked(log):
    ten = policy(*(action(f"conv_{n}") for n in range(9)), action("conv_9", "high"))
    ticked = ["quantize@conv_1", "quantize@conv_4", "quantize@conv_7"]
    written = say(log, ten, "bob", ticked, "approve")
    assert [record.event.action for record in written if record.event.subject] == ticked
    assert [each for each, word in words(log, ten).items() if word == "approved"] == ticked
    assert "quantize@conv_9" not in low_risk_ids(current_state(log, ten, TRUST))
    with pytest.raises(InputError, match="needs a justification"):
        say(log, ten, "bob", ["quantize@conv_0", "quantize@conv_9"], "approve")
    assert words(log, ten)["quantize@conv_0"] == "pending"  # all or none


def test_fault_05_decision_about_a_row_that_changed_meanwhile_is_a_conflict(log):
    """What is written names ids and what was seen of them: a new action on top cannot be hit."""
    seen = current_state(log, POLICY, TRUST)
    say(log, POLICY, "eve", CONV_0, "tag", reason="look")
    outcome = decide(log, seen, Decision("ada", (CONV_0,), ("approve",)), AT, None)
    assert isinstance(outcome, Conflict)
    assert [record.event.kind for record in outcome.others] == ["tagged"]
    newer = policy(action("new", "high"), *ACTIONS)
    assert words(log, newer)["quantize@new"] == "required"
    say(log, newer, "ada", CONV_1, "approve")
    assert [each for each, word in words(log, newer).items() if word == "approved"] == [CONV_1]


def test_fault_06_who_left_a_tab_open_loses_nobodys_work(log):
    """A hundred times two people look, in any order, and both save; whoever is late is shown what the other said."""
    rng, said = random.Random(6), []
    for number in range(100):
        tabs = {who: current_state(log, POLICY, TRUST) for who in ("ada", "bob")}
        first, late = rng.sample(["ada", "bob"], 2)
        remarks = {who: Decision(who, (CONV_0,), ("comment",), reason=f"{who} {number}") for who in tabs}
        assert not isinstance(decide(log, tabs[first], remarks[first], AT, None), Conflict)
        before = log.head()
        conflict = decide(log, tabs[late], remarks[late], AT, None)
        assert isinstance(conflict, Conflict)
        assert [each.event.text for each in conflict.others] == [f"{first} {number}"]
        assert log.head() == before
        said.append(f"{first} {number}")
        if rng.random() < 0.5:  # who was late looks, and says it all the same
            assert not isinstance(decide(log, current_state(log, POLICY, TRUST), remarks[late], AT, None), Conflict)
            said.append(f"{late} {number}")
    assert [each.event.text for each in log.records() if each.event.kind == "commented"] == said
    assert len(said) > 130


def test_fault_07_each_verdict_can_be_undone_by_an_event(log):
    for number in range(20):
        say(log, POLICY, "ada", CONV_0, "comment", reason=f"remark {number}")
    before = log.head().seq
    for _ in range(20):
        assert not isinstance(undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "ada", AT), Conflict)
    assert log.head().seq == before + 20
    undone = [each.event.undoes for each in log.records() if each.event.kind == "undone"]
    assert undone == list(range(before, before - 20, -1))
    with pytest.raises(InputError, match="decided nothing"):
        undo_last(log, current_state(log, POLICY, TRUST), CONV_0, "ada", AT)


@pytest.mark.parametrize(
    ("verdict", "more"),
    [
        ("approve", {}),
        ("reject", {"reason": "no"}),
        ("tag", {"reason": "look", "assignee": "bob"}),
        ("override", {"reason": "finer", "override": {"bit_width": 16}}),
        ("comment", {"reason": "hm"}),
    ],
)
def test_fault_07_each_kind_of_verdict_is_undone_wholly(log, verdict, more):
    """On top of others' verdicts; what was decided before holds again, and nothing is taken out of the record."""
    say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "eve", CONV_1, "tag", reason="not this one")

    def shown():
        return [(each.id, each.word, each.approvals, each.override, each.tag) for each in now().actions]

    def now():
        return current_state(log, POLICY, TRUST)

    before, count = shown(), log.head().seq
    say(log, POLICY, "ada", CONV_0, verdict, **more)
    assert (shown() == before) == (verdict == "comment")
    undo_last(log, now(), CONV_0, "ada", AT)
    assert shown() == before
    assert log.head().seq == count + 2
    say(log, POLICY, "bob", CONV_0, "withdraw")
    undo_last(log, now(), CONV_0, "bob", AT)
    assert shown() == before


def test_fault_09_what_is_sent_back_is_open_again_and_says_who_is_asked(log):
    approve_all(log, POLICY, "bob")
    assert current_state(log, POLICY, TRUST).unreviewed == ()
    say(log, POLICY, "eve", CONV_0, "tag", reason="channel 3 is dead", assignee="bob")
    state = current_state(log, POLICY, TRUST)
    assert [each.id for each in state.unreviewed] == [CONV_0]
    tag = state.action(CONV_0).tag
    assert (tag.actor, tag.reason, tag.assignee) == ("eve", "channel 3 is dead", "bob")
    assert (
        record_text(log.records()[-1]) == f"{log.head().seq} {AT} eve tagged (reason: channel 3 is dead; assignee: bob)"
    )


def test_fault_09_history_tells_who_did_what_and_a_finished_action_can_be_sent_back(log):
    say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "eve", CONV_0, "tag", reason="channel 3 is dead")
    assert words(log, POLICY)[CONV_0] == "required"
    say(log, POLICY, "bob", CONV_0, "override", override={"bit_width": 16}, reason="finer")
    told = [record_text(each) for each in log.records() if each.event.subject == CONV_0]
    assert told == [
        f"2 {AT} bob approved",
        f"3 {AT} eve tagged (reason: channel 3 is dead)",
        f'4 {AT} bob overridden (reason: finer; override: {{"bit_width": 16}}; effect: not measured: a test of the '
        "record)",
    ]


@pytest.mark.parametrize("cut", ["the last", "the last three", "one policy", "rewritten", "one policy, made anew"])
def test_fault_26_cut_or_rewritten_end_is_named(log, cut):
    """By someone who computes every hash again and writes the checkpoints too: the signed bundle tells."""
    other = policy(name="other")
    say(log, POLICY, "ada", CONV_0, "approve")
    say(log, other, "bob", CONV_0, "approve")
    approve_all(log, POLICY, "ada")
    head = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL).verified.statement.predicate.review_log
    said = f"Event {head.seq} is not the one that a signed bundle names."
    gone = "The end was cut off: a signed bundle names event {}, the record ends at event {}."
    assert check_log(log, (head,)) == ()
    count = head.seq
    statement, again, expected = {
        "the last": (f"DELETE FROM event WHERE seq >= {count}", 0, (count, gone.format(count, count - 1))),
        "the last three": (f"DELETE FROM event WHERE seq > {count - 3}", 0, (count - 2, gone.format(count, count - 3))),
        "one policy": ("DELETE FROM event WHERE stream = 'other'", 1, (count, gone.format(count, count - 1))),
        "rewritten": ("", 2, (count, said)),
        "one policy, made anew": ("UPDATE event SET stream = 'third' WHERE stream = 'other'", 1, (count, said)),
    }[cut]
    tamper(log, statement)
    if again:
        chain_anew(log, again, lambda body: body.replace('"ada"', '"eve"') if cut == "rewritten" else body)
    log.checkpoints.write_bytes(log.head().to_json() + b"\n")
    assert check_log(log) == ()
    faults = check_log(log, (head,))
    assert [(each.seq, each.what) for each in faults] == [expected]


def test_fault_27_without_a_key_store_it_is_said_and_nothing_is_kept(tmp_path):
    """A machine without a desktop session: the real command in a process without D-Bus."""
    code = "from metainfer_core.cli import main; main()"
    command = [sys.executable, "-c", code, "keys", "new", "ada", "--keyring", "--keys", str(tmp_path / "keys")]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "no key store that can be used" in done.stderr
    assert "Leave --keyring out: the key file is encrypted" in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@settings(max_examples=24, deadline=None)
@given(st.sampled_from(["=", "+", "-", "@", "\t", "\r"]), st.text(max_size=20))
def test_fault_28_formulas_run_in_no_spreadsheet_and_come_back_exactly(tmp_path_factory, start_, rest):
    text = f"{start_}x{rest}".replace("\x00", "")
    text = "".join(letter for letter in text if not "\ud800" <= letter <= "\udfff")
    log = EventLog(tmp_path_factory.mktemp("log"))
    hostile = action("conv_0", kind=f"{start_}cmd")  # its id is a cell of its own
    say(log, policy(hostile), "ada", hostile.id, "comment", reason=f"{text}.")

    rows = list(csv.reader(io.StringIO(records_csv(log.records()).decode(), newline="")))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert rows[2][3] == f"'{hostile.id}"
    line = read_json(records_json_lines(log.records()).split(b"\n")[1])
    assert (line["text"], line["action"]) == (f"{text}.".strip(), hostile.id)
    log.close()


def test_fault_29_no_lock_error_reaches_anybody(tmp_path):
    """Two processes with four threads each; the minute with eight is in test_many_writers."""
    programs = [start(tmp_path, name, 4, 10_000, seconds=2) for name in ("ada", "bob")]
    said = [line for each in programs for line in each.lines()]
    for each in programs:
        each.process.join(60)
        assert each.process.exitcode == 0
    assert len({text.rpartition("-")[0] for text, _ in said}) == 8
    log = EventLog(tmp_path)
    assert sorted(each.event.text for each in log.records()) == sorted(text for text, _ in said)
    log.close()


def test_two_of_two_is_reached_by_two_people_alone(log):
    two = trust_file(quorum=Quorum(high=2))
    for _ in range(3):
        say(log, POLICY, "bob", ADD_2, "approve", justification=JUSTIFICATION, trust=two)
    assert words(log, POLICY, two)[ADD_2] == "required"
