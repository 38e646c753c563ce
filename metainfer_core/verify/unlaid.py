"""A realised graph as if every tensor lay in NCHW: what it computes, whatever the order of the axes in memory."""

from __future__ import annotations

from metainfer_core.numerics.layouts import Layout, layout_of
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor

TURN = "relayout"
"""What the names of kernels begin with that only turn a tensor from one layout into another."""


def unlaid(realised: RealisedGraph) -> RealisedGraph:
    """Without the steps that turn tensors; the forms of one tensor in several layouts are one tensor."""
    plain = {tensor.name: plain_name(tensor.name) for tensor in realised.tensors}
    if all(name == own for name, own in plain.items()):
        return realised
    tensors = {plain[tensor.name]: _in_nchw(tensor) for tensor in realised.tensors}
    steps = []
    for step in realised.steps:
        inputs, outputs = (tuple(plain.get(name, name) for name in side) for side in (step.inputs, step.outputs))
        turns = step.kernel.startswith(TURN) or step.kernel == "view"
        if not (turns and inputs == outputs):
            steps.append(RealisedStep(**{**step.__dict__, "inputs": inputs, "outputs": outputs}))
    return RealisedGraph(**{**realised.__dict__, "steps": tuple(steps), "tensors": tuple(tensors.values())})


def layout_in(name: str) -> Layout | None:
    """The layout that a tensor of the program lies in, as its name tells; None: NCHW."""
    return layout_of(name.rstrip("_").rpartition(".")[2])


def plain_name(name: str) -> str:
    """The name of the tensor in NCHW."""
    return name if layout_in(name) is None else name.rpartition(".")[0]


def _in_nchw(tensor: RealisedTensor) -> RealisedTensor:
    layout, shape = layout_in(tensor.name), tensor.shape
    if layout is None:
        return tensor
    space = shape[1:-1] if layout.block is None else shape[2:-1]
    channels = shape[-1] if layout.block is None else shape[1] * shape[-1]
    whole = (shape[0], channels, *space)
    return RealisedTensor(**{**tensor.__dict__, "name": plain_name(tensor.name), "shape": whole})
