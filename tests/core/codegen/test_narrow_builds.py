"""Layers of 4, 6 and 8 bits in one program: approved, built, the same bits everywhere, and what must not pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from action_bench import calibrated, model_of, rewritten
from npu_bench import chip, planned, run, same_bits, with_params

from metainfer_core.actions.action import Action
from metainfer_core.actions.as_onnx import as_onnx
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.package import Package, read_package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.run import run_package
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import MetaInferError
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify.check_legal import check_legal
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedTensor

TEXT = """mixed (float[1,8,12,12] x, float[16,8,3,3] w_a, float[16] w_b, float[8,16,1,1] w_c, float[8,1,3,3] w_d,
        float[1152,10] w_e) => (float[1,10] y) {
    [six] a = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_b) [four] b = Conv (a, w_c)
    [eight] c = Conv <group = 8, pads = [1, 1, 1, 1]> (b, w_d) [flat] f = Flatten (c) [few] y = MatMul (f, w_e) }"""
SPEC = chip(
    data_types=("int4", "int6", "int8"), macs_per_cycle={"int4": 256, "int6": 128, "int8": 64}, accumulator_bits=32
)
WIDTHS: dict[str, dict[str, Any]] = {
    "six": {"bit_width": 6},
    "four": {"bit_width": 4},
    "eight": {"bit_width": 8, "weight_bits": 4},
    "flat": {"bit_width": 4},
    "few": {"bit_width": 4, "weight_bits": 8},
}


@cache
def actions() -> tuple[Action, ...]:
    """One action a layer, each of another width."""
    model = model_of(TEXT)
    ranges = {name: (span.low, span.high) for name, span in calibrated(model).ranges.items()}
    usual = {"ranges": ranges, "target_hw": "npu"}
    return tuple(Action(kind="quantize", nodes=(name,), params={**usual, **WIDTHS[name]}) for name in WIDTHS)


@cache
def mixed() -> Any:
    """The model with all of them."""
    return rewritten(Quantize(), model_of(TEXT), SPEC, actions())


@cache
def staged() -> tuple[Lowered, CompilePlan]:
    """For the simulated NPU."""
    return planned(mixed(), SPEC)


def feed(seed: int = 1) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(seed).standard_normal((1, 8, 12, 12)).astype(np.float32)}


@cache
def built(target: str) -> Package:
    """The package of a target."""
    data = build_package(lower(mixed()), SPEC, target, {}, b"{}", b"", (feed(2), feed(3)), True)
    return read_package(data)


def test_each_tensor_has_the_bits_of_its_layer() -> None:
    types = {tensor.name: tensor.element_type for tensor in lower(mixed()).program.tensors}
    found = {name.removesuffix(".quantized"): kind for name, kind in types.items() if name.endswith(".quantized")}
    assert found == {
        **{"x": "int6", "a": "int6", "a.dequantized.int4": "int4", "b": "int4", "b.dequantized.int8": "int8"},
        **{"c": "int8", "c.dequantized.int4": "int4", "f": "int4", "y": "int4"},
    }
    weights = {name.removesuffix(".weights"): kind for name, kind in types.items() if name.endswith(".weights")}
    assert weights == {"six": "int6", "four": "int4", "eight": "int4", "few": "int8"}


@pytest.mark.parametrize("target", ["native-cpu", "sim-npu"])
def test_what_is_built_is_what_was_approved_and_gives_the_bits_of_the_simulator(target: str) -> None:
    package = built(target)
    assert validate_package(package).equal
    assert differences(actions(), read_realised(package), op_types()) == ()
    assert check_legal(read_realised(package), SPEC, {}) == ()
    simulated, ran = Simulator(lower(mixed())).run(feed())["y"], run_package(package, feed())["y"]
    np.testing.assert_array_equal(ran.view(np.uint32), simulated.view(np.uint32))
    assert 3 < np.unique(simulated).size <= 16


def test_the_simulated_npu_has_the_same_bits() -> None:
    assert same_bits(mixed(), *staged(), runs=10)


def test_onnx_runtime_computes_the_same_from_the_adapted_model() -> None:
    proto = onnx.load_from_string(model_bytes(as_onnx(mixed())))
    onnx.checker.check_model(proto, full_check=True)
    types = {value.name: value.data_type for value in proto.graph.initializer}
    assert types["four.weight.quantized"] == types["eight.weight.quantized"] == onnx.TensorProto.INT4
    clips = [node for node in proto.graph.node if node.op_type == "Clip"]
    assert [node.name for node in clips] == ["x.quantize.clip", "a.quantize.clip"]  # ONNX has no type of 6 bits
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    simulator, differing = Simulator(lower(mixed())), 0
    for seed in range(20):
        expected, got = session.run(None, feed(seed))[0], simulator.run(feed(seed))["y"]
        scale = float(min(np.abs(np.diff(np.unique(expected)))))
        assert np.abs(got - expected).max() < 1.01 * scale  # one code, where a sum lies between two
        differing += int((got != expected).sum())
    assert differing <= 2


def test_without_its_clip_a_tensor_of_6_bits_holds_more() -> None:
    beyond = {"x": 40 * feed()["x"]}
    outputs = []
    for model in (as_onnx(mixed()), mixed()):
        session = onnxruntime.InferenceSession(model_bytes(model), providers=["CPUExecutionProvider"])
        outputs.append(session.run(None, beyond)[0])
    assert np.abs(outputs[0] - Simulator(lower(mixed())).run(beyond)["y"]).max() < np.ptp(outputs[0]) / 10
    assert not np.array_equal(*outputs)


def number_of(plan: CompilePlan, node: str) -> int:
    return next(i for i, s in enumerate(plan.program.steps) if node in s.node_ids and s.kernel.startswith("conv2d"))


def test_a_code_that_few_bits_do_not_hold_stops_the_simulated_npu() -> None:
    lowered, plan = staged()
    fault = run(lowered, with_params(plan, number_of(plan, "four"), high=90), {"x": 9 * feed()["x"]}).fault
    assert fault is not None
    assert (fault.kind, fault.place) == ("out_of_range", "four")
    assert fault.reason.endswith("4 bits hold -8 to 7.")


def test_a_code_that_few_bits_do_not_hold_stops_the_program() -> None:
    lowered = lower(mixed())
    steps = tuple(
        type(one)(**{**one.__dict__, "params": {**one.params, "high": 90}}) if "four" in one.node_ids else one
        for one in lowered.program.steps
    )
    program = type(lowered.program)(**{**lowered.program.__dict__, "steps": steps})
    loud = {"x": 9 * feed()["x"]}
    data = build_package(Lowered(program, lowered.constants), SPEC, "native-cpu", {}, b"{}", b"", (loud,), True)
    with pytest.raises(MetaInferError, match="four: it wrote a code outside of its tensor's few bits"):
        run_package(read_package(data), loud)


def op_types() -> dict[str, str]:
    return {str(node.name): node.op_type for node in model_of(TEXT).graph}


def changed(graph: RealisedGraph, name: str, **fields: object) -> RealisedGraph:
    tensors = tuple(RealisedTensor(**{**one.__dict__, **fields}) if one.name == name else one for one in graph.tensors)
    return RealisedGraph(**{**graph.__dict__, "tensors": tensors})


@pytest.mark.parametrize(
    ("tensor", "fields", "said"),
    [
        ("b.quantized", {"element_type": "int8"}, "four: approved an INT4 step, built conv2d_int8 on int8"),
        ("four.weights", {"element_type": "int8"}, "four: approved weights of int4, built four.weights of int8"),
        ("a.quantized", {"scales": (0.5,)}, "a scale of 0.5"),
    ],
)
def test_another_width_than_the_approved_one_is_found(tensor: str, fields: dict[str, object], said: str) -> None:
    found = differences(actions(), changed(read_realised(built("native-cpu")), tensor, **fields), op_types())
    assert any(said in f"{one.node_id}: approved {one.approved}, built {one.realised}" for one in found), found
