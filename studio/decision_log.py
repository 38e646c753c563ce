"""Decisions about a draft, written down as they are made: one line each, only ever appended, flushed to the disk.

Nothing that was decided is lost when a browser, the server or the machine stops. A line that was cut off by a crash
was never acknowledged; it is skipped, and the window that sent it sends it again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.values import FrozenMap, Value
from studio.workspace import hidden_folder

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


def append(draft_digest: str, decisions: Iterable[Decision], workspace: Path | None = None) -> None:
    """Writes decisions down, all or none of each line; what a window sent before is not written twice."""
    path = log_path(draft_digest, workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        before = file.read()
        known = {(each.decision.window, each.decision.number) for each in _recorded(before)}
        new = [each for each in decisions if (each.window, each.number) not in known]
        if not new:
            return
        torn = b"\n" if before and not before.endswith(b"\n") else b""
        file.write(torn + b"".join(each.to_json() + b"\n" for each in new))
        file.flush()
        os.fsync(file.fileno())


def _recorded(data: bytes) -> tuple[Recorded, ...]:
    found: list[Recorded] = []
    for line in data.split(b"\n"):
        if line:
            try:
                found.append(Recorded(len(found) + 1, Decision.from_json(line, "record of decisions")))
            except MetaInferError:
                continue
    return tuple(found)
