"""Bringing an old workspace to the newest form, with a way back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import InputError
from review_store.keeping.backup import back_up
from review_store.record.database import store_errors
from review_store.record.log import DATABASE, EventLog
from review_store.record.tables import SCHEMA_VERSION


@dataclass(frozen=True)
class Upgraded:
    """The form of the record's tables, before and after."""

    before: str | None
    """None: they had none."""
    after: str
    backup: Path | None
    """None: there was nothing to do."""


def upgrade(workspace: Path) -> Upgraded:
    """Upgrades the record of a workspace, in one transaction: where that is interrupted, nothing has changed.

    Raises:
        InputError: There is no workspace, its record is of a newer program, or cannot be read.
    """
    if not workspace.is_dir():
        raise InputError(f"{workspace}: there is no such workspace.", fix="Check the path.")
    before = _form(workspace / DATABASE)
    if before == SCHEMA_VERSION or not (workspace / DATABASE).is_file():
        return Upgraded(before, SCHEMA_VERSION, None)
    number, place = 1, workspace.absolute()
    while (backup := place.with_name(f"{place.name}.before-upgrade-{number}.backup")).exists():
        number += 1
    back_up(workspace, backup)
    EventLog(workspace).close()
    return Upgraded(before, SCHEMA_VERSION, backup)


def _form(database: Path) -> str | None:
    if not database.is_file():
        return None
    with store_errors(database), closing(sqlite3.connect(database, timeout=30)) as connection:
        try:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
    return None if found is None else str(found[0])
