"""Reads a document that nobody vouches for: in a child process with limits, whose answer comes back as JSON."""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from hwdoc_ingest.intake.document_pages import DocumentPages, PageName
from hwdoc_ingest.reading import Found, Progress, Reading
from metainfer_core.errors import DefectError, InputError, MetaInferError, UnsupportedError
from metainfer_core.values import Value


class Limits(Value):
    """What the reading of one document may take."""

    memory_bytes: int = 8 << 30
    """Address space. OCR maps several GiB and touches a part of it."""
    resident_bytes: int = 3 << 30
    """Memory in use, as it is looked at a few times a second; a dense scan takes about 1 GiB."""
    seconds: float = 3600.0
    """Wall clock, all pages together."""
    silent_seconds: float = 600.0
    """Wall clock between two signs of progress."""
    cpu_seconds: int = 7200
    answer_bytes: int = 256 << 20


class Place(Value):
    """A box on a page of a PDF."""

    page: int
    """1 for the first page of the file."""
    box: tuple[float, float, float, float]
    """Left, top, right, bottom in points from the page's top left corner."""


class Task(Value):
    """What the child process is to do with a document."""

    key: str | None = None
    """Read all of it; its key in the draft's sources."""
    so_far: bool = False
    """Tell also what has been found so far, while the rest is read."""
    pages: tuple[PageName, ...] | None = None
    """Without a key: give the words of these pages; None for all pages of a PDF."""
    crops: tuple[Place, ...] | None = None
    """Without a key: give a cut-out of the page's picture around each of these places instead."""


DEFAULT_LIMITS = Limits()
_STDERR_TAIL_BYTES = 2000
_LOOK_SECONDS = 0.2
"""How often the child's memory is looked at."""


def read_safely(
    path: Path, key: str, progress: Progress, limits: Limits = DEFAULT_LIMITS, found: Found | None = None
) -> Reading:
    """`read_document` in a child process with `limits`.

    Raises:
        InputError: The document is no document, broken, locked or hostile, or takes more than it may.
    """
    return Reading.from_plain(
        in_child(path, Task(key=key, so_far=found is not None), progress, limits, found), f"{path}: what was read"
    )


def pages_safely(
    path: Path, pages: Sequence[PageName] | None, progress: Progress, limits: Limits = DEFAULT_LIMITS
) -> DocumentPages:
    """`document_pages` in a child process with `limits`; raises as `read_safely` does."""
    task = Task(pages=None if pages is None else tuple(pages))
    return DocumentPages.from_plain(in_child(path, task, progress, limits), f"{path}: its pages")


def in_child(path: Path, task: Task, progress: Progress, limits: Limits, found: Found | None = None) -> dict[str, Any]:
    """The answer of a child process that does the task with `limits`."""
    answer_out, answer_in = os.pipe()
    with tempfile.TemporaryFile() as errors, os.fdopen(answer_out, "rb") as answers:
        try:
            child = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "hwdoc_ingest.intake.intake_child",
                    str(answer_in),
                    str(path),
                    task.to_json().decode(),
                    limits.to_json().decode(),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(answer_in,),
                start_new_session=True,
            )
        except ValueError as error:  # a NUL in the path
            raise InputError(f"{str(path)!r}: this cannot be a path.", f"{error}.", "Check the path.") from error
        finally:
            os.close(answer_in)
        try:
            answer = _follow(child.pid, answers, path, progress, limits, found)
            status = child.wait(timeout=30)
        finally:
            _end(child)
        if answer is None:
            raise _death(path, status, limits, _tail(errors))
    if "error" in answer:
        raise _error(answer["error"])
    given: dict[str, Any] = answer["answer"]
    return given


def _follow(
    child: int, answers: IO[bytes], path: Path, progress: Progress, limits: Limits, found: Found | None
) -> dict[str, Any] | None:
    """Hands progress and what was found so far on until the child's last line, its answer; None when it died first."""
    begin = last_sign = time.monotonic()
    waiting = b""
    received = 0
    with selectors.DefaultSelector() as selector:
        selector.register(answers, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            left = min(begin + limits.seconds, last_sign + limits.silent_seconds) - now
            if left <= 0:
                raise InputError(
                    f"{path}: reading this document takes too long.",
                    f"It was stopped after {now - begin:.0f} s (at most {limits.seconds:.0f} s in all, "
                    f"{limits.silent_seconds:.0f} s for one page).",
                    "Give the pages that matter as a document of their own.",
                )
            if _resident_bytes(child) > limits.resident_bytes:
                raise InputError(
                    f"{path}: reading this document takes too much memory.",
                    f"It was stopped at the {limits.resident_bytes >> 20:,} MiB that one document may take.",
                    "Give the pages that matter as a document of their own.",
                )
            if not selector.select(timeout=min(left, _LOOK_SECONDS)):
                continue
            chunk = os.read(answers.fileno(), 1 << 16)
            if not chunk:
                return None
            received += len(chunk)
            if received > limits.answer_bytes:
                raise InputError(
                    f"{path}: this document says more than can be taken in.",
                    f"What was read in it exceeds {limits.answer_bytes:,} bytes.",
                    "Give the part of it that describes the hardware.",
                )
            last_sign = time.monotonic()
            if b"\n" not in chunk:
                waiting += chunk
                continue
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                message: dict[str, Any] = json.loads(line)
                if "progress" in message:
                    step, done, total = message["progress"]
                    progress(step, done, total)
                elif found is not None and "found" in message:
                    found(Reading.from_plain(message["found"], f"{path}: what was read so far"))
                else:
                    return message


def _resident_bytes(process: int) -> int:
    """Memory that a process uses; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _tail(errors: IO[bytes]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - _STDERR_TAIL_BYTES))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def _death(path: Path, status: int, limits: Limits, last_words: str) -> MetaInferError:
    if status == -signal.SIGXCPU:
        why = f"It took more than {limits.cpu_seconds} s of computing."
    elif status in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGTRAP, -signal.SIGILL):
        why = (
            f"Its reader broke down ({signal.Signals(-status).name}), as it does where the "
            f"{limits.memory_bytes >> 20:,} MiB of memory that one document may take are not enough."
        )
    elif status < 0:
        why = f"The reader was ended by signal {-status} ({signal.Signals(-status).name}). {last_words}"
    else:
        why = f"The reader ended with status {status}. {last_words}"
    return InputError(
        f"{path}: this document cannot be read.", why, "Give the pages that matter as a document of their own."
    )


def _error(told: dict[str, str]) -> MetaInferError:
    kinds = {kind.__name__: kind for kind in (InputError, UnsupportedError, DefectError)}
    return kinds.get(told["kind"], DefectError)(told["what"], told["why"], told["fix"])
