"""Backing a workspace up while people work in it: the record as it is at one moment, with its checkpoints."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from metainfer_core import __version__
from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError
from review_store.keeping.backup_file import HIDDEN, MOST_FILES, BackupManifest, names_fault, write_backup
from review_store.record.check_log import LogFault, check_log
from review_store.record.checkpoints import turn
from review_store.record.database import store_errors
from review_store.record.log import CHECKPOINTS, DATABASE, GENESIS, EventLog

KEPT_HIDDEN = ("decisions", "typed", "jobs", "revisions")
"""Folders of `.studio` that cannot be made again; the others are caches, and uploads that nobody has read."""
WRITTEN_BY_US = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", CHECKPOINTS)


@dataclass(frozen=True)
class Backup:
    """What was written."""

    manifest: BackupManifest
    left_out: tuple[str, ...]
    """Links, and names that not every system can keep."""
    faults: tuple[LogFault, ...]
    """Of the record, which was saved as it is."""


def back_up(workspace: Path, output: Path, with_manuals: bool = True) -> Backup:
    """Writes a backup, whole or not at all.

    Raises:
        InputError: There is no such workspace, or the file cannot be written.
    """
    if not workspace.is_dir():
        raise InputError(f"{workspace}: there is no such workspace.", fix="Check the path.")
    if output.absolute().resolve().is_relative_to(workspace.resolve()):
        raise InputError(
            f"{output}: a backup cannot lie in the workspace that it is of.",
            "What takes the one would take the other, and the next backup would hold this one.",
            "Give another folder, best on another disk.",
        )
    temporary = output.with_name(f".{output.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with tempfile.TemporaryDirectory(prefix="metainfer-backup-") as folder:
            snapshot = Path(folder)
            head, faults = _snapshot(workspace, snapshot)
            files, left_out = _files(workspace, with_manuals)
            for name in (DATABASE, CHECKPOINTS):
                if (snapshot / name).exists():
                    files[name] = snapshot / name
            manifest = BackupManifest(tool_version=__version__, record=head, with_manuals=with_manuals, files={})
            output.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            manifest = write_backup(temporary, files, manifest)
        _settle(temporary, output)
    except OSError as error:
        raise InputError(
            f"{output}: the backup cannot be written.",
            f"{error.strerror or error}. What stood there before is unchanged.",
            "Check the folder, its permissions and the free space.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return Backup(manifest, tuple(left_out), faults)


def _snapshot(workspace: Path, folder: Path) -> tuple[LogHead, tuple[LogFault, ...]]:
    """Copies the record and its checkpoints as they are between two writes; gives its end, and its faults."""
    database, checkpoints = workspace / DATABASE, workspace / CHECKPOINTS
    if not database.is_file():
        return LogHead(seq=0, hash=GENESIS), ()
    with turn(checkpoints), store_errors(database):
        # it is opened for reading; pages that are no longer used, and what once stood in them, are not copied
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            connection.execute("VACUUM INTO ?", (str(folder / DATABASE),))
        (folder / CHECKPOINTS).write_bytes(checkpoints.read_bytes())
    with store_errors(database), closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute("PRAGMA schema_version = 1")  # it counts how often a copy was made of a copy
    with tempfile.TemporaryDirectory(prefix="metainfer-backup-") as checked:
        for name in (DATABASE, CHECKPOINTS):  # checking opens for writing, and what is saved is to stay as it is
            (Path(checked) / name).write_bytes((folder / name).read_bytes())
        log = EventLog(Path(checked))
        head, faults = log.head(), check_log(log)
        log.close()
    return head, faults


def _files(workspace: Path, with_manuals: bool) -> tuple[dict[str, Path], list[str]]:
    """Path in the workspace to file, of all that is saved; and the names of what is left out."""
    found: dict[str, Path] = {}
    left_out: list[str] = []
    for path in _walk(workspace):
        name = path.relative_to(workspace).as_posix()
        if name in WRITTEN_BY_US:
            continue
        if not with_manuals and name.startswith("manuals/"):
            continue
        if path.is_symlink() or names_fault([name]):
            left_out.append(name)
        elif path.is_file():
            found[name] = path
    fault = names_fault(found)
    if fault:
        raise InputError(f"{workspace}: it cannot be backed up as it is.", fault, "Give one of them another name.")
    if len(found) > MOST_FILES:
        raise InputError(
            f"{workspace}: it holds too many files for a backup.",
            f"There are {len(found):,}; at most {MOST_FILES:,} are saved.",
            "Move what is no part of the work elsewhere.",
        )
    return found, left_out


def _walk(workspace: Path) -> Iterator[Path]:
    """Every file and link that is not hidden, and what cannot be made again of the studio's own folder."""
    hidden = workspace / HIDDEN
    roots = [workspace, *(hidden / name for name in KEPT_HIDDEN)]
    for root in roots:
        for folder, folders, names in os.walk(root):
            here = Path(folder)
            links = [name for name in folders if (here / name).is_symlink()]
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in links)
            if here.parent == hidden / "jobs":
                folders.clear()
                if not (here / "end.json").is_file():
                    continue  # it still runs, or was stopped
            for name in sorted([*names, *links]):
                if not name.startswith("."):
                    yield here / name


def _settle(temporary: Path, output: Path) -> None:
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, output)
