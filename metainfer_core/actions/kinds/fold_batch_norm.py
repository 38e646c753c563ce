"""Fold a BatchNormalization into the Conv before it: Conv, BN -> Conv."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.rewiring import (
    add_constant,
    array_of,
    mark_origin,
    name_of,
    node,
    nodes_by_id,
    numbers_of,
    readers,
    remove,
    set_input,
    take_over,
)
from metainfer_core.actions.units import describe
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec

FOLDS_INTO = ("Conv", "ConvTranspose")
LAW = "Conv is linear in each output channel, so BN's gain and shift are a part of its weights (Jacob et al. 2018, 3.2)"


class FoldBatchNorm(ActionKind):
    """Folds a BatchNormalization into the Conv or ConvTranspose that feeds it.

    One operator and one activation buffer less, the same outputs up to rounding.
    """

    name = "fold_batch_norm"
    obligation = Obligation(
        relative=1e-4, absolute=1e-5, why="Float32 weights are rescaled once; nothing else is rounded anew."
    )
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=False)

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """An action for each Conv -> BatchNormalization, or why it cannot be."""
        for norm in model.graph:
            conv = norm.inputs[0].producer() if norm.op_type == "BatchNormalization" and norm.inputs[0] else None
            if conv is None or conv.op_type not in FOLDS_INTO:
                continue
            action = Action(
                kind=self.name,
                nodes=(str(conv.name), str(norm.name)),
                why=(
                    Reason(claim=f"{norm.name} alone reads {conv.name}, and its parameters are constants.", law=LAW),
                    _instruction(spec),
                ),
                constraint="No unit of the spec has to run BatchNormalization.",
                alternatives=(
                    Alternative(
                        option=f"keep {norm.name} as an operator",
                        reason=f"It would read and write {name_of(norm.outputs[0])} once more for the same numbers.",
                    ),
                ),
            )
            yield self.refusal(model, spec, action) or action

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The pair must be a chain that nobody else looks into, with constants only."""
        reason = _reason_against(model, action.nodes)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Scales the weights and shifts the bias, then removes the BatchNormalization."""
        conv, norm = _pair(model, action.nodes)
        weight, scale, shift, mean, variance = map(numbers_of, (conv.inputs[1], *norm.inputs[1:5]))
        bias = array_of(conv.inputs[2]) if len(conv.inputs) > 2 else None
        # float64, so that the one rounding is the one to the weights' own type
        epsilon = norm.attributes.get_float("epsilon", 1e-5)
        gain = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
        folded_weight = weight * _along_output_channels(conv, weight.shape, gain)
        folded_bias = shift + ((0.0 if bias is None else bias.astype(np.float64)) - mean) * gain

        for index, label, array in ((1, "weight", folded_weight), (2, "bias", folded_bias)):
            set_input(conv, index, add_constant(model, f"{conv.name}.folded_{label}", array.astype(weight.dtype)))
        take_over(model, norm.outputs[0], conv.outputs[0])
        mark_origin(conv, (conv, norm))
        remove(model, [norm])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Fold {' and '.join(action.nodes[1:])} into the weights and bias of {action.nodes[0]}."


def _instruction(spec: HardwareSpec) -> Reason:
    """What the spec says of hardware that runs BN and ReLU with a Conv: folding does not need it."""
    field = "has_fused_bn_relu_instruction"
    return Reason(
        claim="No instruction for BN is needed once it is folded.",
        spec_field=field,
        spec_value=describe(spec, field),
    )


def _pair(model: ir.Model, node_ids: tuple[str, ...]) -> tuple[ir.Node, ir.Node]:
    if len(node_ids) == 2:
        return node(model, node_ids[0]), node(model, node_ids[1])
    conv = node(model, node_ids[0])  # a plain policy names the Conv alone
    return conv, readers(conv.outputs[0])[0]


def _reason_against(model: ir.Model, node_ids: tuple[str, ...]) -> str | None:
    known = nodes_by_id(model)
    conv = known[node_ids[0]]
    if conv.op_type not in FOLDS_INTO:
        return f"{conv.name} is {conv.op_type}; only {' and '.join(FOLDS_INTO)} take a batch norm into their weights."
    output = conv.outputs[0]
    if output.is_graph_output():
        return f"{output.name} is an output of the model, whose values must stay."
    if len(readers(output)) != 1:
        return f"{output.name} is also read by another node, which would then see the normalised values."
    norm = readers(output)[0]
    if norm.op_type != "BatchNormalization" or (len(node_ids) > 1 and node_ids[1:] != (norm.name,)):
        return f"{conv.name} is followed by {norm.name} ({norm.op_type}), not by the batch norm to fold."
    if norm.inputs[0] is not output:
        return f"{conv.name} gives {norm.name} a parameter, not the data to normalise."
    if norm.attributes.get_int("training_mode", 0):
        return f"{norm.name} is in training mode: it would take mean and variance from each input."
    if any(value.uses() or value.is_graph_output() for value in norm.outputs[1:]):
        return f"{norm.name} also gives its running mean or variance, which the folded form does not have."
    bias = conv.inputs[2:3]
    for value in (*conv.inputs[1:2], *(value for value in bias if value is not None), *norm.inputs[1:5]):
        if array_of(value) is None:
            return f"{name_of(value)} is not a constant, so the folded weights cannot be computed now."
    variance = array_of(norm.inputs[4])
    if variance is not None and bool((variance + norm.attributes.get_float("epsilon", 1e-5) <= 0).any()):
        return f"{norm.name} has a channel whose variance plus epsilon is not positive: its gain is not a number."
    return None


def _along_output_channels(conv: ir.Node, shape: tuple[int, ...], gain: np.ndarray) -> np.ndarray:
    """The gain in a shape that multiplies the weight: OIHW for Conv, I(O/g)HW for ConvTranspose."""
    if conv.op_type == "Conv":
        return gain.reshape(-1, *(1,) * (len(shape) - 1))
    groups = conv.attributes.get_int("group", 1)
    by_input = np.repeat(gain.reshape(groups, shape[1]), shape[0] // groups, axis=0)
    return by_input.reshape(shape[0], shape[1], *(1,) * (len(shape) - 2))
