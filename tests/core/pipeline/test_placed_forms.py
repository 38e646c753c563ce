"""A tensor that only integers pass through is placed, found again and checked in the form in which it is stored."""

from pathlib import Path

import numpy as np
import onnx_ir as ir

from metainfer_core import pipeline
from metainfer_core.codegen.differences import differences
from metainfer_core.graph.files.save import save_model
from metainfer_core.policy.apply import effective
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.spec.library import load

ROOT = Path(__file__).parents[3]
TEXT = """
<ir_version: 8, opset_import: ["" : 21]>
enlarged (float[1,8,30] x, float[8,8,3] v, float[8,8,3,3] w) => (float[1,8,7,8] z)
<float[3] twice = {1, 1, 2}, int64[4] square = {1, 8, 7, 8}>
{
   [first] y = Conv (x, v)
   [larger] m = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric"> (y, , twice)
   [fold] f = Reshape (m, square)
   [last] a = Conv <pads = [1, 1, 1, 1]> (f, w)
   [act] z = Relu (a)
}
"""


def test_a_resize_that_repeats_integers_is_placed_and_built(tmp_path):
    model = ir.from_onnx_text(TEXT)
    random = np.random.default_rng(0)
    for weight in [model.graph.inputs.pop(), model.graph.inputs.pop()]:
        drawn = random.standard_normal(tuple(map(int, weight.shape))).astype(np.float32)
        weight.const_value = ir.tensor(drawn, name=weight.name)
        model.graph.register_initializer(weight)
    save_model(tmp_path / "enlarged.onnx", model)
    prepared = pipeline.prepare(tmp_path / "enlarged.onnx")
    spec = load("d1h", ROOT / "hwspecs")
    samples = pipeline.samples_for(prepared, None)
    adapted = pipeline.adapt(prepared, spec, samples, samples, Objective(fast=True, precision=Precision.INT8))
    placed = {
        tensor: memory
        for action in adapted.policy.actions
        if action.action == "place"
        for tensor, memory in action.params["memory"].items()
    }
    quantized = [action.node_id for action in adapted.policy.actions if action.action == "quantize"]
    assert {"first", "last"} <= set(quantized)
    assert placed["m"] == "dram"
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, "native-cpu", samples.feeds)
    stored = {tensor.name: tensor for tensor in compiled.realised.tensors if tensor.name.startswith("m.")}
    assert (stored["m.int8"].element_type, {tensor.memory for tensor in stored.values()}) == ("int8", {"dram"})
    assert compiled.differences == ()
    assert compiled.violations == ()
    elsewhere = {tensor.name: tensor for tensor in compiled.realised.tensors} | {
        "m.int8": stored["m.int8"].model_copy(update={"memory": "dsp_data"})
    }
    moved = compiled.realised.model_copy(update={"tensors": tuple(elsewhere.values())})
    approved = [effective(line) for line in adapted.policy.actions]
    op_types = {str(node.name): node.op_type for node in prepared.model.graph}
    assert [found.realised for found in differences(approved, moved, op_types)] == ["m.int8 in dsp_data"]
