"""Addresses and interrupts of device tree nodes as the processors see them (Devicetree Specification, chapter 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node

_GIC_KINDS = {"GIC_SPI": ("SPI", 32), "0": ("SPI", 32), "GIC_PPI": ("PPI", 16), "1": ("PPI", 16)}
MAX_INTERRUPT_CELLS = 8
_NO_BUSES = ("cpus", "reserved-memory", "aliases", "chosen", "partitions")


@dataclass(frozen=True)
class Region:
    """One entry of a `reg` property."""

    base: int
    size: int | None
    cell: Cell
    """The first cell of the entry."""
    on_bus: str = ""
    """The bus of another file that the base is an address on, where this file does not say where that bus stands."""


@dataclass(frozen=True)
class Interrupt:
    """One line that a node raises."""

    number: int
    name: str
    """From `interrupt-names`, else empty."""
    numbering: str
    """Whose numbering it is, such as `GIC SPI; hardware interrupt 142`."""
    cell: Cell
    sureness: float = 0.99


def regions(node: Node) -> tuple[Region, ...]:
    """The regions of a node in the address space of the processors; none when a bus on the way has none there."""
    found = node.properties.get("reg")
    if found is None or node.parent is None:
        return ()
    address_cells, size_cells = _widths_of_reg(node, node.parent, found.cells)
    width = address_cells + size_cells
    if not 0 < address_cells <= 4 or not 0 <= size_cells <= 2 or len(found.cells) % width:
        return ()
    entries = []
    for index in range(0, len(found.cells), width):
        base = _joined(found.cells[index : index + address_cells])
        size = _joined(found.cells[index + address_cells : index + width]) if size_cells else None
        seen = None if base is None else _translated(base, node.parent)
        if seen is not None and (not seen[1] or _is_memory_mapped(node, seen, size)):
            entries.append(Region(seen[0], size, found.cells[index], seen[1]))
    return tuple(entries)


def _is_memory_mapped(node: Node, seen: tuple[int, str], size: int | None) -> bool:
    """Whether an address on a bus of another file is one of the processors' rather than one inside a block."""
    unit = re.search(r"@([0-9a-fA-F]+)$", seen[1])
    inside_a_block = unit is not None and seen[0] < int(unit[1], 16)
    return size is not None and not inside_a_block and node.generic_name != "partition"


def _stands_elsewhere(bus: Node) -> bool:
    """Whether this file only adds to a bus that another file describes.

    Such a bus is named by its label, or by its path without all that makes a node a bus.
    """
    if "ranges" in bus.properties:
        return False
    described = any(name in bus.properties for name in ("compatible", "#address-cells", "#size-cells"))
    return bus.name.startswith("&") or not (described or bus.name in _NO_BUSES or "controller" in bus.name)


def _widths_of_reg(node: Node, parent: Node, cells: tuple[Cell, ...]) -> tuple[int, int]:
    """Cells of an address and of a size; where another file says it, those that make the address the node's own."""
    own = None if "#address-cells" in parent.properties else _own_widths(node, cells)
    return own or _widths(parent)


def _own_widths(node: Node, cells: tuple[Cell, ...]) -> tuple[int, int] | None:
    """The widths at which the first address in `reg` is the one in the node's name."""
    unit = re.fullmatch(r"[^@]*@([0-9a-fA-F]+)", node.name)
    for address_cells, size_cells in ((2, 2), (1, 1), (2, 1), (1, 2)) if unit and cells else ():
        fits = len(cells) % (address_cells + size_cells) == 0
        if unit and fits and _joined(cells[:address_cells]) == int(unit[1], 16):
            return address_cells, size_cells
    return None


def _widths(node: Node) -> tuple[int, int]:
    """Cells of an address and of a size below a node; where another file says it, as the nodes below it need them."""
    address_cells, size_cells = node.number("#address-cells"), node.number("#size-cells")
    if address_cells is None and size_cells is None:
        below = ((child, child.properties.get("reg")) for child in node.children.values())
        fitting = (_own_widths(child, found.cells) for child, found in below if found)
        return next((widths for widths in fitting if widths), (2, 1))
    return 2 if address_cells is None else address_cells, 1 if size_cells is None else size_cells


def _joined(cells: tuple[Cell, ...]) -> int | None:
    number = 0
    for cell in cells:
        if cell.value is None:
            return None
        number = number << 32 | cell.value & 0xFFFFFFFF
    return number


def _translated(address: int, bus: Node) -> tuple[int, str] | None:
    """`address` on `bus`, seen from the root; None where a `ranges` on the way does not cover it.

    The second is empty, or the bus of another file on which the address is known, and no further.
    """
    while bus.parent is not None:
        found = bus.properties.get("ranges")
        if found is None:
            return (address, bus.name) if _stands_elsewhere(bus) else None
        if found.cells:
            child_cells, size_cells = _widths(bus)
            parent_cells = _widths(bus.parent)[0]
            width = child_cells + parent_cells + size_cells
            if not width or len(found.cells) % width:
                return None
            for index in range(0, len(found.cells), width):
                row = found.cells[index : index + width]
                child = _joined(row[:child_cells])
                parent = _joined(row[child_cells : child_cells + parent_cells])
                size = _joined(row[child_cells + parent_cells :])
                if child is None or parent is None or size is None:
                    continue
                if child <= address < child + size:
                    address += parent - child
                    break
            else:
                return None
        bus = bus.parent
    return address, ""


def interrupts(node: Node, tree: DeviceTree) -> Iterator[Interrupt]:
    """The interrupts of a node whose number is known and whose controller is one of the whole chip."""
    extended = node.properties.get("interrupts-extended")
    found = extended or node.properties.get("interrupts")
    if found is None:
        return
    names = node.texts("interrupt-names")
    position = 0
    cells = found.cells
    index = 0
    while index < len(cells):
        if extended:
            controller = tree.referred(cells[index])
            index += 1
        else:
            controller = _interrupt_parent(node, tree) or _only_controller(tree)
        width = controller.number("#interrupt-cells") if controller else None
        if width is None or not 0 < width <= MAX_INTERRUPT_CELLS:
            width = _group_length(cells, index)
        specifier = cells[index : index + width]
        index += max(1, width)
        name = names[position] if position < len(names) and len(names) > 1 else ""
        position += 1
        if len(specifier) == width and not _is_local(controller):
            read = _read_specifier(specifier, controller)
            if read:
                assumed = controller is None and specifier[0].value is not None
                yield Interrupt(read[0], name, read[1], specifier[0], 0.7 if assumed else 0.99)


def _interrupt_parent(node: Node, tree: DeviceTree) -> Node | None:
    above: Node | None = node
    while above is not None:
        found = above.properties.get("interrupt-parent")
        if found:
            if found.cells:
                return tree.referred(found.cells[0])
            return tree.labels.get(found.texts[0].removeprefix("&")) if found.texts else None
        if above is not node and "interrupt-controller" in above.properties:
            return above
        above = above.parent
    return None


def _only_controller(tree: DeviceTree) -> Node | None:
    """The controller of the whole chip where the file names one and no other, and says nowhere which one is meant."""
    every = [node for node in tree.interrupt_controllers if not _is_local(node)]
    return every[0] if len(every) == 1 else None


def _group_length(cells: tuple[Cell, ...], index: int) -> int:
    group = cells[index].group if index < len(cells) else 0
    return sum(1 for cell in cells[index:] if cell.group == group) or 1


def _is_local(controller: Node | None) -> bool:
    """Whether it serves one core or the pins of a GPIO block, so that its numbers are not the chip's."""
    if controller is None:
        return False
    local = any("cpu-intc" in compatible for compatible in controller.texts("compatible"))
    return local or "gpio-controller" in controller.properties


def _read_specifier(specifier: tuple[Cell, ...], controller: Node | None) -> tuple[int, str] | None:
    first = specifier[0]
    gic = first.words in ("GIC_SPI", "GIC_PPI") or (
        any("gic" in compatible for compatible in controller.texts("compatible"))
        if controller
        else len(specifier) >= 3 and first.words in _GIC_KINDS  # kind, number, flags: no other controller has that
    )
    if not gic:
        if first.words == "AIC_IRQ" and len(specifier) > 1 and specifier[1].value is not None:  # kind, number, flags
            return specifier[1].value, "AIC line"
        if first.value is None:
            return None
        return first.value, f"of {controller.title}" if controller else ""
    if len(specifier) < 2 or specifier[1].value is None or first.words not in _GIC_KINDS:
        return None
    kind, offset = _GIC_KINDS[first.words]
    number = specifier[1].value
    return number, f"GIC {kind}; hardware interrupt {number + offset}"
