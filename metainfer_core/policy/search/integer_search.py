"""Which nodes become INT8: all that are legal, and where that costs too much accuracy, all but the worst ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import onnx_ir as ir

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.actions.half_tensors import unwidened
from metainfer_core.actions.integer_operators import HEAVY, IntegerForm, integer_form
from metainfer_core.actions.kinds.half_precision import HalfPrecision
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.quantize import Quantize, Width
from metainfer_core.actions.quantize_dequantize import raw
from metainfer_core.actions.rewiring import FUSED_WITH, HALF, INTEGER, KEEP_FLOAT, nodes_by_id
from metainfer_core.actions.units import granularities, ranked_units
from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.half import FORMATS, HalfFloat
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.range_reasons import with_range_reasons
from metainfer_core.spec.hardware_spec import HardwareSpec

UNITS_TRIED = 2


@dataclass(frozen=True)
class Variant:
    """One way to compute the whole model in INT8."""

    unit: str
    name: str
    params: Mapping[str, object]
    """Parameters of quantize that it changes."""
    cuts_ranges: bool = False
    """Whether a tensor's range is that of the best calibration method, not the least and greatest value."""

    def base(self, structural: Draft) -> Draft:
        """The structural actions with the ranges of this variant."""
        calibration = structural.calibration
        draft = structural.branch()
        draft.calibration = calibration.with_chosen() if calibration is not None and self.cuts_ranges else calibration
        return draft


def variants(spec: HardwareSpec, has_chosen: bool, has_channels: bool) -> tuple[Variant, ...]:
    """Each scheme on the home of INT8; the usual one on the next best unit, whose calls may start sooner.

    The usual one with whole ranges as well, where calibration chose others, and with one scale an activation, where
    some can have a scale a channel.
    """
    units = ranked_units(spec, "int8")[:UNITS_TRIED]
    found = []
    for index, unit in enumerate(units):
        on_unit = {"target_hw": unit} if index else {}
        for words, params in _schemes(spec, unit)[: 1 if index else None]:
            whole = Variant(unit, f"int8 on {unit}, {words}", {**params, **on_unit})
            if has_chosen:
                found.append(replace(whole, name=f"{whole.name}, cut ranges", cuts_ranges=True))
            if not has_chosen or not params:
                found.append(whole)
        if has_channels and not index:
            by_tensor = Variant(unit, f"{found[0].name}, activations by tensor", {"activation_scheme": "tensor_wise"})
            found.append(replace(by_tensor, cuts_ranges=has_chosen))
    return tuple(found)


def _schemes(spec: HardwareSpec, unit: str) -> list[tuple[str, Mapping[str, object]]]:
    """Words for a scheme, and the parameters that it changes; by tensor only where the unit scales no finer."""
    by_channel = "channel" in granularities(spec, unit)[0]
    finest = f"weights by {'channel' if by_channel else 'tensor'}"
    schemes: list[tuple[str, Mapping[str, object]]] = [
        (f"{finest}, asymmetric", {}),
        (f"{finest}, symmetric", {"symmetric": True}),
    ]
    return [*schemes, ("weights by tensor, asymmetric", {"scheme": "tensor_wise"})] if by_channel else schemes


Measured = Effect | str
"""An effect, or why it could not be measured."""


T = TypeVar("T")


def measured(measure: Callable[[ir.Model], T], model: ir.Model) -> T | str:
    """The effect of a model, or the sentence why it cannot run."""
    try:
        return measure(model)
    except UnsupportedError as error:
        return " ".join(part for part in (error.what, error.why) if part)


SixteenBits = Literal["int16", "float16", "bfloat16"]


@dataclass(frozen=True)
class Sixteen:
    """Nodes that compute in 16 bits instead, each for its reason."""

    data_type: SixteenBits = "int16"
    nodes: Mapping[str, Reason] = field(default_factory=dict)


def quantized(
    structural: Draft,
    params: Mapping[str, object],
    dropped: Mapping[str, Reason],
    sixteen: Sixteen | None = None,
    narrow: Mapping[str, Width] | None = None,
) -> Draft:
    """INT8 wherever it is legal, but for nodes that stay float for the reason given, have 16 bits, or fewer than 8."""
    draft, sixteen = structural.branch(), sixteen or Sixteen()
    unit = params.get("target_hw")
    keeper, known = KeepFloat(unit if isinstance(unit, str) else None), nodes_by_id(draft.model)
    draft.take(list(keeper.propose(draft.model, draft.spec, draft.calibration)))
    kept = (keeper.because(draft.model, draft.spec, known[name], "over_budget", why) for name, why in dropped.items())
    draft.take(list(kept))
    half = None if sixteen.data_type == "int16" else sixteen.data_type
    kind = Quantize(
        params, wide={} if half else sixteen.nodes, left=tuple(sixteen.nodes) if half else (), narrow=narrow
    )
    told: set[str] = set()
    proposed = [
        with_range_reasons(found, draft.calibration, told)
        for found in kind.propose(draft.model, draft.spec, draft.calibration)
    ]
    draft.take(proposed)
    halves = _halves(draft, known, half, sixteen.nodes) if half else []
    against = [
        (known[refused.nodes[0]], Reason(claim=refused.reason, law="integer arithmetic of this unit on these numbers"))
        for refused in (*proposed, *halves)
        if isinstance(refused, Refusal) and _stands_among_integers(known[refused.nodes[0]])
    ]
    draft.take([keeper.because(draft.model, draft.spec, target, "not_legal", reason) for target, reason in against])
    return draft


def _halves(
    draft: Draft, known: Mapping[str, ir.Node], half: HalfFloat, nodes: Mapping[str, Reason]
) -> list[Action | Refusal]:
    """Takes the nodes in 16-bit floats, and what computes without weights on their results; gives what was proposed."""
    kind, words = HalfPrecision(half), FORMATS[half].words
    found: list[Action | Refusal] = []
    for name, node in known.items():
        makers = (unwidened(value).producer() for value in node.inputs if value is not None)
        maker = next((one for one in makers if one is not None and HALF in one.metadata_props), None)
        follows = maker is not None and not {HALF, INTEGER, KEEP_FLOAT, FUSED_WITH} & set(node.metadata_props)
        if name in nodes:
            reason = nodes[name]
        elif follows and node.op_type not in HEAVY and maker is not None:
            reason = Reason(claim=f"It reads {words} of {maker.name}, which would be converted first.")
        else:
            continue
        action = kind.because(draft.model, draft.spec, node, draft.calibration, reason)
        found.append(action)
        draft.take([action] if isinstance(action, Action) or name in nodes else [])
    return found


def _stands_among_integers(target: ir.Node) -> bool:
    """Whether nothing but its own numbers keeps a node from INT8: it has a form, and its inputs are integers."""
    if (
        HALF in target.metadata_props
        or KEEP_FLOAT in target.metadata_props
        or not isinstance(integer_form(target), IntegerForm)
    ):
        return False
    makers = [raw(value).producer() for value in target.inputs if value is not None]
    return all(maker is None or INTEGER in maker.metadata_props for maker in makers)


def integer_actions(draft: Draft) -> list[Action]:
    """The quantize actions of a draft, in order."""
    return [action for action in draft.actions if action.kind == "quantize"]


def alone(structural: Draft, action: Action, measure: Callable[[ir.Model], Effect]) -> Measured:
    """The effect of one quantize action on the otherwise float model."""
    draft = structural.branch()
    if not draft.take([action]):
        refused: Refusal = draft.refusals[-1]
        return refused.reason
    return measured(measure, draft.finished())
