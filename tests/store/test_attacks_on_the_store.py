"""Attacks 39 to 48: on the record of the review, the signing and the machine around it. 43 is in test_disk_failures."""

import json
import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path

import onnx.parser
import pytest
from forging import chain_anew, tamper
from review_maker import (
    ACTIONS,
    AT,
    CONV_0,
    JUSTIFICATION,
    MODEL,
    POLICY,
    RULES,
    SPEC,
    TRUST,
    UNTIL,
    approve_all,
    private_key,
    say,
    trust_file,
    words,
)

from metainfer_core import errors
from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import inspect_bundle, open_bundle
from metainfer_core.cli import trust_commands
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.policy.policy import Policy
from review_store.record.check_log import check_log
from review_store.record.events import Released, SignedApproval
from review_store.record.log import EventLog
from review_store.signing.keys import read_key, write_key
from review_store.signing.signing import release, sign_approvals

EXPECTED = Expected(MODEL, SPEC, RULES)


def released(log, who="ada", trust=TRUST, **more):
    return release(log, POLICY, trust, private_key(who), AT, UNTIL, **more)


def refused(log, **more):
    with pytest.raises(NotTrustedError) as refusal:
        released(log, **more)
    assert refusal.value.exit_status == 3
    assert not [each for each in log.records() if isinstance(each.event, Released)]
    return refusal.value.check


def test_attack_39_stolen_session_approves_in_anothers_name(log):
    """Who has the studio open as Bob can say what Bob would; without Bob's key it is worth nothing."""
    say(log, POLICY, "bob", [each.id for each in ACTIONS], "approve", justification=JUSTIFICATION)
    assert set(words(log, POLICY).values()) == {"approved"}
    assert refused(log) == "missing_approval"
    with pytest.raises(InputError, match="approved nothing"):
        sign_approvals(log, POLICY, TRUST, private_key("eve"), AT)
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    assert released(log).verified.reviewers[CONV_0] == ("bob",)


def test_attack_40_row_changed_in_the_database(log, told_by):
    """An approval that was made another's carries no signature of theirs; a signed one that was edited carries none."""
    approve_all(log, POLICY, "mallory")
    tamper(log, """UPDATE event SET body = replace(body, '"mallory"', '"bob"')""")
    assert set(words(log, POLICY).values()) == {"approved"}
    assert refused(log) == "missing_approval"
    assert check_log(log)[0].seq == 1
    (log.path.parent / "trust.json").write_bytes(TRUST.to_json())
    status, told = told_by("review", "check", "--workspace", log.path.parent)
    assert status == 1
    assert told.splitlines()[0].startswith("Event 1 ")


def test_attack_40_signed_approval_edited_in_the_database(log):
    approve_all(log, POLICY, "bob")
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    assert released(log).verified.reviewers[CONV_0] == ("bob",)  # so what follows is refused for the edit alone
    signed = next(each.seq for each in log.records() if isinstance(each.event, SignedApproval))
    tamper(log, """UPDATE event SET body = replace(body, '"payload":"ey', '"payload":"fy')""")
    with pytest.raises(NotTrustedError) as refusal:
        released(log)
    assert refusal.value.check == "missing_approval"
    assert min(fault.seq for fault in check_log(log) if fault.seq) == signed


@pytest.mark.parametrize(
    ("edit", "first"),
    [
        ("DELETE FROM event WHERE seq > 3", 4),
        ("DELETE FROM event", 1),
        ("UPDATE event SET prev = (SELECT hash FROM event WHERE seq = 1) WHERE seq = 3", 3),
        ("DELETE FROM event WHERE seq = 2", 2),
    ],
    ids=["end cut off", "all of it deleted", "forked", "hole"],
)
def test_attack_41_chain_cut_forked_or_deleted(log, edit, first):
    for who in ("ada", "bob", "eve"):
        say(log, POLICY, who, CONV_0, "comment", reason=f"seen by {who}")
    assert check_log(log) == ()
    tamper(log, edit)
    faults = check_log(log)
    assert min(fault.seq for fault in faults if fault.seq) == first


@pytest.mark.parametrize(("edit", "first"), [("", 3), ("DELETE FROM event WHERE seq = 3", 3)], ids=["fork", "hole"])
def test_attack_41_by_someone_who_computes_every_hash_again(log, edit, first):
    """The chain alone holds then; the checkpoints beside it tell."""
    for who in ("ada", "bob", "eve"):
        say(log, POLICY, who, CONV_0, "comment", reason=f"seen by {who}")
    tamper(log, edit)
    chain_anew(log, first, lambda body: body.replace("seen by", "read by"))
    assert next(fault.seq for fault in check_log(log)) == first
    log.checkpoints.write_bytes(log.head().to_json() + b"\n")
    assert check_log(log) == ()  # who can write both is found out by what left the machine: see fault 26


def test_attack_41_fork_is_refused_by_the_database_itself(log):
    approve_all(log, POLICY, "ada")
    row = "SELECT 2, stream, subject, body, prev, hash FROM event WHERE seq = 2"
    with sqlite3.connect(log.path, isolation_level=None) as connection:
        for statement in (f"INSERT OR REPLACE INTO event {row}", f"INSERT INTO event {row}", "DELETE FROM event"):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                connection.execute(statement)
    connection.close()
    assert check_log(log) == ()


def test_attack_42_reviewer_withdraws_while_the_bundle_is_signed(log, monkeypatch):
    """Between reading the state and writing the release: signing starts again, and refuses."""
    approve_all(log, POLICY, "ada")
    append = EventLog.append

    def append_after_withdrawal(self, stream, events, *positions, **more):
        if any(isinstance(each, Released) for each in events):
            monkeypatch.setattr(EventLog, "append", append)
            say(self, POLICY, "ada", CONV_0, "withdraw")
        return append(self, stream, events, *positions, **more)

    monkeypatch.setattr(EventLog, "append", append_after_withdrawal)
    assert refused(log) == "missing_approval"


def _release_into(workspace, queue):
    log = EventLog(workspace)
    queue.put(released(log).verified.statement.predicate.serial)
    log.close()


def test_attack_45_two_machines_sign_at_once(log):
    """From two processes, and from threads of one: every bundle has a number of its own."""
    approve_all(log, POLICY, "ada")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=_release_into, args=(log.path.parent, queue)) for _ in range(3)]
    log.close()
    for each in processes:
        each.start()
    found = [queue.get(timeout=120) for _ in processes]
    for each in processes:
        each.join(60)
    threads = [
        threading.Thread(target=lambda: found.append(released(log).verified.statement.predicate.serial))
        for _ in range(3)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(found) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("least", ["0.1.0", "0.2.0", "10.0.0"])
def test_attack_46_made_or_checked_with_a_program_that_is_too_old(log, least):
    approve_all(log, POLICY, "ada")
    data = released(log).bundle
    reasons = inspect_bundle(data, trust_file(min_tool_version=least), AT, EXPECTED).reasons
    assert [each.check for each in reasons] == ([] if least == "0.1.0" else ["tool_version"] * 3)


@pytest.fixture
def secrets(log, tmp_path):
    """A workspace with a key under a passphrase, and every text that must never be seen."""
    write_key(tmp_path / "ada.key", private_key("ada"), "correct horse battery")
    raw = private_key("ada").key.private_bytes_raw()
    (tmp_path / "trust.json").write_bytes(TRUST.to_json())
    approve_all(log, POLICY, "ada")
    (tmp_path / "net.bundle").write_bytes(released(log).bundle)
    return ["correct horse battery", raw.hex(), (tmp_path / "ada.key").read_text().splitlines()[1]]


@pytest.fixture
def told_by(meta_infer):
    """Gives a command; returns its exit status and all that it said."""

    def give(*words_given):
        status, out, err = meta_infer(*words_given)
        return status, out + err

    return give


def test_attack_47_messages_tell_no_secret(log, secrets, tmp_path, told_by):
    told = []
    key = tmp_path / "ada.key"
    bundle, trust = tmp_path / "net.bundle", tmp_path / "trust.json"
    for given in ((bundle,), (bundle, "--trust", trust), (key, "--trust", trust), (bundle, "--trust", key)):
        told.append(told_by("verify", *given, "--json")[1])
        told.append(told_by("verify", *given)[1])
    for passphrase in ("wrong", "correct horse batter"):
        with pytest.raises(InputError) as refusal:
            read_key(key, passphrase)
        told.append(str(refusal.value))
    key.chmod(0o644)
    with pytest.raises(InputError) as refusal:
        read_key(key, "correct horse battery")
    told.append(str(refusal.value))
    told.append(repr(private_key("ada")))
    key.chmod(0o600)
    net = '<ir_version: 10, opset_import: ["": 21]> net (float[1,4] x) => (float[1,4] y) {y = Relu(x)}'
    (tmp_path / "net.onnx").write_bytes(onnx.parser.parse_model(net).SerializeToString())
    (tmp_path / "net.policy").write_bytes(Policy(actions=(), name="net").to_json())
    unlocking = []
    for passphrase in (b"wrong horse battery", b"correct horse battery"):
        given = ["--model", tmp_path / "net.onnx", "--hw-spec", "rk3588", "--key", key, "--workspace", log.path.parent]
        words = ["sign", tmp_path / "net.policy", *given, "--output", tmp_path / "out.bundle"]
        unlocking.append(with_passphrase(told_by, passphrase, *words))
        words = ["keys", "new", "eve", "--keys", tmp_path / f"keys of {passphrase[:5].decode()}"]
        told.append(with_passphrase(told_by, passphrase, *words, "--json"))
    told += unlocking
    assert "cannot be unlocked" in unlocking[0]
    assert "does not stand in the trust file" in unlocking[1]
    assert "eve.pub" in told[-3]
    for text in told:
        assert not [secret for secret in secrets if secret in text], text
    raw = private_key("ada").key.private_bytes_raw()
    for path in (each for each in tmp_path.rglob("*") if each.is_file() and each != key):
        kept = path.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in kept], path
        assert raw not in kept, path


def with_passphrase(told_by, passphrase, *words):
    """What a command says that reads its passphrase from a descriptor."""
    read, write = os.pipe()
    os.write(write, passphrase + b"\n")
    os.close(write)
    try:
        return told_by(*words, "--passphrase-fd", read)[1]
    finally:
        os.close(read)


def test_attack_48_exit_statuses_are_distinct_and_documented(log, secrets, tmp_path, monkeypatch, told_by):
    statuses = {
        errors.InputError: 2,
        errors.NotTrustedError: 3,
        errors.UnsupportedError: 1,
        errors.DoesNotFitError: 1,
        errors.ObligationFailed: 1,
        errors.DefectError: 70,
    }
    assert {kind: kind.exit_status for kind in statuses} == statuses
    bundle, trust = tmp_path / "net.bundle", tmp_path / "trust.json"
    monkeypatch.setattr(trust_commands, "ruleset_digest", lambda: RULES)
    monkeypatch.setattr(trust_commands, "time_text", lambda _: AT)
    assert told_by("verify", bundle, "--trust", trust)[0] == 0
    assert told_by("verify", tmp_path / "nothing", "--trust", trust)[0] == 2
    plain = json.loads(bundle.read_bytes())
    bundle.write_text(json.dumps(plain | {"signatures": []}))
    status, told = told_by("verify", bundle, "--trust", trust)
    assert (status, "unsigned" in told) == (3, True)
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text()
    assert "Exit status: 0 done · 1 a negative verdict · 2 bad input or usage · 3" in reference


def test_verify_without_a_trust_file_says_so(secrets, tmp_path, told_by):
    status, told = told_by("verify", tmp_path / "net.bundle", "--trust", tmp_path / "no.json")
    assert status == 3
    assert f"{tmp_path / 'no.json'}: there is no trust file, so nobody's signature counts." in told
    assert "meta-infer keys trust" in told


def test_verify_says_in_words_who_signed_what(secrets, tmp_path, monkeypatch, told_by):
    monkeypatch.setattr(trust_commands, "ruleset_digest", lambda: RULES)
    monkeypatch.setattr(trust_commands, "time_text", lambda _: AT)
    status, told = told_by("verify", tmp_path / "net.bundle", "--trust", tmp_path / "trust.json")
    assert (status, told.splitlines()[:4]) == (
        0,
        [
            f"{tmp_path / 'net.bundle'}: trusted",
            f"Released by ada on {AT} as number 1 of 'net_on_chip', valid until {UNTIL}.",
            "3 actions, all approved: ada signed for 3.",
            "Authors may approve their own work here (trust file).",
        ],
    )


def test_a_bundle_made_here_is_opened_again(log):
    approve_all(log, POLICY, "ada")
    assert open_bundle(released(log).bundle, TRUST, AT, EXPECTED).releasers == ("ada",)
