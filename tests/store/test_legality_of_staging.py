"""A policy with an early transfer that `adapt` proposed can be built as it was reviewed, so it can be signed."""

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from metainfer_core import pipeline
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.review import legality
from review_store.review.legality import buildable_on, faults

TEXT = """<ir_version: 8, opset_import: ["" : 17]> m (float[1,8,16,16] x) => (float[1,16,16,16] y) {
    [conv_a] a = Conv <pads = [1,1,1,1]> (x, w_a) [relu] b = Relu (a)
    [conv_b] c = Conv <pads = [1,1,1,1]> (b, w_b) [conv_c] y = Conv <pads = [1,1,1,1]> (c, w_b) }"""
NPU = {"kind": "npu", "data_types": ["int8"], "clock_hz": 1e9, "macs_per_cycle": {"int8": 64}, "vector_width_bits": 128,
       "local_memory": "local", "weight_granularity": ["tensor", "channel"], "launch_overhead_us": 0.1}  # fmt: skip
CPU = {"kind": "cpu", "data_types": ["int8", "float32"], "clock_hz": 1e8, "launch_overhead_us": 0.1,
       "macs_per_cycle": {"int8": 1, "float32": 1}}  # fmt: skip
LOCAL = {"kind": "sram", "size_bytes": 1 << 14, "alignment_bytes": 16, "accessible_by": ["npu"], "bandwidth_gbps": 32}
DRAM = {"kind": "dram", "size_bytes": 1 << 28, "alignment_bytes": 64, "bandwidth_gbps": 8}
DMA = {"alignment_bytes": 16, "data_width_bits": 64, "burst_length_min": 2, "burst_unit": "beats",
       "max_transfer_bytes": 4096, "setup_cycles": 20}  # fmt: skip
SPEC = HardwareSpec.from_plain(
    {
        "name": "staged",
        "version": "1.0.0",
        "compute_units": {"npu": NPU, "cpu": CPU},
        "memories": {"dram": DRAM, "local": LOCAL},
        "dma": DMA,
    }
)


def test_what_adapt_proposes_for_a_fed_unit_can_be_signed(tmp_path, monkeypatch):
    model = onnx.parser.parse_model(TEXT)
    draw = np.random.default_rng(0)
    for name, shape in (("w_a", (16, 8, 3, 3)), ("w_b", (16, 16, 3, 3))):
        weight = (draw.standard_normal(shape) * 0.1).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weight, name))
    onnx.save(model, tmp_path / "m.onnx")
    prepared = pipeline.prepare(tmp_path / "m.onnx")
    samples = pipeline.samples_for(prepared, None)
    policy = pipeline.adapt(prepared, SPEC, samples, samples, Objective(fast=True)).policy
    assert [line.node_id for line in policy.actions if line.action == "prefetch"] == ["conv_b"]
    assert faults(prepared.model, SPEC, policy) == {}
    buildable_on(tmp_path / "m.onnx", SPEC)(policy)  # raises nothing

    monkeypatch.setattr(legality, "as_asked", lambda lowered, spec, asked: lowered)  # a build that stages nothing
    assert faults(prepared.model, SPEC, policy) == {
        "prefetch@conv_b": "prefetch@conv_b: conv_b would be kept waiting for them; the policy says: "
        "given its operands while the step before computes."
    }
