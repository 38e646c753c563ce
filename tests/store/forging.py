"""What someone can do who can write the file of the record: guards off, edit, guards on; and the hashes anew."""

import sqlite3

from review_store.record.log import GENESIS, chained_hash
from review_store.record.migrations import guards


def tamper(log, statements, drop=True):
    """Edits the record by raw SQL; without `drop` the guards stay in force."""
    log.close()
    with sqlite3.connect(log.path, isolation_level=None) as connection:
        for name in guards() if drop else ():
            connection.execute(f"DROP TRIGGER {name}")
        connection.executescript(statements)
        for text in guards().values() if drop else ():
            connection.execute(text)
    connection.close()


def chain_anew(log, from_seq, edit=lambda body: body):
    """Rewrites bodies from `from_seq` on by `edit`, closes every hole and computes every hash again."""
    log.close()
    with sqlite3.connect(log.path, isolation_level=None) as connection:
        for name in guards():
            connection.execute(f"DROP TRIGGER {name}")
        rows = connection.execute("SELECT seq, stream, body, hash FROM event ORDER BY seq").fetchall()
        prev = next((row[3] for row in reversed(rows) if row[0] < from_seq), GENESIS)
        later = [row for row in rows if row[0] >= from_seq]
        for number, (seq, stream, body, _) in enumerate(later, start=from_seq):
            body = edit(body)
            hashed = chained_hash(number, stream, body, prev)
            change = "UPDATE event SET seq = ?, body = ?, prev = ?, hash = ? WHERE seq = ?"
            connection.execute(change, (number, body, prev, hashed, seq))
            prev = hashed
        for text in guards().values():
            connection.execute(text)
    connection.close()
