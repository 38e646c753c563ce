"""Places for boxes and ways for edges, in layers from top to bottom, after Sugiyama et al. (1981).

Each box stands below all that feed it; edges that pass a layer have a lane there; within a layer, boxes are ordered by
where their neighbours are, and then moved as close to these as the order allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP_X, GAP_Y, LANE = 18.0, 30.0, 10.0
SWEEPS = 4
Point = tuple[float, float]
Size = tuple[float, float]
Edge = tuple[str, str]


@dataclass(frozen=True)
class Layout:
    """Where everything is, in pixels from the top left corner."""

    width: float
    height: float
    places: Mapping[str, Point]
    """Top left corner of each box."""
    ways: Mapping[Edge, tuple[Point, ...]]
    """From the foot of the producer to the head of the reader."""


def lay_out(sizes: Mapping[str, Size], edges: Sequence[Edge]) -> Layout:
    """A layout of boxes and the edges between them, which form no cycle; the order of `sizes` settles ties.

    Args:
        sizes: Box to its width and height, each after those that feed it.
        edges: Producer and reader of each.
    """
    level = _levels(sizes, edges)
    lanes = _lanes(level, edges)
    rows = _rows(sizes, level, lanes)
    near = _neighbours(edges, level, lanes)
    rows = _ordered(rows, near)
    width_of = {name: sizes[name][0] if name in sizes else LANE for row in rows for name in row}
    centre = _centres(rows, near, width_of)
    left = min((centre[name] - width_of[name] / 2 for row in rows for name in row), default=0.0)
    places: dict[str, Point] = {}
    tops: list[tuple[float, float]] = []
    y = 0.0
    for row in rows:
        height = max((sizes[name][1] for name in row if name in sizes), default=0.0)
        for name in row:
            if name in sizes:
                places[name] = (centre[name] - width_of[name] / 2 - left, y)
        tops.append((y, y + height))
        y += height + GAP_Y
    ways = {
        edge: _way(edge, sizes, places, level, tops, {name: at - left for name, at in centre.items()}) for edge in edges
    }
    right = max((centre[name] + width_of[name] / 2 - left for row in rows for name in row), default=0.0)
    return Layout(right, max(0.0, y - GAP_Y), places, ways)


def _levels(sizes: Mapping[str, Size], edges: Sequence[Edge]) -> dict[str, int]:
    """Each box one below the lowest that feeds it; those that nothing feeds right above their first reader."""
    before: dict[str, list[str]] = {name: [] for name in sizes}
    after: dict[str, list[str]] = {name: [] for name in sizes}
    for producer, reader in edges:
        before[reader].append(producer)
        after[producer].append(reader)
    level: dict[str, int] = {}
    for name in sizes:
        level[name] = 1 + max((level[each] for each in before[name]), default=-1)
    for name in reversed(list(sizes)):
        if not before[name] and after[name]:
            level[name] = min(level[each] for each in after[name]) - 1
    return level


def _lane(producer: str, level: int) -> str:
    return f"{producer}\n{level}"  # no box is called so: keys have no line break


def _lanes(level: Mapping[str, int], edges: Sequence[Edge]) -> dict[str, int]:
    """A lane for each box's output in every layer that it passes: all its long edges share it."""
    last: dict[str, int] = {}
    for producer, reader in edges:
        last[producer] = max(last.get(producer, 0), level[reader])
    return {_lane(producer, at): at for producer, end in last.items() for at in range(level[producer] + 1, end)}


def _rows(sizes: Mapping[str, Size], level: Mapping[str, int], lanes: Mapping[str, int]) -> list[list[str]]:
    rows: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for name in sizes:
        rows[level[name]].append(name)
    for name, at in lanes.items():
        rows[at].append(name)
    return rows


def _neighbours(
    edges: Sequence[Edge], level: Mapping[str, int], lanes: Mapping[str, int]
) -> dict[str, tuple[list[str], list[str]]]:
    """What each box or lane is joined to in the layer above, and in the one below."""
    near: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name in (*level, *lanes)}
    links: dict[tuple[str, str], None] = {}
    for producer, reader in edges:
        chain = [producer, *(_lane(producer, at) for at in range(level[producer] + 1, level[reader])), reader]
        links |= dict.fromkeys(pairwise(chain))
    for upper, lower in links:
        near[upper][1].append(lower)
        near[lower][0].append(upper)
    return near


def _ordered(rows: list[list[str]], near: Mapping[str, tuple[list[str], list[str]]]) -> list[list[str]]:
    """The rows in the order, of those that were tried, in which the fewest edges cross."""
    best, fewest = rows, _crossings(rows, near)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        rows = [[*row] for row in rows]
        down = sweep % 2 == 0
        for index in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            other = {name: at for at, name in enumerate(rows[index - 1 if down else index + 1])}
            here = {name: at for at, name in enumerate(rows[index])}
            mean = {name: _mean([other[each] for each in near[name][0 if down else 1]], here[name]) for name in here}
            rows[index].sort(key=mean.__getitem__)
        crossings = _crossings(rows, near)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(rows: Sequence[Sequence[str]], near: Mapping[str, tuple[list[str], list[str]]]) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        at = {name: index for index, name in enumerate(lower)}
        ends = [end for name in upper for end in sorted(at[each] for each in near[name][1])]
        count += sum(later < end for index, end in enumerate(ends) for later in ends[index + 1 :])
    return count


def _centres(
    rows: Sequence[Sequence[str]], near: Mapping[str, tuple[list[str], list[str]]], width_of: Mapping[str, float]
) -> dict[str, float]:
    """Where the middle of each box and lane is from left to right."""
    centre: dict[str, float] = {}
    for row in rows:
        x = 0.0
        for name in row:
            centre[name] = x + width_of[name] / 2
            x += width_of[name] + GAP_X
        middle = (x - GAP_X) / 2
        for name in row:
            centre[name] -= middle
    for sweep in range(2 * SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_mean([centre[each] for each in (*near[name][0], *near[name][1])], centre[name]) for name in row]
            apart = [0.0]
            for one, other in pairwise(row):
                apart.append(apart[-1] + (width_of[one] + width_of[other]) / 2 + GAP_X)
            for name, at in zip(row, _in_order(wanted, apart), strict=True):
                centre[name] = at
    return centre


def _in_order(wanted: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Places as near to the wanted ones as can be (least squares) with the gaps kept: pools of adjacent violators."""
    pools: list[tuple[float, int]] = []
    for want, gap in zip(wanted, apart, strict=True):
        mean, count = want - gap, 1
        while pools and pools[-1][0] >= mean:
            other, others = pools.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        pools.append((mean, count))
    shifts = [mean for mean, count in pools for _ in range(count)]
    return [shift + gap for shift, gap in zip(shifts, apart, strict=True)]


def _way(
    edge: Edge,
    sizes: Mapping[str, Size],
    places: Mapping[str, Point],
    level: Mapping[str, int],
    tops: Sequence[tuple[float, float]],
    centre: Mapping[str, float],
) -> tuple[Point, ...]:
    producer, reader = edge
    points = [(centre[producer], places[producer][1] + sizes[producer][1])]
    for at in range(level[producer] + 1, level[reader]):
        lane = centre[_lane(producer, at)]
        points += [(lane, tops[at][0]), (lane, tops[at][1])]
    points.append((centre[reader], places[reader][1]))
    return tuple(points)
