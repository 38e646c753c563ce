"""A chip as boxes and links, laid out from its spec: units above a bus, memories below it, what lies outside under it.

A memory that only one unit reaches hangs on that unit; all others hang on the bus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metainfer_core.explain.sizes import size
from metainfer_core.spec.hardware_spec import Cache, ComputeUnit, HardwareSpec, Memory, Quantity
from studio.words.long_names import shortened

WIDTH, GAP, LINE, HEAD, MARGIN = 216, 28, 17, 28, 18
ASIDE = 28
"""Left free beside a memory of one unit, for the unit's way to the bus."""
LETTERS = 34
"""Of a line, so that it stays in its box."""
COMPUTED_IN = ("int8", "float16")
"""Data types whose rate is shown first."""
OUTSIDE = ("dram", "psram", "flash")
"""Kinds of memory that are parts of their own beside the chip."""


@dataclass(frozen=True)
class Box:
    """A unit or a memory."""

    path: str
    """Its path in the spec."""
    kind: str
    title: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float = WIDTH

    @property
    def height(self) -> float:
        """In pixels."""
        return HEAD + LINE * len(self.lines) + 8


@dataclass(frozen=True)
class Link:
    """A connection downward, with what is known of its bandwidth."""

    x: float
    y: float
    to_y: float
    label: str


@dataclass(frozen=True)
class Drawing:
    """The whole picture, in pixels."""

    width: float
    height: float
    chip_height: float
    """Down to where the chip ends."""
    bus_y: float
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    loose: tuple[str, ...]
    """What has no place in the picture, as sentences."""


def chip_drawing(spec: HardwareSpec) -> Drawing:
    """Boxes and links of a spec; the same spec gives the same picture."""
    own: dict[str, list[str]] = {name: [] for name in spec.compute_units}
    on_bus: list[str] = []
    for name, memory in spec.memories.items():
        (own[memory.accessible_by[0]] if _belongs_to_one(memory, spec) else on_bus).append(name)
    inside = [name for name in on_bus if spec.memories[name].kind not in OUTSIDE]
    outside = [name for name in on_bus if spec.memories[name].kind in OUTSIDE]
    boxes: list[Box] = []
    links: list[Link] = []
    to_bus: list[tuple[float, float]] = []
    deepest: float = MARGIN + 22
    for column, (name, unit) in enumerate(spec.compute_units.items()):
        x = MARGIN + column * (WIDTH + GAP)
        box = Box(f"compute_units.{name}", unit.kind, name, unit_lines(unit), x, MARGIN + 22)
        boxes.append(box)
        bottom = box.y + box.height
        for held in own[name]:
            below = _memory_box(held, spec, x, bottom + GAP, WIDTH - ASIDE)
            links.append(Link(x + (WIDTH - ASIDE) / 2, bottom, below.y, rate(spec.memories[held].bandwidth_gbps)))
            boxes.append(below)
            bottom = below.y + below.height
        to_bus.append((x + (WIDTH - ASIDE / 2 if own[name] else WIDTH / 2), box.y + box.height))
        deepest = max(deepest, bottom)
    bus_y = deepest + GAP
    links += [Link(x, y, bus_y, "") for x, y in to_bus]
    y = bus_y + GAP + LINE
    bottom = bus_y + GAP
    for column, name in enumerate(inside):
        box = _memory_box(name, spec, MARGIN + column * (WIDTH + GAP), y)
        links.append(Link(box.x + WIDTH / 2, bus_y, box.y, rate(spec.memories[name].bandwidth_gbps)))
        boxes.append(box)
        bottom = max(bottom, box.y + box.height)
    chip_height = bottom + MARGIN
    columns = max(len(spec.compute_units), len(inside) + len(outside), 1)
    height = chip_height + MARGIN
    for column, name in enumerate(outside, start=len(inside)):
        box = _memory_box(name, spec, MARGIN + column * (WIDTH + GAP), chip_height + GAP + LINE)
        links.append(Link(box.x + WIDTH / 2, bus_y, box.y, rate(_bandwidth(name, spec))))
        boxes.append(box)
        height = max(height, box.y + box.height + MARGIN)
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP
    return Drawing(width, height, chip_height, bus_y, tuple(boxes), tuple(links), _loose(spec))


def unit_lines(unit: ComputeUnit) -> tuple[str, ...]:
    """What the box of a unit says under its name."""
    cores = f"{unit.cores} × " if unit.cores and unit.cores > 1 else ""
    clock = f" at {_hertz(unit.clock_hz)}" if unit.clock_hz else ""
    lines = [f"{cores}{unit.core_type or unit.model or unit.kind.upper()}{clock}"]
    others = sorted({*unit.macs_per_cycle} - {*COMPUTED_IN})
    by_use = [name for name in (*COMPUTED_IN, *others) if name in unit.macs_per_cycle]
    lines += [f"{_span(unit.macs_per_cycle[name])} {name} MAC/cycle" for name in by_use[:2]]
    lines += [f"{_span(unit.tops)} TOPS" if unit.tops else ""]
    lines += [_some(unit.data_types)]
    levels = (("L1", unit.l1_cache), ("L1i", unit.l1i_cache), ("L1d", unit.l1d_cache), ("L2", unit.l2_cache),
              ("L3", unit.l3_cache))  # fmt: skip
    caches = [f"{name} {_bytes(cache)}" for name, cache in levels if cache and cache.size_bytes]
    lines += [" · ".join(caches[at : at + 2]) for at in range(0, len(caches), 2)]
    return tuple(shortened(line, LETTERS) for line in lines if line)


def memory_lines(memory: Memory) -> tuple[str, ...]:
    """What the box of a memory says under its name."""
    amount = size(memory.size_bytes.high) if memory.size_bytes else "size unknown"
    if memory.size_bytes and memory.kind in OUTSIDE and memory.size_bytes.max is not None:
        amount = f"up to {amount}"
    lines = [f"{memory.kind.upper()}, {amount}"]
    if memory.channels:
        wide = f" × {memory.channel_width_bits} bit" if memory.channel_width_bits else ""
        lines.append(f"{memory.channels} channels{wide}")
    if memory.banks:
        lines.append(f"{memory.banks} banks")
    lines += [_some(memory.types)]
    lines += [f"{_span(memory.latency_cycles)} cycles" if memory.latency_cycles else ""]
    lines += [f"for {_some(memory.accessible_by)}" if memory.accessible_by else ""]
    return tuple(shortened(line, LETTERS) for line in lines if line)


def rate(bandwidth: Quantity | None) -> str:
    """A bandwidth as the label of a link."""
    return f"{_span(bandwidth)} GB/s" if bandwidth else ""


def _loose(spec: HardwareSpec) -> tuple[str, ...]:
    found = [f"L{level}: {_bytes(cache)}, shared by the chip" for level, cache in
             ((1, spec.l1_cache), (2, spec.l2_cache), (3, spec.l3_cache)) if cache and cache.size_bytes]  # fmt: skip
    if spec.dma:
        parts = [f"{number} {word}" for number, word in ((spec.dma.controllers, "controllers"),
                 (spec.dma.channels, "channels"), (spec.dma.data_width_bits, "bits wide")) if number]  # fmt: skip
        found.append("DMA" + (f": {', '.join(parts)}" if parts else ""))
    found += [f"{name}: {each.function}" for name, each in spec.fixed_function_units.items()]
    return tuple(found)


def _some(names: Sequence[str]) -> str:
    """As many of the names as fit into a line."""
    said = ", ".join(names)
    if len(said) <= LETTERS:
        return said
    return said[: LETTERS - 2].rpartition(",")[0] + " …"


def _belongs_to_one(memory: Memory, spec: HardwareSpec) -> bool:
    return (
        len(memory.accessible_by) == 1 and memory.accessible_by[0] in spec.compute_units and memory.kind not in OUTSIDE
    )


def _memory_box(name: str, spec: HardwareSpec, x: float, y: float, width: float = WIDTH) -> Box:
    memory = spec.memories[name]
    return Box(f"memories.{name}", memory.kind, name, memory_lines(memory), x, y, width)


def _bandwidth(name: str, spec: HardwareSpec) -> Quantity | None:
    """Of a memory; for main memory also what the spec says of it as a whole."""
    memory = spec.memories[name]
    return memory.bandwidth_gbps or (spec.bandwidth_gbps if memory.kind == "dram" else None)


def _bytes(cache: Cache) -> str:
    return size(cache.size_bytes.high) if cache.size_bytes else ""


def _hertz(clock: Quantity) -> str:
    top = clock.high
    return f"{top / 1e9:g} GHz" if top >= 1e9 else f"{top / 1e6:g} MHz"


def _span(quantity: Quantity) -> str:
    low, high = quantity.low, quantity.high
    return f"{high:g}" if low == high else f"{low:g}–{high:g}"
