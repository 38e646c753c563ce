"""Layers computed otherwise than in one piece: in parts or factors, with padded channels or an enlarged kernel."""

from __future__ import annotations

from collections.abc import Iterator

from metainfer_core.actions.action import Action
from metainfer_core.codegen.built import Built, difference
from metainfer_core.codegen.kernel_differences import has_kernel, weight_of
from metainfer_core.verify.report import Difference

LAYERS = ("conv2d", "depthwise_conv2d", "gemm", "matmul")
"""What the names of kernels of layers begin with."""


def padded_differently(action: Action, built: Built) -> Iterator[Difference]:
    """The layer that makes the channels makes as many as were approved."""
    node, padded = action.nodes[0], action.params["padded"]
    outputs = [built.tensors[name] for step in built.steps(node) for name in step.outputs if name]
    counts = sorted({tensor.shape[1] for tensor in outputs if len(tensor.shape) > 1})
    if padded not in counts:
        got = " or ".join(f"{count} channels" for count in counts) or "no step computes it"
        yield difference(action, node, f"{padded} channels", got)


def not_in_parts(action: Action, built: Built) -> Iterator[Difference]:
    """The convolution is computed by as many calls as it was cut into parts, each with the channels of its part."""
    node, channels = action.nodes[0], tuple(action.params["channels"])
    axis = 1 if action.params["axis"] == "input_channels" else 0
    parts = [step for step in built.steps(node) if "conv" in step.kernel]
    if len(parts) != len(channels):
        yield difference(action, node, f"{len(channels)} parts", f"{len(parts)} convolutions")
        return
    units = action.params.get("units", ())
    for step, unit in zip(parts, units, strict=False):
        if step.unit != unit:
            yield difference(action, node, f"a part on {unit}", f"{step.kernel} on {step.unit}")
    for step, count in zip(parts, channels, strict=True):
        tensors = [built.tensors[name] for name in (step.inputs[:1] if axis else step.outputs[:1])]
        if [tensor.shape[1] for tensor in tensors] != [count]:
            yield difference(action, node, f"a part of {count} channels", f"{tensors[0].name} {tensors[0].shape}")


def kernel_not_in_parts(action: Action, built: Built) -> Iterator[Difference]:
    """The convolution is computed by as many calls as its kernel was cut into parts."""
    node, wanted = action.nodes[0], action.params.get("parts")
    got = len([step for step in built.steps(node) if "conv" in step.kernel])
    if got != wanted:
        yield difference(action, node, f"{wanted} parts of its kernel", f"{got} convolutions")


def not_in_factors(action: Action, built: Built) -> Iterator[Difference]:
    """The layer is computed by two calls with weights; between them are as many channels as the rank, or padded."""
    node, rank = action.nodes[0], action.params["rank"]
    layers = [step for step in built.steps(node) if built.constants(step) and step.kernel.startswith(LAYERS)]
    if len(layers) != 2:
        kernels = ", ".join(step.kernel for step in layers) or "nothing"
        yield difference(action, node, "two layers", f"computed by {kernels}")
        return
    between = built.tensors[layers[0].outputs[0]]
    count = next((built.padded[part] for part in layers[0].node_ids if part in built.padded), rank)
    if between.shape[1 if "conv" in layers[0].kernel else -1] != count:
        yield difference(action, node, f"{count} channels between", f"{between.name} {between.shape}")


def not_enlarged(action: Action, built: Built) -> Iterator[Difference]:
    """Each convolution of the node has a kernel of the extents that were approved."""
    node, kernel = action.nodes[0], action.params["kernel"]
    steps = [step for step in built.steps(node) if "conv" in step.kernel]
    if not steps:
        yield difference(action, node, "a convolution", "no step computes one")
    for step in steps:
        weight = weight_of(step, built.tensors)
        if not has_kernel(step, weight, built.tensors[step.inputs[0]].shape[1], kernel):
            got = f"weights packed as {list(weight.shape)}"
            yield difference(action, node, f"a kernel of {' × '.join(map(str, kernel))}", got)
