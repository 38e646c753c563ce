"""Nested groups of a graph's nodes, so that a picture of any graph holds few boxes at a time.

Where names say which module a node belongs to (`/encoder/layer.0/attention/MatMul`), modules are the groups. Elsewhere
the wiring is: blocks between the places that all paths go through, and the branches inside of a block. What is still
too much is cut along a topological order. Whatever the rule, the groups in one picture never form a cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import groupby, pairwise

from metainfer_core.graph.node_wiring import Wiring
from metainfer_core.graph.summary import NodeSummary

MOST_CHILDREN = 24
"""Boxes that one group shows when it is opened."""
SMALLEST_GROUP = 3
"""Fewer nodes are shown as they are: opening them would be a click for nothing."""
DEEPEST = 12
"""From this depth on, groups are cut by order alone: no graph makes the tree deep."""


@dataclass(frozen=True)
class Group:
    """Some nodes of a graph, and how they are divided further."""

    id: str
    """Its place in the tree, such as `2.0.5`; empty for the whole graph."""
    name: str
    """A module's name, or the operators it begins and ends with."""
    nodes: tuple[int, ...] = field(repr=False)
    """Positions of all its nodes, in a topological order."""
    children: tuple[Group | int, ...] = field(repr=False)
    """Groups and single nodes, in that order."""


@dataclass(frozen=True)
class GroupTree:
    """A graph and its groups."""

    nodes: tuple[NodeSummary, ...] = field(repr=False)
    reads: tuple[tuple[int, ...], ...] = field(repr=False)
    """Of each node, the positions of the nodes that it reads."""
    readers: tuple[tuple[int, ...], ...] = field(repr=False)
    root: Group = field(repr=False)
    groups: Mapping[str, Group] = field(repr=False)
    """Every group by its id."""
    home: Mapping[str, str] = field(repr=False)
    """Node id to the id of the innermost group that holds it."""
    position: Mapping[str, int] = field(repr=False)
    """Node id to its position."""


@dataclass(frozen=True)
class Links:
    """How the children of one group are joined, each named by its `key`."""

    within: Mapping[tuple[str, str], int] = field(repr=False)
    """Producer and reader to the nodes whose outputs go from the one to the other."""
    enters: frozenset[str]
    """Those that read something from outside the group."""
    leaves: frozenset[str]
    """Those that something outside the group reads."""


@dataclass(frozen=True)
class Part:
    """A set of nodes that shall become one child."""

    nodes: tuple[int, ...]
    name: str = ""


def group_nodes(nodes: Sequence[NodeSummary]) -> GroupTree:
    """The groups of a graph, the same for the same nodes on every machine."""
    wiring = Wiring(nodes)
    paths = [module_path(node.id) for node in nodes]
    orders = (wiring.by_branches(), tuple(range(len(nodes))))
    order = min(orders, key=lambda each: sum(1 for _ in groupby(each, key=lambda at: paths[at])))
    root = _group("", "", order, 0, wiring, paths)
    groups: dict[str, Group] = {}
    home: dict[str, str] = {}
    stack = [root]
    while stack:
        group = stack.pop()
        groups[group.id] = group
        for child in group.children:
            if isinstance(child, Group):
                stack.append(child)
            else:
                home[nodes[child].id] = group.id
    return GroupTree(tuple(nodes), wiring.reads, wiring.readers, root, groups, home, wiring.position)


def ancestors(group_id: str) -> tuple[str, ...]:
    """Ids of the groups around a group, the whole graph first, itself last."""
    parts = group_id.split(".") if group_id else []
    return ("", *(".".join(parts[: end + 1]) for end in range(len(parts))))


def key(child: Group | int) -> str:
    """A short name of a group or of the node at a position, which no other has."""
    return f"n{child}" if isinstance(child, int) else f"g{child.id}"


def links(tree: GroupTree, group: Group) -> Links:
    """The edges between a group's children, and those that lead in and out."""
    owner: dict[int, str] = {}
    for child in group.children:
        owner |= dict.fromkeys((child,) if isinstance(child, int) else child.nodes, key(child))
    pairs: set[tuple[int, str]] = set()
    enters: set[str] = set()
    leaves: set[str] = set()
    for node, mine in owner.items():
        for read in tree.reads[node]:
            theirs = owner.get(read)
            if theirs is None:
                enters.add(mine)
            elif theirs != mine:
                pairs.add((read, mine))
        if any(reader not in owner for reader in tree.readers[node]):
            leaves.add(mine)
    within = Counter((owner[producer], reader) for producer, reader in sorted(pairs))
    return Links(dict(within), frozenset(enters), frozenset(leaves))


def module_path(node_id: str) -> tuple[str, ...]:
    """The modules that a node's name speaks of, outermost first; fused names speak by their first part."""
    return tuple(part for part in node_id.partition(";")[0].split("/") if part)[:-1]


def _group(
    group_id: str, name: str, nodes: tuple[int, ...], depth: int, wiring: Wiring, paths: Sequence[tuple[str, ...]]
) -> Group:
    parts = _divided(nodes, depth, wiring, paths)
    if len(parts) > MOST_CHILDREN:
        parts = _bundled(parts, wiring)
    children: list[Group | int] = []
    for part in parts:
        if (len(part.nodes) < SMALLEST_GROUP and len(parts) < MOST_CHILDREN - SMALLEST_GROUP) or len(part.nodes) == 1:
            children += part.nodes
            continue
        child_id = f"{group_id}.{len(children)}" if group_id else str(len(children))
        children.append(_group(child_id, part.name or span(part, wiring), part.nodes, depth + 1, wiring, paths))
    return Group(group_id, name, nodes, tuple(children))


def _divided(nodes: tuple[int, ...], depth: int, wiring: Wiring, paths: Sequence[tuple[str, ...]]) -> Sequence[Part]:
    """What a group consists of, before it is made sure that it is not too much."""
    singles = [Part((node,)) for node in nodes]
    if len(nodes) <= MOST_CHILDREN or depth >= DEEPEST:
        return singles
    return _modules(nodes, paths) or _by_wiring(nodes, wiring) or singles


def _modules(nodes: tuple[int, ...], paths: Sequence[tuple[str, ...]]) -> list[Part]:
    """Runs of nodes of one module; empty where names tell too little to be worth it."""
    shared = _shared(paths, nodes)
    parts = []
    for key, run in groupby(nodes, key=lambda node: paths[node][: shared + 1]):
        members = tuple(run)
        if len(key) == shared:  # nodes of no module below this one
            parts += [Part((node,)) for node in members]
        else:
            parts.append(Part(members, "/".join(paths[members[0]][shared : _shared(paths, members)])))
    return parts if 1 < len(parts) <= len(nodes) / 2 else []


def _shared(paths: Sequence[tuple[str, ...]], nodes: Sequence[int]) -> int:
    """How many modules all these nodes are in."""
    first, last = min(paths[node] for node in nodes), max(paths[node] for node in nodes)
    pairs = zip(first, last, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))


def _by_wiring(nodes: tuple[int, ...], wiring: Wiring) -> list[Part]:
    """Separate parts, else blocks between places that all paths go through, else the branches before a join."""
    for found in (wiring.components(nodes), _blocks(wiring.cut(nodes, 1)), _before_join(nodes, wiring)):
        if len(found) > 1:
            return [Part(part) for part in found]
    return [Part(part) for part in _blocks(wiring.cut(nodes))]


def _before_join(nodes: tuple[int, ...], wiring: Wiring) -> list[tuple[int, ...]]:
    branches = wiring.components(nodes[:-1])
    return [*branches, nodes[-1:]] if len(branches) > 1 else []


def _blocks(pieces: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Pieces of a cut graph, each with the single nodes that follow it; the pieces where that makes one of all."""
    blocks: list[list[int]] = []
    for piece in pieces:
        if len(piece) == 1 and blocks:
            blocks[-1] += piece
        else:
            blocks.append([*piece])
    return [tuple(block) for block in blocks] if len(blocks) > 1 else list(pieces)


def _bundled(parts: Sequence[Part], wiring: Wiring) -> list[Part]:
    """Neighbouring parts put together until few are left, in as even a tree as there can be."""
    levels = next(level for level in count_from(1) if MOST_CHILDREN**level >= len(parts))
    count = next(number for number in count_from(2) if number**levels >= len(parts))
    edges = [round(index * len(parts) / count) for index in range(count + 1)]
    bundles = []
    for start, end in pairwise(edges):
        bundle = parts[start:end]
        names = [part.name for part in bundle if part.name]
        ends = [names[0], names[-1]] if names else []
        nodes = tuple(node for part in bundle for node in part.nodes)
        bundles.append(Part(nodes, " … ".join(dict.fromkeys(ends))) if ends else Part(nodes))
    return bundles


def span(part: Part, wiring: Wiring) -> str:
    """The operators that a part begins and ends with."""
    first, last = (wiring.operator(part.nodes[at]) for at in (0, -1))
    return f"{first} … {last}"
