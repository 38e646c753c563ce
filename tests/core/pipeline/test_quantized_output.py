"""A quantized last node: its place is approved under the name that the memory holds it by."""

from pathlib import Path

import numpy as np
import onnx_ir as ir

from metainfer_core import pipeline
from metainfer_core.graph.files.save import save_model
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load

ROOT = Path(__file__).parents[3]
TEXT = """
<ir_version: 8, opset_import: ["" : 21]>
classifier (float[1,512] x, float[256,512] w) => (float[1,256] y) { [fc] y = Gemm <transB = 1> (x, w) }
"""


def test_the_output_of_a_quantized_node_is_placed_and_built(tmp_path):
    model = ir.from_onnx_text(TEXT)
    weight = model.graph.inputs.pop()
    weight.const_value = ir.tensor(np.random.default_rng(0).standard_normal((256, 512)).astype(np.float32), name="w")
    model.graph.register_initializer(weight)
    save_model(tmp_path / "classifier.onnx", model)
    prepared = pipeline.prepare(tmp_path / "classifier.onnx")
    spec = load("esp32s3", ROOT / "hwspecs")
    samples = pipeline.samples_for(prepared, None)
    adapted = pipeline.adapt(prepared, spec, samples, samples, Objective(fast=True))
    placed = {
        tensor: memory
        for action in adapted.policy.actions
        if action.action == "place"
        for tensor, memory in action.params["memory"].items()
    }
    assert any(action.action == "quantize" for action in adapted.policy.actions)
    assert placed == {"x": "sram", "y": "sram"}
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, "native-cpu", samples.feeds)
    assert compiled.differences == ()
    assert compiled.violations == ()
