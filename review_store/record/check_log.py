"""Whether anyone changed the record: chain, order, triggers, checkpoints and values, each fault with its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError
from metainfer_core.values import Value, read_json, sha256
from review_store.record.checkpoints import read_checkpoints
from review_store.record.database import store_errors
from review_store.record.events import read_event
from review_store.record.log import GENESIS, EventLog, chained_hash
from review_store.record.migrations import guards
from review_store.record.tables import EVENT, VALUE

Checkpoints = tuple[tuple[LogHead, ...], tuple[int, ...]]
"""Those of a file, and the lines that cannot be read."""


class LogFault(Value):
    """One sign that the record is not what was written."""

    seq: int | None = None
    """Number of the first event that is concerned; None where it concerns no single event."""
    what: str


def check_log(log: EventLog, witnesses: tuple[LogHead, ...] = ()) -> tuple[LogFault, ...]:
    """Every fault of the record, in order of the log.

    Args:
        log: The record.
        witnesses: Heads of the log that stand elsewhere, such as in signed bundles.
    """
    kept = _kept(log.checkpoints)  # before the record: what is appended meanwhile is named by no checkpoint of these
    with store_errors(log.path), log.engine.connect() as connection:
        hashes: dict[int, str] = {}
        faults = [*_file_faults(connection), *_chain_faults(connection, hashes), *_value_faults(connection)]
    faults.extend(_checkpoint_faults(log.checkpoints, kept, hashes))
    faults.extend(_witness_faults(witnesses, hashes, "a signed bundle"))
    return tuple(sorted(dict.fromkeys(faults), key=lambda fault: (fault.seq or 0, fault.what)))


def _file_faults(connection: Connection) -> Iterator[LogFault]:
    for (line,) in connection.exec_driver_sql("PRAGMA integrity_check"):
        if line != "ok":
            yield LogFault(what=f"The database file is damaged: {line}")
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    found = {name: " ".join(text.split()) for name, text in connection.exec_driver_sql(query)}
    for name, text in guards().items():
        if found.pop(name, None) != text:
            yield LogFault(what=f"The trigger {name}, which guards the record, was removed or changed.")
    for name in found:
        yield LogFault(what=f"There is a trigger {name} that does not belong to the store.")


def _chain_faults(connection: Connection, hashes: dict[int, str]) -> Iterator[LogFault]:
    """Walks the chain; fills in `hashes` by number."""
    seq, prev = 0, GENESIS
    for row in connection.execute(sa.select(EVENT).order_by(EVENT.c.seq)):
        if row.seq != seq + 1:
            missing = f"event {seq + 1} is" if row.seq == seq + 2 else f"events {seq + 1} to {row.seq - 1} are"
            yield LogFault(seq=seq + 1, what=f"{missing} missing.".capitalize())
        if row.prev != prev:
            yield LogFault(seq=row.seq, what=f"Event {row.seq} is not chained to the event before it.")
        if row.hash != chained_hash(row.seq, row.stream, row.body, row.prev):
            yield LogFault(seq=row.seq, what=f"Event {row.seq} was changed: its hash does not fit.")
        try:
            event = read_event(row.body)
            read_json(row.body.encode())
            if event.subject != row.subject or event.to_json().decode() != row.body:
                yield LogFault(seq=row.seq, what=f"Event {row.seq} was changed: its columns contradict each other.")
        except (ValueError, InputError) as error:
            yield LogFault(seq=row.seq, what=f"Event {row.seq} cannot be read: {error}")
        seq, prev = row.seq, row.hash
        hashes[row.seq] = row.hash


def _value_faults(connection: Connection) -> Iterator[LogFault]:
    for row in connection.execute(sa.select(VALUE)):
        if sha256(row.body) != row.digest:
            yield LogFault(what=f"The kept value {row.digest} was changed.")


def _kept(path: Path) -> Checkpoints:
    return read_checkpoints(path) if path.exists() else ((), ())


def _checkpoint_faults(path: Path, kept: Checkpoints, hashes: dict[int, str]) -> Iterator[LogFault]:
    checkpoints, broken = kept
    if hashes and not checkpoints and not _kept(path)[0]:  # the first may have been written meanwhile
        there = "holds no checkpoint" if path.exists() else "of checkpoints is missing"
        yield LogFault(what=f"{path}: the file {there}, so a cut at the end would not be seen.")
    for number in broken:
        yield LogFault(what=f"{path}:{number}: this checkpoint cannot be read.")
    yield from _witness_faults(checkpoints, hashes, "a checkpoint")


def _witness_faults(witnesses: tuple[LogHead, ...], hashes: dict[int, str], where: str) -> Iterator[LogFault]:
    last = max(hashes, default=0)
    beyond = [head.seq for head in witnesses if head.seq > last]
    if beyond:
        what = f"The end was cut off: {where} names event {max(beyond)}, the record ends at event {last}."
        yield LogFault(seq=last + 1, what=what)
    for head in witnesses:
        if 0 < head.seq <= last and hashes.get(head.seq) != head.hash:
            yield LogFault(seq=head.seq, what=f"Event {head.seq} is not the one that {where} names.")
