"""Where the log ended, written down outside the database after every write.

A hash chain does not show that its end was cut off, or that the whole of it was written anew; these lines do. Who can
change both files can still hide what they did since the last signed bundle, which carries the log's head too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metainfer_core.bundle.statement import LogHead
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes

HEX = re.compile(rb"[0-9a-f]")
WHOLE = HEX.sub(b"0", b'{"hash":"sha256:' + 64 * b"0" + b'","seq":' + 20 * b"0")
"""A checkpoint's line, with a 0 for each digit of it."""


@contextmanager
def turn(path: Path) -> Iterator[int]:
    """Waits for one's turn to write, in the order of coming; gives the open file of checkpoints.

    SQLite lets those who wait try again at random times, so that among many writers one could wait for very long.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unwritable(path, error, "Nothing was decided.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def is_new(descriptor: int) -> bool:
    """Whether nothing was ever written down."""
    return os.fstat(descriptor).st_size == 0


def write_checkpoint(descriptor: int, path: Path, head: LogHead) -> None:
    """Adds one line, in one's turn.

    A writer that was killed within a line may have left a part of it: the next one begins a line of its own.
    """
    line = head.to_json() + b"\n"
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        written = os.write(descriptor, b"\n" + line if torn else line)
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError as error:
        raise _unwritable(path, error, "The decision itself is kept.") from error


def read_checkpoints(path: Path) -> tuple[tuple[LogHead, ...], tuple[int, ...]]:
    """All checkpoints in order of their numbers, and the numbers of the lines that cannot be read.

    The beginning of a line alone was being written when its writer was stopped, and is passed over.
    """
    lines = read_bytes(path, "file of checkpoints", 1024 * MEBIBYTE).split(b"\n")[:-1]
    found: list[LogHead] = []
    broken: list[int] = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(LogHead.from_json(line))
        except InputError:
            if not WHOLE.startswith(HEX.sub(b"0", line)):
                broken.append(number)
    return tuple(sorted(found, key=lambda head: head.seq)), tuple(broken)


def _unwritable(path: Path, error: OSError, kept: str) -> InputError:
    return InputError(
        f"{path}: the checkpoint of the review log cannot be written.",
        f"{error.strerror or error}. {kept}",
        "Check the folder, its permissions and the free space.",
    )
