"""Which compute unit of a spec this machine is: what is measured here must not go into the spec of another chip."""

from __future__ import annotations

import re

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.host import host_spec
from metainfer_core.spec.hardware_spec import HardwareSpec


def unit_of_this_machine(spec: HardwareSpec, named: str | None, host: HardwareSpec | None = None) -> tuple[str, str]:
    """Name of the compute unit that this machine is, and what the machine calls its processor.

    Args:
        spec: The spec that is to be measured.
        named: The unit that the user says it is.
        host: What this machine is; None: looked up.

    Raises:
        InputError: The spec has no such unit, several could be meant, or it describes another processor.
    """
    found = host or host_spec()
    here = {unit.core_type or unit.isa or "unknown" for unit in found.compute_units.values()}
    processors = {name: unit for name, unit in spec.compute_units.items() if unit.kind == "cpu"}
    if named is not None and named not in processors:
        raise InputError(
            f"{spec.name} has no CPU {named!r}.",
            f"It has: {', '.join(processors) or 'none'}. Only CPUs are measured from this side.",
            "Give one of these.",
        )
    same = [name for name, unit in processors.items() if unit.core_type and _same(unit.core_type, here)]
    if named is not None:
        same = [named] if named in same or processors[named].core_type is None else []
    if len(same) == 1:
        return same[0], ", ".join(sorted(here))
    if same:
        raise InputError(
            f"{spec.name} has several units that this machine could be: {', '.join(same)}.",
            fix="Say which one with --unit NAME, and run on it alone (taskset).",
        )
    described = ", ".join(sorted({unit.core_type or f"{name}: unknown" for name, unit in processors.items()})) or "none"
    raise InputError(
        f"{spec.name} does not describe this machine.",
        f"Its processors are {described}; this machine has {', '.join(sorted(here))}.",
        "Run on the board itself, or draft the spec of this machine with `meta-infer spec host`.",
    )


def _same(core_type: str, here: set[str]) -> bool:
    return any(_plain(core_type) in _plain(each) or _plain(each) in _plain(core_type) for each in here if _plain(each))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
