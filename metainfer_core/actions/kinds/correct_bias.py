"""Correct a quantized layer's bias by the mean error that rounding leaves in each of its channels."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, Alternative, Reason
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer, replace_codes
from metainfer_core.actions.rounding_kind import RoundingKind
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "the mean of a rounding error is a constant, which the bias can take up (Nagel et al. 2019, section 4.2)"
LEAST_GAIN = 0.02
"""Share of the squared error that a correction must take away on held-out samples: less is chance."""


class CorrectBiasParams(Value):
    """Parameters of a correct_bias action."""

    codes: tuple[int, ...]
    """What is added to the code of each output channel's bias."""


class CorrectBias(RoundingKind):
    """Adds to the bias of a quantized layer what rounding takes away from each of its channels on average.

    Rounded weights and inputs shift the mean of a channel; the shift is learned on calibration data, costs nothing at
    run time, and is taken only where it lessens the error on samples that it was not learned from.
    """

    name = "correct_bias"
    Params = CorrectBiasParams

    def proposal(self, layer: QuantizedLayer, data: Layer) -> Action | str:
        """The action for one layer, or why its error does not become less."""
        return _proposed(layer, data)

    def reason_against(self, model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
        """Why the action is not legal, or None."""
        return _reason_against(model, spec, action)

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Adds the codes to the bias."""
        layer = quantized_layer(model, action.nodes[0])
        assert isinstance(layer, QuantizedLayer)
        assert layer.bias is not None
        replace_codes(model, layer.node, 2, "bias.corrected", _corrected(layer.bias, action))

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        count = sum(code != 0 for code in action.params["codes"])
        return f"Correct the bias of {action.nodes[0]} in {count} channels by the mean error of its rounding."


def _proposed(layer: QuantizedLayer, data: Layer) -> Action | str:
    name = str(layer.node.name)
    if layer.bias is None:
        return f"{name} has no bias that could take up the mean error of its rounding."
    rounded = layer.matrix(layer.codes)
    step = layer.scales.astype(np.float64) * layer.input.for_outputs(layer.scales.size)
    shift = _errors(layer, data.seen, data.weight, rounded).mean(axis=0).reshape(-1)
    codes = np.rint(shift / step).astype(np.int64)
    held_out = _errors(layer, data.held_out, data.weight, rounded).reshape(len(data.held_out), -1)
    before, after = float((held_out**2).mean()), float(((held_out - codes * step) ** 2).mean())
    if not after <= (1 - LEAST_GAIN) * before:
        return (
            f"The rounding of {name} has no steady mean: correcting its bias would leave "
            f"{after / before if before else 1:.0%} of the squared error on held-out samples."
        )
    claim = f"On held-out samples {after / before:.0%} of the squared error of {name}'s own rounding is left."
    return Action(
        kind=CorrectBias.name,
        nodes=(name,),
        params={"codes": [int(code) for code in codes]},
        why=(Reason(claim=claim, law=LAW),),
        constraint="The sums still fit into the accumulator.",
        alternatives=(Alternative(option="the bias as it is", reason="Each channel would keep its mean error."),),
    )


def _errors(layer: QuantizedLayer, rows: np.ndarray, weight: np.ndarray, rounded: np.ndarray) -> np.ndarray:
    """[rows, groups, outputs]: what the float layer gives more than the rounded one on these inputs."""
    exact = np.einsum("rgk,gok->rgo", rows.astype(np.float64), weight.astype(np.float64), optimize=True)
    return np.asarray(exact - np.einsum("rgk,gok->rgo", layer.seen_by_kernel(rows), rounded, optimize=True))


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    layer = quantized_layer(model, action.nodes[0])
    if isinstance(layer, str):
        return layer
    if layer.bias is None:
        return f"{action.nodes[0]} has no bias to correct."
    codes = action.params.get("codes", ())
    if len(codes) != layer.bias.size:
        return f"{len(codes)} corrections do not fit the {layer.bias.size} channels of {action.nodes[0]}."
    corrected = layer.bias.astype(np.int64) + np.asarray(codes, np.int64)
    if np.abs(corrected).max(initial=0) > np.iinfo(np.int32).max:
        return f"A corrected bias of {action.nodes[0]} leaves 32 bits."
    return layer.overflow(spec, layer.codes, corrected)


def _corrected(bias: np.ndarray, action: Action) -> np.ndarray:
    return (bias.astype(np.int64) + np.asarray(action.params["codes"], np.int64)).astype(bias.dtype)
