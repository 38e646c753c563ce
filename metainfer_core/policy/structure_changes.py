"""Changes of a model's structure that need training again: proposed with their class and predicted effect, never made.

Each changes what the model computes, so that its worth is known only once the changed model was trained and measured.
The three classes are those of the requirements: safe changes are known to train back to about the same accuracy, others
need somebody's review first, and what touches the outputs' meaning is forbidden and listed with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Reason
from metainfer_core.actions.channel_region import Region, region_of
from metainfer_core.actions.rewiring import array_of, nodes_by_id
from metainfer_core.actions.units import NoUnit, describe, home, unit_for
from metainfer_core.cost.estimate import Interval, estimate
from metainfer_core.cost.workload import Workload
from metainfer_core.graph.summary import NodeSummary, summarise
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import JsonMap, Value

Grade = Literal["safe", "needs review", "forbidden"]

SAFE_SHARE = 0.3
"""Of the channels of a layer, which may go or come in a safe change."""
WORTH = 0.01
"""Of the model's predicted time, which a change must save to be proposed for speed alone."""
LARGEST_SAFE_KERNEL = 5
SAFE_ACTIVATIONS = ("LeakyRelu", "PRelu")
"""They differ from Relu by a slope below zero alone."""
REPLACED_ACTIVATIONS = (
    *SAFE_ACTIVATIONS,
    "HardSwish",
    "HardSigmoid",
    "Gelu",
    "Mish",
    "Elu",
    "Celu",
    "Selu",
    "Softplus",
)
DEPTHWISE_CHANNELS = 16
"""Fewer channels are not worth two layers."""
THEN = "Make the change in the training code, train again from these weights, and give the new model to adapt."


class StructureChange(Value):
    """One change that is proposed, or forbidden; it stands beside the actions and is no action."""

    change: Literal["activation", "kernel", "channels", "depthwise"]
    grade: Grade
    nodes: tuple[str, ...]
    params: JsonMap = {}
    sentence: str
    why: tuple[Reason, ...]
    risk: str
    then: str = THEN
    """What to do with it."""
    predicted_time_us: tuple[float, float] | None = None
    """Change of time on the spec, low and high end of the interval; negative is faster. None: not known."""
    predicted_bytes: int | None = None
    """Change of bytes moved."""

    @property
    def id(self) -> str:
        """Stable name of this change in its policy."""
        return f"{self.change}@{self.nodes[0]}"


@dataclass(frozen=True)
class _Place:
    """Where the layers of a model run, and what they cost there."""

    spec: HardwareSpec
    unit: str
    data_type: str
    nodes: dict[str, NodeSummary]
    total_us: float | None

    def price(self, node: str, operations: float, moved: float, unit: str | None = None) -> Interval | None:
        """Predicted time of a node with this many operations, and bytes as float32 has them."""
        scale = 4 if self.data_type == "int8" else 1
        load = Workload(
            node_ids=(node,),
            unit=unit or self.unit,
            data_type=self.data_type,
            operations=round(operations),
            bytes_by_memory={"": round(moved / scale)},
            working_set_bytes=round(moved / scale),
        )
        return estimate([load], self.spec).calls[0].time

    def bytes_as_run(self, moved: float) -> int:
        return round(moved / (4 if self.data_type == "int8" else 1))

    def is_worth_it(self, change: tuple[float, float] | None) -> bool:
        return change is not None and self.total_us is not None and -change[1] >= WORTH * self.total_us


def structure_changes(model: ir.Model, spec: HardwareSpec) -> tuple[StructureChange, ...]:
    """What training again would make possible on this spec, safe changes first; the model stays as it is.

    Args:
        model: The preprocessed model, with fixed shapes.
        spec: Its fastest unit for INT8, or for float32 where it has none for INT8, is what the changes are made for.
    """
    place = _place(model, spec)
    if place is None:
        return ()
    found = [*_activations(model, place), *_channels(model, place), *_kernels(model, place), *_depthwise(model, place)]
    order: tuple[Grade, ...] = ("safe", "needs review", "forbidden")
    return tuple(sorted(found, key=lambda each: order.index(each.grade)))


def _place(model: ir.Model, spec: HardwareSpec) -> _Place | None:
    for data_type in ("int8", "float32"):
        unit = home(spec, data_type)
        if not isinstance(unit, NoUnit):
            nodes = {node.id: node for node in summarise(model).nodes}
            bare = _Place(spec, unit, data_type, nodes, None)
            times = [bare.price(each.id, each.flops or 0, each.moved_bytes) for each in nodes.values()]
            known = [time.typical for time in times if time is not None]
            return _Place(spec, unit, data_type, nodes, sum(known) if len(known) == len(times) else None)
    return None


def _change(before: list[Interval | None], after: list[Interval | None]) -> tuple[float, float] | None:
    """How much less or more time it takes, at best and at worst; None where a part is unknown."""
    if any(each is None for each in (*before, *after)):
        return None
    was, will = ([each for each in part if each is not None] for part in (before, after))
    low = sum(each.low for each in will) - sum(each.low for each in was)
    high = sum(each.high for each in will) - sum(each.high for each in was)
    return min(low, high), max(low, high)


def _activations(model: ir.Model, place: _Place) -> Iterator[StructureChange]:
    """Activations that the unit of the layers does not run, where it runs Relu."""
    for node in model.graph:
        runs = unit_for(place.spec, node.op_type, place.data_type, fall_back=False)
        relu = unit_for(place.spec, "Relu", place.data_type, fall_back=False)
        if node.op_type not in REPLACED_ACTIVATIONS or not isinstance(runs, NoUnit) or isinstance(relu, NoUnit):
            continue
        cost = place.nodes[str(node.name)]
        elsewhere = unit_for(place.spec, node.op_type, "float32")
        before = None if isinstance(elsewhere, NoUnit) else _float_price(place, cost, elsewhere)
        after = place.price(cost.id, cost.output_bytes / 4, cost.moved_bytes)
        safe = node.op_type in SAFE_ACTIVATIONS
        yield StructureChange(
            change="activation",
            grade="safe" if safe else "needs review",
            nodes=(cost.id,),
            params={"from": node.op_type, "to": "Relu"},
            sentence=f"Train with Relu in place of {node.op_type} at {cost.id}.",
            why=(
                Reason(claim=runs.reason, spec_field=runs.spec_field, spec_value=describe(place.spec, runs.spec_field)),
            ),
            risk="Values below zero are lost; the layers around it must learn to do without."
            if safe
            else "The curve has another shape, so accuracy may drop, and more in deep models.",
            predicted_time_us=_change([before], [after]),
            predicted_bytes=0,
        )


def _float_price(place: _Place, cost: NodeSummary, unit: str) -> Interval | None:
    return _Place(place.spec, unit, "float32", place.nodes, None).price(cost.id, cost.flops or 0, cost.moved_bytes)


def _channels(model: ir.Model, place: _Place) -> Iterator[StructureChange]:
    """Channel counts that are no multiple of what the unit works in: fewer instead of padded ones."""
    multiple = place.spec.compute_units[place.unit].channel_multiple
    field = f"compute_units.{place.unit}.channel_multiple"
    seen: set[ir.Node] = set()
    for conv in model.graph:
        weight = array_of(conv.inputs[1]) if conv.op_type == "Conv" else None
        if not multiple or weight is None or conv in seen or conv.attributes.get_int("group", 1) != 1:
            continue
        channels = weight.shape[0]
        if channels % multiple == 0:
            continue
        why = Reason(
            claim=f"{place.unit} works on {multiple} channels at a time; {channels} are no multiple of it.",
            spec_field=field,
            spec_value=describe(place.spec, field),
        )
        region = region_of(conv)
        if isinstance(region, str):
            if region.endswith("is an output of the model, whose shape must stay."):
                yield _forbidden(str(conv.name), channels, region, why)
            continue
        seen.update(region.sources)
        if channels > multiple:
            yield _fewer(place, region, channels // multiple * multiple, why)


def _forbidden(conv: str, channels: int, reason: str, why: Reason) -> StructureChange:
    return StructureChange(
        change="channels",
        grade="forbidden",
        nodes=(conv,),
        params={"from": channels},
        sentence=f"The {channels} channels of {conv} stay as they are.",
        why=(why, Reason(claim=reason)),
        risk="Whoever reads the outputs, such as the names of classes, would read something else.",
        then="Leave it: the unit's unused lanes are the price.",
    )


def _fewer(place: _Place, region: Region, fewer: int, why: Reason) -> StructureChange:
    share = fewer / region.channels
    before, after, moved = [], [], 0.0
    for node in region.nodes:
        cost = place.nodes[str(node.name)]
        makes, reads = node not in region.sinks, node not in region.sources
        less = cost.parameter_bytes * share
        less += cost.output_bytes * (share if makes else 1) + cost.input_bytes * (share if reads else 1)
        before.append(place.price(cost.id, cost.flops or 0, cost.moved_bytes))
        after.append(place.price(cost.id, (cost.flops or 0) * share, less))
        moved += less - cost.moved_bytes
    safe = 1 - share <= SAFE_SHARE
    name = str(region.sources[0].name)
    return StructureChange(
        change="channels",
        grade="safe" if safe else "needs review",
        nodes=tuple(str(node.name) for node in region.nodes),
        params={"from": region.channels, "to": fewer},
        sentence=f"Train with {fewer} in place of {region.channels} channels at {name}.",
        why=(why,),
        risk=f"{1 - share:.0%} of the channels of these layers go, and what they have learnt goes with them.",
        predicted_time_us=_change(before, after),
        predicted_bytes=place.bytes_as_run(moved),
    )


def _kernels(model: ir.Model, place: _Place) -> Iterator[StructureChange]:
    """Kernels of 5x5 and more, where the next smaller one saves enough."""
    for name, node in nodes_by_id(model).items():
        weight = array_of(node.inputs[1]) if node.op_type == "Conv" else None
        if (
            weight is None
            or weight.ndim != 4
            or not weight.shape[2] == weight.shape[3] >= 5
            or weight.shape[2] % 2 == 0
        ):
            continue
        size, cost = weight.shape[2], place.nodes[name]
        share = (size - 2) ** 2 / size**2
        moved = -cost.parameter_bytes * (1 - share)
        change = _change(
            [place.price(name, cost.flops or 0, cost.moved_bytes)],
            [place.price(name, (cost.flops or 0) * share, cost.moved_bytes + moved)],
        )
        if not place.is_worth_it(change):
            continue
        yield StructureChange(
            change="kernel",
            grade="safe" if size <= LARGEST_SAFE_KERNEL else "needs review",
            nodes=(name,),
            params={"from": size, "to": size - 2},
            sentence=f"Train with a kernel of {size - 2}×{size - 2} in place of {size}×{size} at {name}.",
            why=(_rate(place, f"{place.unit} does {(size - 2) ** 2} products a value in place of {size**2}."),),
            risk="The layer sees less around each value; where later layers are few, that may be missed.",
            predicted_time_us=change,
            predicted_bytes=place.bytes_as_run(moved),
        )


def _depthwise(model: ir.Model, place: _Place) -> Iterator[StructureChange]:
    """Dense kernels that could be a depthwise one and a mixing of channels, where that saves enough."""
    depthwise = unit_for(place.spec, "Conv", place.data_type, fall_back=False)
    for name, node in nodes_by_id(model).items():
        weight = array_of(node.inputs[1]) if node.op_type == "Conv" else None
        if weight is None or weight.ndim != 4 or node.attributes.get_int("group", 1) != 1 or depthwise != place.unit:
            continue
        makes, reads, *kernel = weight.shape
        taps = kernel[0] * kernel[1]
        if min(makes, reads) < DEPTHWISE_CHANNELS or taps < 9:
            continue
        cost = place.nodes[name]
        between = cost.output_bytes * reads / makes
        apart, mixed = (cost.flops or 0) / makes, (cost.flops or 0) / taps
        first = cost.input_bytes + between + 4 * reads * taps
        second = between + cost.output_bytes + 4 * reads * makes
        change = _change(
            [place.price(name, cost.flops or 0, cost.moved_bytes)],
            [place.price(name, apart, first), place.price(name, mixed, second)],
        )
        if not place.is_worth_it(change):
            continue
        size = f"{kernel[0]}×{kernel[1]}"
        yield StructureChange(
            change="depthwise",
            grade="needs review",
            nodes=(name,),
            params={"kernel": list(kernel), "channels": reads},
            sentence=f"Train with a depthwise {size} and a 1×1 layer in place of the dense {size} layer {name}.",
            why=(_rate(place, f"{place.unit} does {taps + makes} products a channel in place of {taps * makes}."),),
            risk="Depthwise layers lose most when they are rounded to 8 bits, and take longer to train.",
            predicted_time_us=change,
            predicted_bytes=place.bytes_as_run(first + second - cost.moved_bytes),
        )


def _rate(place: _Place, claim: str) -> Reason:
    field = f"compute_units.{place.unit}.macs_per_cycle"
    return Reason(claim=claim, spec_field=field, spec_value=describe(place.spec, field))
