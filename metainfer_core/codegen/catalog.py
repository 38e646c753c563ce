"""All backends. One line adds one of ours; other packages add theirs by the entry-point group `metainfer.backends`."""

from __future__ import annotations

from importlib.metadata import entry_points

from metainfer_core.codegen.backend import Backend
from metainfer_core.codegen.backends.aarch64_linux.backend import AARCH64_LINUX
from metainfer_core.codegen.backends.native_cpu.backend import NATIVE_CPU
from metainfer_core.codegen.backends.sim_npu.backend import SIM_NPU
from metainfer_core.errors import InputError

BACKENDS: tuple[Backend, ...] = (
    NATIVE_CPU,
    AARCH64_LINUX,
    SIM_NPU,
)

ENTRY_POINTS = "metainfer.backends"


def backends() -> tuple[Backend, ...]:
    """Ours, then those of other packages, by name."""
    theirs = [entry.load() for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)]
    return (*BACKENDS, *theirs)


def backend(name: str) -> Backend:
    """The backend of that name (`native-cpu` or `native_cpu`); raises InputError listing those that there are."""
    wanted = name.replace("_", "-")
    for found in backends():
        if found.name.replace("_", "-") == wanted:
            return found
    known = ", ".join(found.name for found in backends())
    raise InputError(f"There is no target {name!r}.", f"Known targets: {known}.", "Correct --target.")
