"""Every change of the record by other programs is found, with the number of the first event that it concerns."""

import pytest
from forging import chain_anew, tamper
from review_maker import ADD_2, CONV_0, CONV_1, POLICY, TRUST, approve_all, private_key, say

from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError
from review_store.record.check_log import check_log
from review_store.record.events import read_event
from review_store.record.log import EventLog
from review_store.record.migrations import guards
from review_store.signing.signing import release

EDITS = {
    "reason of an event": (3, "UPDATE event SET body = replace(body, 'too coarse', 'too fine') WHERE seq = 3"),
    "actor of an event": (2, """UPDATE event SET body = replace(body, '"bob"', '"eve"') WHERE seq = 2"""),
    "spelling of an event": (2, "UPDATE event SET body = body || ' ' WHERE seq = 2"),
    "event that is no event": (4, "UPDATE event SET body = '{}' WHERE seq = 4"),
    "stream": (5, "UPDATE event SET stream = 'other' WHERE seq = 5"),
    "subject": (5, "UPDATE event SET subject = 'other' WHERE seq = 5"),
    "hash": (4, "UPDATE event SET hash = prev WHERE seq = 4"),
    "link": (4, "UPDATE event SET prev = hash WHERE seq = 4"),
    "one event deleted": (3, "DELETE FROM event WHERE seq = 3"),
    "first event deleted": (1, "DELETE FROM event WHERE seq = 1"),
    "last event deleted": (6, "DELETE FROM event WHERE seq = 6"),
    "last three deleted": (4, "DELETE FROM event WHERE seq > 3"),
    "all deleted": (1, "DELETE FROM event"),
    "event inserted": (7, "INSERT INTO event SELECT 7, stream, subject, body, prev, hash FROM event WHERE seq = 2"),
    "two events swapped": (
        3,
        "UPDATE event SET seq = -3 WHERE seq = 3; UPDATE event SET seq = 3 WHERE seq = 4;"
        "UPDATE event SET seq = 4 WHERE seq = -3",
    ),
}


@pytest.fixture
def full(log):
    """A record of six events in three writes: registered, approved · overridden · approved, approved, commented."""
    say(log, POLICY, "bob", CONV_0, "approve")
    say(log, POLICY, "ada", CONV_1, "override", override=False, reason="too coarse")
    say(log, POLICY, "bob", [CONV_1, CONV_0], "approve")
    say(log, POLICY, "eve", ADD_2, "comment", reason="hm")
    assert log.head().seq == 6
    assert check_log(log) == ()
    return log


@pytest.mark.parametrize("edit", EDITS)
def test_edit_by_raw_sql_is_found_and_named(full, edit):
    seq, statements = EDITS[edit]
    tamper(full, statements)
    faults = check_log(full)
    assert faults, edit
    assert min(fault.seq for fault in faults if fault.seq) == seq


def test_rewrite_with_new_hashes_is_found_by_the_checkpoints(full):
    chain_anew(full, 3, lambda body: body.replace("too coarse", "fine"))
    faults = check_log(full)
    assert [fault.seq for fault in faults] == [3, 5, 6]
    assert faults[0].what == "Event 3 is not the one that a checkpoint names."


def test_cut_and_regrown_end_is_found(full):
    """As many events as before, the last ones other than they were: a count alone would not tell."""
    tamper(full, "DELETE FROM event WHERE seq > 5")
    again = EventLog(full.path.parent)
    say(again, POLICY, "eve", ADD_2, "comment", reason="something else")
    assert again.head().seq == 6
    assert [fault.seq for fault in check_log(again)] == [6]
    again.close()


def test_backup_older_than_the_last_checkpoint_is_found(full, tmp_path):
    full.close()
    backup = full.path.read_bytes()
    log = EventLog(full.path.parent)
    say(log, POLICY, "eve", ADD_2, "comment", reason="later")
    log.close()
    for path in full.path.parent.glob("review.db*"):
        path.unlink()
    full.path.write_bytes(backup)
    faults = check_log(full)
    assert [(fault.seq, fault.what) for fault in faults] == [
        (7, "The end was cut off: a checkpoint names event 7, the record ends at event 6.")
    ]


def test_missing_and_broken_checkpoints_are_found(full):
    lines = full.checkpoints.read_bytes()
    full.checkpoints.unlink()
    assert "checkpoints is missing" in check_log(full)[0].what
    for nothing in (b"", b"\xff\0{", lines[:50]):
        full.checkpoints.write_bytes(nothing)
        assert "holds no checkpoint" in check_log(full)[0].what
    full.checkpoints.write_bytes(b"junk\n" + lines)
    assert check_log(full)[0].what.endswith("review.checkpoints:1: this checkpoint cannot be read.")


def test_line_that_was_being_written_when_the_machine_stopped_is_no_fault(full):
    with full.checkpoints.open("ab") as file:
        file.write(b'{"hash":"sha2')
    assert check_log(full) == ()


def test_line_that_a_killed_writer_left_half_written_is_no_fault_once_others_wrote_on(full):
    with full.checkpoints.open("ab") as file:
        file.write(full.head().to_json()[:60])
    again = EventLog(full.path.parent)
    say(again, POLICY, "eve", ADD_2, "comment", reason="after that")
    assert check_log(again) == ()
    assert again.head().to_json() in full.checkpoints.read_bytes().splitlines()
    again.close()


def test_power_lost_between_the_first_event_and_its_checkpoint_is_no_fault(log):
    say(log, POLICY, "bob", CONV_0, "approve")
    first, *_ = log.checkpoints.read_bytes().splitlines(keepends=True)
    log.checkpoints.write_bytes(first)
    assert check_log(log) == ()


def test_deleted_record_is_found(full):
    full.close()
    for path in full.path.parent.glob("review.db*"):
        path.unlink()
    fresh = EventLog(full.path.parent)
    assert check_log(fresh)[0].what == ("The end was cut off: a checkpoint names event 6, the record ends at event 0.")
    fresh.close()


def test_both_files_rewritten_is_found_by_a_signed_bundle(full):
    approve_all(full, POLICY, "ada")
    signed = release(full, POLICY, TRUST, private_key("ada"), "2026-11-29T12:00:00Z", "2027-11-29T12:00:00Z")
    head = signed.verified.statement.predicate.review_log
    assert check_log(full, (head,)) == ()
    chain_anew(full, 3, lambda body: body.replace("too coarse", "fine"))
    full.checkpoints.write_bytes(full.head().to_json() + b"\n")
    assert check_log(full) == ()
    faults = check_log(full, (head,))
    assert [fault.what for fault in faults] == [f"Event {head.seq} is not the one that a signed bundle names."]


def test_removed_changed_and_added_triggers_are_found(full):
    tamper(full, "DROP TRIGGER event_comes_last", drop=False)
    tamper(full, "CREATE TRIGGER sneaky AFTER INSERT ON event BEGIN SELECT 1; END", drop=False)
    assert [fault.what for fault in check_log(full)] == [
        "The trigger event_comes_last, which guards the record, was removed or changed.",
        "There is a trigger sneaky that does not belong to the store.",
    ]


def test_changed_value_is_found(full):
    tamper(full, "UPDATE value SET body = CAST('{}' AS BLOB)")
    assert check_log(full)[0].what == f"The kept value {POLICY.digest} was changed."


def test_damaged_file_is_found_or_refused(full):
    full.close()
    data = bytearray(full.path.read_bytes())
    page = 4096
    data[page * 2 : page * 2 + 200] = bytes(200)
    full.path.write_bytes(bytes(data))
    try:
        faults = check_log(full)
    except InputError:
        return
    assert faults


def test_witness_of_an_empty_log_says_nothing(full):
    genesis = LogHead(seq=0, hash="sha256:" + 64 * "0")
    assert check_log(full, (genesis,)) == ()


def test_what_is_appended_while_one_looks_is_no_cut(full, monkeypatch):
    """The chain is read up to event 6; then another person writes event 7 and its checkpoint."""
    other = EventLog(full.path.parent)

    def read_and_append(body):
        if other.head().seq == 6:
            say(other, POLICY, "eve", ADD_2, "comment", reason="meanwhile")
        return read_event(body)

    monkeypatch.setattr("review_store.record.check_log.read_event", read_and_append)
    assert check_log(full) == ()
    assert other.head().seq == 7
    other.close()


def test_the_first_event_of_all_may_be_written_while_one_looks(tmp_path, monkeypatch):
    log, other = EventLog(tmp_path / "w"), EventLog(tmp_path / "w")

    def guarded():
        if other.head().seq == 0:
            say(other, POLICY, "eve", ADD_2, "comment", reason="meanwhile")
        return guards()

    monkeypatch.setattr("review_store.record.check_log.guards", guarded)
    assert check_log(log) == ()
    assert other.head().seq > 0
    log.close()
    other.close()
