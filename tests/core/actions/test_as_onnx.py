"""An adapted model for other programs: the oldest opset that has all it says, which ONNX Runtime optimises."""

import numpy as np
import onnx
import onnxruntime
import pytest

from metainfer_core.actions.as_onnx import as_onnx
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes

POOLED = """<ir_version: 10, opset_import: ["" : 21]>
net (float[1,4,6,6] x) => (float[1,4] y)
<float scale = {0.05}, CODE zero = {3}, int64[2] axes = {2, 3},
 float[4] gain = {1, 2, 3, 4}, float[4] shift = {0, 1, 0, 1}>
{
  x_q = QuantizeLinear(x, scale, zero)
  x_d = DequantizeLinear(x_q, scale, zero)
  pooled = GlobalMaxPool(x_d)
  p_q = QuantizeLinear(pooled, scale, zero)
  p_d = DequantizeLinear(p_q, scale, zero)
  flat = Squeeze(p_d, axes)
  y = LayerNormalization(flat, gain, shift)
}"""
"""What lies between a pool on integers and a normalisation in float only moves, so that ONNX Runtime quantizes it."""

GROUPS = """<ir_version: 10, opset_import: ["" : 21]>
net (float[1,4,6,6] x) => (float[1,4,6,6] y) <float[4] gain = {1, 2, 3, 4}, float[4] shift = {0, 1, 0, 1}> {
  y = GroupNormalization<num_groups = 2>(x, gain, shift)
}"""


def imported(text):
    return import_model(onnx.parser.parse_model(text).SerializeToString(), "net").model


def outputs(model, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).uniform(-3, 3, (1, 4, 6, 6)).astype(np.float32)
    return session.run(None, {"x": x})[0]


def test_int8_beside_float_runs_with_all_of_onnx_runtimes_optimisations():
    model = imported(POOLED.replace("CODE", "int8"))
    written = model_bytes(as_onnx(model))
    proto = onnx.load_from_string(written)
    onnx.checker.check_model(proto, full_check=True)
    assert [(entry.domain, entry.version) for entry in proto.opset_import] == [("", 20)]
    assert model.opset_imports == {"": 21}  # the model itself stays
    levels = onnxruntime.GraphOptimizationLevel
    exact = outputs(model_bytes(model), levels.ORT_DISABLE_ALL)
    assert np.abs(outputs(written, levels.ORT_ENABLE_ALL) - exact).max() < 1e-5


@pytest.mark.parametrize("text", [POOLED.replace("CODE", each) for each in ("int16", "uint16", "int4")] + [GROUPS])
def test_what_the_older_opset_does_not_know_keeps_the_newer_one(text):
    assert as_onnx(imported(text)).opset_imports == {"": 21}
