import sqlite3

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import review_store
from metainfer_core.errors import InputError
from metainfer_core.values import sha256
from review_store.record.events import Commented
from review_store.record.log import GENESIS, Conflict, EventLog
from review_store.record.tables import METADATA, SCHEMA_VERSION

AT = "2026-11-29T12:00:00Z"


def comment(text, action="a", actor="ada"):
    return Commented(actor=actor, at=AT, action=action, text=text)


def raw(log):
    """A connection as any other program would open it."""
    return sqlite3.connect(log.path, isolation_level=None)


def test_events_come_back_in_order_with_their_numbers(log):
    log.append("p", [comment("one"), comment("two")])
    log.append("q", [comment("three")])
    assert [(each.seq, each.stream, each.event.text) for each in log.records()] == [
        (1, "p", "one"),
        (2, "p", "two"),
        (3, "q", "three"),
    ]
    assert [each.seq for each in log.records("q")] == [3]
    assert log.head().seq == 3
    assert log.head().hash == log.records()[-1].hash


def test_empty_log_has_the_genesis_head(log):
    assert (log.head().seq, log.head().hash) == (0, GENESIS)
    assert log.append("p", []) == ()


def test_same_events_give_the_same_hashes(tmp_path):
    heads = []
    for name in ("one", "two"):
        log = EventLog(tmp_path / name)
        log.append("p", [comment("x"), comment("y")])
        heads.append(log.head())
        log.close()
    assert heads[0] == heads[1]


def test_all_or_nothing(log):
    """A fault in the second event leaves the first one out too."""
    with pytest.raises(AttributeError):
        log.append("p", [comment("one"), None])
    assert log.records() == ()
    assert log.checkpoints.read_bytes().count(b"\n") == 1
    assert b'"seq":0' in log.checkpoints.read_bytes()


def test_conflict_shows_what_others_wrote_and_writes_nothing(log):
    log.append("p", [comment("theirs")])
    outcome = log.append("p", [comment("mine")], versions={"a": 0})
    assert isinstance(outcome, Conflict)
    assert [each.event.text for each in outcome.others] == ["theirs"]
    assert len(log.records()) == 1
    assert not isinstance(log.append("p", [comment("mine")], versions={"a": 1}), Conflict)


def test_conflicts_are_told_apart_by_subject_and_stream(log):
    log.append("p", [comment("theirs", action="b")])
    log.append("q", [comment("theirs", action="a")])
    assert not isinstance(log.append("p", [comment("mine")], versions={"a": 0}), Conflict)
    assert isinstance(log.append("p", [comment("mine")], stream_version=1), Conflict)


def test_values_are_kept_once(log):
    log.append("p", [comment("x")], values=[b"{}", b"{}"])
    log.append("p", [comment("y")], values=[b"{}"])
    assert log.value(sha256(b"{}")) == b"{}"
    assert log.value(sha256(b"other")) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = 'x' WHERE seq = 1",
        "DELETE FROM event WHERE seq = 2",
        "INSERT OR REPLACE INTO event SELECT seq, stream, subject, 'x', prev, hash FROM event WHERE seq = 1",
        "REPLACE INTO event SELECT seq, stream, subject, 'x', prev, hash FROM event WHERE seq = 2",
        "INSERT INTO event SELECT 4, stream, subject, body, hash, hash FROM event WHERE seq = 2",
        "INSERT INTO event SELECT 3, stream, subject, body, hash, hash FROM event WHERE seq = 1",
        "INSERT INTO event SELECT NULL, stream, subject, body, hash, hash FROM event WHERE seq = 1",
        "UPDATE event SET seq = 9 WHERE seq = 2",
        "UPDATE value SET body = 'x'",
        "DELETE FROM value",
        "REPLACE INTO value SELECT digest, 'x' FROM value",
    ],
    ids=["update", "delete", "insert or replace", "replace", "gap", "fork", "null number", "renumber", "value update",
         "value delete", "value replace"],
)  # fmt: skip
def test_other_programs_cannot_change_the_record(log, statement):
    log.append("p", [comment("one"), comment("two")], values=[b"{}"])
    before = raw(log).execute("SELECT * FROM event").fetchall()
    with pytest.raises(sqlite3.DatabaseError, match=r"append-only|cannot be"):
        raw(log).execute(statement)
    assert raw(log).execute("SELECT * FROM event").fetchall() == before
    assert log.value(sha256(b"{}")) == b"{}"


def test_store_is_in_wal_mode_and_fully_synchronous(log):
    with log.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA recursive_triggers").scalar() == 1


def test_migrations_give_exactly_the_tables_that_queries_use(log):
    with log.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_newest_migration_is_the_known_one():
    config = Config()
    config.set_main_option("script_location", str(next(iter(review_store.__path__))) + "/record/migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA_VERSION]


def test_reopened_store_is_not_migrated_again(log):
    log.append("p", [comment("one")])
    again = EventLog(log.path.parent)
    assert [each.event.text for each in again.records()] == ["one"]
    again.close()


def test_failed_migration_leaves_nothing_half_made(tmp_path):
    path = tmp_path / "review.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE value (digest TEXT)")  # in the way of the second table
    with pytest.raises(InputError, match="cannot be used"):
        EventLog(tmp_path)
    with sqlite3.connect(path) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert names == ["value"]


def test_store_of_a_newer_program_is_refused(log):
    with raw(log) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="does not know"):
        EventLog(log.path.parent)


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be looked at" * 40, b"SQLite format 3\0"]
)
def test_what_is_no_store_is_refused(tmp_path, content):
    (tmp_path / "review.db").write_bytes(content)
    with pytest.raises(InputError, match=r"review\.db.*cannot be used"):
        EventLog(tmp_path)
    assert (tmp_path / "review.db").read_bytes() == content


def test_workspace_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be used"):
        EventLog(tmp_path / "file")
