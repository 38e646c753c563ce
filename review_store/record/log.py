"""The event log: the only writer of the store. Appends, in order, chained by hashes, or reports a conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from metainfer_core.bundle.statement import LogHead
from metainfer_core.values import canonical_json, sha256
from review_store.record.checkpoints import is_new, turn, write_checkpoint
from review_store.record.database import open_engine, store_errors, writing
from review_store.record.events import Event, read_event
from review_store.record.tables import EVENT, VALUE

GENESIS = "sha256:" + 64 * "0"
"""What the first event is chained to."""
DATABASE, CHECKPOINTS = "review.db", "review.checkpoints"
"""Names in the workspace."""


@dataclass(frozen=True)
class Record:
    """An event with its place in the log."""

    seq: int
    stream: str
    event: Event
    hash: str


@dataclass(frozen=True)
class Conflict:
    """Nothing was written: others wrote, after the caller looked, about what the caller wanted to write about."""

    others: tuple[Record, ...]


class EventLog:
    """The record of a workspace."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / DATABASE
        self.checkpoints = workspace / CHECKPOINTS
        self.engine: Engine = open_engine(self.path)

    def append(
        self,
        stream: str,
        events: Sequence[Event],
        versions: Mapping[str, int] | None = None,
        stream_version: int | None = None,
        values: Sequence[bytes] = (),
    ) -> tuple[Record, ...] | Conflict:
        """Appends all events or none.

        Args:
            stream: Lineage of the policy.
            events: In order.
            versions: Subject to the number of the last event on it that the caller saw (0: none). A newer one
                makes a conflict.
            stream_version: The same for the whole stream.
            values: Canonical bytes that the events speak of by digest.
        """
        with turn(self.checkpoints) as checkpoints:
            if is_new(checkpoints) and self.head().seq == 0:  # so that there is one even if the power goes right after
                write_checkpoint(checkpoints, self.checkpoints, LogHead(seq=0, hash=GENESIS))
            outcome = self._append(stream, events, versions or {}, stream_version, values)
            if not isinstance(outcome, Conflict) and outcome:
                write_checkpoint(checkpoints, self.checkpoints, LogHead(seq=outcome[-1].seq, hash=outcome[-1].hash))
        return outcome

    def _append(
        self,
        stream: str,
        events: Sequence[Event],
        versions: Mapping[str, int],
        stream_version: int | None,
        values: Sequence[bytes],
    ) -> tuple[Record, ...] | Conflict:
        with store_errors(self.path), writing(self.engine).begin() as connection:
            newer = _newer(connection, stream, versions, stream_version)
            if newer:
                return Conflict(newer)
            head = _head(connection)
            records = []
            for event in events:
                body = event.to_json().decode()
                row = {
                    "seq": head.seq + 1,
                    "stream": stream,
                    "subject": event.subject,
                    "body": body,
                    "prev": head.hash,
                    "hash": chained_hash(head.seq + 1, stream, body, head.hash),
                }
                connection.execute(EVENT.insert(), row)
                head = LogHead(seq=head.seq + 1, hash=str(row["hash"]))
                records.append(Record(head.seq, stream, event, head.hash))
            for body_bytes in values:
                _keep(connection, body_bytes)
        return tuple(records)

    def records(self, stream: str | None = None) -> tuple[Record, ...]:
        """All events, or those of one stream, oldest first. Reads, and does not verify the chain."""
        query = sa.select(EVENT).order_by(EVENT.c.seq)
        if stream is not None:
            query = query.where(EVENT.c.stream == stream)
        with store_errors(self.path), self.engine.connect() as connection:
            return tuple(_record(row) for row in connection.execute(query))

    def head(self) -> LogHead:
        """The last event's number and hash; number 0 in an empty log."""
        with store_errors(self.path), self.engine.connect() as connection:
            return _head(connection)

    def value(self, digest: str) -> bytes | None:
        """Bytes that an event speaks of."""
        with store_errors(self.path), self.engine.connect() as connection:
            found: bytes | None = connection.execute(
                sa.select(VALUE.c.body).where(VALUE.c.digest == digest)
            ).scalar_one_or_none()
            return found

    def close(self) -> None:
        """Lets the database file go."""
        self.engine.dispose()


def chained_hash(seq: int, stream: str, body: str, prev: str) -> str:
    """Hash of one event and, through `prev`, of all before it."""
    return sha256(
        canonical_json({"format": "metainfer.event/1", "seq": seq, "stream": stream, "body": body, "prev": prev})
    )


def _newer(
    connection: Connection, stream: str, versions: Mapping[str, int], stream_version: int | None
) -> tuple[Record, ...]:
    query = sa.select(EVENT).where(EVENT.c.stream == stream).order_by(EVENT.c.seq)
    found: list[Record] = []
    if stream_version is not None:
        found.extend(_record(row) for row in connection.execute(query.where(EVENT.c.seq > stream_version)))
    for subject, version in versions.items():
        on_subject = query.where(EVENT.c.subject == subject, EVENT.c.seq > version)
        found.extend(_record(row) for row in connection.execute(on_subject))
    return tuple(found)


def _head(connection: Connection) -> LogHead:
    row = connection.execute(sa.select(EVENT.c.seq, EVENT.c.hash).order_by(EVENT.c.seq.desc()).limit(1)).first()
    return LogHead(seq=0, hash=GENESIS) if row is None else LogHead(seq=row.seq, hash=row.hash)


def _keep(connection: Connection, body: bytes) -> None:
    digest = sha256(body)
    if connection.execute(sa.select(VALUE.c.digest).where(VALUE.c.digest == digest)).first() is None:
        connection.execute(VALUE.insert(), {"digest": digest, "body": body})


def _record(row: Row[tuple[int, str, str, str, str, str]]) -> Record:
    return Record(row.seq, row.stream, read_event(row.body), row.hash)
