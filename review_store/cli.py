"""Commands of `meta-infer` that need the record of the review, or a private key."""

from __future__ import annotations

import typer

from review_store.commands import keys_commands, review_commands, signing_commands, workspace_commands


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    review_commands.commands(app)
    keys_commands.commands(app)
    signing_commands.commands(app)
    workspace_commands.commands(app)
