"""The command `meta-infer`: the core's own commands, and those that upper packages add through entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from metainfer_core.cli import console

EPILOG = (
    "Exit status: 0 done · 1 a negative verdict · 2 bad input or usage · "
    "3 refused for trust · 70 our own defect · 130 interrupted."
)


def build_app() -> typer.Typer:
    """The whole command tree. Packages that are not installed leave their commands out."""
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

    for entry in sorted(entry_points(group="metainfer.commands"), key=lambda entry: entry.name):
        try:
            add_commands = entry.load()
        except ModuleNotFoundError:
            continue  # an extra that this installation does without
        add_commands(app)
    return app


def main() -> None:
    """Entry point of the command `meta-infer`."""
    console.run(build_app())
