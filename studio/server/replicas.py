"""Studios that share a workspace: each says that it is there, so that a second one can warn of what it means."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.files.workspace import hidden_folder

WORKERS = "WEB_CONCURRENCY"
"""By this variable servers of Python are told to run several processes."""
GUIDE = "docs/howto/troubleshoot.md"


def announce(port: int, workspace: Path | None = None) -> tuple[int, ...]:
    """Says that a studio at `port` works in the workspace as long as this process lives, whatever program it becomes.

    Returns:
        The ports of the others that do; none where the workspace does not let files be written.
    """
    folder = hidden_folder("servers", workspace)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [int(path.name) for path in folder.iterdir() if path.name.isdigit() and _is_held(path)]
        descriptor = os.open(folder / str(port), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody else has the port, so that nobody has the lock
    except OSError:
        return ()
    os.set_inheritable(descriptor, True)
    return tuple(sorted(each for each in others if each != port))


def warnings(others: Sequence[int], environment: Mapping[str, str]) -> list[str]:
    """What to say at the start about several servers that nobody pins the browsers to."""
    said = []
    if others:
        ports = ", ".join(map(str, others))
        said.append(
            f"Another studio works in this workspace (port {ports}). The record is one, but an upload, a filter or an "
            f"open form is known only to the server that got it. Behind a proxy, pin each browser to one: {GUIDE}"
        )
    if environment.get(WORKERS, "1").strip() not in ("", "1"):
        said.append(
            f"{WORKERS} is {environment[WORKERS]}, but the studio is one process: a browser that is sent from one "
            f"process to another loses its uploads. It is not heeded here; see {GUIDE}"
        )
    return said


def _is_held(path: Path) -> bool:
    """Whether the studio that made the file lives."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False
