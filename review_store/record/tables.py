"""The tables, as queries see them. How they come about, with their triggers, stands in `migrations`."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

EVENT = sa.Table(
    "event",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("stream", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("prev", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Index("event_by_subject", "stream", "subject", "seq"),
)
"""The truth: every event, in order, chained by hashes. Only `seq` is unique: REPLACE must find nothing to replace.

`stream` is the policy's lineage, `subject` the action's id, `body` the event in canonical JSON.
"""

VALUE = sa.Table(
    "value",
    METADATA,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""What the events speak of by digest: policies, in canonical JSON."""

SCHEMA_VERSION = "0001"
"""The newest migration."""
