"""Ctrl-C, and the request to end: answered at once while the program loads, in good order while it works."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

STATUS = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def end_at_once() -> None:
    """From here on an interruption ends the program there and then.

    While modules load, KeyboardInterrupt comes out as another error of theirs, or gets lost in a callback.
    """
    _answer_with(_end)


def end_in_order() -> None:
    """From here on an interruption is a KeyboardInterrupt: what was begun is stopped, and its files are removed."""
    _answer_with(signal.default_int_handler)


def _answer_with(handler: signal._HANDLER) -> None:
    for each in _SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # as `nohup` and shell scripts ask for
            signal.signal(each, handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    if "--json" in sys.argv:
        os.write(1, b'{"error": {"kind": "Interrupted", "what": "Interrupted.", "why": "", "fix": ""}}\n')
    os.write(2, b"Interrupted.\n")
    os._exit(STATUS)
