"""Enlarged kernels and equalised weights: found in what was built, and missed by name where a build left them out."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import model_of
from npu_bench import as_read_back, chip, take

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.enlarge_kernel import EnlargeKernel
from metainfer_core.actions.kinds.equalise import Equalise
from metainfer_core.actions.rewiring import numbers_of
from metainfer_core.codegen.compile_plan import compile_plan
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.kernel_differences import not_equalised
from metainfer_core.numerics.lower import lower
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.realised_graph import RealisedGraph

DILATED = """
    m (float[1,4,12,12] x, float[1,4,3,3] w_one, float[6,1,3,3] w_many, float[6,1,3,3] w_d, float[6,3,3,3] w_g,
       float[40,6,3,3] w_wide) => (float[1,40,2,2] y) {
        [one] o = Conv <pads = [2, 2, 2, 2], dilations = [2, 2]> (x, w_one)
        [many] m = Conv <pads = [2, 2, 2, 2], dilations = [2, 2]> (o, w_many)
        [deep] d = Conv <group = 6, dilations = [2, 2]> (m, w_d)
        [grouped] g = Conv <group = 2, pads = [1, 1, 1, 1], dilations = [2, 2]> (d, w_g)
        [wide] y = Conv <dilations = [2, 2]> (g, w_wide)
    }"""
LAYERS = ("one", "many", "deep", "grouped", "wide")
ENLARGED = tuple(Action(kind="enlarge_kernel", nodes=(name,), params={"kernel": (5, 5)}) for name in LAYERS)
UNEVEN = """
    m (float[1,16,8,8] x, float[16,16,3,3] w_a, float[16] w_bias, float[16,1,3,3] w_b) => (float[1,16,8,8] z) {
        [a] y = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_bias)
        [r] t = Relu (y)
        [b] z = Conv <group = 16, pads = [1, 1, 1, 1]> (t, w_b)
    }"""


def read_back(model: ir.Model, spec: HardwareSpec) -> tuple[RealisedGraph, dict[str, bytes]]:
    """What would be read back from the built program, and the bytes of its constants."""
    finish(model, spec)
    lowered = lower(model)
    plan = compile_plan(lowered, spec)
    stored = [tensor for tensor in plan.program.tensors if tensor.constant is not None]
    constants = {tensor.name: lowered.constants[str(tensor.constant)] for tensor in stored}
    return as_read_back(plan), constants


@pytest.mark.parametrize("kinds", [(), ("quantize",)], ids=["float32", "int8"])
def test_a_kernel_that_was_not_enlarged_is_named(kinds: tuple[str, ...]) -> None:
    spec, built = chip(), {}
    for actions in (ENLARGED, ()):
        model = model_of(DILATED)
        for action in actions:
            assert EnlargeKernel().refusal(model, spec, action) is None
            EnlargeKernel().rewrite(model, action)
        take(model, spec, kinds)
        built[bool(actions)] = read_back(model, spec)[0]

    def missed(actions: tuple[Action, ...], graph: RealisedGraph) -> list[tuple[str, str]]:
        found = differences(actions, graph, dict.fromkeys(LAYERS, "Conv"))
        return [(each.node_id, each.approved) for each in found if each.action is not None]

    assert missed(ENLARGED, built[True]) == []
    assert missed(ENLARGED, built[False]) == [(name, "a kernel of 5 × 5") for name in LAYERS]
    larger = tuple(Action(kind="enlarge_kernel", nodes=(name,), params={"kernel": (5, 6)}) for name in LAYERS)
    assert missed(larger, built[True]) == [(name, "a kernel of 5 × 6") for name in LAYERS]


@pytest.mark.parametrize("kinds", [(), ("fuse",), ("fuse", "quantize")], ids=["float32", "fused", "int8"])
def test_weights_that_were_not_equalised_are_named(kinds: tuple[str, ...]) -> None:
    spec = chip(weight_granularity=("tensor",))
    chance = np.random.default_rng(5)
    sizes = np.exp2(-np.arange(16, dtype=np.float32) / 3)
    weights = {
        "w_a": chance.standard_normal((16, 16, 3, 3)).astype(np.float32) * sizes.reshape(-1, 1, 1, 1),
        "w_b": chance.standard_normal((16, 1, 3, 3)).astype(np.float32) / sizes.reshape(-1, 1, 1, 1),
    }
    before = {"a": weights["w_a"], "b": weights["w_b"]}
    model = model_of(UNEVEN, weights)
    (equalised,) = take(model, spec, ("equalise",))
    take(model, spec, kinds)
    assert list(not_equalised([equalised], before, *read_back(model, spec))) == []

    left_out = model_of(UNEVEN, weights)
    take(left_out, spec, kinds)
    found = list(not_equalised([equalised], before, *read_back(left_out, spec)))
    assert [each.node_id for each in found] == ["a", "b"]
    assert all(each.action == "equalise@a" for each in found)
    assert all(each.approved.startswith("equalised weights, one of ") for each in found)

    one_sided = model_of(UNEVEN, weights)  # the first layer alone was divided
    Equalise().rewrite(one_sided, equalised)
    second = next(node for node in one_sided.graph if node.name == "b")
    assert not np.array_equal(numbers_of(second.inputs[1]), weights["w_b"])
    second.replace_input_with(1, next(value for name, value in one_sided.graph.initializers.items() if name == "w_b"))
    take(one_sided, spec, kinds)
    assert [each.node_id for each in not_equalised([equalised], before, *read_back(one_sided, spec))] == ["b"]
