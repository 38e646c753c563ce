"""How every command talks: one JSON object or text on stdout, progress and errors on stderr, one exit status."""

from __future__ import annotations

import io
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.exceptions import TyperException

from metainfer_core.cli import interruption, streams
from metainfer_core.errors import DefectError, InputError, MetaInferError, NotTrustedError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
"""The option that every command has."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are (0: not known)."""

PROGRESS_VARIABLE = "METAINFER_PROGRESS"
"""Set to `json`, progress on stderr is one JSON object a line, for a program that watches the command."""

SILENCE_S = 15.0
"""After so many seconds of one step a line in a log tells how far it is."""

AddCommands = Callable[[typer.Typer], None]
"""Adds a package's commands to the tree."""


def run(tree: typer.Typer | Callable[[], typer.Typer]) -> None:
    """Runs a command tree (or what builds it) and exits: every expected error is one message, never a traceback."""
    streams.settle()
    try:
        app = tree if isinstance(tree, typer.Typer) else tree()
        interruption.end_in_order()
        status = app(standalone_mode=False)
    except typer.Abort:
        _interrupted()
    except TyperException as error:  # wrong options or arguments; its message is the usage and what is wrong
        usage = io.StringIO()
        cast(Any, error).show(file=usage)
        _leave(2, usage.getvalue(), what=error.format_message())
    except MetaInferError as error:
        _leave(error.exit_status, str(error), **error_answer(error))
    except KeyboardInterrupt:
        _interrupted()
    except MemoryError:
        what = "This needs more memory than this machine has to give."
        fix = "Give smaller input shapes or less data, or use a machine with more memory."
        _leave(1, f"{what}\n{fix}", what=what, why="", fix=fix, kind="UnsupportedError")
    except OSError as error:  # of a file, a pipe or a disk: the machine's state, not our defect
        what = f"{error.filename}: this cannot be used." if error.filename else "A file cannot be used."
        why, fix = f"{error.strerror or error}.", "Check the path, its permissions and the free space."
        _leave(2, "\n".join((what, why, fix)), what=what, why=why, fix=fix, kind="InputError")
    except Exception as error:  # the last border: whatever else happens is our own defect
        if os.environ.get("METAINFER_TRACEBACK"):
            traceback.print_exc()
        defect = DefectError(
            f"This is a defect of meta-infer: {type(error).__name__}: {error}",
            "",
            "Run again with METAINFER_TRACEBACK=1 and report what it prints.",
        )
        _leave(defect.exit_status, str(defect), **error_answer(defect))
    else:
        if status == interruption.STATUS:  # typer has turned Ctrl-C into a status
            _interrupted()
        sys.exit(status if isinstance(status, int) else 0)


def error_answer(error: MetaInferError) -> dict[str, str]:
    """What `--json` tells about an error."""
    told = {"kind": type(error).__name__, "what": error.what, "why": error.why, "fix": error.fix}
    return told | ({"check": error.check} if isinstance(error, NotTrustedError) and error.check else {})


def _interrupted() -> None:
    _leave(interruption.STATUS, "Interrupted.", what="Interrupted.", kind="Interrupted")


def _leave(status: int, text: str, kind: str = "UsageError", **told: str) -> None:
    streams.tell(text.rstrip())
    if "--json" in sys.argv:
        with suppress(InputError):  # stdout is what has failed
            streams.answer(json.dumps({"error": {"kind": kind, "what": "", "why": "", "fix": ""} | told}))
    streams.finish()
    sys.exit(status)


def emit(as_json: bool, data: dict[str, Any], text: str) -> None:
    """The answer of a command, once: as one JSON object, or as text for people."""
    streams.answer(json_text(data) if as_json else text.rstrip())


def json_text(data: Any, indent: int | None = None) -> str:
    """JSON in the characters that stdout can show."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    return json.dumps(data, ensure_ascii=not unicode, allow_nan=False, indent=indent)


def verdict(negative: bool) -> None:
    """Ends the command with status 1 where the answer was no."""
    if negative:
        raise typer.Exit(1)


@contextmanager
def progress(title: str) -> Iterator[ProgressCallback]:
    """A progress line on stderr: a live bar on a terminal, else a plain line for each new step and now and then."""
    if os.environ.get(PROGRESS_VARIABLE) == "json":

        def as_json(step: str, done: int, total: int) -> None:
            streams.tell(json.dumps({"progress": [step, done, total]}))

        yield as_json
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        last, told = "", 0.0

        def plain(step: str, done: int, total: int) -> None:
            nonlocal last, told
            now = time.monotonic()
            if step != last:
                streams.tell(f"{title}: {step}")
            elif total and now - told >= SILENCE_S:
                streams.tell(f"{title}: {step}, {done} of {total}")
            else:
                return
            last, told = step, now

        yield plain
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(title), total=None)

        def live(step: str, done: int, total: int) -> None:
            said = f"{title}: {step}" + (f", {done} of {total}" if total else "")
            bar.update(task, description=escape(streams.harmless(said)), completed=done, total=total or None)

        yield live
