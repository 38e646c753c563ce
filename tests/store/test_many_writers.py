"""Several programs and threads on one store, and programs that are killed: nothing that was acknowledged is lost."""

import random
import signal
import time

import pytest
from review_maker import AT, CONV_0, POLICY, TRUST, words
from writer import start

from review_store.record.check_log import check_log
from review_store.record.log import Conflict, EventLog
from review_store.review.decide import Decision, current_state, decide


def texts(log):
    return [each.event.text for each in log.records()]


def race(workspace, threads, count, seconds=None):
    """Two programs with threads, all about one action; gives the number of conflicts that were met.

    A lock error that a person would see ends a thread with an exception, and what it had yet to say is missing.
    """
    programs = [start(workspace, name, threads, count, seconds) for name in ("ada", "bob")]
    said = [line for each in programs for line in each.lines()]
    for each in programs:
        each.process.join(60)
        assert each.process.exitcode == 0
    if seconds is None:
        assert len(said) == 2 * threads * count
    else:
        writers = {text.rpartition("-")[0] for text, _ in said}
        assert len(writers) == 2 * threads  # everybody got through
    log = EventLog(workspace)
    assert sorted(texts(log)) == sorted(text for text, _ in said)
    assert check_log(log) == ()
    log.close()
    return sum(int(conflicts) for _, conflicts in said)


def test_two_programs_with_threads_lose_nothing(tmp_path):
    """Both also make the store: whoever comes second finds it made."""
    assert race(tmp_path, threads=4, count=12) > 0


@pytest.mark.slow
def test_two_programs_with_eight_threads_for_a_minute(tmp_path):
    assert race(tmp_path, threads=8, count=1_000_000, seconds=60) > 0


def kill_while_writing(workspace, rounds, seed):
    rng, acknowledged = random.Random(seed), []
    for number in range(rounds):
        program = start(workspace, f"r{number}x", 2, 10_000)
        first = program.said.readline().decode().split()
        time.sleep(rng.uniform(0, 0.15))
        program.process.kill()
        acknowledged += [line[0] for line in [first, *program.lines()]]
        program.process.join(60)
        assert program.process.exitcode == -signal.SIGKILL
        log = EventLog(workspace)
        kept = texts(log)
        assert len(kept) == len(set(kept))
        assert set(acknowledged) <= set(kept)
        assert check_log(log) == ()
        log.close()
    assert len(acknowledged) > rounds


def test_killed_writer_loses_nothing_that_it_acknowledged(tmp_path):
    kill_while_writing(tmp_path, rounds=30, seed=1)


@pytest.mark.slow
def test_killed_writer_many_times(tmp_path):
    kill_while_writing(tmp_path, rounds=300, seed=2)


def test_two_people_decide_at_once_and_both_decisions_are_kept(log):
    """Both look, both decide: the second one is shown the first one's decision, looks again, and both stand."""
    seen_by_both = current_state(log, POLICY, TRUST)
    ada, bob = (
        Decision(who, (CONV_0,), (verdict,), reason="why") for who, verdict in (("ada", "approve"), ("bob", "tag"))
    )
    assert not isinstance(decide(log, seen_by_both, bob, AT, None), Conflict)
    conflict = decide(log, seen_by_both, ada, AT, None)
    assert isinstance(conflict, Conflict)
    assert [(each.event.actor, each.event.kind) for each in conflict.others] == [("bob", "tagged")]
    assert words(log, POLICY)[CONV_0] == "required"
    comment = Decision("ada", (CONV_0,), ("comment",), reason="seen")
    assert not isinstance(decide(log, current_state(log, POLICY, TRUST), comment, AT, None), Conflict)
    assert [each.event.actor for each in log.records() if each.event.subject] == ["bob", "ada"]


def test_decisions_about_different_actions_are_no_conflict(log):
    seen_by_both = current_state(log, POLICY, TRUST)
    first, second = (each.id for each in POLICY.actions[:2])
    assert not isinstance(decide(log, seen_by_both, Decision("ada", (first,), ("approve",)), AT, None), Conflict)
    assert not isinstance(decide(log, seen_by_both, Decision("bob", (second,), ("approve",)), AT, None), Conflict)
    assert list(words(log, POLICY).values()).count("approved") == 2


def test_decision_about_several_actions_is_all_or_nothing(log):
    seen = current_state(log, POLICY, TRUST)
    first, second = (each.id for each in POLICY.actions[:2])
    decide(log, seen, Decision("bob", (second,), ("tag",), reason="look"), AT, None)
    assert isinstance(decide(log, seen, Decision("ada", (first, second), ("approve",)), AT, None), Conflict)
    assert words(log, POLICY)[first] == "pending"
