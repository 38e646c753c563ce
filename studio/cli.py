"""`meta-infer studio`: starts the studio in the browser, on this machine only."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.errors import InputError

APP = Path(__file__).parents[1] / "app.py"


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""

    @app.command(epilog="Example: meta-infer studio --port 8600 --workspace my_chip")
    def studio(
        port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8501,
        workspace: Annotated[Path, typer.Option(help="Folder that the studio works in.")] = Path("workspace"),
    ) -> None:
        """Start the studio in the browser."""
        if not APP.is_file():
            raise InputError(
                f"{APP}: the studio's start file is not there.", fix="Run it from a checkout: make studio."
            )
        _require_free(port)
        try:
            workspace.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{workspace}: this folder cannot be made.", f"{error.strerror}.", "Choose another."
            ) from error
        sys.stderr.write(f"The studio is at http://127.0.0.1:{port} (Ctrl-C stops it)\n")
        sys.stderr.flush()
        os.environ["METAINFER_WORKSPACE"] = str(workspace.absolute())
        options = {
            "server.address": "127.0.0.1",
            "server.port": port,
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
            "client.toolbarMode": "minimal",
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        os.chdir(APP.parent)
        os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(APP), *flags])


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"Port {port} cannot be used.", f"{error.strerror}.", "Choose another one with --port."
            ) from error
