"""Checks on single values: can it be, is it a range where one is needed, is a law told from a goal, is it aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from metainfer_core.spec.field_shapes import unit_key
from metainfer_core.spec.files.report import Report, quantities
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec, Quantity
from metainfer_core.spec.quantities import key_unit

_PLAUSIBLE: dict[str, tuple[float, float]] = {
    "clock_hz": (1e3, 1e11),
    "xtal_hz": (1e3, 1e9),
    "data_rate_mtps": (1, 1e5),
    "bandwidth_gbps": (1e-5, 1e5),
    "tops": (1e-4, 1e5),
    "macs_per_cycle": (1e-3, 1e6),
    "latency_cycles": (0, 1e6),
    "setup_cycles": (0, 1e7),
    "launch_overhead_us": (0, 1e6),
    "pipeline_stages": (1, 64),
    "power_max_w": (1e-6, 1e4),
    "power_typ_w": (1e-9, 1e4),
    "supply_v": (0.2, 100),
    "ambient_c": (-100, 300),
    "case_c": (-100, 300),
    "junction_c": (-100, 400),
    "storage_c": (-200, 400),
    "deadline_ms": (1e-3, 1e7),
}
"""Key to the least and the most that any chip is known to have: outside of it, a unit was most likely lost."""
_CACHE_BYTES = (64, 2**31)
_MEMORY_BYTES = (16, 2**46)
_COUNTS: dict[str, tuple[int, int]] = {
    "cores": (1, 1 << 20),
    "line_bytes": (2, 4096),
    "ways": (1, 1024),
    "sets": (1, 1 << 24),
    "shared_by": (1, 1 << 16),
    "banks": (1, 1 << 16),
    "width_bits": (1, 1 << 16),
    "channel_width_bits": (1, 1 << 14),
    "vector_width_bits": (8, 1 << 16),
    "accumulator_bits": (8, 128),
    "pair_sum_bits": (8, 64),
    "weight_group_size": (2, 1 << 16),
    "channel_multiple": (1, 4096),
    "alignment_bytes": (1, 1 << 24),
    "channels": (1, 1 << 12),
    "controllers": (1, 1 << 10),
    "address_width_bits": (8, 128),
    "data_width_bits": (1, 1 << 14),
    "issue_width": (1, 64),
}
_NEEDS_RANGE = ("latency_cycles", "setup_cycles", "launch_overhead_us")
_SOFT_WORDS = ("recommend", "typical", "ideal", "optimal", "should", "suggest", "建议", "推荐")
_HARD_WORDS = ("must", "shall", "required", "absolute maximum", "必须")
Check = Callable[[HardwareSpec, Report], None]


def implausible(spec: HardwareSpec, report: Report) -> None:
    """HW007: a value outside of what any chip has."""
    for path, quantity in quantities(spec):
        limits = _limits(path)
        if limits is None:
            continue
        ends = [end for end in (quantity.min, quantity.typ, quantity.max) if end is not None]
        if min(ends) < limits[0] or max(ends) > limits[1]:
            base = key_unit(unit_key(path))
            name = f" {base.name}" if base else ""
            report.add(
                "HW007",
                path,
                f"{path} is {shown(path, quantity.plain())}; a value from {limits[0]:g} to {limits[1]:g}{name} "
                "was expected.",
                f"Check the unit: a bare number is read in{name or ' the base unit'}.",
            )
    for path, count in _counts(spec):
        limits = _COUNTS.get(path.rsplit(".", 1)[-1])
        if limits and not limits[0] <= count <= limits[1]:
            report.add(
                "HW007",
                path,
                f"{path} is {count:,}; a value from {limits[0]:,} to {limits[1]:,} was expected.",
                "Check the number and its unit.",
            )


def _limits(path: str) -> tuple[float, float] | None:
    parts = path.split(".")
    if parts[-1] == "size_bytes":
        return _CACHE_BYTES if "cache" in parts[-2] else _MEMORY_BYTES
    return _PLAUSIBLE.get(unit_key(path))


def _counts(spec: HardwareSpec) -> Iterator[tuple[str, int]]:
    holders = [(f"compute_units.{name}", unit) for name, unit in spec.compute_units.items()]
    for path, holder in (
        *holders,
        *((f"memories.{name}", memory) for name, memory in spec.memories.items()),
        *caches(spec),
        *((("dma", spec.dma),) if spec.dma else ()),
    ):
        for name in type(holder).model_fields:
            value = getattr(holder, name)
            if isinstance(value, int) and not isinstance(value, bool):
                yield f"{path}.{name}", value


def caches(spec: HardwareSpec) -> Iterator[tuple[str, Cache]]:
    """Path and value of every cache of a spec."""
    for level in ("l1_cache", "l2_cache", "l3_cache"):
        if getattr(spec, level):
            yield level, getattr(spec, level)
    for name, unit in spec.compute_units.items():
        for level in ("l1_cache", "l1i_cache", "l1d_cache", "l2_cache", "l3_cache"):
            if getattr(unit, level):
                yield f"compute_units.{name}.{level}", getattr(unit, level)


def bare_latency(spec: HardwareSpec, report: Report) -> None:
    """HW009: one number for what varies."""
    for path, quantity in quantities(spec):
        if path.rsplit(".", 1)[-1] in _NEEDS_RANGE and quantity.low == quantity.high and quantity.std is None:
            value = f"{quantity.nominal:g}"
            report.add(
                "HW009",
                path,
                f"{path} is one number, {value}, but it varies from access to access.",
                f"Write {{mean: {value}, std: ..., min: ..., max: ...}}, or a tolerance such as "
                f'"{value}±1 {_unit(path)}".',
                "warning",
            )


def _unit(path: str) -> str:
    base = key_unit(unit_key(path))
    return base.name if base else ""


def sharing(spec: HardwareSpec, report: Report) -> None:
    """HW010: a cache that may be one core's or everybody's."""
    for path, cache in caches(spec):
        parts = path.split(".")
        cores = spec.compute_units[parts[1]].cores if len(parts) == 3 else None
        if cache.size_bytes is not None and cache.sharing_mode is None and cores != 1:
            report.add(
                "HW010",
                path,
                f"{path} has a size, but does not say whether each core has its own.",
                "Add sharing_mode: shared, per_core or unknown.",
                "warning",
            )
        elif cache.sharing_mode == "per_core" and cache.shared_by not in (None, 1):
            report.add(
                "HW010",
                path,
                f"{path} belongs to each core, but is shared by {cache.shared_by}.",
                "Write sharing_mode: shared, or remove shared_by.",
            )


def hard_or_soft(spec: HardwareSpec, report: Report) -> None:
    """HW011: a goal that looks like a law, or the other way round."""
    for path, quantity in quantities(spec):
        if quantity.strength is None:
            continue
        words = spec.provenance[path].text.lower() if path in spec.provenance else ""
        if quantity.strength == "must" and quantity.min is None and quantity.max is None:
            message = f"{path} is a law (must), but has no bound that could be broken."
            report.add("HW011", path, message, "Give min or max, or write strength: recommended.")
        elif quantity.strength == "must" and (word := _first(_SOFT_WORDS, words)):
            message = f"{path} is a law (must), but its source says {word!r}."
            report.add("HW011", path, message, "Write strength: recommended.")
        elif quantity.strength == "recommended" and (word := _first(_HARD_WORDS, words)):
            message = f"{path} is a goal (recommended), but its source says {word!r}."
            report.add("HW011", path, message, "Write strength: must.")
        elif quantity.strength == "recommended" and "_max_" in f"_{path}_":
            message = f"{path} is named a maximum, but is only recommended."
            report.add("HW011", path, message, "Write strength: must, or keep it under a key that is no maximum.")
    dma = spec.dma
    if dma and dma.burst_length_optimal is None and (dma.burst_length_max or dma.burst_length_min):
        report.add(
            "HW011",
            "dma",
            "The DMA has laws for its bursts (min, max), but no goal (optimal).",
            "Add burst_length_optimal if the document recommends one.",
            "note",
        )


def _first(words: tuple[str, ...], text: str) -> str:
    return next((word for word in words if word in text), "")


def alignment(spec: HardwareSpec, report: Report) -> None:
    """HW013: what must be a power of two, and what must fit the cache line."""
    lines = [(path, cache.line_bytes) for path, cache in caches(spec) if cache.line_bytes]
    for path, line in lines:
        if not _is_power_of_two(line):
            report.add("HW013", f"{path}.line_bytes", f"{path}.line_bytes is {line}, not a power of two.", _POWER)
    longest = max((line for _, line in lines), default=1)
    aligned = [(f"memories.{name}", memory.alignment_bytes) for name, memory in spec.memories.items()]
    for path, alignment_bytes in (*aligned, ("dma", spec.dma.alignment_bytes if spec.dma else None)):
        if alignment_bytes is None:
            continue
        where = f"{path}.alignment_bytes"
        if not _is_power_of_two(alignment_bytes):
            report.add("HW013", where, f"{where} is {alignment_bytes}, not a power of two.", _POWER)
        elif path.startswith("memories") and alignment_bytes < longest:
            report.add(
                "HW013",
                where,
                f"{where} is {alignment_bytes}, less than the cache line of {longest} bytes: two arrays can share "
                "a line.",
                f"Write {longest}, unless this memory is not cached.",
                "note",
            )


_POWER = "Give the power of two that the document states."


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def spread(spec: HardwareSpec, report: Report) -> None:
    """HW008: a standard deviation wider than the range it belongs to."""
    for path, quantity in quantities(spec):
        width = _width(quantity)
        if quantity.std is not None and width is not None and quantity.std > width:
            message = f"{path}: std {quantity.std:g} is wider than the whole range, {width:g}."
            report.add("HW008", path, message, "Check min, max and std.")


def _width(quantity: Quantity) -> float | None:
    return None if quantity.min is None or quantity.max is None else quantity.max - quantity.min


CHECKS: tuple[Check, ...] = (implausible, spread, bare_latency, sharing, hard_or_soft, alignment)
