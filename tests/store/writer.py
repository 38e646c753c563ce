"""Programs that write into a store and say each event that is kept. Forked, so that they start at once."""

import multiprocessing
import os
import threading
import time
from dataclasses import dataclass

from review_store.record.events import Commented
from review_store.record.log import Conflict, EventLog

AT = "2026-11-29T12:00:00Z"


@dataclass
class Writer:
    """A running program and what it says."""

    process: multiprocessing.Process
    said: object

    def lines(self):
        """Everything that it says until its end; a line cut off by its death is left out."""
        return [line.decode().split() for line in self.said if line.endswith(b"\n")]


def start(workspace, name, threads, count, seconds=None):
    """A program whose threads write `count` events each about one and the same action, or stop after `seconds`."""
    reader, writer = os.pipe()
    given = (workspace, name, threads, count, seconds, writer)
    process = multiprocessing.get_context("fork").Process(target=_main, args=given)
    process.start()
    os.close(writer)
    return Writer(process, os.fdopen(reader, "rb"))


def _main(workspace, name, threads, count, seconds, writer):
    log = EventLog(workspace)
    until = None if seconds is None else time.monotonic() + seconds
    running = [threading.Thread(target=_write, args=(log, f"{name}{n}", count, until, writer)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def _write(log, name, count, until, writer):
    """Each event goes on top of the newest one seen, so that every conflict is met."""
    for number in range(count):
        if until is not None and time.monotonic() > until:
            return
        text, conflicts = f"{name}-{number}", 0
        while True:
            seen = log.head().seq
            event = Commented(actor=name, at=AT, action="a", text=text)
            if not isinstance(log.append("p", [event], versions={"a": seen}), Conflict):
                break
            conflicts += 1
        os.write(writer, f"{text} {conflicts}\n".encode())
