"""Commands `meta-infer workspace ...`."""

from __future__ import annotations

import typer

from review_store.commands.backup_commands import backup_command, check_command, restore_command, upgrade_command
from review_store.commands.manual_commands import manuals, purge_command


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    workspace = typer.Typer(
        help="The folder with all work: its manuals, backups and state.", no_args_is_help=True, rich_markup_mode=None
    )
    workspace.command("backup", epilog="Example: meta-infer workspace backup /media/disk/work.backup")(backup_command)
    workspace.command("restore", epilog="Example: meta-infer workspace restore work.backup --workspace again")(
        restore_command
    )
    workspace.command("upgrade", epilog="Example: meta-infer workspace upgrade")(upgrade_command)
    workspace.command("check", epilog="Example: meta-infer workspace check --bundle release.bundle")(check_command)
    workspace.command("manuals", epilog="Example: meta-infer workspace manuals --folder /mnt/nda")(manuals)
    workspace.command("purge", epilog="Example: meta-infer workspace purge manual.pdf --quotations --yes")(
        purge_command
    )
    app.add_typer(workspace, name="workspace")
