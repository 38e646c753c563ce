"""Lowering: what is fused where it is marked, what is refused with a reason, and the same bytes every time."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import onnx_ir as ir
import pytest
from onnx import helper
from operator_cases import Case, build, draw, i64, one, reference
from quantized_cases import Qdq, conv_case

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.numerics.lower import LOWERABLE, Lowered, lower
from metainfer_core.numerics.simulator import Simulator


def kernels(lowered: Lowered) -> list[str]:
    """Kernel names in order."""
    return [step.kernel for step in lowered.program.steps]


def activated(op: str, activation: str, **attributes: object) -> Case:
    """A leader and an activation, not fused."""
    operands = {
        "Conv": ((1, 3, 6, 20), draw("cw", 4, 3, 3, 3)),
        "Gemm": ((2, 9), draw("gw", 9, 20)),
        "MatMul": ((2, 9), draw("mw", 9, 20)),
        "Add": ((2, 3, 5), draw("aw", 3, 1)),
        "Mul": ((2, 3, 5), draw("lw", 3, 1)),
        "ConvTranspose": ((1, 2, 4, 5), draw("tw", 2, 3, 2, 2)),
        "BatchNormalization": ((1, 3, 4), draw("s", 3)),
    }
    shape, constant = operands[op]
    constants = {"w": constant}
    if op == "BatchNormalization":
        constants |= {"b": draw("b", 3), "m": draw("m", 3), "v": np.abs(draw("v", 3)) + np.float32(0.1)}
    nodes = [
        helper.make_node(op, ["x", *constants], ["s"], name="leader"),
        helper.make_node(activation, ["s"], ["y"], name="follower", **attributes),
    ]
    return build(f"{op}_{activation}", nodes, {"x": draw(op, *shape) * 3}, constants)


def unfused(model: ir.Model) -> ir.Model:
    """Without any mark."""
    for node in model.graph:
        node.metadata_props.pop("metainfer.fused_with", None)
    return model


def fuse(model: ir.Model, follower: str = "follower", leader: str = "leader") -> ir.Model:
    """Marks the follower as the leader's."""
    node = next(node for node in model.graph if node.name == follower)
    node.metadata_props["metainfer.fused_with"] = leader
    return model


ACTIVATIONS = ["Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh", "Elu", "Gelu", "Softplus", "Mish"]
LEADERS = ["Conv", "Gemm", "MatMul", "Add", "Mul", "ConvTranspose", "BatchNormalization"]


@pytest.mark.parametrize("op", LEADERS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_fused_activation_gives_the_bits_of_the_two_kernels(op: str, activation: str) -> None:
    case = activated(op, activation)
    apart, together = lower(case.model()), lower(fuse(case.model()))
    assert len(kernels(together)) == len(kernels(apart)) - 1
    assert together.program.steps[-1].node_ids == ("leader", "follower")
    np.testing.assert_array_equal(Simulator(together).run(case.feed)["y"], Simulator(apart).run(case.feed)["y"])


def test_nothing_is_fused_without_the_mark() -> None:
    assert kernels(lower(activated("Conv", "Relu").model())) == ["conv2d_float32", "relu_float32"]


def test_fused_into_a_value_that_others_read_is_refused() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["s"], name="leader"),
        helper.make_node("Relu", ["s"], ["r"], name="follower"),
        helper.make_node("Add", ["s", "r"], ["y"], name="sum"),
    ]
    case = build("two_readers", nodes, {"x": draw("x", 1, 3, 6, 6)}, {"w": draw("w", 4, 3, 3, 3)})
    with pytest.raises(UnsupportedError, match=r"follower \(Relu\).*\n.*fused into leader \(Conv\)"):
        lower(fuse(case.model()))
    y = Simulator(lower(case.model())).run(case.feed)["y"]
    np.testing.assert_allclose(y, reference(case.proto, case.feed)["y"], rtol=1e-5, atol=1e-5)


def test_fused_into_a_kernel_without_activation_is_refused() -> None:
    nodes = [
        helper.make_node("Softmax", ["x"], ["s"], name="leader"),
        helper.make_node("Relu", ["s"], ["y"], name="follower"),
    ]
    with pytest.raises(UnsupportedError, match="follower"):
        lower(fuse(build("softmax_relu", nodes, {"x": draw("x", 2, 5)}).model()))


def test_fused_into_an_unknown_node_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="fused into nowhere"):
        lower(fuse(activated("Conv", "Relu").model(), leader="nowhere"))


def test_origin_unit_and_memory_are_carried() -> None:
    model = activated("Conv", "Relu").model()
    leader = model.graph[0]
    leader.metadata_props.update({"metainfer.from": "Conv_1,BatchNorm_2,leader", "metainfer.unit": "npu"})
    leader.outputs[0].metadata_props["metainfer.memory"] = "sram"
    program = lower(model).program
    assert program.steps[0].node_ids == ("leader", "Conv_1", "BatchNorm_2")
    assert program.steps[0].unit == "npu"
    assert program.tensor("s").memory == "sram"


def test_integer_kernel_keeps_its_quantization() -> None:
    case = conv_case("kept", (1, 3, 9, 21), (8, 3, 3, 3))
    program = lower(case.model()).program
    step = next(step for step in program.steps if step.kernel == "conv2d_int8")
    weights = program.tensor(step.inputs[1]).quantization
    assert weights is not None
    assert (len(weights.scales), set(weights.zero_points), weights.axis) == (8, {0}, 0)
    output = program.tensor(step.outputs[0])
    assert output.quantization is not None
    assert output.name == "sum.q"
    assert step.node_ids == ("sum.node", "sum.q.node")


def test_integer_bytes_are_a_quarter_of_float() -> None:
    case = conv_case("size", (1, 8, 9, 21), (8, 8, 3, 3))
    program = lower(case.model()).program
    step = next(step for step in program.steps if step.kernel == "conv2d_int8")
    assert program.tensor(step.inputs[1]).size_bytes == 8 * 8 * 9


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (one("det", "Det", [draw("d", 3, 3)]), r"node \(Det\).*\n.*no kernel"),
        (one("gather", "Gather", [draw("g", 3)], [i64(3)], axis=0), "index lies outside of an axis of 3"),
        (one("pool", "MaxPool", [draw("p", 1, 1, 4, 4, 4)], kernel_shape=[2, 2, 2]), "3 spatial axes"),
        (one("double", "Neg", [draw("n", 3).astype(np.int32)], outputs=["int32"]), "input is int32"),
        (
            one("smooth", "Resize", [draw("r", 1, 1, 8, 8)], [None, None, i64(1, 1, 4, 4)], mode="cubic", antialias=1),
            "no kernel for mode 'cubic' with antialiasing",
        ),
        (one("dynamic", "Conv", [draw("x", 1, 1, 4, 4), draw("w", 1, 1, 3, 3)]), "computed at run time"),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_what_no_kernel_does_is_refused_with_a_reason(case: Case, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        lower(case.model())


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "advice"),
    [
        ("TopK", ["x", "k"], ["y", "i"], "End the model at x, which it reads, and sort in the program that calls"),
        ("Det", ["x"], ["y"], "Export the model by operators that have one (docs/reference/kernels.md), or end it"),
    ],
)
def test_advice_says_what_to_do_without_the_operator(
    op_type: str, inputs: list[str], outputs: list[str], advice: str
) -> None:
    node = helper.make_node(op_type, inputs, outputs, name="n")
    case = build("plain", [node], {"x": draw("d", 5, 5)}, {"k": np.array([2], np.int64)} if "k" in inputs else {})
    with pytest.raises(UnsupportedError) as refused:
        lower(case.model())
    assert refused.value.why == f"There is no kernel for {op_type}."
    assert advice in refused.value.fix


def test_open_shape_is_refused() -> None:
    model = activated("Conv", "Relu").model()
    model.graph.inputs[0].shape = ir.Shape(["N", 3, 6, 20])
    with pytest.raises(UnsupportedError, match=r"shape of 'x' is not known"):
        lower(model)


def test_lowerable_names_the_operators_with_a_rule() -> None:
    assert {"Conv", "LSTM", "QuantizeLinear", "Resize"} <= LOWERABLE
    assert "Det" not in LOWERABLE


def test_fused_curve_on_integers_gives_the_bits_of_two_kernels() -> None:
    case = conv_case("curve", (1, 3, 9, 21), (8, 3, 3, 3), activation="HardSwish")
    apart, together = lower(unfused(case.model())), lower(case.model())
    assert kernels(apart) == ["quantize_int8", "conv2d_int8", "lookup_int8", "dequantize_int8"]
    assert kernels(together) == ["quantize_int8", "conv2d_int8", "dequantize_int8"]
    expected = Simulator(apart).run(case.feed)
    assert all(np.array_equal(a, expected[n]) for n, a in Simulator(together).run(case.feed).items())


def test_relu_where_zero_is_not_the_least_code_clips_at_zero() -> None:
    """Symmetric int8 after a fused Relu: no negative value may leak through."""
    g = Qdq("symmetric")
    x = g.pair(g.input("x", 1, 3, 9, 21), -3.0, 3.0)
    y = g.node("Conv", [x, g.weights("w", draw("sw", 8, 3, 3, 3), 0)], "sum")
    y = g.node("Relu", [y], "active", "sum")
    case = g.case(g.pair(y, -10.0, 10.0))
    lowered = lower(case.model())
    assert kernels(lowered) == ["quantize_int8", "conv2d_int8", "dequantize_int8"]
    result = Simulator(lowered).run(case.feed)["active.dq"]
    assert result.min() == 0.0
    assert (result == 0.0).mean() > 0.3


def test_tensor_read_by_float_and_integer_kernels_is_dequantized_once() -> None:
    g = Qdq("shared")
    x = g.pair(g.input("x", 1, 4, 6, 20), -3.0, 3.0)
    a = g.node("Softmax", [x], "a", axis=1)
    b = g.node("Softmax", [x], "b", axis=2)
    c = g.node("Conv", [x, g.weights("w", draw("w", 4, 4, 1, 1), 0)], "c")
    case = g.case(a, b, g.pair(c, -5.0, 5.0))
    assert kernels(lower(case.model())).count("dequantize_int8") == 2  # x for both softmaxes, and the output


def test_program_and_constants_do_not_depend_on_the_process() -> None:
    code = (
        "from quantized_cases import conv_case, concat_case\n"
        "from metainfer_core.numerics.lower import lower\n"
        "for case in (conv_case('d', (1, 3, 9, 21), (8, 3, 3, 3), activation='HardSwish'), concat_case()):\n"
        "    lowered = lower(case.model())\n"
        "    print(lowered.program.digest, sorted(lowered.constants))\n"
    )
    folder = os.path.dirname(__file__)
    seen = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{folder}:{os.path.dirname(folder)}"}
        run = [sys.executable, "-c", code]
        done = subprocess.run(run, env=environment, cwd="/", capture_output=True, text=True, check=True, timeout=300)
        seen.add(done.stdout)
    assert len(seen) == 1


def test_simulator_refuses_wrong_inputs() -> None:
    case = activated("Conv", "Relu")
    simulator = Simulator(lower(case.model()))
    with pytest.raises(InputError, match="'x' is missing"):
        simulator.run({})
    with pytest.raises(InputError, match="no input 'z'"):
        simulator.run({**case.feed, "z": np.zeros(1)})
    with pytest.raises(InputError, match=r"takes float32\[1, 3, 6, 20\]"):
        simulator.run({"x": np.zeros((1, 3, 6, 20))})


def test_keep_gives_every_tensor_and_changes_no_output() -> None:
    case = activated("Conv", "Relu")
    simulator = Simulator(lower(case.model()))
    kept, plain = simulator.run(case.feed, keep=True), simulator.run(case.feed)
    assert set(kept) == {"x", "s", "y"}
    np.testing.assert_array_equal(kept["y"], plain["y"])
    np.testing.assert_array_equal(kept["y"], np.maximum(kept["s"], 0))


def test_runs_do_not_remember_each_other() -> None:
    case = activated("Add", "Tanh")
    simulator = Simulator(lower(case.model()))
    first = simulator.run(case.feed)["y"]
    simulator.run({"x": np.full((2, 3, 5), np.nan, np.float32)})
    np.testing.assert_array_equal(simulator.run(case.feed)["y"], first)


def test_names_of_the_model_are_kept_whatever_they_are() -> None:
    """A model may call its values what a kernel's constants would be called."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["leader.weights"], name="leader"),
        helper.make_node("Relu", ["leader.weights"], ["leader.bias"], name="x"),
    ]
    feed, constants = {"x": draw("x", 1, 3, 6, 20)}, {"w": draw("w", 4, 3, 3, 3)}
    case = build("names", nodes, feed, constants, {"leader.bias": "float32", "leader.weights": "float32"})
    lowered = lower(case.model())
    assert lowered.program.outputs == ("leader.bias", "leader.weights")
    for name, y in Simulator(lowered).run(feed).items():
        np.testing.assert_allclose(y, reference(case.proto, feed)[name], rtol=1e-5, atol=1e-5)


def test_only_constants_that_are_read_travel() -> None:
    lowered = lower(conv_case("travel", (1, 3, 9, 21), (8, 3, 3, 3)).model())
    used = {tensor.constant for tensor in lowered.program.tensors if tensor.constant}
    assert set(lowered.constants) == used
    touched = {name for step in lowered.program.steps for name in (*step.inputs, *step.outputs)}
    assert {tensor.name for tensor in lowered.program.tensors} == touched - {""}


def test_value_without_elements_is_refused() -> None:
    model = activated("Add", "Relu").model()
    model.graph.inputs[0].shape = ir.Shape([2, 0, 5])
    with pytest.raises(UnsupportedError, match=r"'x' has no elements"):
        lower(model)
