"""Scales by channel and unrounded sums in built programs: the bits of the simulator, as approved, in tiles too."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, model_of, proposed, rewritten, samples_of, spec_of
from npu_bench import adapted, as_read_back, chip, planned, same_bits

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.scales import check_scales
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import DefectError
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.npu.stage import Asked
from metainfer_core.npu.tiles import Tile
from metainfer_core.numerics.lower import lower
from metainfer_core.verify.realised_graph import RealisedGraph

SPEC = spec_of()
TWO = """
    m (float[1,3,12,12] x, float[16,3,3,3] w_a, float[16] w_bias, float[16,1,3,3] w_d) => (float[1,16,12,12] y) {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
        [s] s = HardSwish (a)
        [d] c = Conv <group = 16, pads = [1,1,1,1]> (s, w_d)
        [r] y = Relu (c)
    }"""


def weights() -> dict[str, np.ndarray]:
    reach = 2.0 ** np.linspace(-3, 3, 16).reshape(-1, 1, 1, 1)
    chance = np.random.default_rng(7)
    return {"w_a": chance.normal(size=(16, 3, 3, 3)) * reach / 3, "w_d": chance.normal(size=(16, 1, 3, 3)) / reach}


@cache
def built() -> tuple[ir.Model, tuple[Action, ...], RealisedGraph]:
    """The package's program, read back, with the actions that it was made from; its bits are the simulator's."""
    model = model_of(TWO, weights())
    fusions, _ = proposed(Fuse(), model, SPEC)
    fused = rewritten(Fuse(), model, SPEC, fusions)
    actions, _ = proposed(Quantize(), fused, SPEC, calibrated(model))
    changed = rewritten(Quantize(), fused, SPEC, actions)
    feeds = samples_of(model).feeds[:2]
    data = build_package(lower(changed), SPEC, "native-cpu", {}, b"{}", model_bytes(changed), feeds, True, model="two")
    package = read_package(data)
    validation = validate_package(package)
    assert validation.equal, validation.text
    return model, (*fusions, *actions), read_realised(package)


def found(graph: RealisedGraph, actions: tuple[Action, ...]) -> set[tuple[str, str, str]]:
    op_types = {str(node.name): node.op_type for node in built()[0].graph}
    return {(one.node_id, one.approved, one.realised) for one in differences(actions, graph, op_types)}


def with_tensor(graph: RealisedGraph, name: str, **changes: Any) -> RealisedGraph:
    tensors = tuple(type(one)(**{**one.__dict__, **changes}) if one.name == name else one for one in graph.tensors)
    return RealisedGraph(**{**graph.__dict__, "tensors": tensors})


def test_what_was_approved_is_what_was_built() -> None:
    _, actions, graph = built()
    assert found(graph, actions) == set()
    between = next(tensor for tensor in graph.tensors if tensor.name == "s.quantized")
    assert (len(between.scales), len(between.zero_points), between.granularity) == (16, 1, "channel")


def test_a_planted_scale_of_another_channel_is_named() -> None:
    _, actions, graph = built()
    scales = next(tensor for tensor in graph.tensors if tensor.name == "s.quantized").scales
    turned = with_tensor(graph, "s.quantized", scales=scales[::-1])
    assert {(node, "s.quantized" in approved) for node, approved, _ in found(turned, actions)} == {
        ("a", True),
        ("d", True),
    }
    whole = with_tensor(graph, "s.quantized", scales=scales[:1], granularity="tensor")
    assert ("a", "s.quantized with 16 scales, one a channel", "1") in found(whole, actions)


def test_a_curve_of_codes_in_place_of_sums_is_named() -> None:
    _, actions, graph = built()
    steps = tuple(
        type(one)(**{**one.__dict__, "inputs": (*one.inputs[:6], "", "")}) if "a" in one.node_ids else one
        for one in graph.steps
    )
    got = found(RealisedGraph(**{**graph.__dict__, "steps": steps}), actions)
    assert got == {("a", "the fused curve on unrounded sums", "the fused curve on codes of 8 bits")}
    narrow = tuple(one.with_params({"fused_input_bits": 8}) if one.nodes[0] == "a" else one for one in actions)
    assert ("a", "the fused curve on codes of 8 bits", "the fused curve on unrounded sums") in found(graph, narrow)


@pytest.mark.parametrize("tiles", [{}, {"a": Tile(axis="channels", size=4), "d": Tile(axis="channels", size=8)},
                                   {"a": Tile(axis="rows", size=5), "d": Tile(axis="rows", size=4)}])  # fmt: skip
def test_staged_and_cut_into_tiles_the_bits_and_the_scales_stay(tiles: dict[str, Tile]) -> None:
    spec = chip(1 << 20, {"alignment_bytes": 1, "data_width_bits": 8, "burst_length_min": None})
    model = adapted(TWO, spec, weights={name: array.astype(np.float32) for name, array in weights().items()})
    staged, plan = planned(model, spec, Asked(tiles=tiles))
    assert same_bits(model, staged, plan, runs=5)
    graph = as_read_back(plan)
    constants = {one.name: staged.constants[one.constant] for one in staged.program.tensors if one.constant}
    check_scales(graph, constants)
    copies = [one for one in graph.tensors if one.name.startswith("s.quantized") and len(one.scales) > 1]
    assert copies
    for one in copies:
        wrong = with_tensor(graph, one.name, scales=tuple(2 * scale for scale in one.scales))
        if any(one.name in (*step.inputs, *step.outputs) and step.moved is None for step in graph.steps):
            with pytest.raises(DefectError, match="computes with other scales than it declares"):
                check_scales(wrong, constants)
