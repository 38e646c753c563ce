"""A hardware backend: the folder of templates, run-time headers and flags that turn a plan into one target's program.

The C++ templates that all targets share stand in `templates/` and `runtime/`; a backend's own folder adds what differs,
and may replace a template by one of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.codegen.simulated import Simulated
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.unit_figures import UnitFigures


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
    simulate: Callable[[CompilePlan, bytes, Mapping[str, np.ndarray]], Simulated] | None = None
    """Runs a plan with its weights on given inputs, held against the laws of the hardware; None: there is no such."""
    figures: Callable[[CompilePlan, HardwareSpec], tuple[UnitFigures, ...]] | None = None
    """What each unit does in one inference, by the spec's figures."""
