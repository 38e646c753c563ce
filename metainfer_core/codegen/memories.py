"""What the spec says about what lies in memories: how it is aligned, and where the weights are stored."""

from __future__ import annotations

from collections.abc import Iterator

from metainfer_core.errors import InputError
from metainfer_core.spec.default_memory import capacity_bytes
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec

VECTOR_BYTES = 16
"""The least alignment of any tensor: the narrowest vector register that the backends have."""


def weights_memory(spec: HardwareSpec, size_bytes: int, default: str) -> str:
    """Where the read-only weights are stored: the largest flash or ROM that holds them, else the default memory."""
    stores = [name for name, memory in spec.memories.items() if memory.kind in ("flash", "rom")]
    holding = [name for name in stores if (capacity_bytes(spec, name) or 0) >= size_bytes]
    if not holding:
        return default
    return min(holding, key=lambda name: (-(capacity_bytes(spec, name) or 0), name))


def alignment_bytes(spec: HardwareSpec, name: str) -> int:
    """What every tensor in that memory is aligned to: the memory's own granule, the DMA's, a cache line, a vector.

    Raises:
        InputError: an alignment of the spec is not a power of two.
    """
    widest = VECTOR_BYTES
    for path, value in _alignments(spec, name):
        if value < 1 or value & (value - 1):
            raise InputError(
                f"{path} is {value}.", "Addresses are aligned to powers of two.", "Correct the value in the spec."
            )
        widest = max(widest, value)
    return widest


def _alignments(spec: HardwareSpec, name: str) -> Iterator[tuple[str, int]]:
    memory = spec.memories.get(name)
    if memory is not None and memory.alignment_bytes is not None:
        yield f"memories.{name}.alignment_bytes", memory.alignment_bytes
    if spec.dma is not None and spec.dma.alignment_bytes is not None:
        yield "dma.alignment_bytes", spec.dma.alignment_bytes
    yield from _lines("", {"l1_cache": spec.l1_cache, "l2_cache": spec.l2_cache, "l3_cache": spec.l3_cache})
    for unit_name, unit in sorted(spec.compute_units.items()):
        caches = {"l1d_cache": unit.l1d_cache, "l2_cache": unit.l2_cache, "l3_cache": unit.l3_cache}
        yield from _lines(f"compute_units.{unit_name}.", caches)


def _lines(prefix: str, caches: dict[str, Cache | None]) -> Iterator[tuple[str, int]]:
    for name, cache in caches.items():
        if cache is not None and cache.line_bytes is not None:
            yield f"{prefix}{name}.line_bytes", cache.line_bytes
