"""Smaller kernels, and depthwise layers in place of dense ones, where the roofline says that they save time."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.kernel_taps import taps_of
from metainfer_core.actions.rewiring import array_of, nodes_by_id
from metainfer_core.actions.units import unit_for
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.policy.structure.place import Place, Work, change_of

LARGEST_SAFE_KERNEL = 5
DEPTHWISE_CHANNELS = 16
"""Fewer channels are not worth two layers."""
DEPTHWISE_TAPS = 9


def kernel_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """Both kinds of change, layer by layer."""
    for name, node in nodes_by_id(model).items():
        weight = array_of(node.inputs[1]) if node.op_type == "Conv" else None
        if weight is not None and weight.ndim == 4:
            yield from _smaller(place, name, node, weight.shape)
    for name, node in nodes_by_id(model).items():
        weight = array_of(node.inputs[1]) if node.op_type == "Conv" else None
        if weight is not None and weight.ndim == 4:
            yield from _depthwise(place, name, node, weight.shape)


def _smaller(place: Place, name: str, node: ir.Node, shape: tuple[int, ...]) -> Iterator[StructureChange]:
    """A kernel of 5x5 and more with padding that can be given up: the next smaller one."""
    size, taps = shape[2], taps_of(node)
    if not shape[2] == shape[3] >= 5 or size % 2 == 0 or isinstance(taps, str):
        return
    if any(pad < step for side in (taps.begin, taps.end) for pad, step in zip(side, taps.dilations, strict=True)):
        return  # the output would have another size
    now = place.work(name)
    share = (size - 2) ** 2 / size**2
    moved = -place.nodes[name].parameter_bytes * (1 - share)
    change = change_of(place.price(now), place.price(Work(now.operations * share, now.moved + moved)))
    if not place.is_worth_it(change):
        return
    yield StructureChange(
        change="kernel",
        grade="safe" if size <= LARGEST_SAFE_KERNEL else "needs review",
        nodes=(name,),
        params={"from": size, "to": size - 2},
        sentence=f"Train with a kernel of {size - 2}×{size - 2} in place of {size}×{size} at {name}.",
        why=(place.rate(f"{place.unit} does {(size - 2) ** 2} products a value in place of {size**2}."),),
        risk="The layer sees less around each value; where later layers are few, that may be missed.",
        measure="Accuracy on held-out data, above all on what is large in the input, and ranges from this layer on.",
        predicted_time_us=change,
        predicted_bytes=place.bytes_as_run(moved),
    )


def _depthwise(place: Place, name: str, node: ir.Node, shape: tuple[int, ...]) -> Iterator[StructureChange]:
    """A dense kernel that could be a depthwise one and a mixing of channels."""
    makes, reads, *kernel = shape
    taps = kernel[0] * kernel[1]
    runs_there = unit_for(place.spec, "Conv", place.data_type, fall_back=False) == place.unit
    if not runs_there or node.attributes.get_int("group", 1) != 1 or isinstance(taps_of(node), str):
        return
    if min(makes, reads) < DEPTHWISE_CHANNELS or taps < DEPTHWISE_TAPS:
        return
    cost, now = place.nodes[name], place.work(name)
    between = cost.output_bytes * reads / makes
    first = Work(now.operations / makes, cost.input_bytes + between + 4 * reads * taps)
    second = Work(now.operations / taps, between + cost.output_bytes + 4 * reads * makes)
    change = change_of(place.price(now), place.price(first, second))
    if not place.is_worth_it(change):
        return
    size = f"{kernel[0]}×{kernel[1]}"
    yield StructureChange(
        change="depthwise",
        grade="needs review",
        nodes=(name,),
        params={"kernel": list(kernel), "channels": reads},
        sentence=f"Train with a depthwise {size} and a 1×1 layer in place of the dense {size} layer {name}.",
        why=(place.rate(f"{place.unit} does {taps + makes} products a channel in place of {taps * makes}."),),
        risk="Depthwise layers lose most when they are rounded to 8 bits, and take longer to train.",
        measure="Accuracy on held-out data in float and in INT8, and ranges channel by channel.",
        predicted_time_us=change,
        predicted_bytes=place.bytes_as_run(first.moved + second.moved - now.moved),
    )
