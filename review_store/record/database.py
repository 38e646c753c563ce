"""Opening the store: SQLite in WAL mode, writes in immediate transactions, migrated to the newest tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from metainfer_core.errors import InputError
from review_store.record.tables import SCHEMA_VERSION

BUSY_TIMEOUT_MS = 30_000


def open_engine(path: Path) -> Engine:
    """The store at `path`, made if it is not there, with the newest tables; raises InputError if it is no store."""
    with store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(URL.create("sqlite+pysqlite", database=str(path)))
        sa.event.listen(engine, "connect", _prepare_connection)
        sa.event.listen(engine, "begin", _begin)
        _migrate(engine, path)
    return engine


def writing(engine: Engine) -> Engine:
    """The same store, for writing: its transactions take the write lock at once.

    A transaction that reads first and writes then fails with SQLITE_BUSY_SNAPSHOT if another one wrote in between,
    whatever the timeout is.
    """
    return engine.execution_options(immediate=True)


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turns what SQLite reports into a message for people."""
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.DatabaseError) as error:
        cause = str(error.orig)
        locked = "locked" in cause or "busy" in cause
        raise InputError(
            f"{path}: the review store {'is busy' if locked else 'cannot be used'}.",
            f"SQLite says: {cause}.",
            "Try again when the other program is done."
            if locked
            else "Check that it is a review store, its permissions and the free space; run `meta-infer review check`.",
        ) from error
    except OSError as error:
        raise InputError(
            f"{path}: the review store cannot be used.", f"{error.strerror or error}.", "Check the folder."
        ) from error


def _prepare_connection(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says so, and nowhere else
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise InputError(
            "The review store cannot use write-ahead logging here.",
            f"SQLite answered with the journal mode {mode!r}, as it does on network drives.",
            "Put the workspace on a local disk.",
        )
    cursor.execute("PRAGMA synchronous = FULL")  # NORMAL can lose the last commits at power loss
    cursor.execute("PRAGMA recursive_triggers = ON")
    cursor.execute("PRAGMA trusted_schema = OFF")
    cursor.close()


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _migrate(engine: Engine, path: Path) -> None:
    with engine.connect() as connection:
        if _schema_version(connection) == SCHEMA_VERSION:
            return
    from alembic import command  # slow to import, and needed once in a store's life
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    with writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise InputError(
                f"{path}: the review store has tables that this program does not know.",
                f"{error}.",
                "A newer meta-infer wrote it: use that one, or another workspace.",
            ) from error


def _schema_version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return version
