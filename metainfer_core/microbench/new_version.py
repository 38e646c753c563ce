"""A new version of a spec with what was measured: ranges instead of assumptions, traced to the record of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metainfer_core.microbench.findings import alignment, cache_steps, chase_points, sweep
from metainfer_core.microbench.measure import Sample
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec, Quantity
from metainfer_core.spec.revising.change_log import with_log_entry
from metainfer_core.values import Value

SOURCE = "microbenchmarks"
_LEVELS = (("l1d_cache", "l1_cache"), ("l2_cache",), ("l3_cache",))


class Measured(Value):
    """One value of a spec that was measured."""

    path: str
    value: Quantity | int
    place: str
    """Name of the measurement in the record."""
    words: str


@dataclass(frozen=True)
class Run:
    """Where and when the samples were taken."""

    date: str
    """As 2026-01-31."""
    machine: str
    compiler: str
    digest: str
    """Of the record's bytes."""
    file_name: str


def measured_values(spec: HardwareSpec, unit_name: str, samples: Mapping[str, Sample]) -> tuple[Measured, ...]:
    """What the samples say about a spec, by path; what a document states (a clock, the size of a cache) is left."""
    unit, at = spec.compute_units[unit_name], f"compute_units.{unit_name}"
    clock = samples["clock"].per_nanosecond
    found: list[Measured] = []
    if unit.clock_hz is None or f"{at}.clock_hz" in spec.assumed:
        found.append(_measured(f"{at}.clock_hz", clock, 1e9, "clock", "dependent additions in a nanosecond"))
    found += _caches(spec, unit_name, samples, clock)
    memory = next((name for name, each in spec.memories.items() if each.kind in ("dram", "psram")), None)
    if memory is not None:
        slowest = chase_points(samples)[-1]
        name, words = f"chase {slowest[0]}", f"ns for one of the loads over {slowest[0]:,} bytes, in cycles"
        found.append(_measured(f"memories.{memory}.latency_cycles", slowest[1], clock.nominal, name, words))
        reads = max((name for name in samples if name.startswith("read ")), key=lambda name: int(name.split()[1]))
        found.append(
            _measured(
                f"memories.{memory}.bandwidth_gbps",
                samples[reads].per_nanosecond,
                1.0,
                reads,
                f"GB/s read by {reads.split()[1]} threads",
            )
        )
    words = "us for a call of a kernel with one number, through a pointer"
    found.append(_measured(f"{at}.launch_overhead_us", samples["call"].nanoseconds_each, 1e-3, "call", words))
    for kernel in ("gemm_float32", "gemm_int8"):
        rates = sweep(samples, kernel)
        widest = max(rates, key=lambda channels: rates[channels])
        kind = kernel.removeprefix("gemm_")
        name, words = f"{kernel} {widest}", "multiply-accumulates a cycle of one core"
        rate = samples[name].per_nanosecond
        found.append(_measured(f"{at}.macs_per_cycle.{kind}", rate, 1 / clock.nominal, name, words))
    multiple = alignment(sweep(samples, "gemm_float32"))
    if multiple > 1:
        words = f"the fastest widths of gemm_float32 are multiples of {multiple}"
        found.append(Measured(path=f"{at}.channel_multiple", value=multiple, place="gemm_float32", words=words))
    return tuple(found)


def _caches(spec: HardwareSpec, unit_name: str, samples: Mapping[str, Sample], clock: Quantity) -> list[Measured]:
    points, found = chase_points(samples), []
    steps = cache_steps(points)
    inner = 0.0
    for level, names in enumerate(_LEVELS):
        path, cache = _cache(spec, unit_name, names)
        size = cache.size_bytes.low if cache and cache.size_bytes else None
        if size is None and level < len(steps) - 1:  # the last plateau is main memory
            step = steps[level]
            ends = Quantity(min=float(step.fits_bytes), max=float((step.too_large_bytes or 0) - 1))
            words = f"bytes: {step.fits_bytes:,} are as fast as fewer, {step.too_large_bytes:,} are not"
            found.append(Measured(path=f"{path}.size_bytes", value=ends, place="chase", words=words))
            size = float(step.fits_bytes)
        if size is None:
            break
        inside = [point for point in points if 1.5 * inner <= point[0] <= 0.75 * size]
        if inside:
            chased, time = inside[len(inside) // 2]  # in steps of equal ratio: the geometric middle
            words = f"ns for one of the loads over {chased:,} bytes, in cycles"
            found.append(_measured(f"{path}.latency_cycles", time, clock.nominal, f"chase {chased}", words))
        inner = size
    return found


def _cache(spec: HardwareSpec, unit_name: str, names: tuple[str, ...]) -> tuple[str, Cache | None]:
    """Path and value of a level of cache: the unit's own, or that of all units."""
    unit = spec.compute_units[unit_name]
    for name in names:
        if getattr(unit, name) is not None:
            return f"compute_units.{unit_name}.{name}", getattr(unit, name)
    shared = next((name for name in names if getattr(spec, name, None) is not None), None)
    if shared is not None:
        return shared, getattr(spec, shared)
    return f"compute_units.{unit_name}.{names[0]}", None


def _measured(path: str, quantity: Quantity, factor: float, place: str, words: str) -> Measured:
    ends = {name: float(f"{value * factor:.6g}") for name, value in quantity.plain().items()}
    number = f"{quantity.nominal:.4g}"
    return Measured(path=path, value=Quantity.from_plain(ends, path), place=place, words=f"{number} {words}")


def new_version(spec: HardwareSpec, measured: tuple[Measured, ...], run: Run, version: str) -> HardwareSpec:
    """`spec` with the measured values, under a new version, with a line in its change log. `spec` stays as it is."""
    tree: dict[str, Any] = spec.plain()
    assumed, provenance = dict(spec.assumed), dict(tree.get("provenance", {}))
    for each in measured:
        *parents, last = each.path.split(".")
        place = tree
        for part in parents:
            place = place.setdefault(part, {})
        place[last] = each.value.plain() if isinstance(each.value, Quantity) else each.value
        assumed.pop(each.path, None)
        provenance[each.path] = {"source": SOURCE, "page": each.place, "text": each.words}
    title = f"Microbenchmarks of {run.machine}, {run.date} ({run.compiler})"
    source = {"title": title, "document_digest": run.digest, "file_name": run.file_name}
    tree |= {
        "version": version,
        "assumed": assumed,
        "provenance": provenance,
        "sources": {**tree.get("sources", {}), SOURCE: source},
        "last_verified_date": run.date,
        "verification_method": "measured by microbenchmarks; the other values as before",
    }
    after = HardwareSpec.from_plain(tree, f"the new version of {spec.name}")
    return with_log_entry(spec, after, f"measured on {run.machine}")


def next_version(version: str) -> str:
    """`1.2.3` → `1.3.0`: what was measured is new, the chip is the same."""
    parts = version.split(".")
    if len(parts) == 3 and all(part.isdigit() for part in parts):
        return f"{parts[0]}.{int(parts[1]) + 1}.0"
    return "1.1.0"
