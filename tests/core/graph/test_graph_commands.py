"""The commands preprocess, shape-inferer, model show and op-registry, as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from tiny_models import from_text, proto

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, meta_infer: Call, tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reshape.onnx").write_bytes(proto("dynamic_reshape").SerializeToString())
    (tmp_path / "depthwise.onnx").write_bytes(proto("depthwise").SerializeToString())
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    return meta_infer


def answer(result: tuple[int, str, str]) -> dict[str, Any]:
    assert result[0] == 0, result
    plain: dict[str, Any] = json.loads(result[1])
    return plain


def test_preprocess_writes_a_static_model_and_says_what_it_did(call: Call, tmp_path: Path) -> None:
    arguments = ("--model", "reshape.onnx", "--input-shape", "[1,3,16,16]", "--output", "out/static.onnx", "--json")
    plain = answer(call("preprocess", *arguments))
    written = onnx.load(tmp_path / "out" / "static.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert [node.op_type for node in written.graph.node] == ["Conv", "Reshape"]
    assert plain["input_shapes"] == {"x": [1, 3, 16, 16]}
    assert (plain["nodes_before"], plain["nodes_after"]) == (6, 2)
    assert {each["kind"] for each in plain["rewrites"]} == {"bind_shape", "fold_constant"}
    metadata = {entry.key: entry.value for entry in written.metadata_props}
    assert metadata == {"metainfer.model_digest": plain["model_digest"]}

    first = (tmp_path / "out" / "static.onnx").read_bytes()
    assert answer(call("preprocess", *arguments))["output_digest"] == plain["output_digest"]
    assert (tmp_path / "out" / "static.onnx").read_bytes() == first


def test_preprocess_records_the_spec(call: Call, tmp_path: Path) -> None:
    (tmp_path / "tiny_v1.0.0.yaml").write_text(
        "name: tiny\nversion: 1.0.0\ncompute_units:\n  cpu:\n    kind: cpu\n    cores: 1\nmemories:\n"
        "  sram:\n    kind: sram\n    size_bytes: 512 KiB\n"
    )
    plain = answer(
        call("preprocess", "--model", "depthwise.onnx", "--hw-spec", "tiny_v1.0.0.yaml", "--output", "o.onnx", "--json")
    )
    metadata = {entry.key: entry.value for entry in onnx.load(tmp_path / "o.onnx").metadata_props}
    assert plain["spec"]["name"] == "tiny"
    assert metadata["metainfer.spec_digest"] == plain["spec"]["digest"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("preprocess", "--model", "reshape.onnx", "--output", "o.onnx"), 2, "--input-shape"),
        (("preprocess", "--model", "none.onnx", "--output", "o.onnx"), 2, "no such model"),
        (("preprocess", "--model", "broken.onnx", "--output", "o.onnx"), 2, "not an ONNX model"),
        (("preprocess", "--model", "reshape.onnx"), 2, "--output"),
        (("preprocess", "--model", "depthwise.onnx", "--output", "."), 2, "this is a folder"),
        (("model", "show", "depthwise.onnx", "--input-value", "rate"), 2, "not an input value"),
        (("model", "show", "depthwise.onnx", "--input-value", "rate=2"), 2, "no input 'rate'"),
        (("op-registry", "show", "Nothing"), 2, "no operator 'Nothing'"),
        (("op-registry", "add", "--name", "A", "--input", "x"), 2, "either an expression or a function"),
        (("op-registry", "add", "--name", "A", "--input", "x", "--expression", "y = q"), 2, "neither an input"),
    ],
)
def test_bad_input_ends_in_one_message(call: Call, arguments: tuple[str, ...], status: int, message: str) -> None:
    code, _, errors = call(*arguments)
    assert code == status
    assert message in errors
    assert "Traceback" not in errors


def test_shape_inferer_lists_types_and_what_stays_open(call: Call, tmp_path: Path) -> None:
    plain = answer(call("shape-inferer", "reshape.onnx", "--input-shape", "x=[2,3,4,4]", "--json"))
    assert plain["outputs"] == {"y": "float32[2,64]"}
    assert plain["dynamic"] == []

    text = "g (float[4] x) => (int64[A,B] y) { [where] n = NonZero (x)\n [flip] y = Neg (n) }"
    (tmp_path / "open.onnx").write_bytes(from_text(text).SerializeToString())
    code, output, _ = call("shape-inferer", "open.onnx", "--json")
    assert code == 1
    assert json.loads(output)["dynamic"] == ["where", "flip"]
    code, output, _ = call("shape-inferer", "open.onnx")
    assert "Shape still open: where, flip." in output


def test_model_show_counts(call: Call) -> None:
    plain = answer(call("model", "show", "depthwise.onnx", "--json"))
    assert plain["macs"] == 6 * 16 * 9 + 10 * 16 * 6
    assert [node["id"] for node in plain["nodes"]] == ["dw", "dw_relu", "pw"]
    _, text, _ = call("model", "show", "depthwise.onnx")
    assert f"3 nodes · {plain['macs']:,} MACs" in text
    assert text.splitlines()[1] == f"input   x  {plain['inputs']['x']}"
    assert text.splitlines()[2].startswith("output  ")


def test_op_registry_round_trip(call: Call, tmp_path: Path) -> None:
    add = ("op-registry", "add", "--name", "Affine", "--input", "x", "--input", "k", "--expression", "y = k * x + 1")
    plain = answer(call(*add, "--hardware", "npu=affine_int8", "--fallback", "float16", "--json"))
    assert plain["nodes"] == ["Mul", "Constant", "Add"]
    code, _, errors = call(*add)
    assert code == 2
    assert "registered already" in errors
    assert answer(call(*add, "--replace", "--json"))["operator"]["name"] == "Affine"
    listed = answer(call("op-registry", "list", "--json"))
    assert [each["name"] for each in listed["operators"]] == ["Affine"]
    _, text, _ = call("op-registry", "show", "custom.Affine")
    assert "y = k * x + 1" in text
    assert "Stands for: Mul, Constant, Add." in text

    model = from_text(
        """<ir_version: 8, opset_import: ["" : 17, "custom" : 1]>
        g (float[2] x, float[2] k) => (float[2] y) { [mine] y = custom.Affine (x, k) }"""
    )
    (tmp_path / "own.onnx").write_bytes(model.SerializeToString())
    shown = answer(call("model", "show", "own.onnx", "--json"))
    assert [node["id"] for node in shown["nodes"]] == ["mine/Mul_0", "mine/Add_2"]
    code, _, errors = call("model", "show", "own.onnx", "--registry", "other.yaml")
    assert code == 1
    assert "custom.Affine (node 'mine')" in errors


@pytest.mark.parametrize(
    "command", ["preprocess", "shape-inferer", "model show", "op-registry add", "op-registry list"]
)
def test_help_shows_an_example(call: Call, command: str) -> None:
    code, text, _ = call(*command.split(), "-h")
    assert code == 0
    assert f"Example: meta-infer {command}" in text
