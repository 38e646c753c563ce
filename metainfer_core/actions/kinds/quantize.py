"""Quantize a node to integers: its inputs, constants and outputs get QuantizeLinear/DequantizeLinear pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.channel_activations import (
    FINER_ALTERNATIVES,
    channels_of_activation_against,
    is_depthwise,
    unrounded_against,
)
from metainfer_core.actions.integer_laws import (
    accumulator_against,
    bits_against,
    channels_against,
    concat_against,
    granularity_against,
    integer_unit,
    pairs_against,
    ranges_against,
    sensitivity_against,
    unit_against,
)
from metainfer_core.actions.integer_operators import HEAVY, IntegerForm, integer_form
from metainfer_core.actions.narrow_integers import NARROW, narrow_against, turned_down
from metainfer_core.actions.quantize_dequantize import (
    pair_in,
    parameters_of,
    quantize_output,
    quantized_constant,
    raw,
    read_in,
)
from metainfer_core.actions.quantize_numbers import (
    QuantizeParams,
    activation_inputs,
    affine_of,
    bits_stored,
    channel_ranges_of,
    finer,
    input_scale,
    ranges_of,
    stored_outputs,
    why_finer,
)
from metainfer_core.actions.quantize_reasons import alternatives, why
from metainfer_core.actions.rewiring import (
    FUSED_WITH,
    INTEGER,
    PART_UNIT,
    UNIT,
    array_of,
    data_of,
    followers,
    is_float,
    name_of,
    node,
    nodes_by_id,
    numbers_of,
    set_input,
)
from metainfer_core.actions.scales import (
    bias_codes,
    bias_floor,
    highest_code,
    weight_codes,
    weight_scales,
)
from metainfer_core.actions.unit_shares import range_of_whole
from metainfer_core.actions.units import granularities
from metainfer_core.actions.wide_integers import wide_against, wide_rewrite
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec


@dataclass(frozen=True)
class Width:
    """Another width than the usual one for a node's activations, and why."""

    bits: int
    reason: Reason

    def params(self, usual: Mapping[str, object]) -> dict[str, object]:
        """Parameters of an action of this width; zero points are 0 in 16 bits."""
        return {"bit_width": 16, "symmetric": True} if self.bits == 16 else {**usual, "bit_width": self.bits}


WEIGHT_BITS_OF_PAIRS = 7
"""Two products of a code up to 255 and a weight up to 63 sum to 32,130, which 16 bits hold."""


class Quantize(ActionKind):
    """Computes a node, and what is fused with it, on integers of 4, 6, 8 or 16 bits.

    `bit_width` is that of activations, and of weights as well, which have at most 8; `weight_bits` gives weights
    another one. Weights are constants with zero point 0; activations get a scale and a zero point from the range that
    calibration data gave. Where the node that makes a tensor is quantized, its action decides the tensor's scale.
    Where nodes of different widths meet, codes are rescaled from one width to the other. Each code of 4 or 6 bits has
    a byte of its own.
    """

    name = "quantize"
    obligation = Obligation(why="Rounding to integers changes values: measured, and held against the accuracy budget.")
    risk = RiskFacts(changes_numbers=True, needs_calibration=True, device_dependent=True)
    Params = QuantizeParams

    def __init__(
        self,
        preferred: Mapping[str, object] | None = None,
        wide: Mapping[str, Reason] | None = None,
        left: Collection[str] = (),
        narrow: Mapping[str, Width] | None = None,
    ) -> None:
        """A kind that proposes with other parameters than the usual ones, such as `{"symmetric": True}`.

        Args:
            preferred: Parameters of its actions.
            wide: Nodes that get 16-bit activations instead, each with the reason.
            left: Nodes that it proposes nothing for.
            narrow: Nodes that get fewer bits instead.
        """
        self.preferred = dict(preferred or {})
        self.widths = {name: Width(16, reason) for name, reason in (wide or {}).items()} | dict(narrow or {})
        self.left = frozenset(left)

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action a node where its inputs come from quantized nodes or it has weights; else why not."""
        quantized: set[ir.Node] = set()
        widths: dict[ir.Node, int] = {}
        of_one_scale: set[str] = set()
        for candidate in model.graph:
            if FUSED_WITH in candidate.metadata_props or not any(is_float(value) for value in candidate.outputs):
                continue
            if candidate.name in self.left:
                continue
            fed = [producer in quantized for producer in _producers(candidate)]
            if candidate.op_type not in HEAVY and not any(fed):
                continue  # away from quantized neighbours, INT8 would only add conversions
            form = integer_form(candidate)
            group = (candidate, *followers(candidate))
            if isinstance(form, str):
                yield Refusal(kind=self.name, nodes=(str(candidate.name),), reason=form)
                continue
            if form.role != "weighted" and not all(fed):
                reason = f"{candidate.name} has an input that stays float, so INT8 would only add a conversion."
                yield Refusal(kind=self.name, nodes=(str(candidate.name),), reason=reason)
                continue
            chosen = self.widths.get(str(candidate.name))
            along = _as_it_reads(candidate, form, widths) if chosen is None else None
            action = self._action(spec, group, form, calibration, of_one_scale, chosen or along)
            refused = self.refusal(model, spec, action)
            if refused is not None and along is not None:
                action = self._action(spec, group, form, calibration, of_one_scale, None)
                refused = self.refusal(model, spec, action)
            if refused is None:
                quantized.update(group)
                widths.update(dict.fromkeys(group, int(str(action.params["bit_width"]))))
                names = {name_of(value) for member in group for value in member.outputs}
                of_one_scale |= names - set(action.params.get("channel_ranges", {}))
            yield refused or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """Fills in the fused nodes and the ranges that the action does not bring."""
        known = nodes_by_id(model)
        calibration = calibration.for_bits(int(action.params.get("bit_width", 8))) if calibration else None
        target = known.get(action.nodes[0])
        form = integer_form(target) if target is not None else ""
        if target is None or isinstance(form, str):
            return action
        nodes = tuple(dict.fromkeys((*action.nodes, *(str(member.name) for member in followers(target)))))
        ranges = action.params.get("ranges", {})
        group, by_channel = (target, *followers(target)), action.params.get("channel_ranges", {})
        if calibration is not None and isinstance(ranges, dict):
            ranges = {**ranges_of(group, form, calibration), **range_of_whole(target, calibration), **ranges}
        wanted = action.params.get("activation_scheme") == "channel_wise"
        if calibration is not None and wanted and isinstance(by_channel, dict):
            by_channel = {**channel_ranges_of(group, form, calibration), **by_channel}
        filled = {"ranges": ranges} if ranges else {}
        filled |= {"channel_ranges": by_channel} if by_channel else {}
        return action.with_nodes(nodes).with_params(filled)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Width, unit, granularity, sensitivity, an integer form, known ranges, and sums that fit."""
        reasons = (self._reason_against(model, spec, action, target) for target in _targets(model, action))
        reason = self._misaddressed(model, action) or next(filter(None, reasons), None)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def _reason_against(self, model: ir.Model, spec: HardwareSpec, action: Action, target: ir.Node) -> str | None:
        params = QuantizeParams.from_plain(action.params)
        group = (target, *followers(target))
        form = integer_form(target)
        if params.bit_width == 16 and isinstance(form, IntegerForm):
            return wide_against(spec, params, target, form)
        reason = (
            sensitivity_against(spec, group)
            or (form if isinstance(form, str) else None)
            or (bits_against(spec, params.target_hw, params.bit_width) if params.bit_width != 8 else None)
            or unit_against(spec, group, params.target_hw, params.bit_width)
            or bits_against(spec, params.target_hw, params.bit_width)
            or narrow_against(spec, params, target)
        )
        if reason is None and isinstance(form, IntegerForm):
            reason = self._numbers_against(spec, params, target, form, len(action.nodes) == 1)
        return reason

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Inserts the pairs; the nodes themselves stay as they are between them."""
        params = QuantizeParams.from_plain(action.params)
        for target in _targets(model, action):
            self._rewrite_one(model, params, target)

    def _rewrite_one(self, model: ir.Model, params: QuantizeParams, target: ir.Node) -> None:
        form = integer_form(target)
        assert isinstance(form, IntegerForm)
        if params.bit_width == 16:
            wide_rewrite(model, params, target, form)
            self._mark(params, target)
            return
        outputs, bits = stored_outputs(target, params.fused_input_bits), params.bit_width
        for index in form.activations:
            value = target.inputs[index]
            assert value is not None
            read_in(model, target, index, affine_of(params, raw(value)), bits)
        if form.role == "weighted":
            self._quantize_weight(model, params, target, form)
        for index in form.constants:
            array, highest = numbers_of(target.inputs[index]), highest_code(bits)
            scales = weight_scales(array, None, highest=highest)
            codes, name = weight_codes(array, scales, None, highest), f"{target.name}.input_{index}"
            set_input(target, index, quantized_constant(model, name, codes, scales, None, target, bits))
        for value in outputs:
            stored = bits_stored(params, target, value)
            affine = affine_of(params, value, stored)
            if form.role == "same_scale":
                pair = pair_in(raw(data_of(target)), bits)
                affine = parameters_of(pair) if pair is not None else affine
            quantize_output(model, value, affine, target, stored)
        self._mark(params, target)

    def _mark(self, params: QuantizeParams, target: ir.Node) -> None:
        """Records that the node and what is fused with it compute on integers, of how many bits and where."""
        for member in (target, *followers(target)):
            member.metadata_props[INTEGER] = str(params.bit_width)
            if params.target_hw:
                member.metadata_props[UNIT] = params.target_hw

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = QuantizeParams.from_plain(action.params)
        by = "output channel" if params.scheme == "channel_wise" else "tensor"
        kind = "symmetric" if params.symmetric else "asymmetric"
        fused = f" with {', '.join(action.nodes[1:])}" if action.nodes[1:] else ""
        by_channel = " and ".join(params.channel_ranges) if params.activation_scheme == "channel_wise" else ""
        return (
            f"Compute {action.nodes[0]}{fused} in INT{params.bit_width}: "
            f"weights {f'of {params.weight_bits} bits ' if params.weight_bits not in (None, 8) else ''}scaled by {by}, "
            f"{kind} activations{f', on {params.target_hw}' if params.target_hw else ''}."
            f"{f' Each channel of {by_channel} has a scale of its own.' if by_channel else ''}"
            f"{' HardSwish reads unrounded sums.' if params.fused_input_bits == 16 else ''}"
        )

    def _action(
        self,
        spec: HardwareSpec,
        group: tuple[ir.Node, ...],
        form: IntegerForm,
        calibration: Calibration | None,
        of_one_scale: Collection[str],
        width: Width | None,
    ) -> Action:
        """The action on a group; `width`: where it is to have another one than all."""
        target = group[0]
        preferred = self.preferred if width is None else width.params(self.preferred)
        wanted = target.metadata_props.get(PART_UNIT) or preferred.get("target_hw")
        at = wanted if isinstance(wanted, str) else None
        bits = int(str(preferred.get("bit_width", 8)))
        calibration = calibration.for_bits(bits) if calibration else None
        integers = f"int{bits}"
        unit = integer_unit(spec, target.op_type, bits, at=at)
        allowed = granularities(spec, unit)[0] if isinstance(unit, str) else ("tensor",)
        scheme = "channel_wise" if "channel" in allowed and form.role == "weighted" else "tensor_wise"
        ranges = {**ranges_of(group, form, calibration), **range_of_whole(target, calibration)} if calibration else {}
        params: dict[str, object] = {
            "bit_width": 8,
            "scheme": scheme,
            "symmetric": False,
            "ranges": ranges,
            **finer(spec, unit, group, form, calibration, preferred, of_one_scale),
            **preferred,
        }
        narrow = None
        if isinstance(unit, str):
            params["target_hw"] = unit
            narrow = _narrow(spec, unit, group[0], form, QuantizeParams.from_plain(params)) if bits == 8 else None
            params |= {"weight_bits": WEIGHT_BITS_OF_PAIRS} if narrow else {}
        return Action(
            kind=self.name,
            nodes=tuple(str(member.name) for member in group),
            params=params,
            why=(
                *((width.reason,) if width is not None else ()),
                *why(spec, unit, form, calibration, integers),
                *why_finer(params, ranges),
            ),
            constraint=f"{unit} computes in {integers} and runs {target.op_type}." if isinstance(unit, str) else "",
            alternatives=(
                *alternatives(spec, unit, form, str(params["scheme"]), bits, width.reason if width else None),
                *(FINER_ALTERNATIVES[name] for name in FINER_ALTERNATIVES if name in params),
                *(turned_down(spec, unit) if isinstance(unit, str) and bits == 8 and form.role == "weighted" else ()),
                *((Alternative(option="weights of 8 bits", reason=narrow),) if narrow else ()),
            ),
        )

    def _misaddressed(self, model: ir.Model, action: Action) -> str | None:
        known = nodes_by_id(model)
        leader = known[action.nodes[0]].metadata_props.get(FUSED_WITH)
        if leader is not None:
            return f"{action.nodes[0]} is computed by the kernel of {leader}: quantize {leader} instead."
        strangers = [
            name
            for name in action.nodes[1:]
            if known[name].metadata_props.get(FUSED_WITH, "") not in ("", *action.nodes)
        ]
        return f"{strangers[0]} is computed by the kernel of another node." if strangers else None

    def _numbers_against(
        self, spec: HardwareSpec, params: QuantizeParams, target: ir.Node, form: IntegerForm, is_alone: bool
    ) -> str | None:
        bits, weight_bits = params.bit_width, params.bits_of_weights
        unit = params.target_hw or integer_unit(spec, target.op_type, bits)
        assert isinstance(unit, str)
        inputs, outputs = activation_inputs(target, form), stored_outputs(target, params.fused_input_bits)
        reason = (
            unrounded_against(target, form.role, params.fused_input_bits, is_alone)
            or self._channels_against(spec, unit, params, target, form)
            or ranges_against((*inputs, *outputs), params.ranges, params.zero_point_clip, bits)
        )
        if reason is not None:
            return reason
        if form.role == "concat":
            return concat_against(target, outputs, params.ranges, params.symmetric, bits)
        if form.role != "weighted":
            return None
        scale = input_scale(params, target, form)
        return (
            granularity_against(spec, unit, params.scheme)
            or (channels_against(target, form, weight_bits) if params.scheme == "tensor_wise" else None)
            or accumulator_against(spec, unit, target, form, scale, params.scheme, weight_bits, bits)
            or pairs_against(spec, unit, target, form, scale, params.scheme, weight_bits, bits)
        )

    def _channels_against(
        self, spec: HardwareSpec, unit: str, params: QuantizeParams, target: ir.Node, form: IntegerForm
    ) -> str | None:
        """Each tensor that has, or is to have, a scale a channel, against the laws of these."""
        inputs, outputs = activation_inputs(target, form), stored_outputs(target, params.fused_input_bits)
        for value in inputs:
            pair = pair_in(value, 8)
            if pair is not None and parameters_of(pair).scale.ndim and not is_depthwise(target):
                return f"{name_of(value)} has a scale a channel, which {target.name} ({target.op_type}) cannot read."
        if params.activation_scheme != "channel_wise":
            return None
        named = [value for value in (*inputs, *outputs) if name_of(value) in params.channel_ranges]
        if not params.channel_ranges:
            names = ", ".join(name_of(value) for value in (*inputs, *outputs))
            return (
                f"No ranges of channels are known for {names} (channel_ranges): calibration data gives them where "
                "depthwise convolutions alone read a tensor."
            )
        against = (
            channels_of_activation_against(
                spec, unit, target, form.role, value, value in outputs, params.channel_ranges[name_of(value)]
            )
            for value in named
        )
        return next(filter(None, against), None)

    def _quantize_weight(self, model: ir.Model, params: QuantizeParams, target: ir.Node, form: IntegerForm) -> None:
        of_input = input_scale(params, target, form)
        weight = numbers_of(target.inputs[1])
        bias = array_of(target.inputs[form.bias]) if form.bias is not None else None
        axis = form.weight_axis if params.scheme == "channel_wise" else None
        bits = params.bits_of_weights
        highest = highest_code(bits)
        scales = weight_scales(weight, axis, bias_floor(bias, of_input, axis), highest)
        codes = weight_codes(weight, scales, axis, highest)
        set_input(target, 1, quantized_constant(model, f"{target.name}.weight", codes, scales, axis, target, bits))
        if bias is not None and form.bias is not None:
            flat = bias.reshape(-1)
            integers, product = bias_codes(flat, of_input, scales)
            bias_axis = 0 if product.ndim else None
            set_input(
                target,
                form.bias,
                quantized_constant(model, f"{target.name}.bias", integers, product, bias_axis, target),
            )


def _as_it_reads(candidate: ir.Node, form: IntegerForm, widths: Mapping[ir.Node, int]) -> Width | None:
    """The width of a node between layers that has what it reads: 16 bits, or fewer where it only moves values."""
    makers = [producer for producer in _producers(candidate) if producer in widths]
    wide = next((maker for maker in makers if widths[maker] == 16), None)
    if form.role != "weighted" and wide is not None:
        return Width(16, Reason(claim=f"It reads 16-bit activations of {wide.name}, which 8 bits would round again."))
    if form.role == "same_scale" and makers and widths[makers[0]] in NARROW:
        bits = widths[makers[0]]
        return Width(bits, Reason(claim=f"It moves codes of {bits} bits of {makers[0].name} as they are."))
    return None


def _narrow(spec: HardwareSpec, unit: str, target: ir.Node, form: IntegerForm, params: QuantizeParams) -> str | None:
    """Why weights of 8 bits would saturate a sum of two products, or None."""
    if form.role != "weighted" or spec.compute_units[unit].pair_sum_bits is None:
        return None
    source = activation_inputs(target, form)[0]
    if pair_in(source, params.bit_width) is None and name_of(source) not in params.ranges:
        return None
    scale = input_scale(params, target, form)
    return pairs_against(spec, unit, target, form, scale, params.scheme, params.bits_of_weights, params.bit_width)


def _targets(model: ir.Model, action: Action) -> tuple[ir.Node, ...]:
    """The nodes that get pairs: the leader, and members whose fusion a reviewer switched off."""
    return tuple(member for name in action.nodes if FUSED_WITH not in (member := node(model, name)).metadata_props)


def _producers(candidate: ir.Node) -> tuple[ir.Node, ...]:
    """The nodes that make the candidate's inputs; what the model's caller gives counts as nobody's."""
    producers = (value.producer() for value in candidate.inputs if value is not None)
    return tuple(producer for producer in producers if producer is not None)
