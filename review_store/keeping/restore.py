"""Putting a backup in the place of a workspace: checked before anything is touched, and never silently an older record.

What stood there is moved aside, not removed. What this machine remembers of bundles that it built from stays: a backup
cannot make it forget.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from metainfer_core.bundle.seen import seen_file
from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError, NotTrustedError
from review_store.keeping.backup_file import BackupManifest, read_manifest, unpack
from review_store.record.check_log import check_log
from review_store.record.log import DATABASE, EventLog
from review_store.review.workspace import trust_path


class Witness(NamedTuple):
    """Something that states where the record ended."""

    name: str
    head: LogHead


@dataclass(frozen=True)
class Restored:
    """What came into place."""

    manifest: BackupManifest
    moved_aside: Path | None
    """Where the workspace that stood there lies now."""
    lost: tuple[str, ...]
    """Sentences on what the record had and has no more."""


def restore(
    backup: Path,
    workspace: Path,
    replace: bool = False,
    roll_back: bool = False,
    witnesses: Callable[[Path], Sequence[Witness]] = lambda unpacked: (),
) -> Restored:
    """Restores a backup.

    Args:
        backup: The file.
        workspace: Where it goes; another folder, or none, unless `replace` is given.
        replace: Move aside what stands there.
        roll_back: Restore although the record there, or a witness, goes further than that of the backup.
        witnesses: Gives signed bundles that bear witness, from the unpacked backup, whose trust file they may need.

    Raises:
        InputError: It is no backup, something stands in its place, or a program has that open.
        NotTrustedError: A file was changed, the record is not whole, or it would be rolled back.
    """
    manifest = read_manifest(backup)
    occupied = workspace.exists() and (not workspace.is_dir() or any(workspace.iterdir()))
    if occupied and not replace:
        raise InputError(
            f"{workspace}: something stands here already.",
            "A backup goes into a new folder; nothing is overwritten.",
            "Give another --workspace, or --replace to move what stands here aside.",
        )
    with _unpacked(backup, workspace) as fresh:
        heads = _heads(fresh)
        lost = tuple(_lost(heads, workspace if occupied else None, witnesses(fresh)))
        if lost and not roll_back:
            raise NotTrustedError(
                f"{backup}: this backup would roll the record of decisions back.",
                " ".join(lost),
                "Use a newer backup. If there is none, --roll-back restores it all the same.",
                "rollback",
            )
        aside = _move_aside(workspace) if occupied else None
        if aside is not None:
            _keep_memory(aside, fresh)
        if workspace.is_dir():
            workspace.rmdir()  # an empty one
        os.replace(fresh, workspace)
    return Restored(manifest, aside, lost)


@contextmanager
def _unpacked(backup: Path, workspace: Path) -> Iterator[Path]:
    """The backup in a folder beside the place where it goes, which is gone afterwards unless it was moved there."""
    place = workspace.absolute()
    fresh = place.with_name(f".{place.name[:100]}.restoring-{secrets.token_hex(6)}")
    try:
        try:
            fresh.mkdir(parents=True)
            unpack(backup, fresh)
        except OSError as error:
            raise InputError(
                f"{fresh}: the backup cannot be unpacked.",
                f"{error.strerror or error}. What stood in its place is unchanged.",
                "Check the folder, its permissions and the free space.",
            ) from error
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _heads(fresh: Path) -> dict[int, str]:
    """Number to hash of every event of an unpacked record, which must be whole; empty where there is none."""
    if not (fresh / DATABASE).is_file():
        return {}
    log = EventLog(fresh)
    try:
        faults = check_log(log)
        if faults:
            raise NotTrustedError(
                "The record in this backup is not whole.",
                faults[0].what,
                "Use another backup.",
                "tampered",
            )
        return {record.seq: record.hash for record in log.records()}
    finally:
        log.close()


def _lost(heads: dict[int, str], present: Path | None, witnesses: Sequence[Witness]) -> Iterator[str]:
    """What would be gone from the record, a sentence each."""
    last = max(heads, default=0)
    if present is not None and (present / DATABASE).is_file():
        log = EventLog(present)
        records = log.records()
        log.close()
        for record in records:
            if record.seq > last:
                count = records[-1].seq - last
                event = record.event
                yield (
                    f"It ends at event {last}, the record here at event {records[-1].seq}: {count} "
                    f"{'event' if count == 1 else 'events'} would be gone, the first by {event.actor} on {event.at}."
                )
                break
            if heads[record.seq] != record.hash:
                yield f"It is of another record: event {record.seq} is not the one that stands here."
                break
    for each in witnesses:
        if each.head.seq > last:
            yield f"{each.name} names event {each.head.seq}; the backup ends at event {last}."
        elif each.head.seq and heads[each.head.seq] != each.head.hash:
            yield f"{each.name} names another event {each.head.seq} than the backup holds."


def _move_aside(workspace: Path) -> Path:
    """Moves a workspace that no program has open."""
    database = workspace / DATABASE
    if database.is_file():
        try:
            with closing(sqlite3.connect(database, timeout=2, isolation_level=None)) as connection:
                mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        except sqlite3.OperationalError:
            mode = "locked"
        if mode != "delete":  # SQLite leaves write-ahead logging only where nobody else has the file open
            raise InputError(
                f"{workspace}: a program works in this workspace.",
                "What it writes after it was moved aside would be lost.",
                "End the studio and every command that uses it, and restore then.",
            )
    number = 1
    while (aside := workspace.absolute().with_name(f"{workspace.absolute().name}.before-restore-{number}")).exists():
        number += 1
    os.replace(workspace, aside)
    return aside


def _keep_memory(aside: Path, fresh: Path) -> None:
    """Takes over what this machine remembers of bundles: that of a backup is older, and older ones would pass again."""
    memory = seen_file(trust_path(aside))
    for path in (memory, memory.with_suffix(".key")):
        if path.is_file():
            shutil.copy2(path, fresh / path.name)
