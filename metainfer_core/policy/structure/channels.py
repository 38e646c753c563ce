"""Channel counts that are no multiple of what the unit works in: fewer channels, or as many more as it has room for."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.action import Reason
from metainfer_core.actions.channel_region import Region, region_of
from metainfer_core.actions.rewiring import array_of
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.policy.structure.place import Place, Work, change_of

SAFE_SHARE = 0.3
"""Of the channels of a layer, which may go or come in a safe change."""
MEASURE = "Accuracy on held-out data, and the ranges of all tensors that these channels run through."


def channel_changes(model: ir.Model, place: Place) -> Iterator[StructureChange]:
    """For each run of channels that misses the unit's multiple."""
    multiple = place.spec.compute_units[place.unit].channel_multiple
    seen: set[ir.Node] = set()
    for conv in model.graph:
        weight = array_of(conv.inputs[1]) if conv.op_type == "Conv" else None
        if not multiple or weight is None or conv in seen or conv.attributes.get_int("group", 1) != 1:
            continue
        channels = weight.shape[0]
        if channels % multiple == 0:
            continue
        why = misses(place, channels, multiple)
        region = region_of(conv)
        if isinstance(region, str):
            if region.endswith("is an output of the model, whose shape must stay."):
                yield _forbidden(str(conv.name), channels, region, why)
            continue
        seen.update(region.sources)
        if channels > multiple:
            fewer = _with(place, region, channels // multiple * multiple, multiple, why)
            if place.is_worth_it(fewer.predicted_time_us) or fewer.predicted_time_us is None:
                yield fewer
        whole = -(-channels // multiple) * multiple
        if whole <= channels * (1 + SAFE_SHARE):
            more = _with(place, region, whole, multiple, why)
            if place.costs_little(more.predicted_time_us) or more.predicted_time_us is None:
                yield more


def misses(place: Place, channels: int, multiple: int) -> Reason:
    """Why a channel count leaves a part of the unit unused."""
    claim = f"{place.unit} works on {multiple} channels at a time; {channels} are no multiple of it."
    return place.because(claim, f"compute_units.{place.unit}.channel_multiple")


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


def _with(place: Place, region: Region, count: int, multiple: int, why: Reason) -> StructureChange:
    """The region with another number of channels; the unit takes as long for those that fill its multiple now."""
    share, filled = count / region.channels, -(-region.channels // multiple) * multiple / region.channels
    before, after = [], []
    for node in region.nodes:
        cost, now = place.nodes[str(node.name)], place.work(str(node.name))
        makes, reads = node not in region.sinks, node not in region.sources
        moved = cost.parameter_bytes * share
        moved += cost.output_bytes * (share if makes else 1) + cost.input_bytes * (share if reads else 1)
        before.append(Work(now.operations * filled, now.moved))
        after.append(Work(now.operations * share, moved))
    fewer, name = share < 1, str(region.sources[0].name)
    return StructureChange(
        change="channels" if fewer else "more_channels",
        grade="safe" if abs(1 - share) <= SAFE_SHARE else "needs review",
        nodes=tuple(str(node.name) for node in region.nodes),
        params={"from": region.channels, "to": count},
        sentence=f"Train with {count} in place of {region.channels} channels at {name}.",
        why=(why,),
        risk=f"{1 - share:.0%} of the channels of these layers go, and what they have learnt goes with them."
        if fewer
        else f"{share - 1:.0%} more channels take their time and memory, and may overfit where data is little.",
        measure=MEASURE,
        predicted_time_us=change_of(place.price(*before), place.price(*after)),
        predicted_bytes=place.bytes_as_run(sum(each.moved for each in after) - sum(each.moved for each in before)),
    )
