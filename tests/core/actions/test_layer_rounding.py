"""Rows of a layer against ONNX Runtime, and the two kinds that mend rounding: what they promise, refuse and catch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, model_of, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.correct_bias import CorrectBias
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.kinds.round_weights import RoundWeights, decoded, encoded
from metainfer_core.actions.layer_inputs import Layer, as_matrix, as_weight, rows_of
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer
from metainfer_core.actions.rewiring import node, numbers_of
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.layer_data import collect_layers
from metainfer_core.verify.reference import run_every_tensor

SPEC = spec_of()
CONV = """
    m (float[1,6,9,9] x, float[8,6,3,3] w_c, float[8] w_bias) => (float[1,8,7,7] y) {
        [conv] y = Conv (x, w_c, w_bias)
    }"""
LAYERS = {
    "conv": CONV,
    "strided": """m (float[2,4,9,8] x, float[6,2,3,2] w_c, float[6] w_bias) => (float[2,6,4,9] y) {
        [strided] y = Conv <group = 2, strides = [2,1], pads = [0,1,1,1], dilations = [2,1]> (x, w_c, w_bias) }""",
    "one_axis": """m (float[1,3,10] x, float[4,3,4] w_c) => (float[1,4,9] y) {
        [one_axis] y = Conv <pads = [1,2]> (x, w_c) }""",
    "gemm": """m (float[5,7] x, float[3,7] w_g, float[3] w_bias) => (float[5,3] y) {
        [gemm] y = Gemm <transB = 1> (x, w_g, w_bias) }""",
    "plain_gemm": "m (float[5,7] x, float[7,3] w_g) => (float[5,3] y) { [plain_gemm] y = Gemm (x, w_g) }",
    "matmul": "m (float[1,5,7] x, float[7,3] w_m) => (float[1,5,3] y) { [matmul] y = MatMul (x, w_m) }",
}


@pytest.mark.parametrize("name", LAYERS)
def test_rows_times_weights_are_the_outputs_of_the_layer(name: str) -> None:
    model = model_of(LAYERS[name])
    layer, feed = node(model, name), samples_of(model).feeds[0]
    outputs = next(iter(run_every_tensor(model, [feed])))[str(layer.outputs[0].name)]
    weight = numbers_of(layer.inputs[1])
    rows = rows_of(layer, np.asarray(feed["x"]), 1_000_000)
    products = np.einsum("rgk,gok->rgo", rows, as_matrix(layer, weight)).reshape(len(rows), -1)
    if len(layer.inputs) > 2:
        products += numbers_of(layer.inputs[2])
    by_place = np.moveaxis(outputs, 1, -1) if layer.op_type == "Conv" else outputs
    np.testing.assert_allclose(products, by_place.reshape(products.shape), atol=1e-5)
    assert (as_weight(layer, as_matrix(layer, weight), weight.shape) == weight).all()
    few = rows_of(layer, np.asarray(feed["x"]), 3)
    assert len(few) == 3 * (feed["x"].shape[0] if layer.op_type == "Conv" else 1)


def prepared(spec: HardwareSpec = SPEC, **params: object) -> tuple[ir.Model, ir.Model, dict[str, Layer]]:
    """The float model, the quantized one, and what its layer reads."""
    model = model_of(CONV)
    (action,), _ = proposed(Quantize(params), model, spec, calibrated(model))
    return model, rewritten(Quantize(), model, spec, [action]), dict(collect_layers(model, samples_of(model)))


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


def test_what_has_no_data_is_not_spoken_of() -> None:
    _, quantized, _ = prepared()
    assert proposed(RoundWeights(), quantized, SPEC) == ([], [])
    assert proposed(CorrectBias(), quantized, SPEC) == ([], [])


@pytest.mark.parametrize("kind", [CorrectBias(), RoundWeights()])
def test_a_float_layer_has_no_rounding_to_mend(kind: CorrectBias | RoundWeights) -> None:
    params = {"codes": [0] * 8} if isinstance(kind, CorrectBias) else {"changes": ""}
    action = Action(kind=kind.name, nodes=("conv",), params=params)
    assert refusal(kind, model_of(CONV), SPEC, action) == "conv is not quantized, so there is no rounding to mend."


def test_what_does_not_fit_is_refused() -> None:
    _, quantized, _ = prepared()

    def bias(codes: list[int]) -> str | None:
        return refusal(
            CorrectBias(), quantized, SPEC, Action(kind="correct_bias", nodes=("conv",), params={"codes": codes})
        )

    def weights(changes: str, spec: HardwareSpec = SPEC, model: ir.Model = quantized) -> str | None:
        action = Action(kind="round_weights", nodes=("conv",), params={"changes": changes})
        return refusal(RoundWeights(), model, spec, action)

    assert bias([1, 2]) == "2 corrections do not fit the 8 channels of conv."
    assert bias([2**31] + [0] * 7) == "A corrected bias of conv leaves 32 bits."
    assert weights("?") == "The changes for conv cannot be read: Only base64 data is allowed."
    assert (
        weights(encoded(np.array([0] * 500 + [1])))
        == "The changes for conv cannot be read: it names the weight 500 of 432."
    )
    assert weights("gA==") == "The changes for conv cannot be read: it ends in the middle of a number."
    layer = quantized_layer(quantized, "conv")
    assert isinstance(layer, QuantizedLayer)
    beyond = np.sign(layer.codes) * (np.abs(layer.codes) == 127)
    assert weights(encoded(beyond)) == "A changed weight of conv leaves 8 bits."


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
