"""Store the weights of a node in 4 or 6 bits and unpack them where they are used: a smaller package, float32 sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.low_bit import LowBitWeight, low_bit, low_bit_constant, stored_bytes
from metainfer_core.actions.rewiring import (
    FUSED_WITH,
    HALF,
    INTEGER,
    KEEP_FLOAT,
    UNIT,
    array_of,
    name_of,
    node,
    numbers_of,
    set_input,
)
from metainfer_core.actions.scales import highest_code
from metainfer_core.actions.units import NoUnit, describe, unit_for
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "real = (code - zero point) * scale; products and sums stay in float32"
FEWEST_WEIGHTS = 1024
"""Below that, a layer's scales and the unpacking are not worth proposing."""
USUAL_GROUP = 32
FLAT_CHANNELS = 0.05
"""Largest share of channels that one scale for the whole weight may leave without resolution."""

Scheme = Literal["tensor_wise", "channel_wise", "group_wise"]


class StoreLowBitParams(Value):
    """Parameters of a store_low_bit action."""

    bits: Literal[4, 6] = 4
    scheme: Scheme = "channel_wise"
    """How finely weights are scaled."""
    group_size: int = pydantic.Field(default=USUAL_GROUP, ge=2, le=1 << 16)
    """Inputs of one output that share a scale, where the scheme is group_wise."""
    symmetric: bool = True
    """Whether zero points are 0."""
    target_hw: str | None = None
    """Compute unit of the spec that unpacks and computes."""


class StoreLowBit(ActionKind):
    """Stores the weights of a convolution or matrix product in 4 or 6 bits, without gaps.

    The kernel unpacks a block of them at a time and computes in float32. As ONNX they are INT4 with DequantizeLinear;
    ONNX has no 6-bit type, so 6 bits stand there as INT8 whose codes stay within -31..31 (-32..31 if asymmetric).
    """

    name = "store_low_bit"
    obligation = Obligation(why="Rounding weights changes values: measured, and held against the accuracy budget.")
    risk = RiskFacts(changes_numbers=True, needs_calibration=False, device_dependent=False)
    Params = StoreLowBitParams

    def __init__(self, bits: Literal[4, 6] = 4) -> None:
        """A kind that proposes so many bits."""
        self.bits = bits

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each layer with many weights: by group where the unit can, else as finely as it can."""
        for candidate in model.graph:
            weight = array_of(candidate.inputs[1]) if len(candidate.inputs) > 1 else None
            if candidate.op_type not in ("Conv", "Gemm", "MatMul") or weight is None or weight.size < FEWEST_WEIGHTS:
                continue
            action = self._action(spec, candidate, weight)
            yield self.refusal(model, spec, action) or action

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Earlier decisions, constant weights in a kernel that unpacks, the unit, and channels that keep resolution."""
        params = StoreLowBitParams.from_plain(action.params)
        target = node(model, action.nodes[0])
        reason = (
            _decided_against(spec, target)
            or _form_against(target)
            or _unit_against(spec, target, params)
            or _resolution_against(target, params)
        )
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts the codes and a DequantizeLinear in the place of the weights."""
        params = StoreLowBitParams.from_plain(action.params)
        target = node(model, action.nodes[0])
        weight = coded(target, numbers_of(target.inputs[1]), params)
        name = f"{target.name}.{name_of(target.inputs[1])}"
        set_input(target, 1, low_bit_constant(model, name, weight, params.bits, target))
        if params.target_hw:
            target.metadata_props[UNIT] = params.target_hw

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = StoreLowBitParams.from_plain(action.params)
        by = {"tensor_wise": "tensor", "channel_wise": "output channel"}.get(
            params.scheme, f"group of {params.group_size}"
        )
        kind = "symmetric" if params.symmetric else "asymmetric"
        unit = f", on {params.target_hw}" if params.target_hw else ""
        return f"Store the weights of {action.nodes[0]} in {params.bits} bits, {kind}, scaled by {by}{unit}."

    def _action(self, spec: HardwareSpec, target: ir.Node, weight: np.ndarray) -> Action:
        unit = unit_for(spec, target.op_type, "float32")
        allowed = _granularities(spec, unit) if isinstance(unit, str) else ()
        scheme: Scheme = "group_wise" if "group" in allowed else "channel_wise"
        depth = weight.shape[_axes(target)[1]]
        params: dict[str, object] = {"bits": self.bits, "scheme": scheme}
        why: list[Reason] = []
        if isinstance(unit, str):
            size = spec.compute_units[unit].weight_group_size or USUAL_GROUP
            if scheme == "group_wise" and depth < size:
                params["scheme"] = "channel_wise"
            elif scheme == "group_wise":
                params["group_size"] = size
            params["target_hw"] = unit
        form = integer_form(target)
        if isinstance(form, IntegerForm):
            stored = stored_bytes(coded(target, weight, StoreLowBitParams.from_plain(params)), self.bits)
            claim = (
                f"Its {weight.size:,} weights take {stored:,} bytes with their scales, in place of {weight.nbytes:,}."
            )
            why.append(Reason(claim=claim, law=LAW))
        return Action(
            kind=self.name,
            nodes=(str(target.name),),
            params=params,
            why=tuple(why),
            constraint=f"{unit} computes {target.op_type} in float32." if isinstance(unit, str) else "",
            alternatives=(
                Alternative(option="float32", reason=f"It takes {32 // self.bits} times the bytes or more."),
                Alternative(option="weights of 8 bits", reason="They take up to twice the bytes."),
            ),
        )


def _decided_against(spec: HardwareSpec, target: ir.Node) -> str | None:
    marks = target.metadata_props
    if target.name in spec.sensitive_layers:
        return f"{target.name} is one of the spec's sensitive_layers: its precision must not be lowered."
    if marks.get(KEEP_FLOAT) == "1":
        return f"{target.name} was decided to stay float32 by a keep_float action."
    if INTEGER in marks:
        return f"{target.name} computes on integers: give its quantize action fewer weight_bits instead."
    if HALF in marks:
        return f"{target.name} is computed in {marks[HALF]}, whose kernels unpack no weights."
    if FUSED_WITH in marks:
        return f"{target.name} is computed by the kernel of {marks[FUSED_WITH]}: name {marks[FUSED_WITH]} instead."
    return None


def _form_against(target: ir.Node) -> str | None:
    """Weights must be constants of a kernel that unpacks them."""
    if target.op_type not in ("Conv", "Gemm", "MatMul"):
        return f"The kernel of {target.op_type} unpacks no weights; those of Conv, Gemm and MatMul do."
    form = integer_form(target)
    if isinstance(form, str):
        return form
    if target.op_type == "Conv" and target.attributes.get_int("group", 1) > 1 and _depth(target) == 1:
        return f"{target.name} is depthwise: its kernel unpacks no weights, of which it has few."
    return None


def _unit_against(spec: HardwareSpec, target: ir.Node, params: StoreLowBitParams) -> str | None:
    """A CPU unpacks in software; an accelerator must say that it reads such weights, and how finely it scales them."""
    name = unit_for(spec, target.op_type, "float32", at=params.target_hw, fall_back=params.target_hw is None)
    if isinstance(name, NoUnit):
        return name.reason
    unit = spec.compute_units[name]
    field = f"compute_units.{name}"
    if unit.kind != "cpu" and not (params.bits == 4 and "int4" in unit.data_types):
        listed = ", ".join(unit.data_types) or "not given"
        return f"{name} is not known to read weights of {params.bits} bits ({field}.data_types: {listed})."
    wanted, allowed = params.scheme.removesuffix("_wise"), _granularities(spec, name)
    if wanted not in allowed:
        told = describe(spec, f"{field}.weight_granularity") or "not given"
        return f"{name} does not scale weights by {wanted} ({field}.weight_granularity is {told})."
    size = unit.weight_group_size
    if wanted == "group" and size is not None and params.group_size % size:
        return f"Groups of {params.group_size} are no multiple of {size} ({field}.weight_group_size)."
    if wanted == "group" and params.group_size > _depth(target):
        return f"{target.name} has {_depth(target)} inputs for each output, fewer than a group of {params.group_size}."
    return None


def _granularities(spec: HardwareSpec, name: str) -> tuple[str, ...]:
    """How finely the unit scales packed weights; software on a CPU can do all three where the spec says nothing."""
    unit = spec.compute_units[name]
    return unit.weight_granularity or (("tensor", "channel", "group") if unit.kind == "cpu" else ("tensor",))


def _resolution_against(target: ir.Node, params: StoreLowBitParams) -> str | None:
    """One scale for a whole weight must leave its channels resolution in so few bits."""
    if params.scheme != "tensor_wise":
        return None
    weight = np.abs(numbers_of(target.inputs[1]))
    output = _axes(target)[0]
    peaks = weight.max(axis=tuple(i for i in range(weight.ndim) if i != output), initial=0.0)
    flat = (peaks * highest_code(params.bits) < peaks.max(initial=0.0)) & (peaks > peaks.max(initial=0.0) * 1e-6)
    if flat.sum() <= FLAT_CHANNELS * flat.size:
        return None
    return (
        f"One scale for all of {name_of(target.inputs[1])} leaves {int(flat.sum())} of {flat.size} channels fewer than "
        f"2 codes of {params.bits} bits: scale by channel or by group."
    )


def _axes(target: ir.Node) -> tuple[int, int]:
    """The weight's axes of outputs and of inputs."""
    if target.op_type == "Conv" or target.attributes.get_int("transB", 0) == 1:
        return 0, 1
    return 1, 0


def _depth(target: ir.Node) -> int:
    return int(numbers_of(target.inputs[1]).shape[_axes(target)[1]])


def coded(target: ir.Node, weight: np.ndarray, params: StoreLowBitParams) -> LowBitWeight:
    """What the action stores in the place of a weight of the node."""
    output, inputs = _axes(target)
    axis = {"tensor_wise": None, "channel_wise": output}.get(params.scheme, inputs)
    group = params.group_size if params.scheme == "group_wise" else 0
    return low_bit(weight, params.bits, axis, group, params.symmetric)
