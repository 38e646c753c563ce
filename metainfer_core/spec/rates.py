"""How many bytes a second a memory of a spec delivers."""

from __future__ import annotations

from metainfer_core.spec.hardware_spec import HardwareSpec, Quantity


def bytes_per_second(spec: HardwareSpec, name: str) -> Quantity | str:
    """As the spec states it, else the memory's width times its rate; the field that is missing where it has neither."""
    memory = spec.memories.get(name)
    stated = memory.bandwidth_gbps if memory is not None else None
    if stated is None and memory is not None and memory.kind == "dram":
        stated = spec.bandwidth_gbps
    if stated is not None and stated.low > 0:
        return Quantity(min=stated.low * 1e9, typ=stated.nominal * 1e9, max=stated.high * 1e9)
    if memory is not None and memory.width_bits is not None:
        rate = memory.data_rate_mtps or memory.clock_hz
        unit = 1e6 if memory.data_rate_mtps else 1.0
        if rate is not None and rate.low > 0:
            lane = memory.width_bits / 8 * unit
            return Quantity(min=rate.low * lane, typ=rate.nominal * lane, max=rate.high * lane)
    return f"memories.{name}.bandwidth_gbps" if memory is not None else "memories"
