"""Predicted time of each kernel call on the spec: the three walls, which one binds, and what would move it.

A call takes as long as the slowest of: computing (operations over the unit's peak), bandwidth (bytes over what the
memory delivers) and memory latency (cache lines that miss, one after the other). This is the roofline (Williams et
al. 2009) with a latency roof, at both ends of each of the spec's ranges. What the spec does not give is named as
unknown, never assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from metainfer_core.cost.workload import Workload
from metainfer_core.spec.default_memory import default_memory
from metainfer_core.spec.hardware_spec import Cache, ComputeUnit, HardwareSpec, Quantity
from metainfer_core.spec.rates import bytes_per_second
from metainfer_core.values import FrozenMap, Value

Wall = Literal["compute", "bandwidth", "memory", "launch", "unknown"]
INTEGERS = ("int4", "int6", "int8", "uint8")


class Interval(Value):
    """Microseconds: at best, typically, at worst, as the spec's ranges have it."""

    low: float
    typical: float
    high: float

    def plus(self, other: Interval) -> Interval:
        """Both, one after the other."""
        return Interval(low=self.low + other.low, typical=self.typical + other.typical, high=self.high + other.high)

    def or_slower(self, other: Interval) -> Interval:
        """The slower one of two that overlap."""
        return Interval(
            low=max(self.low, other.low), typical=max(self.typical, other.typical), high=max(self.high, other.high)
        )


class CallCost(Value):
    """Predicted cost of one kernel call."""

    node_ids: tuple[str, ...]
    unit: str | None
    compute: Interval | None = None
    bandwidth: Interval | None = None
    memory: Interval | None = None
    """Latency of cache lines that miss. At best all of it is hidden by prefetching."""
    launch: Interval | None = None
    time: Interval | None = None
    """None where the compute or the bandwidth wall is unknown."""
    binds: Wall
    mend: str
    """What would move the wall that binds, in one sentence."""
    bytes_by_memory: FrozenMap[int]
    operations: int | None = None
    intensity: float | None = None
    """Operations for each byte moved."""


class Estimate(Value):
    """Predicted cost of a whole program on one spec."""

    label: Literal["predicted"] = "predicted"
    calls: tuple[CallCost, ...]
    total: Interval | None
    """None as long as one call's time is unknown."""
    bytes_by_memory: FrozenMap[int]
    unknown: tuple[str, ...]
    """Fields of the spec that are missing, sorted; `... not counted` where the total does without."""
    assumptions: tuple[str, ...] = ()


class Roofline(Value):
    """The two roofs of one unit and memory."""

    label: Literal["predicted"] = "predicted"
    unit: str
    memory: str
    data_type: str
    operations_per_second: float
    bytes_per_second: float

    @property
    def ridge(self) -> float:
        """Operations for each byte from which on computing binds, not bandwidth."""
        return self.operations_per_second / self.bytes_per_second


def estimate(workloads: Sequence[Workload], spec: HardwareSpec) -> Estimate:
    """Predicted time and bytes of kernel calls that run one after the other.

    Work is handed to an NPU, GPU or DSP as one list of commands for each run of calls that follow one another on it,
    so its launch overhead is paid by the first of them; a CPU pays for every call.
    """
    unknown: set[str] = set()
    place = default_memory(spec, frozenset(workload.unit for workload in workloads if workload.unit))
    before = (None, *(workload.unit for workload in workloads))
    calls = tuple(
        _call(workload, spec, place, unknown, follows=workload.unit == unit and not _is_cpu(spec, workload.unit or ""))
        for workload, unit in zip(workloads, before, strict=False)
    )
    total: Interval | None = Interval(low=0.0, typical=0.0, high=0.0)
    moved: dict[str, int] = {}
    for call in calls:
        total = total.plus(call.time) if total is not None and call.time is not None else None
        for memory, count in call.bytes_by_memory.items():
            moved[memory] = moved.get(memory, 0) + count
    single = sorted({unit for unit in (call.unit for call in calls) if unit and _is_cpu(spec, unit)})
    return Estimate(
        calls=calls,
        total=total,
        bytes_by_memory=dict(sorted(moved.items())),
        unknown=tuple(sorted(unknown)),
        assumptions=tuple(f"A program uses one core of {unit}." for unit in single),
    )


def roofline(spec: HardwareSpec, unit: str, data_type: str, memory: str | None = None) -> Roofline | None:
    """The roofs of a unit and a memory at their typical values; None where the spec does not give them."""
    place = memory or default_memory(spec)
    peak = _peak(spec, unit, data_type, set())
    delivered = _bandwidth(spec, place, set()) if place in spec.memories else None
    if peak is None or delivered is None:
        return None
    return Roofline(
        unit=unit,
        memory=place,
        data_type=data_type,
        operations_per_second=peak.nominal,
        bytes_per_second=delivered.nominal,
    )


def _call(workload: Workload, spec: HardwareSpec, default: str, unknown: set[str], follows: bool) -> CallCost:
    moved: dict[str, int] = {}
    for memory, count in workload.bytes_by_memory.items():
        name = memory or (default if default in spec.memories else "unknown")
        moved[name] = moved.get(name, 0) + count
    compute = _compute_wall(workload, spec, unknown)
    bandwidth = _bandwidth_wall(moved, spec, unknown)
    latency = _memory_wall(workload, moved, spec, unknown)
    launch = Interval(low=0.0, typical=0.0, high=0.0) if follows else _launch(workload, spec, unknown)
    time: Interval | None = None
    if compute is not None and bandwidth is not None:
        time = compute.or_slower(bandwidth)
        time = time.or_slower(latency) if latency is not None else time
        time = time.plus(launch) if launch is not None else time
    total_bytes = sum(moved.values())
    binds = _binding(compute, bandwidth, latency, launch)
    return CallCost(
        node_ids=workload.node_ids,
        unit=workload.unit,
        compute=compute,
        bandwidth=bandwidth,
        memory=latency,
        launch=launch,
        time=time,
        binds=binds,
        mend=_mend(binds, workload, moved, spec),
        bytes_by_memory=dict(sorted(moved.items())),
        operations=workload.operations,
        intensity=workload.operations / total_bytes if workload.operations is not None and total_bytes else None,
    )


def _binding(
    compute: Interval | None, bandwidth: Interval | None, latency: Interval | None, launch: Interval | None
) -> Wall:
    if compute is None or bandwidth is None:
        return "unknown"
    walls: list[tuple[Wall, Interval | None]] = [
        ("compute", compute), ("bandwidth", bandwidth), ("memory", latency), ("launch", launch)
    ]  # fmt: skip
    return max(walls, key=lambda wall: wall[1].typical if wall[1] is not None else -1.0)[0]


def _mend(binds: Wall, workload: Workload, moved: dict[str, int], spec: HardwareSpec) -> str:
    if binds == "compute":
        narrower = "fewer operations" if workload.data_type in INTEGERS else "INT8, or fewer operations"
        return f"{narrower[0].upper()}{narrower[1:]}, or a faster unit than {workload.unit}."
    if binds == "bandwidth":
        slowest = max(moved, key=lambda name: _typical_us(name, moved[name], spec), default="memory")
        return f"Fewer bytes through {slowest}: fuse with a neighbour, use narrower numbers, or place it closer."
    if binds == "memory":
        return "A tile that fits into the cache, or prefetching ahead of the reads."
    if binds == "launch":
        return "Fusing it with a neighbour: starting the call takes longer than the work."
    return "Values that the spec lacks; see what is unknown."


def _typical_us(memory: str, count: int, spec: HardwareSpec) -> float:
    delivered = _bandwidth(spec, memory, set())
    return _over(count, delivered).typical if delivered is not None else 0.0


def _compute_wall(workload: Workload, spec: HardwareSpec, unknown: set[str]) -> Interval | None:
    if workload.operations is None or workload.unit is None:
        unknown.add(f"the {'operations' if workload.operations is None else 'unit'} of {workload.node_ids[0]}")
        return None
    if workload.operations == 0:
        return Interval(low=0.0, typical=0.0, high=0.0)
    peak = _peak(spec, workload.unit, workload.data_type, unknown)
    width = spec.compute_units[workload.unit].vector_width_bits if workload.unit in spec.compute_units else None
    operations = round(workload.operations * workload.share_of_nchw.get(str(width), 1.0))
    return _over(operations, peak) if peak is not None else None


def _peak(spec: HardwareSpec, unit_name: str, data_type: str, unknown: set[str]) -> Quantity | None:
    """Operations a second: two for each multiply-accumulate."""
    unit = spec.compute_units.get(unit_name)
    if unit is None:
        unknown.add(f"compute_units.{unit_name}")
        return None
    key = data_type if data_type in (*INTEGERS, "int16", "float16", "bfloat16") else "float32"
    rate = unit.peak_macs_per_second(key, 1 if unit.kind == "cpu" else None)
    if rate is None and key in INTEGERS:  # few bits are multiplied as int8 where they have no pace of their own
        rate = unit.peak_macs_per_second("int8", 1 if unit.kind == "cpu" else None)
    if rate is None:
        unknown.add(f"compute_units.{unit_name}.macs_per_cycle.{key}" if unit.clock_hz else _clock(unit_name))
        return None
    if rate.low <= 0:
        unknown.add(f"compute_units.{unit_name}.macs_per_cycle.{key} (not above 0)")
        return None
    return Quantity(min=2 * rate.low, typ=2 * rate.nominal, max=2 * rate.high)


def _bandwidth_wall(moved: dict[str, int], spec: HardwareSpec, unknown: set[str]) -> Interval | None:
    total = Interval(low=0.0, typical=0.0, high=0.0)
    for name, count in moved.items():
        if count == 0:
            continue
        delivered = _bandwidth(spec, name, unknown)
        if delivered is None:
            return None
        total = total.plus(_over(count, delivered))
    return total


def _bandwidth(spec: HardwareSpec, name: str, unknown: set[str]) -> Quantity | None:
    found = bytes_per_second(spec, name)
    if isinstance(found, str):
        unknown.add(found)
        return None
    return found


def _memory_wall(workload: Workload, moved: dict[str, int], spec: HardwareSpec, unknown: set[str]) -> Interval | None:
    """Lines that the last cache cannot hold, each at the memory's full latency at worst and hidden at best."""
    unit = spec.compute_units.get(workload.unit or "")
    cache = last_cache(spec, unit) if unit is not None else None
    if unit is None or cache is None or cache.size_bytes is None or not cache.line_bytes:
        return None
    excess = workload.working_set_bytes - cache.size_bytes.nominal
    if excess <= 0:
        return Interval(low=0.0, typical=0.0, high=0.0)
    worst = 0.0
    for name, count in moved.items():
        memory = spec.memories.get(name)
        latency = memory.latency_cycles if memory is not None else None
        if latency is None or unit.clock_hz is None or unit.clock_hz.low <= 0:
            unknown.add(f"memories.{name}.latency_cycles (memory wall not counted)")
            return None
        share = count / max(sum(moved.values()), 1)
        worst += excess * share / cache.line_bytes * latency.high / unit.clock_hz.low * 1e6
    return Interval(low=0.0, typical=0.0, high=worst)


def last_cache(spec: HardwareSpec, unit: ComputeUnit) -> Cache | None:
    """The largest cache between a unit and memory."""
    near = (unit.l3_cache, unit.l2_cache, unit.l1d_cache)
    levels = (spec.l3_cache, spec.l2_cache, *near) if unit.kind == "cpu" else near
    return next((level for level in levels if level is not None and level.size_bytes is not None), None)


def _launch(workload: Workload, spec: HardwareSpec, unknown: set[str]) -> Interval | None:
    unit = spec.compute_units.get(workload.unit or "")
    overhead = unit.launch_overhead_us if unit is not None else None
    if overhead is None:
        if unit is not None:
            unknown.add(f"compute_units.{workload.unit}.launch_overhead_us (launches not counted)")
        return None
    return Interval(low=overhead.low, typical=overhead.nominal, high=overhead.high)


def _over(amount: int, rate: Quantity) -> Interval:
    """Microseconds for an amount at a rate a second; the best case has the highest rate."""
    return Interval(low=amount / rate.high * 1e6, typical=amount / rate.nominal * 1e6, high=amount / rate.low * 1e6)


def _clock(unit_name: str) -> str:
    return f"compute_units.{unit_name}.clock_hz"


def _is_cpu(spec: HardwareSpec, unit_name: str) -> bool:
    unit = spec.compute_units.get(unit_name)
    return unit is not None and unit.kind == "cpu"
