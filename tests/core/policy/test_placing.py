"""The planner has the last word on what is placed where."""

import onnx_ir as ir

from metainfer_core.errors import DoesNotFitError
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.placing import place_what_fits
from metainfer_core.spec.hardware_spec import HardwareSpec

TEXT = """
<ir_version: 8, opset_import: ["" : 21]>
three_steps (float[1,64] x) => (float[1,32] y)
<float[1,64] a, float[1,64] b, int64[1] from = {0}, int64[1] to = {32}, int64[1] axis = {1}>
{
   [first] a = Relu (x)
   [second] b = Sigmoid (a)
   [third] y = Slice (b, from, to, axis)
}
"""


def model():
    return ir.from_onnx_text(TEXT)


SPEC = HardwareSpec.from_plain(
    {
        "name": "two memories",
        "version": "1.0.0",
        "compute_units": {"cpu": {"kind": "cpu", "data_types": ["float32"]}},
        "memories": {
            "sram": {"kind": "sram", "size_bytes": 4096},
            "dram": {"kind": "dram", "size_bytes": 1 << 20},
        },
    }
)


def placed(actions):
    return {tensor: memory for action in actions for tensor, memory in action.params["memory"].items()}


def test_everything_is_placed_where_the_planner_is_content():
    draft = Draft(model(), SPEC, None)
    assert placed(place_what_fits(draft, lambda adapted: None)) == {"x": "sram", "a": "sram", "b": "sram", "y": "sram"}
    assert draft.refusals == []


def test_the_largest_tensor_stays_outside_until_the_planner_is_content():
    def overfull(adapted):
        inside = sum("metainfer.memory" in value.metadata_props for node in adapted.graph for value in node.outputs)
        resource = "Memory 'sram' (memories.sram.size_bytes less reserved_bytes)"
        return DoesNotFitError(resource, 5000, 4096) if inside > 1 else None

    draft = Draft(model(), SPEC, None)
    remaining = placed(place_what_fits(draft, overfull))
    assert remaining.get("y") == "sram"
    assert len([tensor for tensor in remaining if tensor != "x"]) == 1
    assert all(refusal.kind == "place" for refusal in draft.refusals)
    assert "would need 5,000 bytes of 4,096" in draft.refusals[0].reason


def test_an_overflow_that_no_placement_made_is_left_to_the_compiler():
    draft = Draft(model(), SPEC, None)
    taken = place_what_fits(draft, lambda adapted: DoesNotFitError("Memory 'flash' (memories.flash.size_bytes)", 2, 1))
    assert len(placed(taken)) == 4
