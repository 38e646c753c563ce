"""The append-only event log, and the values that its events speak of.

SQLite's INSERT OR REPLACE deletes without firing DELETE triggers. So a row may only come in at the end: then there is
never an older row to replace, and gaps and forks are refused by the same rule.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

GENESIS = "sha256:" + 64 * "0"

TRIGGERS = (
    """
    CREATE TRIGGER event_is_never_updated BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the event log is append-only: an event cannot be changed'); END
    """,
    """
    CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'the event log is append-only: an event cannot be deleted'); END
    """,
    f"""
    CREATE TRIGGER event_comes_last BEFORE INSERT ON event
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM event)
      OR NEW.prev IS NOT coalesce((SELECT hash FROM event ORDER BY seq DESC LIMIT 1), '{GENESIS}')
    BEGIN SELECT RAISE(ABORT, 'the event log is append-only: an event comes after the last one, chained to it'); END
    """,
    """
    CREATE TRIGGER value_is_never_updated BEFORE UPDATE ON value
    BEGIN SELECT RAISE(ABORT, 'a value cannot be changed'); END
    """,
    """
    CREATE TRIGGER value_is_never_deleted BEFORE DELETE ON value
    BEGIN SELECT RAISE(ABORT, 'a value cannot be deleted'); END
    """,
    """
    CREATE TRIGGER value_is_never_replaced BEFORE INSERT ON value
    WHEN EXISTS (SELECT 1 FROM value WHERE digest = NEW.digest)
    BEGIN SELECT RAISE(ABORT, 'a value cannot be replaced'); END
    """,
)


def upgrade() -> None:
    """Creates both tables and their triggers."""
    op.create_table(
        "event",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("stream", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("prev", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.create_index("event_by_subject", "event", ["stream", "subject", "seq"])
    op.create_table(
        "value",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    for trigger in TRIGGERS:
        op.execute(trigger)
