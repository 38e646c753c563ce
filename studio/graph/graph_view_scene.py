"""Which boxes of a grouped graph are seen, and where: open groups as frames around their own layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from metainfer_core.graph.groups import Group, GroupTree, Links, ancestors, key, links
from studio.graph.graph_view_layout import Point, Size, lay_out

MOST_BOXES = 200
NODE_SIZE, GROUP_SIZE = (172.0, 46.0), (196.0, 62.0)
PAD, HEAD, STUB = 16.0, 30.0, 12.0
MOST_OPERATORS = 3


@dataclass(frozen=True)
class Unfolded:
    """What a window shows of a tree."""

    root: str = ""
    """Group that fills the picture."""
    open: tuple[str, ...] = ("",)
    """Open groups, the one that was opened last at the end; those around an open group are open."""


@dataclass(frozen=True)
class Box:
    """A node, a closed group, or the frame of an open one, in pixels."""

    key: str
    kind: Literal["node", "group", "frame"]
    x: float
    y: float
    width: float
    height: float
    depth: int
    name: str
    operators: str
    """A node's operator, or what a group has most of."""
    nodes: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class Wire:
    """An edge between two boxes of one group; a stub where one end lies outside of it."""

    points: tuple[Point, ...]
    tensors: int = 1
    is_stub: bool = False


@dataclass(frozen=True)
class Scene:
    """All that is seen."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]


def opened(tree: GroupTree, view: Unfolded, group_id: str) -> Unfolded:
    """With one more group open; others close, the longest open first, where there would be too many boxes."""
    path = ancestors(group_id)
    root = view.root if view.root in path else ""
    open_now = [*(each for each in view.open if each not in path), *path]
    for oldest in tuple(open_now):
        if count(tree, root, open_now) <= MOST_BOXES:
            break
        if oldest not in path:
            open_now = [each for each in open_now if oldest not in ancestors(each)]
    deeper = path[path.index(root) :]
    root = next((each for each in deeper if count(tree, each, open_now) <= MOST_BOXES), group_id)
    return Unfolded(root, tuple(open_now))


def closed(view: Unfolded, group_id: str) -> Unfolded:
    """With a group, and all in it, closed; the whole graph stays open."""
    if group_id == "":
        return Unfolded()
    root = ancestors(group_id)[-2] if group_id in ancestors(view.root) else view.root
    open_now = tuple(each for each in view.open if group_id not in ancestors(each))
    return Unfolded(root, (*open_now, *(each for each in ancestors(root) if each not in open_now)))


def filled_by(tree: GroupTree, view: Unfolded, group_id: str) -> Unfolded:
    """With one group filling the picture."""
    return opened(tree, Unfolded(group_id, view.open), group_id)


def count(tree: GroupTree, root: str, open_now: Collection[str]) -> int:
    """Boxes that would be seen."""
    shown = set(open_now) | {root}

    def boxes(group: Group) -> int:
        return 1 + sum(
            boxes(child) if isinstance(child, Group) and child.id in shown else 1 for child in group.children
        )

    return boxes(tree.groups[root])


def scene(tree: GroupTree, view: Unfolded) -> Scene:
    """The boxes and edges of a view."""
    inside = _inside(tree, tree.groups[view.root], frozenset(view.open), 1)
    return Scene(inside.width, inside.height, inside.boxes, inside.wires)


def _inside(tree: GroupTree, group: Group, open_now: frozenset[str], depth: int) -> Scene:
    """The contents of an open group, from its own top left corner."""
    joined = links(tree, group)
    frames = {
        key(child): _inside(tree, child, open_now, depth + 1)
        for child in group.children
        if isinstance(child, Group) and child.id in open_now
    }
    sizes = {key(child): _size(child, frames) for child in group.children}
    layout = lay_out(sizes, tuple(joined.within))
    boxes: list[Box] = []
    wires = [Wire(points, joined.within[edge]) for edge, points in layout.ways.items()]
    wires += _stubs(joined, layout.places, sizes)
    for child in group.children:
        box = _box(tree, child, layout.places[key(child)], sizes[key(child)], depth, key(child) in frames)
        boxes.append(box)
        inner = frames.get(box.key)
        if inner is not None:
            boxes += (_moved(each, box.x + PAD, box.y + HEAD + PAD) for each in inner.boxes)
            wires += (_moved_wire(each, box.x + PAD, box.y + HEAD + PAD) for each in inner.wires)
    return Scene(layout.width, layout.height, tuple(boxes), tuple(wires))


def _size(child: Group | int, frames: Mapping[str, Scene]) -> Size:
    inner = frames.get(key(child))
    if inner is None:
        return NODE_SIZE if isinstance(child, int) else GROUP_SIZE
    return max(inner.width + 2 * PAD, GROUP_SIZE[0]), inner.height + HEAD + 2 * PAD


def _box(tree: GroupTree, child: Group | int, place: Point, size: Size, depth: int, is_open: bool) -> Box:
    if isinstance(child, int):
        node = tree.nodes[child]
        return Box(key(child), "node", *place, *size, depth, node.id, node.op_type, (child,))
    counts = Counter(tree.nodes[node].op_type for node in child.nodes)
    words = ", ".join(f"{operator} {number}" for operator, number in counts.most_common(MOST_OPERATORS))
    kind: Literal["frame", "group"] = "frame" if is_open else "group"
    return Box(key(child), kind, *place, *size, depth, child.name, words, child.nodes)


def _stubs(joined: Links, places: Mapping[str, Point], sizes: Mapping[str, Size]) -> Iterator[Wire]:
    """Short ends of the edges that lead out of the group."""
    for each, (x, y) in places.items():
        middle, foot = x + sizes[each][0] / 2, y + sizes[each][1]
        if each in joined.enters:
            yield Wire(((middle, y - STUB), (middle, y)), is_stub=True)
        if each in joined.leaves:
            yield Wire(((middle, foot), (middle, foot + STUB)), is_stub=True)


def _moved(box: Box, x: float, y: float) -> Box:
    return Box(
        box.key, box.kind, box.x + x, box.y + y, box.width, box.height, box.depth, box.name, box.operators, box.nodes
    )


def _moved_wire(wire: Wire, x: float, y: float) -> Wire:
    return Wire(tuple((at_x + x, at_y + y) for at_x, at_y in wire.points), wire.tensors, wire.is_stub)
