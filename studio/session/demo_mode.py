"""Whether this server signs for whoever sits there: switched on by `meta-infer studio --demo` alone."""

from __future__ import annotations

import os

VARIABLE = "METAINFER_DEMO"


def set_demo_mode(is_on: bool) -> None:
    """Switches the demo mode of the server that is about to start on, or off whatever it inherits."""
    os.environ[VARIABLE] = "on" if is_on else ""


def demo_mode() -> bool:
    """Whether this server was started with `--demo`."""
    return bool(os.environ.get(VARIABLE))
