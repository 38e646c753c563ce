"""Weights rounded together: less error at the layer's output, and what is refused."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, model_of, proposed, refusal, rewritten, spec_of
from layer_bench import CONV, SPEC, prepared

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.round_weights import RoundWeights, decoded, encoded
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer
from metainfer_core.actions.rewiring import node, numbers_of


def test_weights_rounded_together_leave_less_error() -> None:
    """Inputs of few causes: what one weight gains another one can make up for."""
    model, quantized, layers = prepared(weight_bits=3)
    generator = np.random.default_rng(0)
    rows = (generator.standard_normal((3000, 5)) @ generator.standard_normal((5, 54))).astype(np.float32)[:, None, :]
    data = Layer(rows[:2000], rows[2000:], layers["conv"].weight)
    (action,), _ = proposed(RoundWeights({"conv": data}), quantized, SPEC)
    together = rewritten(RoundWeights(), quantized, SPEC, [action])
    errors = []
    for changed in (quantized, together):
        layer = quantized_layer(changed, "conv")
        assert isinstance(layer, QuantizedLayer)
        wrong = data.weight - layer.matrix(layer.codes)
        errors.append(float((np.einsum("rgk,gok->rgo", data.held_out, wrong) ** 2).mean()))
    assert errors[1] < 0.5 * errors[0]
    nearest, moved = (quantized_layer(changed, "conv") for changed in (quantized, together))
    assert isinstance(nearest, QuantizedLayer)
    assert isinstance(moved, QuantizedLayer)
    assert np.abs(moved.codes.astype(int) - nearest.codes).max() == 1
    assert np.abs(moved.codes).max() <= np.abs(nearest.codes).max()  # no code beyond those of 3 bits
    exact = numbers_of(node(model, "conv").inputs[1]) / nearest.scales.reshape(-1, 1, 1, 1)
    inside = np.abs(nearest.codes) < 3
    assert (np.abs(moved.codes - exact)[inside] < 1 + 1e-6).all()  # one of the two codes beside the weight


def test_independent_inputs_give_nothing_to_gain() -> None:
    _, quantized, layers = prepared()
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((4096, 1, 54)).astype(np.float32)
    data = Layer(noise[:2048], noise[2048:], layers["conv"].weight)
    actions, reasons = proposed(RoundWeights({"conv": data}), quantized, SPEC)
    assert actions == []
    assert reasons[0].startswith("Rounding the weights of conv together would leave ")


def test_where_the_inputs_are_what_is_rounded_weights_stay() -> None:
    """Planted: weights that are exact in 8 bits. Nothing of the layer's error is theirs, so no weight moves."""
    _, quantized, layers = prepared()
    layer = quantized_layer(quantized, "conv")
    assert isinstance(layer, QuantizedLayer)
    data = Layer(layers["conv"].seen, layers["conv"].held_out, layer.matrix(layer.codes).astype(np.float32))
    actions, reasons = proposed(RoundWeights({"conv": data}), quantized, SPEC)
    assert actions == []
    assert "100% of the layer's squared error on held-out samples" in reasons[0]


def test_a_layer_without_data_is_not_spoken_of() -> None:
    _, quantized, _ = prepared()
    assert proposed(RoundWeights(), quantized, SPEC) == ([], [])


def test_what_does_not_fit_is_refused() -> None:
    _, quantized, _ = prepared()

    def weights(changes: str, model: ir.Model = quantized) -> str | None:
        action = Action(kind="round_weights", nodes=("conv",), params={"changes": changes})
        return refusal(RoundWeights(), model, SPEC, action)

    assert weights("") is None
    assert weights("", model_of(CONV)) == "conv is not quantized, so there is no rounding to mend."
    assert weights("?") == "The changes for conv cannot be read: Only base64 data is allowed."
    beyond = encoded(np.array([0] * 500 + [1]))
    assert weights(beyond) == "The changes for conv cannot be read: it names the weight 500 of 432."
    assert weights("gA==") == "The changes for conv cannot be read: it ends in the middle of a number."
    layer = quantized_layer(quantized, "conv")
    assert isinstance(layer, QuantizedLayer)
    outwards = np.sign(layer.codes) * (np.abs(layer.codes) == 127)
    assert weights(encoded(outwards)) == "A changed weight of conv leaves 8 bits."


def test_sums_must_still_fit_the_accumulator() -> None:
    """Planted: an accumulator that the quantized layer just fits, and codes that all move outwards."""
    narrow = spec_of(units={"cpu": cpu(accumulator_bits=21)})
    _, quantized, _ = prepared(narrow, weight_bits=7)
    layer = quantized_layer(quantized, "conv")
    assert isinstance(layer, QuantizedLayer)
    assert layer.overflow(narrow, layer.codes, layer.bias) is None
    outwards = layer.codes.astype(int) + np.sign(layer.codes.astype(int))
    sums = np.abs(outwards).reshape(8, -1).sum(axis=1).max() * 255
    bits = int(np.ceil(np.log2(sums))) + 1
    tight = spec_of(units={"cpu": cpu(accumulator_bits=bits - 1)})
    reason = layer.overflow(tight, outwards, None)
    assert reason == f"A sum of conv could then need {bits} bits; the accumulator has {bits - 1}."


@pytest.mark.parametrize("changes", [[], [0, 0], [1, -1, 1], [0] * 1000 + [-1] + [0] * 300 + [1]])
def test_changes_survive_their_text(changes: list[int]) -> None:
    assert decoded(encoded(np.array(changes, int)), len(changes)).tolist() == changes
