"""A unit with a memory of its own, and the laws of the DMA engine that fills it, as the spec gives them."""

from __future__ import annotations

from collections.abc import Mapping

from metainfer_core.errors import InputError
from metainfer_core.spec.hardware_spec import Dma, HardwareSpec
from metainfer_core.values import Value


class DmaLimits(Value):
    """What one descriptor may move. A law that the spec does not state does not bind."""

    alignment_bytes: int = 1
    """Each run begins at a multiple of this, in both memories."""
    granule_bytes: int = 1
    """The engine moves multiples of this: a beat, or the shortest burst."""
    max_transfer_bytes: int | None = None
    """Most that one descriptor moves."""

    @property
    def unit_bytes(self) -> int:
        """What the edges of a block must be multiples of, so that no run begins or ends inside a granule."""
        return max(self.alignment_bytes, self.granule_bytes)

    @property
    def longest_bytes(self) -> int | None:
        """The longest run whose successor begins where one may begin; None: no limit."""
        if self.max_transfer_bytes is None:
            return None
        return self.max_transfer_bytes - self.max_transfer_bytes % self.unit_bytes


class Device(Value):
    """One compute unit that works in its local memory."""

    unit: str
    memory: str
    """Name of its local memory."""
    capacity_bytes: int | None
    """Bytes for tensors there: the least size, less what is reserved. None: the spec does not tell."""
    alignment_bytes: int = 1
    """Of what lies there."""
    dma: DmaLimits = DmaLimits()

    def occupied_bytes(self, size: int) -> int:
        """What an array of `size` bytes takes there."""
        step = max(self.alignment_bytes, self.dma.unit_bytes)
        return -(-size // step) * step


def dma_limits(spec: HardwareSpec) -> DmaLimits:
    """The laws of the spec's DMA engine.

    Raises:
        InputError: an alignment or a shortest burst is no power of two, or a descriptor cannot hold one burst.
    """
    dma = spec.dma
    if dma is None:
        return DmaLimits()
    granule, field = _granule(dma)
    for path, value in (("dma.alignment_bytes", dma.alignment_bytes or 1), (field, granule)):
        if value < 1 or value & (value - 1):
            raise InputError(
                f"{path} comes to {value} bytes.", "Transfers begin at powers of two.", "Correct the value in the spec."
            )
    limits = DmaLimits(
        alignment_bytes=dma.alignment_bytes or 1, granule_bytes=granule, max_transfer_bytes=dma.max_transfer_bytes
    )
    if limits.longest_bytes is not None and limits.longest_bytes < 1:
        raise InputError(
            f"dma.max_transfer_bytes is {dma.max_transfer_bytes}.",
            f"A transfer moves at least {limits.unit_bytes} bytes ({field}, dma.alignment_bytes).",
            "Correct the values in the spec.",
        )
    return limits


def devices(spec: HardwareSpec) -> Mapping[str, Device]:
    """The units of the spec that have a local memory, by name.

    Raises:
        InputError: a local memory is not among the spec's memories, or the DMA's values contradict one another.
    """
    found = {}
    for name, unit in sorted(spec.compute_units.items()):
        if unit.local_memory is None:
            continue
        memory = spec.memories.get(unit.local_memory)
        if memory is None:
            raise InputError(
                f"compute_units.{name}.local_memory is {unit.local_memory}.",
                f"The spec has no such memory; it has {', '.join(sorted(spec.memories)) or 'none'}.",
                "Correct the name in the spec.",
            )
        size = memory.size_bytes
        found[name] = Device(
            unit=name,
            memory=unit.local_memory,
            capacity_bytes=None if size is None else max(0, int(size.low) - memory.reserved_bytes),
            alignment_bytes=memory.alignment_bytes or 1,
            dma=dma_limits(spec),
        )
    return found


def _granule(dma: Dma) -> tuple[int, str]:
    """Bytes of the shortest burst (else of a beat), and the field that says so."""
    beat = max(1, (dma.data_width_bits or 8) // 8)
    shortest = dma.burst_length_min
    if shortest is None:
        return beat, "dma.data_width_bits"
    # where the spec does not say what a burst's length counts, the longer reading is the safe one
    return max(beat, shortest if dma.burst_unit == "bytes" else shortest * beat), "dma.burst_length_min"
