"""Round a quantized layer's weights together, so that the error of its outputs is least, not that of each weight."""

from __future__ import annotations

import base64
import binascii

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, Alternative, Reason
from metainfer_core.actions.layer_inputs import Layer, as_matrix, as_weight
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer, replace_codes
from metainfer_core.actions.rounding_kind import RoundingKind
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = (
    "a weight is rounded up or down so that it makes up for those before it "
    "(Nagel et al. 2020, adaptive rounding; solved column by column as Frantar et al. 2022)"
)
LEAST_GAIN = 0.05
"""Share of the squared error that it must take away on held-out samples: less is chance."""
MOST_PRODUCTS = 2048
DAMPING = 0.01
"""Share of the mean square of the inputs that is added to each: few samples must not be fitted to the last bit."""


class RoundWeightsParams(Value):
    """Parameters of a round_weights action."""

    changes: str
    """Which codes move by one, in base64: gaps between them and their directions, seven bits a byte."""


class RoundWeights(RoundingKind):
    """Rounds the weights of a quantized layer up or down so that the layer's outputs keep their values.

    Rounding each weight to the nearest code is best for the weight and not for the sum. Here each weight takes one of
    the two codes beside it, so that the error of the sum on calibration inputs is least. It costs nothing at run time,
    and is taken only where it lessens the error on samples that it was not learned from.
    """

    name = "round_weights"
    Params = RoundWeightsParams

    def proposal(self, layer: QuantizedLayer, data: Layer) -> Action | str:
        """The action for one layer, or why its error does not become less."""
        return _proposed(layer, data)

    def reason_against(self, model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
        """Why the action is not legal, or None."""
        return _reason_against(model, spec, action)

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Moves the codes."""
        layer = quantized_layer(model, action.nodes[0])
        assert isinstance(layer, QuantizedLayer)
        codes = layer.codes + decoded(action.params["changes"], layer.codes.size).reshape(layer.codes.shape)
        replace_codes(model, layer.node, 1, "weight.rounded", codes.astype(np.int8))

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Round the weights of {action.nodes[0]} together, for the least error of its outputs."


def _proposed(layer: QuantizedLayer, data: Layer) -> Action | str:
    name, count = str(layer.node.name), data.weight.shape[2]
    if count > MOST_PRODUCTS:
        return f"{name} sums {count} products; weights are rounded together up to {MOST_PRODUCTS}."
    if len(data.seen) < 2:
        return f"There are too few inputs of {name} to learn from."
    nearest = as_matrix(layer.node, layer.codes).astype(np.int64)
    together = _rounded(layer, data, nearest)
    before, after = (_error(layer, data, codes) for codes in (nearest, together))
    if not after <= (1 - LEAST_GAIN) * before:
        return (
            f"Rounding the weights of {name} together would leave {after / before if before else 1:.0%} of the layer's "
            "squared error on held-out samples."
        )
    changes = as_weight(layer.node, together - nearest, layer.codes.shape)
    claim = (
        f"On held-out samples {after / before:.0%} of the squared error of {name}'s own rounding is left; "
        f"{np.count_nonzero(changes) / changes.size:.0%} of them move by one code."
    )
    return Action(
        kind=RoundWeights.name,
        nodes=(name,),
        params={"changes": encoded(changes)},
        why=(Reason(claim=claim, law=LAW),),
        constraint="The sums still fit into the accumulator.",
        alternatives=(
            Alternative(option="each weight to its nearest code", reason="Errors of one sign would add up in the sum."),
        ),
    )


def _rounded(layer: QuantizedLayer, data: Layer, nearest: np.ndarray) -> np.ndarray:
    """Codes [groups, outputs, products]; each is one of the two beside the exact weight.

    Column by column: what rounding a column costs is made up for by the columns after it, by as much as their inputs
    go together (the inverse of the inputs' second moments).
    """
    inputs = layer.seen_by_kernel(data.seen)
    moments = np.einsum("rgk,rgl->gkl", inputs, inputs, optimize=True) / len(inputs)
    places = np.arange(moments.shape[1])
    strengths = moments[:, places, places]
    moments[:, places, places] += DAMPING * strengths.mean(axis=1, keepdims=True) + np.finfo(np.float32).tiny
    # the upper factor R of the inverse, R^T R, out of a factor of the moments themselves: turned back to front
    factors = np.linalg.inv(np.linalg.cholesky(moments[:, ::-1, ::-1]))[:, ::-1, ::-1]
    scales = layer.scales.astype(np.float64).reshape(nearest.shape[0], nearest.shape[1])
    peak = int(np.abs(nearest).max(initial=0))
    exact = data.weight.astype(np.float64) / scales[:, :, None]
    left, codes = exact.copy(), np.empty_like(nearest)
    for place in places:
        lowest = np.floor(exact[:, :, place])
        code = np.clip(np.rint(left[:, :, place]), lowest, lowest + 1)
        code = np.clip(code, nearest[:, :, place] - 1, nearest[:, :, place] + 1)
        codes[:, :, place] = np.clip(code, -peak, peak)
        error = (left[:, :, place] - codes[:, :, place]) / factors[:, None, place, place]
        left[:, :, place + 1 :] -= error[:, :, None] * factors[:, None, place, place + 1 :]
    return codes


def _error(layer: QuantizedLayer, data: Layer, codes: np.ndarray) -> float:
    """The mean squared error of the layer's outputs on held-out inputs, that of rounded inputs included."""
    scales = layer.scales.astype(np.float64).reshape(codes.shape[0], codes.shape[1], 1)
    exact = np.einsum("rgk,gok->rgo", data.held_out.astype(np.float64), data.weight.astype(np.float64), optimize=True)
    rounded = np.einsum("rgk,gok->rgo", layer.seen_by_kernel(data.held_out), codes * scales, optimize=True)
    return float(((exact - rounded) ** 2).mean())


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    layer = quantized_layer(model, action.nodes[0])
    if isinstance(layer, str):
        return layer
    try:
        changes = decoded(str(action.params.get("changes", "")), layer.codes.size)
    except ValueError as error:
        return f"The changes for {action.nodes[0]} cannot be read: {error}."
    codes = layer.codes.astype(np.int64) + changes.reshape(layer.codes.shape)
    if np.abs(codes).max(initial=0) > np.iinfo(np.int8).max:
        return f"A changed weight of {action.nodes[0]} leaves 8 bits."
    return layer.overflow(spec, codes, layer.bias)


def encoded(changes: np.ndarray) -> str:
    """Changes by -1, 0 or 1, in order, as text: for each that is not 0 twice the gap before it, plus 1 for -1."""
    flat = changes.reshape(-1)
    places = np.flatnonzero(flat)
    data = bytearray()
    for gap, change in zip(np.diff(places, prepend=-1) - 1, flat[places], strict=True):
        number = 2 * int(gap) + int(change < 0)
        while number >= 128:
            data.append(number % 128 + 128)
            number //= 128
        data.append(number)
    return base64.b64encode(bytes(data)).decode()


def decoded(text: str, size: int) -> np.ndarray:
    """The changes that `encoded` wrote.

    Raises:
        ValueError: The text is no such list, or names places beyond `size`.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    changes = np.zeros(size, np.int64)
    place, number, shift = -1, 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            place += number // 2 + 1
            if place >= size:
                raise ValueError(f"it names the weight {place} of {size}")
            changes[place] = -1 if number % 2 else 1
            number, shift = 0, 0
    if shift:
        raise ValueError("it ends in the middle of a number")
    return changes
