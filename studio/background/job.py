"""The process of one job: waits for its turn, runs the command, keeps its answer, progress and end in its folder.

`python -m studio.background.job FOLDER LOCK_DESCRIPTOR COMMAND...`; started by studio/background/jobs.py only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from metainfer_core.files import write_bytes

AT_THE_SAME_TIME = 2
"""Jobs that run at once; more wait for their turn."""
STDERR_LIMIT = 1 << 20
ORDERED_WITHIN_SECONDS = 30.0
_WRITE_EVERY_SECONDS = 0.2


def run(folder: Path, command: list[str]) -> int:
    """Runs the command when it is its turn; its exit status."""
    stopped = threading.Event()
    # A handler, not SIG_IGN, which the command would inherit. We stay until the command has ended, and hold the lock.
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    slot = _slot(folder.parent, stopped) if _is_ordered(folder, stopped) else None
    if slot is None:
        return 128 + signal.SIGTERM
    begin = time.time()
    progress = _Progress(folder, begin)
    with (folder / "stdout").open("wb") as stdout:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
        assert child.stderr is not None
        _follow(child.stderr, progress)
        status = child.wait()
    progress.write()
    _move(folder, status)
    end = {"exit_status": status, "seconds": round(time.time() - begin, 3)}
    write_bytes(folder / "end.json", json.dumps(end).encode(), "job")
    slot.close()
    if stopped.is_set():
        os.killpg(0, signal.SIGKILL)  # whatever the command has left behind
    return status


def _move(folder: Path, status: int) -> None:
    """Moves what the order says, such as uploads out of quarantine; never over something that stands there.

    A command that was given several documents and could not read all of them says which: those stay where they are.
    """
    moves: dict[str, str] = json.loads((folder / "order.json").read_bytes()).get("moves", {})
    if not moves:
        return
    try:
        answer = json.loads((folder / "stdout").read_bytes())
        read = {each["doc"] for each in answer.get("documents", []) if "error" not in each}
    except (ValueError, TypeError, KeyError, AttributeError):
        read = set()
    for source, target in moves.items():
        if status == 0 or Path(source).name in read:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):
                _take_place(Path(source), Path(target))


def _take_place(source: Path, target: Path) -> None:
    """Moves a file to a free place, on another disk too."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
        try:
            shutil.copyfile(source, copy)
            os.link(copy, target)
        finally:
            copy.unlink(missing_ok=True)
    os.unlink(source)


class _Progress:
    """The last sign of progress, written a few times a second at most; the last of many is written soon after."""

    def __init__(self, folder: Path, begin: float) -> None:
        self._path = folder / "progress.json"
        self._said: dict[str, object] = {"step": "", "done": 0, "total": 0}
        self._said |= {"started": begin, "step_started": begin, "told": begin}
        self._written = 0.0
        self._lock = threading.RLock()
        self._later: threading.Timer | None = None
        self.write()

    def say(self, step: str, done: int, total: int) -> None:
        with self._lock:
            now = time.time()
            if step != self._said["step"]:
                self._said["step_started"] = now
            self._said |= {"step": step, "done": done, "total": total, "told": now}
            if time.monotonic() - self._written > _WRITE_EVERY_SECONDS:
                self.write()
            elif self._later is None:  # nothing may follow for minutes, so that this one must not be lost
                self._later = threading.Timer(_WRITE_EVERY_SECONDS, self.write)
                self._later.daemon = True
                self._later.start()

    def write(self) -> None:
        with self._lock:
            if self._later is not None:
                self._later.cancel()
                self._later = None
            temporary = self._path.with_suffix(".tmp")
            with contextlib.suppress(OSError):  # the command goes on, though a full disk takes no sign of it
                temporary.write_text(json.dumps(self._said))
                os.replace(temporary, self._path)
            self._written = time.monotonic()


def _follow(stderr: IO[bytes], progress: _Progress) -> None:
    """Takes progress out of the command's stderr; the rest goes to ours, up to a limit."""
    kept = 0
    for line in stderr:
        said = _progress_in(line)
        if said:
            progress.say(*said)
        elif kept < STDERR_LIMIT:
            kept += len(line)
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()


def _progress_in(line: bytes) -> tuple[str, int, int] | None:
    if not line.startswith(b'{"progress"'):
        return None
    try:
        step, done, total = json.loads(line)["progress"]
        return str(step), int(done), int(total)
    except (ValueError, TypeError, KeyError):
        return None


def _is_ordered(folder: Path, stopped: threading.Event) -> bool:
    """Whether the order stands, which is written right after our start. Where it never comes, its writer was killed."""
    end = time.monotonic() + ORDERED_WITHIN_SECONDS
    while not (folder / "order.json").exists():
        if stopped.wait(0.05) or time.monotonic() > end:
            return False
    return True


def _slot(root: Path, stopped: threading.Event) -> IO[str] | None:
    """A lock on one of the places, which the kernel lets go when this process ends; None when told to stop."""
    while not stopped.wait(0.1):
        for number in range(AT_THE_SAME_TIME):
            file = (root / f"slot-{number}").open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except BlockingIOError:
                file.close()
    return None


if __name__ == "__main__":
    _, place, _lock, *words = sys.argv
    sys.exit(run(Path(place), words))
