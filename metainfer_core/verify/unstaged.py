"""A realised graph as if every step worked on whole tensors where they live: without transfers, copies and tiles.

What the model computes can be compared with what was approved in this form, however the data got to the units.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep


def uncopied(graph: RealisedGraph) -> RealisedGraph:
    """The same graph without transfers, each step on the tensors that its operands are copies of; tiles stay apart."""
    whole = wholes(graph.steps)
    steps = tuple(_renamed(step, whole) for step in graph.steps if step.moved is None)
    kept = tuple(tensor for tensor in graph.tensors if whole.get(tensor.name, tensor.name) == tensor.name)
    return RealisedGraph(**{**graph.__dict__, "steps": steps, "tensors": kept})


def unstaged(graph: RealisedGraph) -> RealisedGraph:
    """The same graph without transfers: a copy is the tensor that it copies, the tiles of one call are one step."""
    if not any(step.moved is not None for step in graph.steps):
        return graph
    apart = uncopied(graph)
    constant = {tensor.name for tensor in apart.tensors if tensor.is_constant}
    steps: list[RealisedStep] = []
    for step in apart.steps:
        if not steps or not _is_tile_of(step, steps[-1], constant):
            steps.append(step)
    return RealisedGraph(**{**apart.__dict__, "steps": tuple(steps)})


def wholes(steps: Iterable[RealisedStep]) -> Mapping[str, str]:
    """Each tensor that transfers touch, with the tensor of the model that it is, or is a copy of a part of.

    All that transfers connect is one tensor; a copy's name begins with that of the tensor, so the shortest name is it.
    """
    group: dict[str, set[str]] = {}
    for step in steps:
        if step.moved is not None:
            joined = group.get(step.inputs[0], {step.inputs[0]}) | group.get(step.outputs[0], {step.outputs[0]})
            group.update(dict.fromkeys(joined, joined))
    return {name: min(names, key=lambda one: (len(one), one)) for name, names in group.items()}


def _renamed(step: RealisedStep, whole: Mapping[str, str]) -> RealisedStep:
    inputs, outputs = (tuple(whole.get(name, name) for name in names) for names in (step.inputs, step.outputs))
    return RealisedStep(**{**step.__dict__, "inputs": inputs, "outputs": outputs})


def _is_tile_of(step: RealisedStep, before: RealisedStep, constant: Collection[str]) -> bool:
    """Whether both are parts of one call: tiles have constants of their own, and all else in common."""
    moving, others = (tuple(name for name in one.inputs if name not in constant) for one in (step, before))
    alike = (step.kernel, step.node_ids, moving, step.outputs, step.unit)
    return step.kernel != "view" and alike == (before.kernel, before.node_ids, others, before.outputs, before.unit)
