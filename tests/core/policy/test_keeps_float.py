"""A node between integers that no action quantizes is built in float, as approved."""

import onnx_ir as ir
import pytest

from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import apply
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec

TEXT = """
<ir_version: 8, opset_import: ["" : 21]>
between (float[1,4,8,8] x) => (SHAPE y)
<float[1,4,8,8] a, SHAPE b, int64[2] planes = {2, 3}, int64[3] all = {1, 2, 3}, float[4] half = {1.0, 1.0, 0.5, 0.5}>
{
   [before] a = Sigmoid (x)
   [pool] b = POOL
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


def model_of(pool, shape):
    return ir.from_onnx_text(TEXT.replace("POOL", pool).replace("SHAPE", shape))


def kernels(*quantized, pool="GlobalAveragePool (a)", shape="float[1,4,1,1]"):
    params = {"bit_width": 8, "scheme": "tensor_wise", "symmetric": False, "target_hw": "cpu"}
    actions = [{"node_id": node, "action": Quantize.name, "params": params} for node in quantized]
    model = model_of(pool, shape)
    adapted = apply(model, SPEC, Policy.from_plain({"actions": actions}), CALIBRATION)
    return {step.node_ids[0]: step.kernel for step in lower(adapted).program.steps}


def test_a_pool_between_quantized_neighbours_stays_float_unless_it_is_quantized_itself():
    assert kernels("before", "pool", "after")["pool"] == "mean_int8"
    assert "int8" not in kernels("before", "after")["pool"]


@pytest.mark.parametrize(
    ("pool", "shape", "kernel"),
    [
        ("ReduceMean (a, planes)", "float[1,4,1,1]", "reduce_mean_float32"),
        ("ReduceMean (a, all)", "float[1,1,1,1]", "reduce_mean_float32"),
        ("Exp (a)", "float[1,4,8,8]", "exp_float32"),
        ("Reciprocal (a)", "float[1,4,8,8]", "reciprocal_float32"),
        ("Floor (a)", "float[1,4,8,8]", "floor_float32"),
    ],
)
def test_what_has_no_action_between_quantized_neighbours_stays_float(pool, shape, kernel):
    assert kernels("before", "after", pool=pool, shape=shape)["pool"] == kernel


def test_what_only_moves_between_quantized_neighbours_moves_codes():
    halved = 'Resize <mode = "nearest"> (a, , half)'
    assert kernels("before", "after", pool=halved, shape="float[1,4,4,4]")["pool"] == "gather_8_int32"


def test_a_mean_over_height_and_width_is_a_pool_on_integers():
    assert kernels("before", "pool", "after", pool="ReduceMean (a, planes)")["pool"] == "mean_int8"


def test_a_mean_over_other_axes_has_no_integer_form():
    graph = model_of("ReduceMean (a, all)", "float[1,1,1,1]").graph
    reason = "ReduceMean over other axes than height and width has no integer kernel."
    assert integer_form(next(node for node in graph if node.name == "pool")) == reason
