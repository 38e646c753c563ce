"""Regions of a model that gain when channels lie last: the exact optimum over the whole graph, turning included.

Each step has a cost in NCHW and one in the other layout; where a tensor is made in one and read in the other, it is
turned once. The cheapest choice for all steps together is a least cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.numerics.laid_out import is_flat
from metainfer_core.numerics.layouts import Layout
from metainfer_core.numerics.lowering.blocked import MOST_TAPS
from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.numerics.vector_steps import sizes_of, steps_in_blocks, steps_in_nchw, steps_of_turning

CONVOLUTIONS = {
    "conv2d_int8": "int8", "conv2d_rows_int8": "int8", "depthwise_conv2d_int8": "int8",
    "conv2d_float32": "float32", "conv2d_rows_float32": "float32", "depthwise_conv2d_float32": "float32",
}  # fmt: skip
"""Kernels that have a twin on blocks of channels, with the type that they compute in."""
POOLS = ("max_pool_int8", "max_pool_float32", "average_pool_int8", "mean_int8")
POOLING = ("MaxPool", "AveragePool", "GlobalAveragePool")


@dataclass(frozen=True)
class Choice:
    """A step that can be computed in the other layout."""

    node: str
    in_nchw: float
    in_blocks: float
    inputs: tuple[str, ...]
    """Tensors that lie in the layout of the step."""
    output: str


@dataclass(frozen=True)
class Region:
    """Neighbouring nodes that are computed in one layout."""

    nodes: tuple[str, ...]
    before: float
    """Steps in NCHW."""
    after: float
    """Steps in the layout, with those of `turning`."""
    turning: float
    tensors: int
    """How many tensors are turned at its border."""


def choices(model: ir.Model, program: Program, layout: Layout, unit: str, lanes: int) -> list[Choice]:
    """The steps of one unit that have a kernel for the layout, in order."""
    tensors = {tensor.name: tensor for tensor in program.tensors}
    operators = {str(node.name): node.op_type for node in model.graph}
    steps_of: dict[str, int] = {}
    for step in program.steps:
        for name in step.node_ids:
            steps_of[name] = steps_of.get(name, 0) + 1
    found = []
    for step in program.steps:
        node = step.node_ids[0] if step.node_ids else ""
        if step.unit == unit and node in operators and steps_of[node] == 1:
            choice = _choice(step, node, operators[node], tensors, layout, lanes)
            found += [choice] if choice is not None else []
    return found


def best_regions(program: Program, known: Sequence[Choice]) -> list[Region]:
    """The regions whose change of layout pays, each with what it takes; the cheapest choice for all steps together."""
    tensors = {tensor.name: tensor for tensor in program.tensors}
    by_output = {choice.output: index for index, choice in enumerate(known)}
    readers: dict[str, list[int]] = {}
    for index, choice in enumerate(known):
        for name in choice.inputs:
            readers.setdefault(name, []).append(index)
    elsewhere = _read_elsewhere(program, known)
    turned = _least_cut(known, by_output, readers, elsewhere, tensors)
    regions = []
    for members in _connected(turned, known):
        inside = set(members)
        before = sum(known[index].in_nchw for index in members)
        border = {name for index in members for name in known[index].inputs if by_output.get(name) not in inside}
        border |= {
            known[index].output
            for index in members
            if known[index].output in elsewhere or not inside.issuperset(readers.get(known[index].output, []))
        }
        turning = sum(_turning(tensors[name]) for name in border)
        after = sum(known[index].in_blocks for index in members) + turning
        nodes = tuple(known[index].node for index in sorted(members))
        regions.append(Region(nodes, before, after, turning, sum(_turning(tensors[name]) > 0 for name in border)))
    return regions


def _choice(
    step: Step, node: str, op_type: str, tensors: Mapping[str, Tensor], layout: Layout, lanes: int
) -> Choice | None:
    names = [name for name in step.inputs if name and not tensors[name].constant]
    output = step.outputs[0]
    if not output:
        return None  # nobody reads its first result, as of an LSTM whose last state alone is used
    shape = tensors[output].shape
    if not names or any(layout.against(tensors[name].shape) for name in (names[0], output)):
        return None
    element = CONVOLUTIONS.get(step.kernel)
    if element is not None:
        p = step.params
        is_depthwise = step.kernel.startswith("depthwise")
        if p["groups"] > 1 and not (is_depthwise and p["filters"] == 1):
            return None
        if is_depthwise and p["kernel_height"] * p["kernel_width"] > MOST_TAPS:
            return None
        sizes = sizes_of(p, element)
        after = steps_in_blocks(sizes, lanes, layout.block_of(shape[1]))
        return Choice(node, steps_in_nchw(sizes, lanes), after, (names[0],), output)
    if step.kernel in POOLS and op_type in POOLING:
        whole = step.params.get("kernel_height", 1) * step.params.get("kernel_width", step.params.get("columns", 1))
        return None if whole > MOST_TAPS else Choice(node, 0.0, 0.0, (names[0],), output)
    moving = tuple(name for name in names if tensors[name].shape == shape)
    if is_flat(step, tensors) and op_type not in ("QuantizeLinear", "DequantizeLinear") and moving:
        return Choice(node, 0.0, 0.0, moving, output)
    return None


def _read_elsewhere(program: Program, known: Sequence[Choice]) -> set[str]:
    """Tensors that the model gives, or that steps read which stay in NCHW."""
    nodes = {choice.node for choice in known}
    read = {name for step in program.steps if not nodes & set(step.node_ids) for name in step.inputs}
    return read | set(program.outputs)


def _turning(tensor: Tensor) -> float:
    spread = 1
    for extent in tensor.shape[2:]:
        spread *= extent
    return 0.0 if spread == 1 else steps_of_turning(tensor.shape[0] * tensor.shape[1] * spread)


def _least_cut(
    known: Sequence[Choice],
    by_output: Mapping[str, int],
    readers: Mapping[str, Sequence[int]],
    elsewhere: set[str],
    tensors: Mapping[str, Tensor],
) -> set[int]:
    """Indices of the steps that change their layout: the side of the sink."""
    network = _Network(len(known) + 2)
    source, sink = len(known), len(known) + 1
    for index, choice in enumerate(known):
        network.join(source, index, choice.in_blocks)
        network.join(index, sink, choice.in_nchw)
    for name in sorted({*readers, *by_output}):
        cost, maker, reading = _turning(tensors[name]), by_output.get(name, source), readers.get(name, ())
        if reading:  # made in NCHW, read by one that is not
            gate = network.node()
            network.join(maker, gate, cost)
            for index in reading:
                network.join(gate, index, float("inf"))
        if maker != source:  # not made in NCHW, read by one that is
            gate = network.node()
            network.join(gate, maker, cost)
            for index in (*reading, *((source,) if name in elsewhere else ())):
                network.join(index, gate, float("inf"))
    kept = network.side_of(source, sink)
    return {index for index in range(len(known)) if index not in kept}


class _Network:
    """Edges with capacities; the greatest flow by shortest augmenting paths, level by level (Dinic)."""

    def __init__(self, nodes: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(nodes)]
        self._ends: list[int] = []
        self._room: list[float] = []

    def node(self) -> int:
        """A new node."""
        self._edges.append([])
        return len(self._edges) - 1

    def join(self, start: int, end: int, capacity: float) -> None:
        """An edge, and its way back."""
        for here, there, room in ((start, end, capacity), (end, start, 0.0)):
            self._edges[here].append(len(self._ends))
            self._ends.append(there)
            self._room.append(room)

    def side_of(self, source: int, sink: int) -> set[int]:
        """The nodes on the source's side of a least cut: those that the greatest flow leaves reachable."""
        while True:
            levels = self._levels(source)
            if sink not in levels:
                return set(levels)
            tried = [0] * len(self._edges)
            while self._augment(source, sink, levels, tried):
                pass

    def _levels(self, source: int) -> dict[int, int]:
        levels, waiting = {source: 0}, deque([source])
        while waiting:
            here = waiting.popleft()
            for edge in self._edges[here]:
                there = self._ends[edge]
                if self._room[edge] > 0 and there not in levels:
                    levels[there] = levels[here] + 1
                    waiting.append(there)
        return levels

    def _augment(self, source: int, sink: int, levels: Mapping[int, int], tried: list[int]) -> bool:
        """Sends what one path can take, edge by edge without recursion; False where no path is left."""
        path: list[int] = []
        here = source
        while here != sink:
            edges = self._edges[here]
            while tried[here] < len(edges):
                edge = edges[tried[here]]
                there = self._ends[edge]
                if self._room[edge] > 0 and levels.get(there) == levels[here] + 1:
                    break
                tried[here] += 1
            else:
                if not path:
                    return False
                here = self._ends[path.pop() ^ 1]
                tried[here] += 1
                continue
            path.append(edges[tried[here]])
            here = self._ends[path[-1]]
        least = min(self._room[edge] for edge in path)
        for edge in path:
            self._room[edge] -= least
            self._room[edge ^ 1] += least
        return True


def _connected(turned: set[int], known: Sequence[Choice]) -> list[list[int]]:
    """The turned steps in groups that share tensors."""
    near: dict[int, set[int]] = {index: set() for index in turned}
    shared: dict[str, list[int]] = {}
    for index in turned:
        for name in (*known[index].inputs, known[index].output):
            shared.setdefault(name, []).append(index)
    for together in shared.values():
        for index in together:
            near[index].update(together)
    groups, seen = [], set[int]()
    for index in sorted(turned):
        if index in seen:
            continue
        group, waiting = {index}, [index]
        while waiting:
            fresh = near[waiting.pop()] - group
            group |= fresh
            waiting += fresh
        seen |= group
        groups.append(sorted(group))
    return groups
