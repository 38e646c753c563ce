"""Power loss, a full disk, and programs killed at each single step: what was acknowledged is there, and once."""

import random
import sqlite3

import pytest
from disk_shim import after_power_loss, operations, run
from review_maker import AT, MODEL, POLICY, RULES, SPEC, TRUST, approve_all

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import open_bundle
from review_store.record.check_log import check_log
from review_store.record.events import Released
from review_store.record.log import EventLog
from review_store.record.migrations import guards

EXPECTED = Expected(MODEL, SPEC, RULES)


def texts(log):
    return [each.event.text for each in log.records() if hasattr(each.event, "text")]


def power_losses(tmp_path, events, states, seed):
    """Cuts the power after operations all over a run, and opens what the disk may hold then."""
    folder, journal = tmp_path / "run", tmp_path / "journal"
    folder.mkdir()
    done = run("write", folder, events, log=journal)
    assert done.returncode == 0, done.stderr
    everything = operations(journal)
    assert {"write", "sync"} <= {each.what for each in everything}
    assert sum(each.path.endswith("review.db-wal") and each.what == "sync" for each in everything) >= events
    rng, lost_something = random.Random(seed), 0
    for number in range(states):
        cut = rng.randrange(len(everything) + 1)
        before = everything[:cut]
        kept_files = after_power_loss(before, rng)
        place = tmp_path / f"after_{number}"
        place.mkdir()
        for path, data in kept_files.items():
            if path.startswith(f"{folder}/review."):
                (place / path.rpartition("/")[2]).write_bytes(data)
        acknowledged = [
            each.data.decode().strip() for each in before if each.path.endswith("/acknowledged") and each.data
        ]
        log = EventLog(place)
        kept = texts(log)
        assert kept == [f"text-{index}" for index in range(len(kept))]  # in order, each once, none between
        assert kept[: len(acknowledged)] == acknowledged
        assert check_log(log) == ()
        lost_something += len(kept) < events
        log.close()
    assert lost_something > states // 4


def test_power_loss_loses_nothing_that_was_acknowledged(tmp_path):
    power_losses(tmp_path, events=10, states=60, seed=1)


@pytest.mark.slow
def test_power_loss_in_many_states(tmp_path):
    power_losses(tmp_path, events=60, states=600, seed=2)


def test_without_syncs_a_power_loss_would_lose_what_was_acknowledged(tmp_path):
    """So the test above can fail: of the same run, with its syncs taken out, the disk may hold nothing."""
    folder, journal = tmp_path / "run", tmp_path / "journal"
    folder.mkdir()
    assert run("write", folder, 6, log=journal).returncode == 0
    everything = operations(journal)
    last = max(index for index, each in enumerate(everything) if each.data.startswith(b"text-5"))

    def sizes(done):
        states = [after_power_loss(done, random.Random(seed)) for seed in range(12)]
        return {len(state.get(f"{folder}/review.db-wal", b"")) for state in states}

    whole = sizes(everything[:last])
    assert len(whole) == 1
    assert sizes([each for each in everything[:last] if each.what != "sync"]) >= {0, *whole}


@pytest.mark.parametrize("size", [30_000, 60_000, 120_000, 200_000])
def test_attack_44_full_disk_is_one_message_and_loses_nothing(tmp_path, size):
    done = run("until_full", tmp_path, 10_000, full_at=size)
    assert done.returncode == 0, done.stderr
    *acknowledged, message = done.stdout.splitlines()
    assert message.startswith("status 2: ")
    assert "review store cannot be used" in message or "checkpoint" in message
    assert "space" in message
    log = EventLog(tmp_path)
    kept = texts(log)
    assert kept[: len(acknowledged)] == acknowledged
    assert len(kept) - len(acknowledged) <= 1  # the one whose checkpoint found no room was kept, and said to be
    assert check_log(log) == ()
    assert (len(acknowledged) > 3) == (size > 100_000)
    log.close()


def test_attack_44_a_disk_that_is_full_while_a_bundle_is_written_uses_up_no_serial(tmp_path):
    """With any room: a bundle and its serial, or neither. The bundle is safe before its serial is recorded."""
    outcomes = set()
    for room in (2_000, 6_000, 10_000, 14_000, 24_000, 60_000):
        folder = tmp_path / str(room)
        log = EventLog(folder)
        approve_all(log, POLICY, "ada")
        log.close()
        done = run("sign_on_a_full_disk", folder, full_at=room)
        assert done.returncode == 0, done.stderr
        log = EventLog(folder)
        released = [each.event for each in log.records() if isinstance(each.event, Released)]
        left = [path.name for path in folder.iterdir() if "bundle" in path.name]
        if released:
            assert left == ["net.bundle"]
            made = open_bundle((folder / "net.bundle").read_bytes(), TRUST, AT, EXPECTED)
            assert released[0].serial == made.statement.predicate.serial == 1
        else:
            assert left == []
            assert done.stdout.startswith("2 ")
        assert check_log(log) == ()
        log.close()
        outcomes.add((bool(released), done.stdout[0]))
    assert outcomes >= {(False, "2"), (True, "0")}


@pytest.mark.parametrize("states", [24, pytest.param(400, marks=pytest.mark.slow)])
def test_power_loss_while_a_bundle_is_signed_uses_up_no_serial_without_it(tmp_path, states):
    """Whenever the record says that a bundle was signed, all of it is on the disk, in its place or beside it."""
    folder, journal = tmp_path / "run", tmp_path / "journal"
    log = EventLog(folder)
    approve_all(log, POLICY, "ada")
    count = log.head().seq
    log.close()
    before = {str(path): path.read_bytes() for path in folder.iterdir()}
    assert run("sign_on_a_full_disk", folder, log=journal).stdout == "0\n"
    everything = operations(journal)

    def outcome(number, done):
        """Whether the record says that a bundle was signed, and which bundles the disk holds."""
        place = tmp_path / f"after_{number}"
        place.mkdir()
        for path, data in after_power_loss(done, random.Random(number), before).items():
            if path.startswith(f"{folder}/"):
                (place / path.rpartition("/")[2]).write_bytes(data)
        log = EventLog(place)
        released = [each.event.payload_digest for each in log.records() if isinstance(each.event, Released)]
        assert log.head().seq >= count
        assert check_log(log) == ()
        log.close()
        return released, [path.read_bytes() for path in place.iterdir() if "net.bundle" in path.name]

    rng, released_in = random.Random(3), set()
    for number in range(states):
        released, bundles = outcome(number, everything[: rng.randrange(len(everything) + 1)])
        for digest in released:
            assert [open_bundle(each, TRUST, AT, EXPECTED).payload_digest for each in bundles] == [digest]
        released_in.add(bool(released))
    assert released_in == {False, True}
    for number in range(states, states + 12):  # it was said to be signed: it is there, under its name
        released, bundles = outcome(number, everything)
        assert released
        assert (tmp_path / f"after_{number}" / "net.bundle").read_bytes() == whole(folder)
    careless = [each for each in everything if each.what != "sync" or "net.bundle" not in each.path]
    assert len(careless) < len(everything)
    outcomes = [outcome(2 * states + number, careless) for number in range(12)]
    assert [1 for released, bundles in outcomes if released and bundles != [whole(folder)]]  # it would be noticed


def whole(folder):
    return (folder / "net.bundle").read_bytes()


def test_making_the_store_is_interrupted_at_each_step_and_goes_on(tmp_path):
    """An interrupted migration leaves nothing or all of it: the next start resumes."""
    done = run("make_store", tmp_path, 200)
    assert done.returncode == 0, done.stderr
    steps = [line.split() for line in done.stdout.splitlines()]
    assert len(steps) > 5
    assert {each[1] for each in steps[:-1]} == {"killed"}
    assert steps[-1][1] == "0"
    with sqlite3.connect(tmp_path / "store" / "review.db") as connection:
        found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        assert found == set(guards())
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
    connection.close()
    log = EventLog(tmp_path / "store")
    assert check_log(log) == ()
    log.close()


def test_attack_43_killed_at_each_step_of_signing(tmp_path):
    """The bundle is absent or complete; serials of bundles that got lost are not given out again."""
    done = run("sign_and_die", tmp_path, 200)
    assert done.returncode == 0, done.stderr
    steps = [line.split() for line in done.stdout.splitlines()]
    assert len(steps) > 6
    assert {how for _, how, _ in steps[:-1]} == {"killed"}
    there = [word for _, _, word in steps]
    assert there[:6] == ["nothing"] * 6
    assert "bundle" in there[6:-1]  # in its place before its folder was synced: whole, though nobody was told yet
    assert steps[-1][1:] == ["0", "bundle"]
    made = open_bundle((tmp_path / "net.bundle").read_bytes(), TRUST, AT, EXPECTED)
    log = EventLog(tmp_path)
    serials = [each.event.serial for each in log.records() if isinstance(each.event, Released)]
    assert serials == list(range(1, len(serials) + 1))
    assert made.statement.predicate.serial == serials[-1] > 1
    assert made.policy == POLICY
    assert check_log(log) == ()
    log.close()
