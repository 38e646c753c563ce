"""Where tensors lie that no action placed, and how many bytes of a memory are for tensors."""

from __future__ import annotations

from metainfer_core.spec.hardware_spec import HardwareSpec

UNNAMED = "memory"
"""Name of the one arena where the spec lists no memory."""

DATA_KINDS = ("dram", "psram", "sram", "tcm")
"""Kinds of memory that tensors may lie in, in the order in which a default is looked for."""


OUTSIDE = ("dram", "psram")
"""Kinds of main memory, outside of the chip."""


def default_memory(spec: HardwareSpec, units: frozenset[str] = frozenset()) -> str:
    """Where tensors lie that no action placed: the largest main memory that all `units` reach, else on-chip memory.

    `UNNAMED` where the spec has no memory for them.
    """
    of_data = {name: memory for name, memory in spec.memories.items() if memory.holds != "instructions"}
    fitting = [name for name, memory in of_data.items() if memory.kind in DATA_KINDS]
    if not fitting:
        return UNNAMED

    def rank(name: str) -> tuple[bool, bool, int, str]:
        memory = spec.memories[name]
        is_reached = not memory.accessible_by or units <= set(memory.accessible_by)
        return not is_reached, memory.kind not in OUTSIDE, -(capacity_bytes(spec, name) or 0), name

    return min(fitting, key=rank)


def main_memory(spec: HardwareSpec) -> str | None:
    """The default memory where it lies outside of the chip, so that what a unit works on has to be brought in."""
    name = default_memory(spec)
    return name if name in spec.memories and spec.memories[name].kind in OUTSIDE else None


def capacity_bytes(spec: HardwareSpec, name: str) -> int | None:
    """Bytes for tensors: the least size that the spec allows for, less what is reserved. None: it does not tell."""
    memory = spec.memories.get(name)
    if memory is None or memory.size_bytes is None:
        return None
    return max(0, int(memory.size_bytes.low) - memory.reserved_bytes)
