"""How the nodes of a graph are wired: orders, separate parts, and the places that all paths go through."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.graph.summary import NodeSummary


class Wiring:
    """Which node reads which, by position. Its methods change nothing."""

    def __init__(self, nodes: Sequence[NodeSummary]) -> None:
        self.position = at = {node.id: index for index, node in enumerate(nodes)}
        self._operators = tuple(node.op_type for node in nodes)
        self.reads = tuple(tuple(at[each] for each in node.reads if each in at) for node in nodes)
        readers: list[list[int]] = [[] for _ in nodes]
        for node, reads in enumerate(self.reads):
            for read in reads:
                readers[read].append(node)
        self.readers = tuple(map(tuple, readers))

    def operator(self, node: int) -> str:
        """The operator of a node."""
        return self._operators[node]

    def by_branches(self) -> tuple[int, ...]:
        """A topological order in which each branch is gone through to its join before the next one begins."""
        order: list[int] = []
        seen: set[int] = set()
        for sink in range(len(self.reads)):
            if self.readers[sink]:
                continue
            stack = [(sink, iter(self.reads[sink]))]
            seen.add(sink)
            while stack:
                node, rest = stack[-1]
                following = next((read for read in rest if read not in seen), None)
                if following is None:
                    order.append(node)
                    stack.pop()
                else:
                    seen.add(following)
                    stack.append((following, iter(self.reads[following])))
        return tuple(order)

    def components(self, nodes: Sequence[int]) -> list[tuple[int, ...]]:
        """The parts of a set that no edge within it connects, each in the given order."""
        leader = {node: node for node in nodes}

        def find(node: int) -> int:
            while leader[node] != node:
                leader[node] = leader[leader[node]]
                node = leader[node]
            return node

        for node in nodes:
            for read in self.reads[node]:
                if read in leader:
                    leader[find(read)] = find(node)
        parts: dict[int, list[int]] = {}
        for node in nodes:
            parts.setdefault(find(node), []).append(node)
        return [tuple(part) for part in parts.values()]

    def cut(self, nodes: Sequence[int], most: int | None = None) -> list[tuple[int, ...]]:
        """A set in topological order, cut wherever no more than `most` of its tensors are still to be read.

        Without `most`, it is cut where the fewest are. A node outside counts from its first reader in the set on.
        """
        start = {node: at for at, node in enumerate(nodes)}
        end: dict[int, int] = {}
        for at, node in enumerate(nodes):
            for read in self.reads[node]:
                start.setdefault(read, at)
                end[read] = at
        change = [0] * (len(nodes) + 1)
        for node, last in end.items():
            change[start[node]] += 1
            change[last] -= 1
        crossing, alive = [], 0
        for at in range(len(nodes) - 1):
            alive += change[at]
            crossing.append(alive)
        limit = min(crossing, default=0) if most is None else most
        pieces: list[list[int]] = [[]]
        for at, node in enumerate(nodes):
            pieces[-1].append(node)
            if at < len(crossing) and crossing[at] <= limit:
                pieces.append([])
        return [tuple(piece) for piece in pieces]
