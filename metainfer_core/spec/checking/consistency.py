"""Checks between values (HW012): what follows from one field must agree with another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from metainfer_core.spec.checking.plausibility import caches
from metainfer_core.spec.files.report import Report
from metainfer_core.spec.hardware_spec import Cache, ComputeUnit, HardwareSpec, Memory, Quantity

_SLACK = 0.05
"""Documents round: "6 TOPS" may be 6.14."""
Check = Callable[[HardwareSpec, Report], None]


def bandwidth(spec: HardwareSpec, report: Report) -> None:
    """Bandwidth is width times rate; a total width is channels times their width."""
    for name, memory in spec.memories.items():
        path = f"memories.{name}"
        if memory.channels and memory.channel_width_bits and memory.width_bits:
            total = memory.channels * memory.channel_width_bits
            if total != memory.width_bits:
                _contradiction(
                    report,
                    f"{path}.width_bits",
                    f"{path}.width_bits is {memory.width_bits}, but {memory.channels} channels of "
                    f"{memory.channel_width_bits} bits make {total}.",
                )
        expected = _expected_bandwidth(memory)
        if expected and memory.bandwidth_gbps and not _meet(memory.bandwidth_gbps, expected):
            _contradiction(
                report,
                f"{path}.bandwidth_gbps",
                f"{path}.bandwidth_gbps is {_range(memory.bandwidth_gbps)} GB/s, but width times rate gives "
                f"{_range(expected)} GB/s.",
            )
    main = [memory for memory in spec.memories.values() if memory.kind in ("dram", "psram")]
    of_main = main[0].bandwidth_gbps if len(main) == 1 else None
    if spec.bandwidth_gbps and of_main and not _meet(spec.bandwidth_gbps, of_main):
        _contradiction(
            report,
            "bandwidth_gbps",
            f"bandwidth_gbps is {_range(spec.bandwidth_gbps)} GB/s, but that of main memory is {_range(of_main)} GB/s.",
        )


def _expected_bandwidth(memory: Memory) -> Quantity | None:
    if memory.width_bits is None or memory.data_rate_mtps is None:
        return None
    bytes_each = memory.width_bits / 8 / 1000
    rate = memory.data_rate_mtps
    return Quantity(min=rate.low * bytes_each, typ=rate.nominal * bytes_each, max=rate.high * bytes_each)


def operations(spec: HardwareSpec, report: Report) -> None:
    """TOPS are two operations for each multiply-accumulate, of all cores, at the highest clock."""
    for name, unit in spec.compute_units.items():
        if unit.tops is None or unit.clock_hz is None or not unit.macs_per_cycle:
            continue
        best = max(unit.macs_per_cycle.items(), key=lambda item: item[1].high)
        factor = 2 * (unit.cores or 1) * unit.clock_hz.high / 1e12
        expected = Quantity(min=best[1].low * factor, max=best[1].high * factor)
        if not _meet(unit.tops, expected):
            _contradiction(
                report,
                f"compute_units.{name}.tops",
                f"compute_units.{name}.tops is {_range(unit.tops)}, but {best[0]} MACs x clock x 2 x "
                f"{unit.cores or 1} cores gives {_range(expected)}.",
            )


def cache_geometry(spec: HardwareSpec, report: Report) -> None:
    """Size is sets times ways times line; a cache holds no more than the next one; at most all cores share it."""
    for path, cache in caches(spec):
        if cache.size_bytes and cache.sets and cache.ways and cache.line_bytes:
            size = cache.sets * cache.ways * cache.line_bytes
            if not cache.size_bytes.low <= size <= cache.size_bytes.high:
                _contradiction(
                    report,
                    f"{path}.size_bytes",
                    f"{path}.size_bytes is {_range(cache.size_bytes)}, but {cache.sets} sets x {cache.ways} ways x "
                    f"{cache.line_bytes} bytes make {size:,}.",
                )
        elif cache.size_bytes and cache.sets and cache.line_bytes:
            way = cache.sets * cache.line_bytes
            if cache.size_bytes.nominal % way and cache.size_bytes.low == cache.size_bytes.high:
                message = f"{path}.size_bytes is no multiple of {cache.sets} sets x {cache.line_bytes} bytes."
                _contradiction(report, f"{path}.sets", message)
    for name, unit in spec.compute_units.items():
        levels = _levels(spec, unit)
        for (inner, small), (outer, large) in pairwise(levels):
            if small.low > large.high:
                _contradiction(
                    report,
                    f"compute_units.{name}",
                    f"compute_units.{name}: {inner} ({_range(small)} bytes) is larger than {outer} "
                    f"({_range(large)} bytes).",
                )
        for level in ("l1_cache", "l1i_cache", "l1d_cache", "l2_cache", "l3_cache"):
            cache_of_unit: Cache | None = getattr(unit, level)
            cores = sum(other.cores or 0 for other in spec.compute_units.values())
            if cache_of_unit and cache_of_unit.shared_by and unit.cores and cache_of_unit.shared_by > cores:
                _contradiction(
                    report,
                    f"compute_units.{name}.{level}.shared_by",
                    f"compute_units.{name}.{level} is shared by {cache_of_unit.shared_by} cores; there are {cores}.",
                )
    top = [(level, getattr(spec, level)) for level in ("l1_cache", "l2_cache", "l3_cache")]
    sized = [(level, cache.size_bytes) for level, cache in top if cache and cache.size_bytes]
    for (inner, small), (outer, large) in pairwise(sized):
        if small.low > large.high:
            _contradiction(report, inner, f"{inner} ({_range(small)} bytes) is larger than {outer}.")


def _levels(spec: HardwareSpec, unit: ComputeUnit) -> list[tuple[str, Quantity]]:
    first = unit.l1d_cache or unit.l1_cache
    second, third = unit.l2_cache, unit.l3_cache or (spec.l3_cache if unit.kind == "cpu" else None)
    named = (("L1", first), ("L2", second), ("L3", third))
    return [(name, cache.size_bytes) for name, cache in named if cache and cache.size_bytes]


def burst(spec: HardwareSpec, report: Report) -> None:
    """The optimal burst lies within the possible ones, and says what it counts."""
    dma = spec.dma
    if dma is None:
        return
    low, optimal, high = dma.burst_length_min, dma.burst_length_optimal, dma.burst_length_max
    lengths = [("burst_length_min", low), ("burst_length_optimal", optimal), ("burst_length_max", high)]
    given = [(name, length) for name, length in lengths if length is not None]
    for (name, length), (following, larger) in pairwise(given):
        if length > larger:
            _contradiction(report, f"dma.{name}", f"dma.{name} is {length}, more than {following}, which is {larger}.")
    if given and dma.burst_unit is None:
        report.add(
            "HW004",
            f"dma.{given[0][0]}",
            "Burst lengths are given, but not whether they count beats or bytes.",
            "Add burst_unit: beats or bytes.",
        )


def names(spec: HardwareSpec, report: Report) -> None:
    """Names point at compute units and memories that exist; paths at values that exist."""
    units, memories = tuple(spec.compute_units), tuple(spec.memories)
    for name, unit in spec.compute_units.items():
        path = f"compute_units.{name}"
        if unit.local_memory and unit.local_memory not in memories:
            _unknown_name(report, f"{path}.local_memory", unit.local_memory, "memory", memories)
        fallback = unit.operators.fallback
        if fallback and fallback not in units:
            _unknown_name(report, f"{path}.operators.fallback", fallback, "compute unit", units)
        both = sorted(set(unit.operators.supported or ()) & set(unit.operators.unavailable))
        if both:
            message = f"{path}: {', '.join(both)} is both supported and unavailable."
            _contradiction(report, f"{path}.operators", message)
    for name, memory in spec.memories.items():
        for unit_name in memory.accessible_by:
            if unit_name not in units:
                _unknown_name(report, f"memories.{name}.accessible_by", unit_name, "compute unit", units)
        if memory.size_bytes and memory.reserved_bytes > memory.size_bytes.high:
            message = f"memories.{name}.reserved_bytes is more than its size."
            _contradiction(report, f"memories.{name}.reserved_bytes", message)
        elif memory.size_bytes and memory.reserved_bytes > memory.size_bytes.low:
            report.add(
                "HW012",
                f"memories.{name}.reserved_bytes",
                f"memories.{name}.reserved_bytes is {memory.reserved_bytes:,}, more than the least size, "
                f"{int(memory.size_bytes.low):,} bytes: the smallest build has no room for tensors.",
                "Reserve less than the least size, or write the size that is built in.",
                "warning",
            )
    for name, issue in (spec.known_issues or {}).items():
        if issue.unit and issue.unit not in units:
            _unknown_name(report, f"known_issues.{name}.unit", issue.unit, "compute unit", units)


def _unknown_name(report: Report, path: str, name: str, what: str, known: tuple[str, ...]) -> None:
    report.add("HW012", path, f"{path} names the {what} {name!r}, which the spec does not have.", _one_of(known))


def _one_of(known: tuple[str, ...]) -> str:
    return f"Write one of: {', '.join(known)}." if known else "Add it, or remove the name."


def int_support(spec: HardwareSpec, report: Report) -> None:
    """The widths of `npu_int_support` are those of the NPU's data types."""
    npus = [unit for unit in spec.compute_units.values() if unit.kind == "npu" and unit.data_types]
    if spec.npu_int_support is None or not npus:
        return
    known = {kind for unit in npus for kind in unit.data_types}
    for width in spec.npu_int_support.bit_widths:
        if f"int{width}" not in known and f"uint{width}" not in known:
            _contradiction(
                report,
                "npu_int_support.bit_widths",
                f"npu_int_support has {width} bits, but no NPU has int{width} among its data types.",
            )


def overlap(spec: HardwareSpec, report: Report) -> None:
    """Two memories do not lie at the same addresses."""
    ranges = [
        (int(memory.base_address, 16), int(memory.base_address, 16) + int(memory.size_bytes.high), name)
        for name, memory in spec.memories.items()
        if memory.base_address and memory.size_bytes
    ]
    ranges.sort()
    for (_, end, first), (start, _, second) in pairwise(ranges):
        if start < end:
            message = f"memories.{first} and memories.{second} overlap: one ends at {end:#x}, the other starts before."
            _contradiction(report, f"memories.{second}.base_address", message)


def _contradiction(report: Report, path: str, message: str) -> None:
    report.add("HW012", path, message, "Look both up in the document, and mend the wrong one.")


def _meet(one: Quantity, other: Quantity) -> bool:
    """Whether two ranges overlap, give or take what documents round."""
    return one.low <= other.high * (1 + _SLACK) and other.low * (1 - _SLACK) <= one.high


def _range(quantity: Quantity) -> str:
    if quantity.low == quantity.high:
        return f"{quantity.nominal:,g}" if quantity.nominal < 1e5 else f"{quantity.nominal:,.0f}"
    return f"{quantity.low:,g} to {quantity.high:,g}"


CHECKS: tuple[Check, ...] = (bandwidth, operations, cache_geometry, burst, names, int_support, overlap)
