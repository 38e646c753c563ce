"""A hardware backend: the folder of templates, run-time headers and flags that turn a plan into one target's program.

The C++ templates that all targets share stand in `templates/` and `runtime/`; a backend's own folder adds what differs,
and may replace a template by one of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Variant:
    """One instruction set that the steps are compiled for; the program takes the first one that its processor has."""

    name: str
    """A C identifier; `runtime/target.hpp` of the backend tells whether the processor has it."""
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Backend:
    """How programs for one target are written, built and run."""

    name: str
    """What `--target` names."""
    summary: str
    folder: Path
    """Holds codegen/ (templates), runtime/ (headers) and validation/ (microbenchmarks)."""
    compiler_prefix: str
    """What stands before `gcc`, such as `aarch64-linux-gnu-`."""
    compiler_package: str
    """The Debian package that holds the compiler."""
    variants: tuple[Variant, ...]
    """Best first."""
    runner: Callable[[], tuple[str, ...]]
    """The command that this machine starts the target's binaries with; UnsupportedError where it has none."""
    link_flags: tuple[str, ...] = ()
    feeds_units: bool = False
    """Units that have a local memory work in it alone, fed by DMA; else only the steps that an action asks about."""
