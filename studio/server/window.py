"""The studio in a window of its own: a Chromium without tabs and address bar, for as long as the window stays open."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from metainfer_core.errors import InputError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
)
"""Programs that know `--app`, looked for in this order."""
QUIET = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""The browser has nothing to ask and sends nothing anywhere on its own."""
_START_SECONDS = 300.0
_LOOK_SECONDS = 0.1


def browser() -> str:
    """The program that shows the window; raises InputError where this machine has none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise InputError(
            "No browser is found that can show a window of its own.",
            "It takes Chromium, Chrome, Edge or Brave on the PATH.",
            "Install one (such as: apt install chromium), or leave --window out and open the address in any browser.",
        )
    return found


def show(program: str, server: Sequence[str], folder: Path, environment: Mapping[str, str], address: str) -> None:
    """Starts the server, shows it in a window, and ends it when the window is closed. Jobs go on.

    Raises:
        InputError: The server did not start, or the browser ended with an error.
    """
    profile = tempfile.mkdtemp(prefix="meta-infer-window-")
    process = subprocess.Popen(server, cwd=folder, env=dict(environment), stdout=subprocess.DEVNULL)
    try:
        _wait(process, address)
        words = [program, f"--app={address}", f"--user-data-dir={profile}", *QUIET]
        ended = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode:
            last = [line for line in ended.stderr.splitlines() if line.strip()][-1:]
            raise InputError(
                f"{program} cannot show the window.",
                "".join(last)[:300] or f"It ended with status {ended.returncode}.",
                "Mend that, or leave --window out and open the address in any browser.",
            )
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    end = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(_LOOK_SECONDS)
    raise InputError("The studio's server did not start.", fix="Start it without --window to see what it says.")
