"""Rows of a layer's input times its weights are the layer's outputs, as ONNX Runtime gives them."""

from __future__ import annotations

import numpy as np
import pytest
from action_bench import model_of, samples_of
from layer_bench import CONV

from metainfer_core.actions.layer_inputs import as_matrix, as_weight, rows_of
from metainfer_core.actions.rewiring import node, numbers_of
from metainfer_core.verify.reference import run_every_tensor

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
