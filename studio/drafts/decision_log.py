"""Decisions about a draft, written down as they are made: one line each, only ever appended, flushed to the disk.

Nothing that was decided is lost when a browser, the server or the machine stops. A line that was cut off by a crash
was never acknowledged; it is skipped, and the window that sent it sends it again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Literal

from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.values import FrozenMap, Value
from studio.files.workspace import hidden_folder

LOG_LIMIT = 256 * MEBIBYTE
Kind = Literal["accept", "edit", "reject", "unknown", "undo"]


class Decision(Value):
    """What one person decided in one moment."""

    kind: Kind
    places: tuple[str, ...]
    """Keys of the places it is about; for `undo` those of the decision that it takes back."""
    choices: FrozenMap[int] = {}
    """Of `accept`: place to the index of the candidate that is right."""
    given: str = ""
    """Of `edit`: the value that a person gives instead, with unit."""
    undoes: int | None = None
    """Of `undo`: the number of the decision that it takes back."""
    actor: str
    at: str
    window: str
    """Which browser window sent it."""
    number: int
    """Its number in that window, counted from 1."""


@dataclass(frozen=True)
class Recorded:
    """A decision with its place in the log."""

    seq: int
    """Counted from 1."""
    decision: Decision


def log_path(draft_digest: str, workspace: Path | None = None) -> Path:
    """The log of a draft."""
    return hidden_folder("decisions", workspace) / f"{draft_digest.removeprefix('sha256:')}.jsonl"


def read_log(draft_digest: str, workspace: Path | None = None) -> tuple[Recorded, ...]:
    """All decisions about a draft, the oldest first."""
    path = log_path(draft_digest, workspace)
    return _recorded(read_bytes(path, "record of decisions", LOG_LIMIT)) if path.exists() else ()


class Writing:
    """The record of a draft while nobody else can write to it."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        before = file.read()
        self._torn = bool(before) and not before.endswith(b"\n")
        self.log = _recorded(before)
        """All decisions, the oldest first."""

    def append(self, decision: Decision) -> None:
        """Writes one down, on the disk when this returns. Raises InputError where not, and leaves no part of it."""
        line = (b"\n" if self._torn else b"") + decision.to_json() + b"\n"
        end = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise _not_written(error) from error
        self._torn = False
        self.log = (*self.log, Recorded(len(self.log) + 1, decision))


@contextlib.contextmanager
def writing(draft_digest: str, workspace: Path | None = None) -> Iterator[Writing]:
    """The record of a draft, held: what is looked up in it is still so when a decision is appended.

    Raises:
        InputError: The record cannot be written, such as in a folder that is read-only.
    """
    path = log_path(draft_digest, workspace)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise _not_written(error) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield Writing(file)


def _not_written(error: OSError) -> InputError:
    fix = "Free the disk or make the workspace writable; this window keeps what you decided and sends it again."
    return InputError("What you decided is not saved.", f"{error.strerror}.", fix)


def _recorded(data: bytes) -> tuple[Recorded, ...]:
    found = (_decision(line) for line in data.split(b"\n") if line)
    return tuple(Recorded(number, each) for number, each in enumerate(filter(None, found), start=1))


@functools.lru_cache(maxsize=1 << 16)
def _decision(line: bytes) -> Decision | None:
    """The decision in a line, or None where it was cut off; the record is read at every look, and only ever grows."""
    try:
        return Decision.from_json(line, "record of decisions")
    except MetaInferError:
        return None
