"""Processors and their caches in a device tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from hwdoc_ingest.device_trees.device_tree_nodes import DeviceTree, Node, Property
from hwdoc_ingest.device_trees.device_tree_rates import highest_point
from hwdoc_ingest.device_trees.device_tree_said import Said
from metainfer_core.spec.drafting.draft import Candidate

CONTRADICTED = 0.6
"""How sure a size is that the lines and sets beside it contradict."""
_CORE_TIMER = re.compile(r"arm,(armv[78]|cortex-a15)-timer")
_CACHE_FIELDS = {
    "i-cache-size": ("cpu.l1i_cache.size_bytes", "B"),
    "i-cache-line-size": ("cpu.l1i_cache.line_bytes", "B"),
    "i-cache-block-size": ("cpu.l1i_cache.line_bytes", "B"),
    "i-cache-sets": ("cpu.l1i_cache.sets", "set"),
    "d-cache-size": ("cpu.l1d_cache.size_bytes", "B"),
    "d-cache-line-size": ("cpu.l1d_cache.line_bytes", "B"),
    "d-cache-block-size": ("cpu.l1d_cache.line_bytes", "B"),
    "d-cache-sets": ("cpu.l1d_cache.sets", "set"),
}


def cpu_candidates(tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    """Each kind of core once, with its caches, its instruction set, its rates and how many there are."""
    cpus = [node for node in tree.root.walk() if is_cpu(node)]
    yield from _timebase(cpus, tree, said)
    for same in _alike(cpus):
        yield from _of_one_kind(same, tree, said)
    yield from _outer_caches(cpus, tree, said)


def is_cpu(node: Node) -> bool:
    """Whether the node is one core."""
    below_cpus = node.parent is not None and node.parent.name == "cpus"
    elsewhere = re.match(r"&cpu[\d_]", node.name) is not None  # the node stands in the file that includes this one
    return "cpu" in node.texts("device_type") or (below_cpus and node.generic_name == "cpu") or elsewhere


def core_title(cpu: Node, tree: DeviceTree) -> str:
    """The kind of core, such as `Cortex-A53`; the node's label where its `compatible` only repeats the chip's name."""
    name = _core_type(cpu, tree)
    return name or cpu.title


def _core_type(cpu: Node, tree: DeviceTree) -> str:
    chip = " ".join(tree.root.texts("compatible"))
    for compatible in cpu.texts("compatible"):
        vendor, _, name = compatible.rpartition(",")
        if not vendor or name in chip:
            continue
        parts = (part.upper() if any(map(str.isdigit, part)) else part.capitalize() for part in name.split("-"))
        return "-".join(parts) if vendor == "arm" else name
    return ""


def _alike(cpus: Sequence[Node]) -> list[list[Node]]:
    """Cores grouped by everything that makes them the same kind, in the order of the source."""
    groups: dict[tuple[object, ...], list[Node]] = {}
    for cpu in cpus:
        points = cpu.properties.get("operating-points-v2")
        rates = points.cells[0].words if points and points.cells else ""
        kind = (cpu.texts("compatible"), rates, *(cpu.number(name) for name in (*_CACHE_FIELDS, "clock-frequency")))
        groups.setdefault(kind, []).append(cpu)
    return list(groups.values())


def _of_one_kind(same: Sequence[Node], tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    cpu, title = same[0], core_title(same[0], tree)
    device_type = cpu.properties.get("compatible") or cpu.properties.get("device_type")
    if device_type:
        condition = f"counted: {', '.join(node.title for node in same)}"
        yield said("cpu.cores", len(same), device_type, instance=title, condition=condition, confidence=0.9)
    if _core_type(cpu, tree) and device_type:
        yield said("cpu.core_type", title, device_type, instance=title, confidence=0.95)
    for name, (field, _) in _CACHE_FIELDS.items():
        found = cpu.properties.get(name)
        if found and found.number is not None:
            side = name[0]
            line = cpu.number(f"{side}-cache-line-size") or cpu.number(f"{side}-cache-block-size")
            fits = name not in ("i-cache-size", "d-cache-size") or _fits(
                found.number, line, cpu.number(f"{side}-cache-sets")
            )
            sure = 0.99 if fits else CONTRADICTED
            yield said(field, found.number, found, instance=title, sharing="per_core", confidence=sure)
    for side in ("i", "d"):
        yield from _ways(cpu, side, title, said)
    for name, of in (("i-tlb-size", "instruction"), ("d-tlb-size", "data"), ("tlb-size", "unified")):
        entries = cpu.properties.get(name)
        if entries and entries.number:
            yield said("cpu.tlb.entries", entries.number, entries, instance=f"{title} {of} TLB", confidence=0.95)
    isa = cpu.properties.get("riscv,isa") or cpu.properties.get("riscv,isa-base")
    if isa and isa.texts:
        yield said("cpu.isa", isa.texts[0], isa, instance=title, confidence=0.95)
    weight = cpu.properties.get("capacity-dmips-mhz")
    if weight and weight.number is not None:
        condition = "relative weight for the scheduler"
        yield said("cpu.capacity_dmips_per_mhz", weight.number, weight, instance=title, condition=condition)
    clock = cpu.properties.get("clock-frequency")
    if clock and clock.number:
        yield said("cpu.clock_hz", clock.number, clock, instance=title, confidence=0.8)
    crystal = cpu.properties.get("xtal-freq")  # Zephyr's binding of the Espressif cores
    if crystal and crystal.number:
        yield said("clock.xtal_hz", crystal.number, crystal)
    highest = highest_point(cpu, tree)
    if highest:
        condition = f"highest operating point of {highest.table}"
        found, cell, rate = highest.found, highest.cell, highest.rate_hz
        yield said("cpu.clock_hz", None, found, cell=cell, instance=title, maximum=rate, condition=condition)


def _fits(size: int, line: int | None, sets: int | None) -> bool:
    """Whether a cache's size is a whole number of ways of its lines and sets, as far as they are known."""
    return not line or not sets or size % (line * sets) == 0


def _ways(cpu: Node, side: str, title: str, said: Said) -> Iterator[Candidate]:
    size, sets = cpu.number(f"{side}-cache-size"), cpu.number(f"{side}-cache-sets")
    line = cpu.number(f"{side}-cache-line-size") or cpu.number(f"{side}-cache-block-size")
    if size and sets and line and size % (sets * line) == 0:
        condition = f"derived: {size} B / ({sets} sets x {line} B)"
        found = cpu.properties[f"{side}-cache-sets"]
        yield said(f"cpu.l1{side}_cache.ways", size // (sets * line), found, instance=title, condition=condition)


def _timebase(cpus: Sequence[Node], tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    """The rate of the timer in the cores: of RISC-V and Power, or of Arm where the timer's node says it."""
    places = [(node, "timebase-frequency") for node in [cpu.parent for cpu in cpus if cpu.parent][:1] + list(cpus)]
    for node in tree.root.walk():
        if any(_CORE_TIMER.fullmatch(compatible) for compatible in node.texts("compatible")):
            places.append((node, "clock-frequency"))
    for node, name in places:
        found = node.properties.get(name)
        if found and found.number:
            yield said("cpu.clock_timebase_hz", found.number, found, confidence=0.99)
            return


def _outer_caches(cpus: Sequence[Node], tree: DeviceTree, said: Said) -> Iterator[Candidate]:
    """Level 2 and 3: told once for each kind of core and size, with how many cores stand before one such cache."""
    told: set[tuple[object, ...]] = set()
    for node in tree.root.walk():
        level, size = _level(node), _cache_size(node)
        if level not in (2, 3) or size is None or size.number is None:
            continue
        users = [cpu for cpu in cpus if node in _caches_behind(cpu, tree)]
        kinds = list(dict.fromkeys(core_title(cpu, tree) for cpu in users))
        sharing: Literal["shared", "per_core"] | None = None
        if users:
            sharing = "per_core" if len(users) == 1 else "shared"
        instance = kinds[0] if len(kinds) == 1 else None if kinds or level == 3 else node.title
        what = (level, size.number, instance, sharing)
        if what in told:
            continue
        told.add(what)
        line, sets = _cache_line(node), node.properties.get("cache-sets")
        parts = [f"{node.title}, behind {len(users)} cores"] if len(users) > 1 else []
        fits = _fits(size.number, line.number if line else None, sets.number if sets else None)
        parts += [] if fits else ["no whole number of ways by its own lines and sets"]
        field, sure = f"cpu.l{level}_cache.size_bytes", 0.99 if fits else CONTRADICTED
        condition = "; ".join(parts) or None
        yield said(field, size.number, size, instance=instance, sharing=sharing, condition=condition, confidence=sure)
        if line and line.number:
            yield said(f"cpu.l{level}_cache.line_bytes", line.number, line, instance=instance, confidence=0.99)
        if line and line.number and sets and sets.number and size.number % (line.number * sets.number) == 0:
            ways = size.number // (line.number * sets.number)
            condition = f"derived: {size.number} B / ({sets.number} sets x {line.number} B)"
            yield said(f"cpu.l{level}_cache.ways", ways, sets, instance=instance, condition=condition)


def _level(node: Node) -> int | None:
    level = node.number("cache-level")
    if level is not None or "cache" not in node.texts("compatible"):
        return level
    for level in (2, 3):
        if f"l{level}" in node.name.lower() or any(f"l{level}" in label.lower() for label in node.labels):
            return level
    return None


def _cache_size(node: Node) -> Property | None:
    return node.properties.get("cache-size") or node.properties.get("d-cache-size")


def _cache_line(node: Node) -> Property | None:
    return node.properties.get("cache-line-size") or node.properties.get("cache-block-size")


def _caches_behind(cpu: Node, tree: DeviceTree) -> list[Node]:
    """The caches from a core outwards."""
    chain: list[Node] = []
    node: Node | None = cpu
    while node is not None:
        found = node.properties.get("next-level-cache") or node.properties.get("l2-cache")
        following = tree.referred(found.cells[0]) if found and found.cells else None
        if following is None or following in chain:
            return chain
        chain.append(following)
        node = following
    return chain
