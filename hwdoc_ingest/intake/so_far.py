"""Hands out what the pages read so far say, while the rest is read, for a small share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hwdoc_ingest.page.pages import Page
from hwdoc_ingest.reading import Found, Reading

FIRST_AFTER_SECONDS = 2.0
"""A document that is read sooner has no need of it."""
SHARE = 0.15
"""Of the time that reading takes."""


class SoFar:
    """Reads the new pages now and then, on their own.

    Args:
        found: Takes what was read; None where nobody asks for it.
        read: What some pages say.
    """

    def __init__(self, found: Found | None, read: Callable[[Sequence[Page]], Reading]) -> None:
        self._found, self._read = found, read
        self._next = time.monotonic() + FIRST_AFTER_SECONDS
        self._taken = 0

    def pages(self, pages: Sequence[Page]) -> None:
        """Tells that these pages have been read so far."""
        begin = time.monotonic()
        if self._found is None or begin < self._next:
            return
        self._found(self._read(pages[self._taken :]))
        self._taken = len(pages)
        now = time.monotonic()
        self._next = now + max(FIRST_AFTER_SECONDS, (now - begin) / SHARE)
