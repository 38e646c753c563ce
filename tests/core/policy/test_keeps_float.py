"""A node between integers that no action quantizes is built in float, as approved."""

import onnx_ir as ir

from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import apply
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec

TEXT = """
<ir_version: 8, opset_import: ["" : 21]>
between (float[1,4,8,8] x) => (float[1,4,1,1] y)
<float[1,4,8,8] a, float[1,4,1,1] b>
{
   [before] a = Sigmoid (x)
   [pool] b = GlobalAveragePool (a)
   [after] y = Sigmoid (b)
}
"""
SPEC = HardwareSpec.from_plain(
    {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {"cpu": {"kind": "cpu", "data_types": ["int8", "float32"]}},
        "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 20}},
    }
)
RANGES = {
    "x": {"low": -4, "high": 4},
    "a": {"low": 0, "high": 1},
    "b": {"low": 0, "high": 1},
    "y": {"low": 0, "high": 1},
}
CALIBRATION = Calibration.from_plain(
    {"data": "test", "data_digest": "sha256:0", "is_random": False, "samples": 1, "ranges": RANGES}
)


def kernels(*quantized):
    params = {"bit_width": 8, "scheme": "tensor_wise", "symmetric": False, "target_hw": "cpu"}
    actions = [{"node_id": node, "action": Quantize.name, "params": params} for node in quantized]
    model = ir.from_onnx_text(TEXT)
    adapted = apply(model, SPEC, Policy.from_plain({"actions": actions}), CALIBRATION)
    return {step.node_ids[0]: step.kernel for step in lower(adapted).program.steps}


def test_a_pool_between_quantized_neighbours_stays_float_unless_it_is_quantized_itself():
    assert kernels("before", "pool", "after")["pool"] == "mean_int8"
    assert "int8" not in kernels("before", "after")["pool"]
