"""Cycles of a unit for one transfer and for one computing step, by the spec's figures; a missing figure is named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from metainfer_core.npu.device import Device
from metainfer_core.npu.tiles import family_of
from metainfer_core.numerics.program import Step, Tensor, multiplied
from metainfer_core.spec.hardware_spec import HardwareSpec, Quantity
from metainfer_core.spec.rates import bytes_per_second
from metainfer_core.values import Value


class Cycles(Value):
    """Cycles of a unit's clock: at best, typically, at worst, as the spec's ranges have it."""

    low: float = 0.0
    typical: float = 0.0
    high: float = 0.0

    def plus(self, other: Cycles) -> Cycles:
        """Both, one after the other."""
        return Cycles(low=self.low + other.low, typical=self.typical + other.typical, high=self.high + other.high)

    def times(self, count: int) -> Cycles:
        """The same, `count` times."""
        return Cycles(low=self.low * count, typical=self.typical * count, high=self.high * count)


@dataclass(frozen=True)
class Counted:
    """What a step takes; None where the spec lacks what it takes to know. Also the fields that are missing."""

    cycles: Cycles | None
    unknown: tuple[str, ...] = ()
    """`... (not counted)` where the cycles do without."""


def moved_bytes(device: Device, step: Step) -> int:
    """Bytes that cross the bus for a transfer step: whole granules."""
    granule = device.dma.granule_bytes
    return int(step.params["rows"]) * -(-int(step.params["row_bytes"]) // granule) * granule


def transfer_cycles(spec: HardwareSpec, device: Device, step: Step, memories: tuple[str, str]) -> Counted:
    """One transfer step: the set-up of each descriptor, then bytes at the pace of the slowest of bus and memories.

    Args:
        spec: The hardware.
        device: The unit whose memory is filled or emptied.
        step: The transfer.
        memories: Where it begins and where it ends.
    """
    clock = spec.compute_units[device.unit].clock_hz
    if clock is None or clock.low <= 0:
        return Counted(None, (f"compute_units.{device.unit}.clock_hz",))
    paces, unknown = [], []
    if spec.dma is not None and spec.dma.data_width_bits:
        paces.append(Cycles(**dict.fromkeys(("low", "typical", "high"), 8 / spec.dma.data_width_bits)))
    for memory in memories:
        rate = bytes_per_second(spec, memory)
        if isinstance(rate, str):
            unknown.append(f"{rate} (not counted)")
        else:
            paces.append(_over(1, rate, clock))
    setup = spec.dma.setup_cycles if spec.dma is not None else None
    if setup is None:
        unknown.append("dma.setup_cycles (not counted)")
    if not paces:
        return Counted(None, tuple(unknown))
    count = moved_bytes(device, step)
    bus = Cycles(
        low=count * max(pace.low for pace in paces),
        typical=count * max(pace.typical for pace in paces),
        high=count * max(pace.high for pace in paces),
    )
    start = Cycles(low=setup.low, typical=setup.nominal, high=setup.high) if setup is not None else Cycles()
    return Counted(bus.plus(start.times(int(step.params["rows"]))), tuple(unknown))


def compute_cycles(spec: HardwareSpec, unit: str, step: Step, tensors: Mapping[str, Tensor]) -> Counted:
    """One computing step: the multiply-accumulate array for matrix products, the vector unit for the rest.

    Where the spec gives the array's rows and columns, output channels go over its rows and products of one output over
    its columns, and what is left over idles; else its rate counts.
    """
    described = spec.compute_units[unit]
    shape = products(step)
    if shape is not None:
        outputs, depth, positions = shape
        if len(described.mac_array) == 2:
            rows, columns = described.mac_array
            cycles = math.ceil(outputs / rows) * math.ceil(depth / columns) * positions / (described.cores or 1)
            return Counted(Cycles(low=cycles, typical=cycles, high=cycles))
        rate = _mac_rate(spec, unit, step, tensors)
        if isinstance(rate, str):
            return Counted(None, (rate,))
        macs = outputs * depth * positions
        return Counted(Cycles(low=macs / rate.high, typical=macs / rate.nominal, high=macs / rate.low))
    if described.vector_width_bits is None:
        return Counted(Cycles(), (f"compute_units.{unit}.vector_width_bits (vector steps not counted)",))
    touched = max(tensors[name].size_bytes for name in (*step.inputs, *step.outputs) if name)
    cycles = math.ceil(8 * touched / described.vector_width_bits / (described.cores or 1))
    return Counted(Cycles(low=cycles, typical=cycles, high=cycles))


def products(step: Step) -> tuple[int, int, int] | None:
    """Output channels, products of one output, and positions of a matrix step; None for other steps."""
    p, family = step.params, family_of(step.kernel)
    if family.removesuffix("_blocked") in ("conv2d", "conv2d_rows", "depthwise_conv2d"):
        depth = p["channels"] * p["kernel_height"] * p["kernel_width"]
        return p["filters"], depth, p["batch"] * p["groups"] * p["out_height"] * p["out_width"]
    if family == "gemm":
        return p["columns"], p["depth"], p["rows"]
    if family == "matmul":
        return p["columns"], p["depth"], p["batch"] * p["rows"]
    return None


def _mac_rate(spec: HardwareSpec, unit: str, step: Step, tensors: Mapping[str, Tensor]) -> Quantity | str:
    """Multiply-accumulates a cycle of all cores, for the type of the step's first input."""
    described = spec.compute_units[unit]
    element = tensors[step.inputs[0]].element_type
    names: tuple[str, ...] = (element, "float16", "bfloat16")
    if element in ("int4", "int6", "int8", "uint8"):
        names = tuple(dict.fromkeys((multiplied(step, tensors), "int8", "uint8")))
    stated = next((described.macs_per_cycle[name] for name in names if name in described.macs_per_cycle), None)
    cores = described.cores or 1
    if stated is not None and stated.low > 0:
        return Quantity(min=stated.low * cores, typ=stated.nominal * cores, max=stated.high * cores)
    peak, clock = described.peak_macs_per_second(element), described.clock_hz
    if peak is not None and clock is not None and clock.low > 0 and peak.low > 0:
        return Quantity(min=peak.low / clock.nominal, typ=peak.nominal / clock.nominal, max=peak.high / clock.nominal)
    return f"compute_units.{unit}.macs_per_cycle.{names[0]}"


def _over(amount: int, rate: Quantity, clock: Quantity) -> Cycles:
    """Cycles for an amount at a rate a second."""
    return Cycles(
        low=amount * clock.low / rate.high,
        typical=amount * clock.nominal / rate.nominal,
        high=amount * clock.high / rate.low,
    )
