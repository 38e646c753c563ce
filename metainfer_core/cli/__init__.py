"""The command `meta-infer`: the core's own commands, and those that upper packages add through entry points.

Each entry point of the group `metainfer.commands` is named after one command. Only the one that was asked for is
imported, because the libraries behind some of them take seconds to load.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metainfer_core.cli import interruption
from metainfer_core.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import typer

    from metainfer_core.cli.console import AddCommands

GROUP = "metainfer.commands"
OWN_PACKAGES = ("metainfer_core", "hwdoc_ingest", "review_store", "studio")
EXTRAS = {"hwdoc_ingest": "ingest", "review_store": "store", "studio": "ingest,store,studio"}
"""Package to the extra that brings what it imports."""
EPILOG = (
    "Exit status: 0 done · 1 a negative verdict · 2 bad input or usage · "
    "3 refused for trust · 70 our own defect · 130 interrupted."
)


def build_app(command: str | None = None) -> typer.Typer:
    """The command tree: with the one command if an entry point has its name, else with all of them.

    Raises:
        InputError: The command needs an extra that is not installed. In the whole tree it is left out instead.
    """
    from importlib.metadata import entry_points

    import typer

    app = typer.Typer(
        name="meta-infer",
        help="Fits an AI model to a chip, and lets people stand behind every decision.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def root() -> None:
        """Fits an AI model to a chip, and lets people stand behind every decision."""

    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if command in entries:
        _load(entries[command])(app)
        return app
    for value in sorted({entry.value for entry in entries.values()}):
        try:
            _load(next(entry for entry in entries.values() if entry.value == value))(app)
        except InputError:
            continue  # of an extra that this installation does without
    return app


def main() -> None:
    """Entry point of the command `meta-infer`."""
    interruption.end_at_once()
    from metainfer_core.cli import console  # here, so that Ctrl-C while it loads is answered too

    command = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    console.run(lambda: build_app(command))


def _load(entry: EntryPoint) -> AddCommands:
    try:
        loaded: AddCommands = entry.load()
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(entry.module.partition(".")[0])
        if extra is None or (error.name or "").partition(".")[0] in OWN_PACKAGES:
            raise  # our own mistake, which must not pass for a missing extra
        raise InputError(
            f"The command {entry.name} needs the Python package {error.name}, which is not installed.",
            "This installation holds a part of meta-infer only.",
            f'Install it: pip install "meta-infer[{extra}]"',
        ) from error
    return loaded
