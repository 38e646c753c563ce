"""A bias takes up the mean error of rounding: what it promises, refuses and catches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from action_bench import model_of, proposed, refusal, rewritten
from layer_bench import CONV, SPEC, prepared

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.correct_bias import CorrectBias
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer


def test_a_bias_takes_up_the_mean_error() -> None:
    _, quantized, layers = prepared()
    shifted = {"conv": replace(layers["conv"], weight=layers["conv"].weight + 0.01)}  # as if all rounded downwards
    rows = {
        "conv": replace(shifted["conv"], seen=np.abs(layers["conv"].seen), held_out=np.abs(layers["conv"].held_out))
    }
    (action,), _ = proposed(CorrectBias(rows), quantized, SPEC)
    layer = quantized_layer(quantized, "conv")
    assert isinstance(layer, QuantizedLayer)
    step = layer.scales * layer.input.scale
    mean = np.abs(layers["conv"].seen).mean() * 0.01 * 54
    np.testing.assert_allclose(np.array(action.params["codes"]) * step, mean, rtol=0.15)
    corrected = rewritten(CorrectBias(), quantized, SPEC, [action])
    after = quantized_layer(corrected, "conv")
    assert isinstance(after, QuantizedLayer)
    assert layer.bias is not None
    assert after.bias is not None
    assert (after.bias - layer.bias).tolist() == list(action.params["codes"])
    assert CorrectBias().sentence(action) == "Correct the bias of conv in 8 channels by the mean error of its rounding."


def test_a_mean_that_does_not_come_again_is_not_corrected() -> None:
    """Planted: an error of the seen part alone. Whoever judges on what was learned from takes it."""
    _, quantized, layers = prepared()
    data = layers["conv"]
    biased = Layer(np.abs(data.seen), -np.abs(data.held_out), data.weight + 0.01)
    actions, reasons = proposed(CorrectBias({"conv": biased}), quantized, SPEC)
    assert actions == []
    assert reasons[0].startswith("The rounding of conv has no steady mean: correcting its bias would leave ")
    (found,), _ = proposed(CorrectBias({"conv": replace(biased, held_out=biased.seen)}), quantized, SPEC)
    assert found.kind == "correct_bias"


def test_a_layer_without_data_is_not_spoken_of() -> None:
    _, quantized, _ = prepared()
    assert proposed(CorrectBias(), quantized, SPEC) == ([], [])


def reason(codes: list[int], quantized: bool = True) -> str | None:
    model = prepared()[1] if quantized else model_of(CONV)
    return refusal(CorrectBias(), model, SPEC, Action(kind="correct_bias", nodes=("conv",), params={"codes": codes}))


def test_what_does_not_fit_is_refused() -> None:
    assert reason([0] * 8) is None
    assert reason([0] * 8, quantized=False) == "conv is not quantized, so there is no rounding to mend."
    assert reason([1, 2]) == "2 corrections do not fit the 8 channels of conv."
    assert reason([2**31] + [0] * 7) == "A corrected bias of conv leaves 32 bits."
