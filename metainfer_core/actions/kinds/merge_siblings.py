"""Merge layers that read the same tensor, and the activation that all have, into one layer and a Split behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.activations import ACTIVATIONS
from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import (
    array_of,
    data_of,
    is_float,
    mark_origin,
    name_of,
    node,
    numbers_of,
    only_reader,
    remove,
    take_over,
)
from metainfer_core.actions.units import NoUnit, cores_used, describe, home, limits_against, unit_for
from metainfer_core.figures import told_apart
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.rates import bytes_per_second
from metainfer_core.values import Value

LAYERS = ("Conv", "Gemm", "MatMul")
LEAST_CODES = 64
"""Under one scale for all, each part must reach at least this many of the 256 codes."""
LAW = "each output channel of a layer is a sum of its own, so layers that read the same tensor can be one layer"


class MergeParams(Value):
    """Parameters of a merge_siblings action."""

    target_hw: str | None = None
    """Compute unit on which it pays."""


@dataclass(frozen=True)
class Gain:
    """Predicted microseconds at typical rates."""

    apart: float
    merged: float
    field: str
    """The spec value that bytes are priced with."""
    unit: str


class MergeSiblings(ActionKind):
    """Merges layers that read the same tensor into one layer with the output channels of all, and a Split behind it.

    The tensor is read once, and a unit that computes channels in blocks leaves fewer of them empty. An activation that
    all of them have comes before the Split. The Split copies what was computed, so it is proposed only where the spec's
    rates say that more is saved than that costs.
    """

    name = "merge_siblings"
    obligation = Obligation(relative=1e-5, absolute=1e-5, why="The same sums; float32 may add them in another order.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = MergeParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For the layers that read one tensor in the same way: an action where it pays, or why not."""
        for group in _groups(model):
            tails = _common_activation(group)
            names = tuple(str(member.name) for member in group)
            source = name_of(data_of(group[0]))
            action = Action(kind=self.name, nodes=(*names, *(str(tail.name) for tail in tails)))
            against = self.refusal(model, spec, action)
            if against is not None:
                yield against
                continue
            gain = _gain(spec, group)
            reason = gain if isinstance(gain, str) else _apart(tails or group, calibration)
            reason = reason or (None if tails else _unfused(group))
            if isinstance(gain, str) or reason is not None:
                yield Refusal(kind=self.name, nodes=names, reason=str(reason))
                continue
            yield Action(
                kind=self.name,
                nodes=action.nodes,
                params={"target_hw": gain.unit},
                why=(
                    Reason(claim=f"{', '.join(names)} read {source} with the same settings.", law=LAW),
                    _saving(spec, gain),
                ),
                constraint=f"{source} is read once in place of {len(group)} times.",
                alternatives=(
                    Alternative(option=f"{len(group)} layers of their own", reason="Each would read the tensor anew."),
                ),
            )

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The layers must read one tensor in the same way, and the merged one must keep the limits that each keeps."""
        members, tails = _layers_and_activations(model, action)
        reason = _reason_against(spec, members) or (_reason_against_tails(members, tails) if tails else None)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts one layer and a Split in the place of all."""
        members, tails = _layers_and_activations(model, action)
        first, axis = members[0], _weight_axis(members[0])
        at = Pieces(model, first)
        inputs = [at.source, at.numbers(np.concatenate([numbers_of(one.inputs[1]) for one in members], axis))]
        if any(_bias(one) is not None for one in members):
            biases = [_bias_numbers(one) for one in members]
            inputs.append(at.numbers(np.concatenate(biases)))
        merged = at.op(first.op_type, inputs, _merged_shape(members))
        at.nodes[-1].attributes.update(first.attributes)
        mark_origin(at.nodes[-1], members)
        if tails:
            merged = at.op(tails[0].op_type, [merged, *tails[0].inputs[1:]], _merged_shape(members))
            at.nodes[-1].attributes.update(tails[0].attributes)
            mark_origin(at.nodes[-1], tails)
        ends = tails or members
        counts = [_channels(one) for one in members]
        parts = [
            ir.Value(name=f"{one.name}.part", shape=one.outputs[0].shape, type=one.outputs[0].type) for one in ends
        ]
        split = ir.node(
            "Split",
            [merged, at.numbers(np.array(counts, np.int64))],
            {"axis": _axis(first)},
            outputs=parts,
            name=f"{first.name}.{len(at.nodes)}_split",
        )
        mark_origin(split, ends)
        model.graph.insert_after(first, [*at.nodes, split])
        for one, part in zip(ends, parts, strict=True):
            take_over(model, one.outputs[0], part)
        remove(model, [*members, *tails])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Compute {', '.join(action.nodes)} as one layer and split its result."


def _groups(model: ir.Model) -> Iterator[list[ir.Node]]:
    """Layers with constant weights that read one tensor with the same settings, two or more."""
    found: dict[object, list[ir.Node]] = {}
    for one in model.graph:
        if one.op_type in LAYERS and not one.domain and not isinstance(integer_form(one), str):
            found.setdefault((name_of(one.inputs[0]), _settings(one)), []).append(one)
    yield from (group for group in found.values() if len(group) > 1)


def _layers_and_activations(model: ir.Model, action: Action) -> tuple[list[ir.Node], list[ir.Node]]:
    """The layers of an action in its order, and the activations behind them in the same order."""
    named = [node(model, name) for name in action.nodes]
    tails = [one for one in named if one.op_type in ACTIVATIONS]
    members = [one for one in named if one not in tails]
    places = {one.outputs[0]: place for place, one in enumerate(members)}
    return members or named, sorted(tails, key=lambda tail: places.get(data_of(tail), len(places)))


def _common_activation(members: Sequence[ir.Node]) -> list[ir.Node]:
    """The activations of the layers in their order, where each layer has the same one and nothing else; else none."""
    tails = [only_reader(one.outputs[0]) for one in members]
    found = [tail for tail in tails if tail is not None and tail.op_type in ACTIVATIONS]
    forms = [_activation(tail) for tail in found]
    is_same = len(found) == len(members) and forms[0] is not None and all(form == forms[0] for form in forms)
    return found if is_same else []


def _activation(tail: ir.Node) -> object:
    """What must be the same for activations to be one; None where a limit is computed."""
    limits = [None if value is None else array_of(value) for value in tail.inputs[1:]]
    if any(limit is None and value is not None for limit, value in zip(limits, tail.inputs[1:], strict=True)):
        return None
    numbers = tuple(None if limit is None else float(limit.reshape(-1)[0]) for limit in limits)
    return tail.op_type, tuple(_plain_attributes(tail)), numbers


def _plain_attributes(one: ir.Node) -> list[tuple[str, str]]:
    return sorted((name, str(attribute.value)) for name, attribute in one.attributes.items())


def _settings(one: ir.Node) -> object:
    """What must be the same for layers to be one: operator, attributes, and the weight but for its output channels."""
    weight = array_of(one.inputs[1]) if len(one.inputs) > 1 else None
    shape = () if weight is None else np.delete(weight.shape, _weight_axis(one))
    return one.op_type, tuple(_plain_attributes(one)), tuple(int(extent) for extent in shape)


def _weight_axis(one: ir.Node) -> int:
    """Axis of the output channels in the weight."""
    form = integer_form(one)
    return form.weight_axis or 0 if isinstance(form, IntegerForm) else 0


def _axis(one: ir.Node) -> int:
    """Axis of the channels in the output."""
    return 1 if one.op_type == "Conv" else len(static_shape(one.outputs[0]) or ()) - 1


def _channels(one: ir.Node) -> int:
    return (static_shape(one.outputs[0]) or (0, 0))[_axis(one)]


def _merged_shape(members: Sequence[ir.Node]) -> list[int]:
    shape = list(static_shape(members[0].outputs[0]) or ())
    shape[_axis(members[0])] = sum(map(_channels, members))
    return shape


def _bias(one: ir.Node) -> ir.Value | None:
    return one.inputs[2] if len(one.inputs) > 2 else None


def _bias_numbers(one: ir.Node) -> np.ndarray:
    bias = _bias(one)
    return np.zeros(_channels(one), np.float32) if bias is None else numbers_of(bias).reshape(-1)


def _reason_against(spec: HardwareSpec, members: Sequence[ir.Node]) -> str | None:
    first = members[0]
    if len(members) < 2:
        return f"{first.name} is one layer: there is nothing to merge it with."
    for one in members:
        form = integer_form(one) if one.op_type in LAYERS else f"{one.op_type} is no layer with weights."
        if isinstance(form, str):
            return f"{one.name} cannot be merged: {form}"
        if not is_float(one.inputs[0]) or static_shape(one.outputs[0]) is None:
            return f"The shapes of {one.name} are not fixed."
        if one.attributes.get_int("group", 1) != 1:
            return f"{one.name} has groups, which have their own channels: it is not merged."
        if data_of(one) is not data_of(first):
            return f"{one.name} reads {data_of(one).name}, and {first.name} reads {data_of(first).name}."
        if _settings(one) != _settings(first):
            return f"{one.name} has another kernel or other attributes than {first.name}."
    found = _unit(spec, first)
    if found is None:
        return None
    unit, data_type = found
    lost = unit_for(spec, "Split", data_type, at=unit, fall_back=False)
    if isinstance(lost, NoUnit):
        return f"The parts would leave {unit}: {lost.reason}"
    limit = limits_against(spec, unit, _merged(members), data_type)
    kept_now = all(limits_against(spec, unit, one, data_type) is None for one in members)
    return limit if kept_now else None


def _reason_against_tails(members: Sequence[ir.Node], tails: Sequence[ir.Node]) -> str | None:
    if list(tails) == _common_activation(members):
        return None
    layers = ", ".join(str(one.name) for one in members)
    return f"{tails[0].name} ({tails[0].op_type}) moves into the merged layer only where each of {layers} has the same."


def _merged(members: Sequence[ir.Node]) -> ir.Node:
    """The merged layer apart from the model, to be held against limits."""
    first, kind = members[0], data_of(members[0]).type
    weight = list(numbers_of(first.inputs[1]).shape)
    weight[_weight_axis(first)] = sum(map(_channels, members))
    source = data_of(first)
    inputs = [
        ir.Value(name=str(source.name), shape=source.shape, type=kind),
        ir.Value(name=f"{first.name}.merged", shape=ir.Shape(weight), type=kind),
    ]
    outputs = [ir.Value(name="merged", shape=ir.Shape(_merged_shape(members)), type=kind)]
    made = ir.node(first.op_type, inputs, outputs=outputs, name=f"{first.name} merged")
    made.attributes.update(first.attributes)
    return made


def _unit(spec: HardwareSpec, one: ir.Node) -> tuple[str, str] | None:
    """The unit that such a layer belongs to, and in which data type: integers before floats."""
    for data_type in ("int8", "float32"):
        unit = home(spec, data_type)
        if not isinstance(unit, NoUnit) and spec.compute_units[unit].operators.runs(one.op_type):
            return unit, data_type
    return None


def _gain(spec: HardwareSpec, members: Sequence[ir.Node]) -> Gain | str:
    """Microseconds as they are and merged, at typical rates; or why it does not pay, or cannot be told."""
    found = _unit(spec, members[0])
    if found is None:
        return f"No unit of the spec runs {members[0].op_type}, so it cannot be told whether merging pays."
    name, data_type = found
    unit = spec.compute_units[name]
    peak = unit.peak_macs_per_second(data_type, cores_used(unit))
    memory = next((place for place, held in sorted(spec.memories.items()) if held.kind == "dram"), None)
    delivered = bytes_per_second(spec, memory) if memory else "a memory of kind dram"
    if peak is None or isinstance(delivered, str):
        lacking = f"compute_units.{name}.macs_per_cycle.{data_type}" if peak is None else str(delivered)
        return f"It cannot be told whether merging {len(members)} layers pays: the spec lacks {lacking}."
    launch = unit.launch_overhead_us.nominal if unit.kind == "cpu" and unit.launch_overhead_us else 0.0
    multiple, width = unit.channel_multiple or 1, 1 if data_type == "int8" else 4
    read = math.prod(static_shape(data_of(members[0])) or ()) * width
    weights = [numbers_of(one.inputs[1]).size for one in members]
    written = [math.prod(static_shape(one.outputs[0]) or ()) for one in members]
    counts = [_channels(one) for one in members]
    macs = [size * out / count / count for size, out, count in zip(weights, written, counts, strict=True)]

    def call(channels: int, moved: float) -> float:
        whole = math.ceil(channels / multiple) * multiple
        return max(whole * macs[0] / peak.nominal, moved / delivered.nominal) * 1e6 + launch

    before = sum(
        call(count, read + (weight + out) * width) for count, weight, out in zip(counts, weights, written, strict=True)
    )
    copies = sum(2 * out * width / delivered.nominal * 1e6 + launch for out in written)
    after = call(sum(counts), read + (sum(weights) + sum(written)) * width) + copies
    if after >= before:
        merged, apart = told_apart(after, before)
        return (
            f"Merged, {len(members)} layers and the copies of the Split take {merged} µs on {name}; "
            f"on their own they take {apart} µs: it does not pay."
        )
    return Gain(before, after, f"memories.{memory}.bandwidth_gbps", name)


def _saving(spec: HardwareSpec, gain: Gain) -> Reason:
    return Reason(
        claim=f"Predicted {gain.merged:.3g} µs with the copies of the Split, {gain.apart:.3g} µs on their own.",
        spec_field=gain.field,
        spec_value=describe(spec, gain.field),
    )


def _apart(members: Sequence[ir.Node], calibration: Calibration | None) -> str | None:
    """One scale for all parts leaves too few codes to the part with the least range."""
    spans = {}
    for one in members:
        found = calibration.ranges.get(name_of(one.outputs[0])) if calibration is not None else None
        if found is not None:
            spans[str(one.name)] = max(found.high, 0.0) - min(found.low, 0.0)
    if not spans:
        return None
    least, most = min(spans, key=lambda name: spans[name]), max(spans.values())
    codes = int(256 * spans[least] / most) if most > 0 else 256
    if codes >= LEAST_CODES:
        return None
    return f"Under one scale for all, {least} would reach {codes} of 256 codes; at least {LEAST_CODES} are kept."


def _unfused(members: Sequence[ir.Node]) -> str | None:
    """An activation that a layer's kernel would apply could not be fused past the Split."""
    for one in members:
        reader = only_reader(one.outputs[0])
        if reader is not None and reader.op_type in ACTIVATIONS:
            return f"{reader.name} ({reader.op_type}) is fused into {one.name} now, and could not be past a Split."
    return None
