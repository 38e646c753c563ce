"""Operators that users define: formula or function in, ordinary nodes out, and a clear no for anything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx_runs import run
from tiny_models import from_text

from metainfer_core.errors import InputError, MetaInferError, UnsupportedError
from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.files.registry import (
    OperatorRegistry,
    RegisteredOperator,
    definition,
    read_registry,
    registry_bytes,
    save_registry,
)
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.graph.summary import summarise

BIAS_QUANTIZE = RegisteredOperator(
    name="BiasQuantize",
    inputs=("x", "scale", "zero_point", "bias"),
    expression="y = scale * (x - zero_point) + bias",
    hardware={"npu": "quantize_int8"},
    fallback="float16",
)
TWICE = RegisteredOperator(
    name="Twice", domain="our.own", function="Twice (p) => (q) { q = Add (p, p) }", hardware={"dsp": "add2"}
)
REGISTRY = OperatorRegistry().with_operator(BIAS_QUANTIZE).with_operator(TWICE)

MODEL = """<ir_version: 8, opset_import: ["" : 13, "custom" : 1, "our.own" : 1]>
    g (float[3] x, float[3] w_s, float[3] w_z, float[3] w_b, bool yes) => (float[3] y) {
        [q] a = custom.BiasQuantize (x, w_s, w_z, w_b)
        [t] b = our.own.Twice (a)
        [q2] y = custom.BiasQuantize (b, w_s, w_z, w_b) }"""


def test_nodes_are_replaced_by_their_definition(tmp_path: Path) -> None:
    model = from_text(MODEL)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    result = preprocess(load_model(tmp_path / "m.onnx", REGISTRY).model)
    names = [node.name for node in result.model.graph]
    assert names == ["q/Sub_0", "q/Mul_1", "q/Add_2", "t/Add_0", "q2/Sub_0", "q2/Mul_1", "q2/Add_2"]
    first = next(iter(result.model.graph))
    assert first.metadata_props["metainfer.operator"] == "custom.BiasQuantize"
    assert first.metadata_props["metainfer.call"] == "q"
    assert first.metadata_props["metainfer.hardware"] == "npu=quantize_int8"
    assert first.metadata_props["metainfer.fallback"] == "float16"
    assert summarise(result.model).flops == 7 * 3

    scale, zero, bias = (np.frombuffer(each.raw_data, np.float32) for each in model.graph.initializer)
    x = np.array([1.0, -2.0, 0.5], np.float32)
    expected = scale * (2 * (scale * (x - zero) + bias) - zero) + bias
    got = run(model_bytes(result.model), {"x": x, "yes": np.array(True)})["y"]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_without_a_definition_the_operator_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(from_text(MODEL).SerializeToString())
    with pytest.raises(UnsupportedError, match=r"custom\.BiasQuantize \(node 'q'\), our\.own\.Twice") as refused:
        load_model(tmp_path / "m.onnx")
    assert "op-registry add" in refused.value.fix


def test_a_node_with_too_many_inputs_is_refused(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 13, "our.own" : 1]>
        g (float[3] x) => (float[3] y) { [t] y = our.own.Twice (x, x) }"""
    (tmp_path / "m.onnx").write_bytes(from_text(text).SerializeToString())
    with pytest.raises(InputError, match="call site has 2 inputs"):
        load_model(tmp_path / "m.onnx", REGISTRY)


def test_a_registry_file_reads_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "operators.yaml"
    assert read_registry(path) == OperatorRegistry()
    save_registry(path, REGISTRY)
    assert read_registry(path) == REGISTRY
    assert registry_bytes(read_registry(path)) == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("operators: [", ":1:"),
        ("- a\n- b\n", "no operator registry"),
        ("format: metainfer.op_registry/1\noperators:\n  - name: A\n    name: B\n", "4"),
        ("format: metainfer.op_registry/1\noperators:\n  - name: A\n", "either an expression or a function"),
        ("format: metainfer.op_registry/1\noperators:\n  - name: A\n    colour: red\n", "colour"),
        ("format: metainfer.op_registry/9\noperators: []\n", "format"),
    ],
)
def test_a_broken_registry_names_the_place(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "operators.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=place):
        read_registry(path)


def test_an_operator_is_registered_once_unless_replaced() -> None:
    with pytest.raises(InputError, match="registered already"):
        REGISTRY.with_operator(TWICE)
    assert REGISTRY.with_operator(TWICE, replace=True) == REGISTRY
    assert REGISTRY.find("Twice") == REGISTRY.find("our.own.Twice") == TWICE
    assert REGISTRY.find("Thrice") is None


FORMULAS: list[tuple[str, list[str]]] = [
    ("y = -x ** 2 / 3", ["Neg", "Constant", "Pow", "Constant", "Div"]),
    ("a = exp(x)\ny = a / (a + 1)", ["Exp", "Constant", "Add", "Div"]),
    ("y = clip(x, 0.0, 6.0)", ["Constant", "Constant", "Clip"]),
    ("y = softmax(x, axis=-1)", ["Softmax"]),
    ("y = where(x > z, x, z)", ["Greater", "Where"]),
    ("y = float32(int8(x))", ["Cast", "Cast"]),
    ("y = x", ["Identity"]),
]


@pytest.mark.parametrize(("formula", "expected"), FORMULAS)
def test_formulas_become_onnx_nodes(formula: str, expected: list[str]) -> None:
    operator = RegisteredOperator(name="F", inputs=("x", "z"), expression=formula)
    types = [node.op_type for node in definition(operator).node]
    assert sorted(types) == sorted(expected)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("", "empty"),
        ("y = q + 1", "'q' is neither an input"),
        ("x + 1", "not of the form"),
        ("y = x +", "Invalid syntax"),
        ("y = __import__('os').system('ls')", "cannot be read"),
        ("y = x.real", "cannot be read"),
        ("y = [x for x in z]", "cannot be read"),
        ("y = frobnicate(x)", "no operator 'frobnicate'"),
        ("y = softmax(x, axis=z)", "not a plain value"),
        ("y = softmax(x, speed=3)", "speed"),
        ("x = x + 1", "a value twice"),
        ("y = x if z else x", "cannot be read"),
        ("y = relu(x, x, x)", "(?i)relu"),
        ("y = " + "(" * 3000 + "x" + ")" * 3000, "at most 4000"),
        ("y = " + "-" * 1900 + "x", "cannot be used"),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused(formula: str, reason: str) -> None:
    operator = RegisteredOperator(name="F", inputs=("x", "z"), expression=formula)
    with pytest.raises(MetaInferError, match=reason):
        definition(operator)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Twice (p) => (q) { q = Frob (p) }", "Frob"),
        ("Twice (p) => (q) { q = ", "cannot be used"),
        ("Other (p) => (q) { q = Neg (p) }", r"defines custom\.Other"),
        ("Twice (p) => (q) { q = Neg (r) }", "cannot be used"),
        ('<domain: "custom", opset_import: ["" : 11]> Twice (p) => (q) { q = Neg (p) }', "opset 11"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused(text: str, reason: str) -> None:
    with pytest.raises(MetaInferError, match=reason):
        definition(RegisteredOperator(name="Twice", function=text))
