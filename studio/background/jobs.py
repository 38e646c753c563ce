"""Background jobs: commands of meta-infer as process groups of their own, each with a folder that tells its state.

A job outlives a browser's refresh and the server's restart: nothing about it is kept in memory. It is alive as long as
someone holds the lock on its file `alive`, which the kernel lets go when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from metainfer_core.cli.console import PROGRESS_VARIABLE
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes
from metainfer_core.values import FrozenMap, Value, read_json
from studio.files.workspace import hidden_folder

State = Literal["waiting", "running", "done", "failed", "cancelled"]

COMMAND: tuple[str, ...] = (sys.executable, "-m", "metainfer_core")
"""What every job begins with: the one place in the studio that starts commands."""
KEPT_JOBS = 200
ANSWER_LIMIT = 256 * MEBIBYTE
_GRACE_SECONDS = 3.0
_ENDED: dict[Path, Job] = {}
"""Jobs that have ended, by folder: their answers may be long, and nothing about them changes any more."""


class Title(Value):
    """What a job is called: worded when it is shown, for that can be in another language than when it began."""

    words: str
    """Key of a text of the interface."""
    values: FrozenMap[str] = {}
    """What stands in it."""


class Order(Value):
    """What a job shall do."""

    kind: str
    """What sort of work it is: `ingest`, `adapt`, `compile`."""
    title: Title | str
    """What people read; a string is the same in every language (or was written so by an earlier version)."""
    arguments: tuple[str, ...]
    """Arguments of `meta-infer`; `--json` is added."""
    subject: str = ""
    """What it is about, as a path in the workspace."""
    actor: str = ""
    moves: FrozenMap[str] = {}
    """Files to move when the command has answered with status 0: from where to where."""


class Told(Value):
    """An error as its command told it."""

    what: str
    why: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Job:
    """A job as its folder tells it now."""

    id: str
    folder: Path = field(repr=False)
    order: Order
    state: State
    step: str = ""
    done: int = 0
    total: int = 0
    """0 where the number of steps is not known."""
    seconds: float = 0.0
    seconds_left: float | None = None
    """Of the current step, at its pace up to its last report; None where that is not known, or has proved wrong."""
    exit_status: int | None = None
    error: Told | None = None

    @property
    def is_open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")

    def answer(self) -> dict[str, Any] | None:
        """The JSON object that the command answered with, or None where it has not answered."""
        return _answer(self.folder)


def jobs_folder(workspace: Path | None = None) -> Path:
    """Where the folders of all jobs lie."""
    return hidden_folder("jobs", workspace)


def start(order: Order, workspace: Path | None = None) -> Job:
    """Starts a command as a process group of its own; raises InputError where it cannot be started.

    The order is written last: who sees a job sees one that runs on, whatever becomes of us. A runner whose order does
    not come ends by itself.
    """
    root = jobs_folder(workspace)
    second, rest = divmod(time.time_ns(), 1_000_000_000)
    # to the nanosecond: of two that are started within a second, the later one's name is the greater
    folder = root / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(second))}.{rest:09}-{secrets.token_hex(4)}"
    arguments = [*COMMAND, *order.arguments, "--json"]
    try:
        folder.mkdir(parents=True)
        _forget_old(root)
        with (folder / "alive").open("w") as alive, (folder / "stderr").open("wb") as stderr:
            fcntl.flock(alive, fcntl.LOCK_EX)
            runner = subprocess.Popen(
                [sys.executable, "-m", "studio.background.job", str(folder), str(alive.fileno()), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=(alive.fileno(),),  # the lock stays held until the runner ends
                start_new_session=True,
                env={**os.environ, PROGRESS_VARIABLE: "json"},
            )
            try:
                alive.write(str(runner.pid))
                alive.flush()
                write_bytes(folder / "order.json", order.to_json(), "job")
            except BaseException:
                os.killpg(runner.pid, signal.SIGKILL)
                runner.wait()
                raise
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fix = "Free the disk or make the workspace writable, and try again."
        raise InputError("This job cannot be started.", f"{why}.", fix) from error
    return job(folder.name, workspace)


def jobs(workspace: Path | None = None) -> tuple[Job, ...]:
    """All jobs, the newest first."""
    root = jobs_folder(workspace)
    names = sorted((path.name for path in root.iterdir() if path.is_dir()), reverse=True) if root.is_dir() else []
    found = []
    for name in names:
        with contextlib.suppress(MetaInferError):
            found.append(job(name, workspace))
    return tuple(found)


def job(job_id: str, workspace: Path | None = None) -> Job:
    """The job with this id; raises InputError where there is none."""
    root = jobs_folder(workspace)
    folder = root / job_id
    if folder.parent != root or not (folder / "order.json").is_file():
        raise InputError(f"There is no job {job_id!r}.", fix="Look at the list of jobs.")
    if folder in _ENDED:
        return _ENDED[folder]
    order = Order.from_json(read_bytes(folder / "order.json", "job"), "job")
    alive = _is_alive(folder)  # asked before `end.json` is read: who has ended wrote that first
    progress, end = _plain(folder / "progress.json"), _plain(folder / "end.json")
    found = Job(
        job_id,
        folder,
        order,
        "waiting",
        step=str(progress.get("step", "")),
        done=int(progress.get("done", 0)),
        total=int(progress.get("total", 0)),
    )
    if end:
        _ENDED[folder] = _ended(found, int(end["exit_status"]), float(end["seconds"]))
        return _ENDED[folder]
    if (folder / "cancelled").exists():
        return replace(found, state="cancelled")
    if not alive:
        lost = Told(
            what="This job ended without an answer.",
            why=_why_lost(folder),
            fix="Start it again.",
        )
        return replace(found, state="failed", error=lost)
    if not progress:
        return found
    now = time.time()
    return replace(
        found,
        state="running",
        seconds=max(0.0, now - float(progress["started"])),
        seconds_left=_left(
            found.done, found.total, float(progress["step_started"]), float(progress.get("told", 0)), now
        ),
    )


def cancel(job_id: str, workspace: Path | None = None) -> Job:
    """Ends a job and all processes of its group; one that has ended stays as it is."""
    found = job(job_id, workspace)
    if not found.is_open:
        return found
    write_bytes(found.folder / "cancelled", b"", "job")
    group = int((found.folder / "alive").read_text() or 0)
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if group > 1 and _is_alive(found.folder):  # the lock is held, so that the group is still this job's
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, sign)
        deadline = time.monotonic() + _GRACE_SECONDS
        while _is_alive(found.folder) and time.monotonic() < deadline:
            time.sleep(0.02)
    return job(job_id, workspace)


def _why_lost(folder: Path) -> str:
    """Why a job ended without a word. One whose disk is full cannot write any."""
    if shutil.disk_usage(folder).free < MEBIBYTE:
        return "The disk of the workspace is full."
    return "Its process was killed, or the machine was restarted."


def _left(done: int, total: int, begin: float, told: float, now: float) -> float | None:
    """Seconds that a step still takes; None where nothing was reported for longer than was said to be left."""
    if not 0 < done <= total or told <= begin:
        return None
    left = (told - begin) * (total - done) / done - (now - told)
    return left if left > 0 else None


def _ended(found: Job, status: int, seconds: float) -> Job:
    if (found.folder / "cancelled").exists():
        return replace(found, state="cancelled", seconds=seconds, exit_status=status)
    error = _error(found.folder, status)
    state: State = "failed" if error else "done"
    return replace(found, state=state, seconds=seconds, exit_status=status, error=error)


def _error(folder: Path, status: int) -> Told | None:
    """What the command said is wrong. Status 1 without such words is a negative verdict, which is an answer."""
    told = (_answer(folder) or {}).get("error")
    if isinstance(told, dict) and told.get("what"):
        return Told(**{key: str(told.get(key, "")) for key in ("what", "why", "fix")})
    if status in (0, 1) and _answer(folder) is not None:
        return None
    last = [line for line in _tail(folder / "stderr").splitlines() if line.strip()][-3:]
    why = "\n".join(last) or f"It ended with status {status}."
    return Told(what="This job failed.", why=why, fix="Mend what it says and start it again.")


def _answer(folder: Path) -> dict[str, Any] | None:
    try:
        data = read_json(read_bytes(folder / "stdout", "answer", ANSWER_LIMIT), "answer")
    except MetaInferError:
        return None
    return data if isinstance(data, dict) else None


def _plain(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4000))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _is_alive(folder: Path) -> bool:
    """Whether a process holds the lock."""
    try:
        with (folder / "alive").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _forget_old(root: Path) -> None:
    for path in sorted((path for path in root.iterdir() if path.is_dir()), reverse=True)[KEPT_JOBS:]:
        if not _is_alive(path):
            shutil.rmtree(path, ignore_errors=True)
