"""When each tensor of a graph is alive, and the memory that no plan can go below."""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.shapes import describe, size_bytes
from metainfer_core.values import Value


class LiveRange(Value):
    """One tensor between the node that makes it and the last node that reads it; constants have none."""

    name: str
    size_bytes: int
    start: int
    """Index of the node that makes it; 0 for an input of the graph."""
    end: int
    """One past the index of the last node that reads it; one past the last node for an output of the graph."""


def live_ranges(model: ir.Model) -> tuple[LiveRange, ...]:
    """The live range of every input, intermediate and output tensor, in the order in which they come to life.

    Raises:
        UnsupportedError: A shape is not known; preprocess the model first.
    """
    nodes = list(model.graph)
    position = {node: index for index, node in enumerate(nodes)}
    born = [(0, value) for value in model.graph.inputs]
    born += [(index, value) for index, node in enumerate(nodes) for value in node.outputs if value.name]
    ranges = []
    for start, value in born:
        size = size_bytes(value)
        if size is None:
            raise UnsupportedError(
                f"The tensor {value.name!r} has the type {describe(value)}.",
                "Its size must be known.",
                "Preprocess the model with fixed input shapes first.",
            )
        readers = [position[use.node] + 1 for use in value.uses() if use.node in position]
        end = max([start + 1, *readers, *([len(nodes)] if value.is_graph_output() else [])])
        ranges.append(LiveRange(name=value.name or "", size_bytes=size, start=start, end=end))
    return tuple(ranges)


def live_bytes(ranges: tuple[LiveRange, ...]) -> tuple[int, ...]:
    """Bytes alive while each node runs, in order."""
    steps = max((each.end for each in ranges), default=0)
    change = [0] * (steps + 1)
    for each in ranges:
        change[each.start] += each.size_bytes
        change[each.end] -= each.size_bytes
    alive, total = [], 0
    for step in range(steps):
        total += change[step]
        alive.append(total)
    return tuple(alive)


def memory_lower_bound(model: ir.Model) -> int:
    """Bytes that any memory plan for this order of nodes needs at least, when tensors neither move nor share."""
    return max(live_bytes(live_ranges(model)), default=0)
