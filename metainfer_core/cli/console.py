"""How every command talks: one JSON object or text on stdout, progress and errors on stderr, one exit status."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.exceptions import TyperException

from metainfer_core.errors import DefectError, MetaInferError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
"""The option that every command has."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are (0: not known)."""

PROGRESS_VARIABLE = "METAINFER_PROGRESS"
"""Set to `json`, progress on stderr is one JSON object a line, for a program that watches the command."""


AddCommands = Callable[[typer.Typer], None]
"""Adds a package's commands to the tree."""


def run(tree: typer.Typer | Callable[[], typer.Typer]) -> None:
    """Runs a command tree (or what builds it) and exits: every expected error is one message, never a traceback."""
    try:
        app = tree if isinstance(tree, typer.Typer) else tree()
        status = app(standalone_mode=False)
    except typer.Abort:
        _leave(130, "Interrupted.")
    except TyperException as error:  # wrong options or arguments; its message is the usage and what is wrong
        cast(Any, error).show()
        _leave(2, "", what=error.format_message())
    except MetaInferError as error:
        _leave(error.exit_status, str(error), what=error.what, why=error.why, fix=error.fix, kind=type(error).__name__)
    except KeyboardInterrupt:
        _leave(130, "Interrupted.")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the last border: whatever else happens is our own defect
        if os.environ.get("METAINFER_TRACEBACK"):
            traceback.print_exc()
        defect = DefectError(
            f"This is a defect of meta-infer: {type(error).__name__}: {error}",
            "",
            "Run again with METAINFER_TRACEBACK=1 and report what it prints.",
        )
        _leave(defect.exit_status, str(defect), what=defect.what, fix=defect.fix, kind="DefectError")
    else:
        if status == 130:  # typer has turned Ctrl-C into a status
            _leave(130, "Interrupted.")
        sys.exit(status if isinstance(status, int) else 0)


def _leave(status: int, text: str, what: str = "", why: str = "", fix: str = "", kind: str = "UsageError") -> None:
    if "--json" in sys.argv and what:
        sys.stdout.write(json.dumps({"error": {"kind": kind, "what": what, "why": why, "fix": fix}}) + "\n")
    if text:
        sys.stderr.write(text.rstrip() + "\n")
    sys.exit(status)


def emit(as_json: bool, data: dict[str, Any], text: str) -> None:
    """The answer of a command, once: as one JSON object, or as text for people."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n" if as_json else text.rstrip() + "\n")


def verdict(negative: bool) -> None:
    """Ends the command with status 1 where the answer was no."""
    if negative:
        raise typer.Exit(1)


@contextmanager
def progress(title: str) -> Iterator[ProgressCallback]:
    """A progress line on stderr: a live bar on a terminal, a plain line for each new step elsewhere."""
    if os.environ.get(PROGRESS_VARIABLE) == "json":

        def as_json(step: str, done: int, total: int) -> None:
            sys.stderr.write(json.dumps({"progress": [step, done, total]}) + "\n")
            sys.stderr.flush()

        yield as_json
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        last = ""

        def plain(step: str, done: int, total: int) -> None:
            nonlocal last
            if step != last:
                sys.stderr.write(f"{title}: {step}\n")
                sys.stderr.flush()
                last = step

        yield plain
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(title), total=None)

        def live(step: str, done: int, total: int) -> None:
            bar.update(task, description=escape(f"{title}: {step}"), completed=done, total=total or None)

        yield live
