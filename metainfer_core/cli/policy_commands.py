"""Commands of `meta-infer`: policy."""

from __future__ import annotations

import typer


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
