"""What the operator table of a unit allows, held against a node's shapes and attributes."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from metainfer_core.actions.units import limits_against
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec, Operators

CONV = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[1,{channels},9,12] x, float[8,{weights},5,9] w) => (float[1,8,5,4] y) {{
  y = Conv<group={group}, kernel_shape=[5,9]>(x, w)
}}
"""
POOL = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[1,8,9,12] x) => (float[1,8,1,1] y) { y = GlobalAveragePool(x) }
"""


def against(text: str, op_type: str, attribute: str, most: int) -> str | None:
    model = ir.from_onnx_text(text)
    limits = {op_type: {attribute: {"min": 1, "max": most}}}
    spec = HardwareSpec(
        name="chip",
        version="1.0.0",
        compute_units={"npu": ComputeUnit(kind="npu", operators=Operators.from_plain({"limits": limits}))},
    )
    return limits_against(spec, "npu", model.graph[0])


@pytest.mark.parametrize(
    ("attribute", "extent"),
    [("in_height", 9), ("in_width", 12), ("in_channels", 8)],
)
def test_the_shape_of_the_input_is_held_against_its_limit(attribute: str, extent: int) -> None:
    assert against(POOL, "GlobalAveragePool", attribute, extent) is None
    told = against(POOL, "GlobalAveragePool", attribute, extent - 1)
    assert told is not None
    assert f"{attribute} {extent}" in told


@pytest.mark.parametrize(("attribute", "extent"), [("depthwise_kernel_h", 5), ("depthwise_kernel_w", 9)])
def test_the_limit_of_depthwise_kernels_is_for_depthwise_convolutions_only(attribute: str, extent: int) -> None:
    depthwise = CONV.format(channels=8, weights=1, group=8)
    assert against(depthwise, "Conv", attribute, extent) is None
    assert against(depthwise, "Conv", attribute, extent - 1) is not None
    for channels, weights, group in ((4, 4, 1), (8, 4, 2), (1, 1, 1)):
        assert against(CONV.format(channels=channels, weights=weights, group=group), "Conv", attribute, 1) is None
