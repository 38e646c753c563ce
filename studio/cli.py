"""`meta-infer studio`: starts the studio in the browser, on this machine only."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from hwdoc_ingest.sample.command import sample_files
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError
from metainfer_core.files import write_bytes
from review_store.review.workspace import trust_path
from review_store.signing.demo import refuse_demo
from studio.files.workspace import choose_workspace
from studio.manuals.uploads import UPLOAD_LIMIT_MEGABYTES
from studio.server.replicas import WORKERS, announce, warnings
from studio.server.window import browser, show
from studio.session.demo_mode import set_demo_mode

SERVER = Path(__file__).parent / "server" / "server.py"
APP = SERVER.parents[2] / "app.py"


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""

    @app.command(epilog="Example: meta-infer studio --port 8600 --workspace my_chip")
    def studio(
        port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8501,
        workspace: Annotated[Path, typer.Option(help="Folder that the studio works in.")] = Path("workspace"),
        with_sample: Annotated[
            bool, typer.Option("--sample", help="Lay out the sample of `meta-infer sample` first, if it is not there.")
        ] = False,
        window: Annotated[
            bool, typer.Option("--window", help="Show it in a window of its own; closing that ends the studio.")
        ] = False,
        demo: Annotated[
            bool,
            typer.Option(
                "--demo",
                help="For a first look: sign with keys of the studio's own. It is marked, and counts nowhere else.",
            ),
        ] = False,
    ) -> None:
        """Start the studio in the browser."""
        if not APP.is_file():
            raise InputError(
                f"{APP}: the studio's start file is not there.", fix="Run it from a checkout: make studio."
            )
        program = browser() if window else ""
        _require_free(port)
        choose_workspace(workspace)
        set_demo_mode(demo)
        if demo:
            refuse_demo(read_trust(trust_path(workspace)), str(trust_path(workspace)))
        if with_sample:
            lay_out_sample(workspace)
        for warning in warnings(announce(port), os.environ):
            sys.stderr.write(f"Warning: {warning}\n")
        os.environ.pop(WORKERS, None)
        sys.stderr.write(f"The studio is at http://127.0.0.1:{port} (Ctrl-C stops it)\n")
        sys.stderr.flush()
        options = {
            "server.address": "127.0.0.1",
            "server.port": port,
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
            "client.toolbarMode": "minimal",
            "client.showErrorDetails": "none",
            "client.showErrorLinks": "false",
            "server.maxUploadSize": UPLOAD_LIMIT_MEGABYTES,
            "runner.magicEnabled": "false",  # a text in the code of a page is no text for people
            "runner.postScriptGC": "false",  # all windows wait while a large model's objects are looked at
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        server = [sys.executable, "-m", "streamlit", "run", str(SERVER), *flags]
        if program:
            show(program, server, APP.parent, os.environ, f"http://127.0.0.1:{port}")
            return
        os.chdir(APP.parent)
        os.execv(sys.executable, server)


def lay_out_sample(workspace: Path) -> tuple[Path, ...]:
    """Writes the sample's files that the workspace does not have yet; the paths of those written."""
    missing = [(workspace / name, data) for name, data in sample_files().items() if not (workspace / name).exists()]
    for path, data in missing:
        write_bytes(path, data, "sample file")
    return tuple(path for path, _ in missing)


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"Port {port} cannot be used.", f"{error.strerror}.", "Choose another one with --port."
            ) from error
