"""Tiles and early transfers as they were approved, against those in the built program. It knows no staging.

Forward: what was approved is there. Backward: no step is cut, and no transfer runs ahead of another step, without an
approved action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.report import Difference
from metainfer_core.verify.unstaged import wholes


def not_tiled(action: Action, built: RealisedGraph) -> Iterator[Difference]:
    """The node is computed in tiles of the approved size, which together make all of its result."""
    node, size, axis = action.nodes[0], int(action.params["size"]), str(action.params["axis"])
    approved = f"tiles of {size} {axis}"
    steps = _computing(node, built)
    whole = wholes(built.steps)
    tensors = {tensor.name: tensor for tensor in built.tensors}
    if not steps:
        yield _difference(action, node, approved, "no step computes it")
        return
    results = {name: tensors[whole.get(name, name)] for step in steps for name in step.outputs[:1]}
    if len(steps) < 2:
        yield _difference(action, node, approved, "one step computes all of it")
        return
    counts = [_count(tensors[step.outputs[0]], results[step.outputs[0]], axis) for step in steps]
    wanted = [size] * (len(steps) - 1)
    if counts[:-1] != wanted or not 0 < counts[-1] <= size:
        yield _difference(action, node, approved, f"tiles of {', '.join(map(str, dict.fromkeys(counts)))} {axis}")
    made = sum(tensors[step.outputs[0]].size_bytes for step in steps)
    result = results[steps[0].outputs[0]]
    if made != result.size_bytes:
        yield _difference(action, node, f"all of {result.name}", f"{made:,} of {result.size_bytes:,} bytes")


def not_early(action: Action, built: RealisedGraph) -> Iterator[Difference]:
    """Some operand of the node is brought before the step that its unit computes before it."""
    node = action.nodes[0]
    if node not in _served_early(built):
        yield _difference(action, node, "given its operands while the step before computes", "kept waiting for them")


def unapproved_staging(actions: Sequence[Action], built: RealisedGraph) -> Iterator[Difference]:
    """No node is cut into tiles, and none has operands brought early, that no approved action names."""
    if not any(step.moved is not None for step in built.steps):
        return
    tiled = {node for action in actions if action.kind == "tile" for node in action.nodes}
    early = {node for action in actions if action.kind == "prefetch" for node in action.nodes}
    whole = wholes(built.steps)
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for step in built.steps:
        if step.moved is None and step.node_ids and step.kernel != "view":
            result = whole.get(step.outputs[0], step.outputs[0])
            key = (result, step.node_ids)
            seen[key] = seen.get(key, 0) + 1
    for (_, nodes), count in seen.items():
        if count > 1 and not tiled & set(nodes):
            yield Difference(node_id=nodes[0], approved="one step", realised=f"{count} tiles")
    for nodes in sorted({step.node_ids for step in built.steps if set(step.node_ids) & _served_early(built)}):
        if not early & set(nodes):
            yield Difference(node_id=nodes[0], approved="operands brought in turn", realised="they are brought early")


def _computing(node: str, built: RealisedGraph) -> list[RealisedStep]:
    """The steps that compute the node, without the conversions around it."""
    found = [step for step in built.steps if node in step.node_ids and step.moved is None and step.kernel != "view"]
    kernels = [step.kernel for step in found]
    main = max(dict.fromkeys(kernels), key=kernels.count, default="")
    return [step for step in found if step.kernel == main]


def _count(tile: RealisedTensor, result: RealisedTensor, axis: str) -> int:
    """Channels, rows or elements of one tile, from its share of the bytes of the whole result."""
    shape = result.shape
    if axis == "elements" or len(shape) < 2:
        return tile.shape[-1] if len(tile.shape) == 1 else _product(tile.shape)
    if len(tile.shape) < 3:
        return tile.shape[0 if axis == "rows" or len(tile.shape) == 1 else -1]
    return tile.shape[-2] if axis == "rows" else tile.shape[1]


def _product(shape: Sequence[int]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def _served_early(built: RealisedGraph) -> set[str]:
    """Nodes with an operand that was brought before a step that its unit computes first and that does not read it."""
    early: set[str] = set()
    waiting: dict[str, RealisedStep] = {}
    whole = wholes(built.steps)
    for step in built.steps:
        if step.moved is not None:
            if whole[step.outputs[0]] != step.outputs[0]:  # it brings a copy; else it takes a result away
                waiting[step.outputs[0]] = step
        elif step.kernel != "view":
            for name in step.inputs:
                waiting.pop(name, None)
            for transfer in waiting.values():
                if transfer.unit == step.unit:
                    early.update(transfer.node_ids)
    return early


def _difference(action: Action, node: str, approved: str, realised: str) -> Difference:
    return Difference(node_id=node, action=action.id, approved=approved, realised=realised)
