"""What one action does to the outputs by itself, and the ranges of tensors that earlier actions made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.rewiring import is_float
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.integer_search import Measured, alone, measured


def by_itself(
    start: Draft, base: Draft, actions: Sequence[Action], action: Action, measure: Callable[[ir.Model], Effect]
) -> Measured:
    """The effect of one action of any kind: INT8 on the otherwise float model, all else with what it builds on.

    Args:
        start: The model without any action.
        base: What quantizing starts from: the structural actions.
        actions: All actions up to this one.
        action: The one to measure.
        measure: Gives the effect of an adapted model.
    """
    if action.kind == "quantize":
        return alone(base, action, measure)
    draft = _with_what_it_builds_on(start, actions, action)
    if action not in draft.actions:
        return draft.refusals[-1].reason
    return measured(measure, draft.finished())


def structural_alone(
    start: Draft, actions: Sequence[Action], action: Action, measure: Callable[[ir.Model], Effect]
) -> Measured:
    """The effect of one action, with the earlier ones that it builds on."""
    return measured(measure, _with_what_it_builds_on(start, actions, action).finished())


def _with_what_it_builds_on(start: Draft, actions: Sequence[Action], action: Action) -> Draft:
    """The model with one action, if it is legal there, and the earlier ones that share a node with it."""
    needed: list[Action] = []
    touched = set(action.nodes)
    for earlier in reversed(actions[: actions.index(action)]):
        if touched & set(earlier.nodes):
            needed.insert(0, earlier)
            touched |= set(earlier.nodes)
    draft = start.branch()
    draft.take([*needed, action])
    return draft


PARTS = ("ranges", "chosen", "kept", "by_channel")
"""Of a calibration: what it says of tensors."""


def with_new_tensors(structural: Draft, calibrate: Callable[[ir.Model], Calibration]) -> Calibration:
    """The draft's calibration, with the ranges of tensors that structural actions made or gave more channels."""
    first = structural.calibration
    made = [value for node in structural.model.graph for value in node.outputs if is_float(value)]
    other = {str(value.name) for value in made if first is not None and _has_other_channels(value, first)}
    if first is not None and not other and all(str(value.name) in first.ranges for value in made):
        return first
    second = calibrate(structural.branch().finished())
    if first is None:
        return second
    both = {key: {**second.plain().get(key, {}), **first.plain().get(key, {})} for key in PARTS}
    widths = {**second.plain().get("narrow", {}), **first.plain().get("narrow", {})}
    both["narrow"] = {
        bits: {**second.plain().get("narrow", {}).get(bits, {}), **first.plain().get("narrow", {}).get(bits, {})}
        for bits in widths
    }
    both["by_channel"] |= {name: second.by_channel[name] for name in other if name in second.by_channel}
    return Calibration.from_plain({**first.plain(), **both})


def _has_other_channels(value: ir.Value, calibration: Calibration) -> bool:
    """Whether the tensor has other channels than those whose ranges are known."""
    ranges, shape = calibration.by_channel.get(str(value.name)), static_shape(value)
    return ranges is not None and shape is not None and shape[1] != len(ranges)
