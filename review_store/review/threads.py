"""Threads of comments about one action, and which of them are still open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from review_store.record.events import Commented, Resolved
from review_store.record.log import Record


@dataclass(frozen=True)
class Thread:
    """A comment with its answers."""

    comments: tuple[Record, ...]
    """Oldest first."""
    resolved_by: str | None
    """Who said that it is dealt with; None: it is open."""

    @property
    def number(self) -> int:
        """Sequence number of its first comment."""
        return self.comments[0].seq


def threads(records: Iterable[Record]) -> tuple[Thread, ...]:
    """The threads in the records about one action, those left out that were undone, in the order they began.

    What answers or resolves a comment that is not there (it was undone, or is about another action) begins a thread of
    its own or resolves nothing.
    """
    found: dict[int, Thread] = {}
    for record in records:
        event = record.event
        if isinstance(event, Commented):
            first = found.get(event.answers) if event.answers is not None else None
            if first is None:
                found[record.seq] = Thread((record,), None)
            else:
                found[first.number] = Thread((*first.comments, record), None)
        elif isinstance(event, Resolved) and event.thread in found:
            found[event.thread] = Thread(found[event.thread].comments, event.actor)
    return tuple(found.values())


def open_threads(every: Iterable[Thread]) -> tuple[Thread, ...]:
    """Those that nobody has resolved."""
    return tuple(each for each in every if each.resolved_by is None)
