"""Clock rates that a device tree gives a unit: what software assigns at boot, and the points it may run at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node, Property

_CORE_CLOCK = re.compile(r"core", re.I)
_UNIT_CLOCK = re.compile(r"npu|gpu|aclk", re.I)
_BUS_CLOCK = re.compile(r"(?<![a-z])(ahb|axi|apb|bus|hclk|pclk)(?![a-z])", re.I)


@dataclass(frozen=True)
class OperatingPoint:
    """One rate out of a table of operating points."""

    rate_hz: int
    found: Property
    cell: Cell
    table: str


def assigned_rate(node: Node) -> tuple[Property, Cell] | None:
    """The assigned rate of the unit's own clock; None when it cannot be told which of several that is."""
    found = node.properties.get("assigned-clock-rates")
    if found is None:
        return None
    rates = [cell for cell in found.cells if cell.value]
    if len(rates) == 1:
        return found, rates[0]
    clocks = node.properties.get("assigned-clocks")
    names: list[str] = []  # one for each clock: the reference to its controller and the cells behind it
    for cell in clocks.cells if clocks else ():
        if cell.words.startswith("&") or not names:
            names.append(cell.words)
        else:
            names[-1] += f" {cell.words}"
    pairs = [(cell, name) for cell, name in zip(found.cells, names, strict=False) if cell.value]
    for wanted in (_CORE_CLOCK, _UNIT_CLOCK):
        own = [cell for cell, name in pairs if wanted.search(name) and not _BUS_CLOCK.search(name)]
        if own:
            return (found, own[0]) if len({cell.value for cell in own}) == 1 else None
    return None


def highest_point(node: Node, tree: DeviceTree) -> OperatingPoint | None:
    """The fastest of the operating points of a node or its table, None when there are none in this file."""
    reference = node.properties.get("operating-points-v2")
    table = tree.referred(reference.cells[0]) if reference and reference.cells else None
    points = []
    for point in table.children.values() if table else ():
        found = point.properties.get("opp-hz")
        cell = _as_one(found) if found else None
        if table and found and cell and cell.value:
            points.append(OperatingPoint(cell.value, found, cell, table.title))
    points.extend(_points_of_its_own(node))
    return max(points, key=lambda point: point.rate_hz, default=None)


def _points_of_its_own(node: Node) -> Iterator[OperatingPoint]:
    """The first binding of operating points: pairs of kHz and uV in the node itself."""
    found = node.properties.get("operating-points")
    if found is None or len(found.cells) % 2:
        return
    for cell in found.cells[::2]:
        if cell.value:
            yield OperatingPoint(cell.value * 1000, found, cell, node.title)


def _as_one(found: Property) -> Cell | None:
    """A 64-bit number: one cell after `/bits/ 64`, or two of 32 bits."""
    if len(found.cells) == 1:
        return found.cells[0]
    if len(found.cells) != 2:
        return None
    high, low = found.cells
    if high.value is None or low.value is None:
        return None
    return Cell(high.value << 32 | low.value, f"{high.words} {low.words}", high.line, high.group)
