"""The neighbourhood of nodes in a graph as a small picture: what feeds them above, what they feed below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.graph.summary import NodeSummary

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 172, 44, 12, 30
MOST_NODES = 24
MOST_IN_A_ROW = 4
LETTERS = 25


@dataclass(frozen=True)
class Box:
    """One node, in pixels."""

    id: str
    x: float
    y: float
    operator: str
    label: str
    title: str
    is_centre: bool


@dataclass(frozen=True)
class Drawing:
    """All that the template draws."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[tuple[float, float, float, float], ...]
    """From x, y to x, y."""
    hidden: int
    """Neighbours that found no room."""


def neighbourhood(nodes: Iterable[NodeSummary], centre: Collection[str], hops: int = 2) -> Drawing | None:
    """The nodes in `centre` with what lies within `hops` edges of them; None where the graph has none of them."""
    known = {node.id: node for node in nodes}
    middle = [each for each in centre if each in known]
    if not middle:
        return None
    near = _near(known, middle, hops)
    nearest = set(near[:MOST_NODES])
    shown = [each for each in known if each in nearest]  # in the order of execution
    rows = _rows(shown, known)
    width = max(len(row) for row in rows) * (BOX_WIDTH + GAP_X) - GAP_X
    places: dict[str, tuple[float, float]] = {}
    for index, row in enumerate(rows):
        left = (width - len(row) * (BOX_WIDTH + GAP_X) + GAP_X) / 2
        for column, each in enumerate(row):
            places[each] = left + column * (BOX_WIDTH + GAP_X), index * (BOX_HEIGHT + GAP_Y)
    return Drawing(
        width=width,
        height=len(rows) * (BOX_HEIGHT + GAP_Y) - GAP_Y,
        boxes=tuple(_box(known[each], places[each], each in middle) for each in shown),
        edges=tuple(
            _edge(places[producer], places[each])
            for each in shown
            for producer in known[each].reads
            if producer in places
        ),
        hidden=max(0, len(near) - MOST_NODES),
    )


def readers_of(nodes: Iterable[NodeSummary]) -> dict[str, list[str]]:
    """Node to the nodes that read its outputs, in the order of execution."""
    readers: dict[str, list[str]] = {}
    for node in nodes:
        for producer in node.reads:
            readers.setdefault(producer, []).append(node.id)
    return readers


def _near(known: Mapping[str, NodeSummary], middle: Sequence[str], hops: int) -> list[str]:
    """The centre, then what lies one edge away, and so on; above and below apart, so that cousins stay out."""
    readers = readers_of(known.values())
    found = dict.fromkeys(middle)
    above, below = list(middle), list(middle)
    for _ in range(hops):
        above = [producer for each in above for producer in known[each].reads if producer in known]
        below = [reader for each in below for reader in readers.get(each, ())]
        found |= dict.fromkeys((*above, *below))
    return list(found)


def _rows(shown: Sequence[str], known: Mapping[str, NodeSummary]) -> list[list[str]]:
    """Each node below all that feed it, and right above its first reader where nothing feeds it."""
    level: dict[str, int] = {}
    for each in shown:
        level[each] = 1 + max((level[producer] for producer in known[each].reads if producer in level), default=-1)
    readers = readers_of(known[each] for each in shown)
    for each in reversed(shown):
        below = [level[reader] for reader in readers.get(each, ()) if reader in level]
        if below and not any(producer in level for producer in known[each].reads):
            level[each] = min(below) - 1
    rows: list[list[str]] = []
    for number in sorted(set(level.values())):
        row = [each for each in shown if level[each] == number]
        rows += [row[start : start + MOST_IN_A_ROW] for start in range(0, len(row), MOST_IN_A_ROW)]
    return rows


def _box(node: NodeSummary, place: tuple[float, float], is_centre: bool) -> Box:
    shapes = "; ".join("×".join(map(str, shape)) for shape in node.output_shapes)
    head = node.id if len(node.id) <= LETTERS else f"…{node.id[1 - LETTERS :]}"
    return Box(
        node.id, *place, node.op_type, head, f"{node.id}: {node.op_type}, {node.element_type} {shapes}", is_centre
    )


def _edge(producer: tuple[float, float], reader: tuple[float, float]) -> tuple[float, float, float, float]:
    half = BOX_WIDTH / 2
    return producer[0] + half, producer[1] + BOX_HEIGHT, reader[0] + half, reader[1]
