"""Import: ids, opset, functions, constants, data files; and one clear error for each way to be broken."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx_runs import assert_equal_outputs, run
from tiny_models import from_text, imported, proto, random_inputs

from metainfer_core.errors import InputError, MetaInferError, UnsupportedError
from metainfer_core.graph.files.load import import_model, load_model
from metainfer_core.graph.files.opset import ONNX_OPSET
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import preprocess

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def build(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: list[onnx.TensorProto] | None = None,
    opset: int = 17,
) -> bytes:
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants or [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def value(name: str, shape: list[int | str] | None = None, element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def relu_of(shape: list[int | str] | None = None, element: int = FLOAT, opset: int = 17) -> bytes:
    return build([helper.make_node("Relu", ["x"], ["y"])], [value("x", shape, element)], [value("y")], opset=opset)


# --- canonical form


def test_ids_are_original_names_where_unique_and_built_ones_elsewhere() -> None:
    model = from_text(
        """g (float[2] x, bool c) => (float[2] y) {
            [stem] a = Relu (x)
            [twice] b = Neg (a)
            [twice] d = Abs (b)
            e = If (c) <then_branch = t () => (float[2] p) { p = Exp (d) }, else_branch = f () => (float[2] q) {
                [inner] q = Log (d) }>
            y = Relu (e) }"""
    )
    result = import_model(model.SerializeToString(), "model").model
    assert {node.name for node in result.graph.all_nodes()} == {
        "stem",
        "Neg_1",
        "Abs_2",
        "If_3",
        "If_3/then_branch/Exp_0",
        "inner",
        "Relu_4",
    }


def test_a_built_id_does_not_take_an_original_name() -> None:
    model = from_text("g (float[2] x) => (float[2] y) { a = Relu (x)\n [Relu_0] y = Relu (a) }")
    result = import_model(model.SerializeToString(), "model").model
    assert [node.name for node in result.graph] == ["Relu_0_2", "Relu_0"]


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21, 22, 24, 28])
def test_every_opset_is_brought_to_one(opset: int) -> None:
    model = import_model(relu_of([2, 3], opset=opset), "model").model
    assert model.graph.opset_imports == {"": ONNX_OPSET}


def test_an_operator_newer_than_the_canonical_opset_is_written_with_older_ones() -> None:
    data = build(
        [helper.make_node("Swish", ["x"], ["s"]), helper.make_node("RMSNormalization", ["s", "w"], ["y"], axis=-1)],
        [value("x", [2, 4])],
        [value("y", [2, 4])],
        [numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")],
        opset=24,
    )
    model = import_model(data, "model").model
    assert not {node.op_type for node in model.graph} & {"Swish", "RMSNormalization"}
    feed = {"x": np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)}
    assert_equal_outputs(run(data, feed), run(model_bytes(model), feed))


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "opset"),
    [
        ("GlobalMaxPool", ["x"], {}, 22),  # onnx's converter has no step for it
        ("GroupNormalization", ["x", "w", "w"], {"num_groups": 2}, 21),  # onnx has no shape inference for it
        ("Attention", ["x", "x", "x"], {}, 23),
    ],
)
def test_operators_that_onnx_leaves_a_gap_for(
    operator: str, inputs: list[str], attributes: dict[str, int], opset: int
) -> None:
    data = build(
        [helper.make_node(operator, inputs, ["y"], **attributes)],
        [value("x", [1, 4, 3, 3])],
        [value("y")],
        [numpy_helper.from_array(np.linspace(0.5, 2, 4, dtype=np.float32), "w")] if "w" in inputs else [],
        opset=opset,
    )
    result = preprocess(import_model(data, "model").model)
    feed = {"x": np.linspace(-1, 1, 36, dtype=np.float32).reshape(1, 4, 3, 3)}
    assert_equal_outputs(run(data, feed), run(model_bytes(result.model), feed), tolerance=1e-5)


def test_a_newer_operator_without_a_definition_is_refused() -> None:
    data = build(
        [helper.make_node("CumProd", ["x", "axis"], ["y"], name="products")],
        [value("x", [3])],
        [value("y")],
        [numpy_helper.from_array(np.array(0), "axis")],
        opset=26,
    )
    with pytest.raises(UnsupportedError, match=r"CumProd \(node 'products'\) is too new"):
        import_model(data, "model")


def test_changed_meanings_survive_the_conversion() -> None:
    """Softmax flattened to two dimensions before opset 13, and Squeeze had its axes as attribute."""
    model = from_text(
        """<ir_version: 7, opset_import: ["" : 11]> g (float[2,3,4,1] x) => (float[2,3,4] y) {
            s = Softmax <axis = 1> (x)
            y = Squeeze <axes = [3]> (s) }"""
    )
    data = model.SerializeToString()
    (feed,) = random_inputs(model)
    assert_equal_outputs(run(data, feed), run(model_bytes(import_model(data, "model").model), feed))


def test_functions_are_inlined_also_with_another_opset() -> None:
    model = from_text(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[1,3] x) => (float[1,1,3] y) { a = local.twice (x)
            y = local.lift (a) }
        <domain: "local", opset_import: ["" : 17]> twice (p) => (q) { [sum] q = Add (p, p) }
        <domain: "local", opset_import: ["" : 11]> lift (p) => (q) { q = Unsqueeze <axes = [0]> (p) }"""
    )
    result = import_model(model.SerializeToString(), "model").model
    assert [node.op_type for node in result.graph] == ["Add", "Unsqueeze"]
    x = np.array([[1.0, -2.0, 3.0]], np.float32)
    assert run(model_bytes(result), {"x": x})["y"].tolist() == [[[2.0, -4.0, 6.0]]]


def test_functions_that_call_each_other_in_a_circle_are_refused() -> None:
    model = from_text(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[1,3] x) => (float[1,3] y) { y = local.ping (x) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]> ping (p) => (q) { q = local.pong (p) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]> pong (p) => (q) { q = local.ping (p) }"""
    )
    with pytest.raises(InputError, match=r"local\.ping, local\.pong call each other"):
        import_model(model.SerializeToString(), "model")


def test_functions_that_grow_with_every_level_are_refused() -> None:
    levels = "\n".join(
        f"""<domain: "local", opset_import: ["" : 17, "local" : 1]>
        f{level} (p) => (q) {{ r = local.f{level - 1} (p)
            q = local.f{level - 1} (r) }}"""
        for level in range(1, 31)
    )
    model = from_text(
        f"""<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[1,3] x) => (float[1,3] y) {{ y = local.f30 (x) }}
        <domain: "local", opset_import: ["" : 17]> f0 (p) => (q) {{ q = Relu (p) }}
        {levels}"""
    )
    with pytest.raises(UnsupportedError, match="make 1,073,741,824 nodes"):
        import_model(model.SerializeToString(), "model")


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\0", "a\x9b", "a\u202eb", "a\u2028b", "a" * 5000])
@pytest.mark.parametrize("place", ["node", "value", "dimension", "domain"])
def test_a_name_that_could_mislead_a_reader_is_refused(name: str, place: str) -> None:
    model = from_text("g (float[N,2] x) => (float[N,2] y) { [only] y = Relu (x) }")
    if place == "node":
        model.graph.node[0].name = name
    elif place == "value":
        model.graph.input[0].name = model.graph.node[0].input[0] = name
    elif place == "dimension":
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    else:
        model.opset_import.add(domain=name, version=1)
    with pytest.raises(InputError, match="no control characters"):
        import_model(model.SerializeToString(), "model")


def test_names_in_any_script_and_comments_of_several_lines_are_taken() -> None:
    model = from_text("g (float[2] x) => (float[2] y) { [only] y = Relu (x) }")
    model.graph.node[0].name = "Schicht ä/卷积:0;1 👩\u200d🔬"
    model.graph.node[0].doc_string = model.graph.doc_string = "one\ntwo\x1b"
    (node,) = import_model(model.SerializeToString(), "model").model.graph
    assert node.name == "Schicht ä/卷积:0;1 👩\u200d🔬"


def test_constant_nodes_become_initializers() -> None:
    model = from_text("g (float[2] x) => (float[2] y) { c = Constant <value_floats = [1.0, 2.0]> ()\n y = Add (x, c) }")
    result = import_model(model.SerializeToString(), "model").model
    assert [node.op_type for node in result.graph] == ["Add"]
    tensor = result.graph.initializers["c"].const_value
    assert tensor is not None
    assert tensor.numpy().tolist() == [1.0, 2.0]


def test_an_input_with_a_default_is_a_constant() -> None:
    model = proto("gemm")
    for tensor in model.graph.initializer:
        model.graph.input.append(value(tensor.name, list(tensor.dims)))
    result = import_model(model.SerializeToString(), "model").model
    assert [each.name for each in result.graph.inputs] == ["x"]


def test_nodes_are_put_in_order() -> None:
    data = build(
        [helper.make_node("Neg", ["a"], ["y"]), helper.make_node("Relu", ["x"], ["a"])], [value("x", [2])], [value("y")]
    )
    assert [node.op_type for node in import_model(data, "model").model.graph] == ["Relu", "Neg"]


# --- data files


def with_data_file(location: str, **keys: object) -> bytes:
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **keys}.items():
        tensor.external_data.add(key=key, value=str(text))
    return build([helper.make_node("Add", ["x", "w"], ["y"])], [value("x", [4])], [value("y")], [tensor])


def test_a_data_file_is_read_and_part_of_the_digest(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(with_data_file("w.bin", offset=4, length=16))
    (tmp_path / "w.bin").write_bytes(np.arange(5, dtype=np.float32).tobytes())
    first = load_model(tmp_path / "m.onnx")
    tensor = first.model.graph.initializers["w"].const_value
    assert tensor is not None
    assert tensor.numpy().tolist() == [1, 2, 3, 4]
    (tmp_path / "w.bin").write_bytes(np.arange(1, 6, dtype=np.float32).tobytes())
    assert load_model(tmp_path / "m.onnx").digest != first.digest


@pytest.mark.parametrize(
    ("location", "keys", "reason"),
    [
        ("../w.bin", {}, "Only files in the model's own folder"),
        ("/etc/passwd", {}, "Only files in the model's own folder"),
        ("sub/../../w.bin", {}, "Only files in the model's own folder"),
        ("C:\\w.bin", {}, "Only files in the model's own folder"),
        ("", {}, "Only files in the model's own folder"),
        ("a\0b", {}, "Only files in the model's own folder"),
        ("link.bin", {}, "symbolic link"),
        ("linked/w.bin", {}, "symbolic link"),
        ("none.bin", {}, "missing"),
        ("sub", {}, "missing"),
        ("x" * 5000, {}, "cannot be read"),
        ("w.bin", {"offset": 8}, "has 12 bytes"),
        ("w.bin", {"offset": -4}, "were named"),
        ("w.bin", {"length": 1 << 50}, "were named"),
        ("w.bin", {"offset": "four"}, "not a number"),
    ],
)
def test_a_data_file_elsewhere_or_too_short_is_refused(
    tmp_path: Path, location: str, keys: dict[str, object], reason: str
) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (folder / "w.bin").write_bytes(bytes(20))
    os.symlink(tmp_path / "w.bin", folder / "link.bin")
    os.symlink(tmp_path, folder / "linked")
    (folder / "m.onnx").write_bytes(with_data_file(location, **keys))
    with pytest.raises(InputError, match=reason):
        load_model(folder / "m.onnx")


def test_bytes_without_a_folder_have_no_data_file() -> None:
    with pytest.raises(InputError, match="without a folder"):
        import_model(with_data_file("w.bin"), "model")


# --- broken models

RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")
ONE = [value("x", [1])], [value("y", [1])]


def constant(**fields: object) -> bytes:
    tensor = TensorProto(name="w", **fields)
    return build([helper.make_node("Add", ["x", "w"], ["y"])], [value("x", [4])], [value("y")], [tensor])


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not an ONNX model"),
    "a PDF": (b"%PDF-1.7 some text", "not an ONNX model"),
    "text": (b"hello " * 100, "not an ONNX model"),
    "zeros": (bytes(1000), "not an ONNX model"),
    "cut off": (relu_of([1])[:-20], "not an ONNX model"),
    "another message": (numpy_helper.from_array(np.zeros(5)).SerializeToString(), "not an ONNX model"),
    "missing input": (build([helper.make_node("Relu", ["q"], ["y"], name="r")], *ONE), "'r' \\(Relu\\) reads 'q'"),
    "no maker": (build([helper.make_node("Relu", ["x"], ["a"])], *ONE), "nothing makes the output 'y'"),
    "made twice": (build([RELU, RELU], *ONE), "multiple times"),
    "output twice": (build([RELU], [value("x", [1])], [value("y"), value("y")]), "output 'y' twice"),
    "cycle": (
        build(
            [helper.make_node("Add", ["x", "y"], ["a"], name="p"), helper.make_node("Relu", ["a"], ["y"], name="q")],
            *ONE,
        ),
        "cycle.\n.*'p' \\(Add\\), 'q' \\(Relu\\)",
    ),
    "unknown attribute": (build([helper.make_node("Relu", ["x"], ["y"], speed=3)], *ONE), "Unrecognized attribute"),
    "wrong attribute": (build([helper.make_node("Softmax", ["x"], ["y"], axis="last")], *ONE), "attribute type"),
    "negative extent": (relu_of([-5]), "extent -5"),
    "opset 0": (relu_of([1], opset=0), "0 is not an opset"),
    "short data": (constant(data_type=FLOAT, dims=[4, 4], raw_data=b"abc"), "has 3 bytes"),
    "few numbers": (constant(data_type=FLOAT, dims=[4], float_data=[1, 2]), "data of tensor 'w'"),
    "unknown element": (constant(data_type=99, dims=[4]), "element type 99"),
    "numbers of another type": (constant(data_type=FLOAT, dims=[2], int64_data=[1, 2]), "data of tensor 'w'"),
    "unknown input type": (relu_of([1], element=102), "element type 102 of the value 'x'"),
    "negative shape": (constant(data_type=FLOAT, dims=[-4]), r"shape is \[-4\]"),
}

UNSUPPORTED: dict[str, tuple[bytes, str]] = {
    "unknown operator": (build([helper.make_node("Foo", ["x"], ["y"], name="f")], *ONE), "Foo \\(node 'f'\\)"),
    "foreign operator": (
        build([helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")], *ONE),
        "com.microsoft.Gelu",
    ),
    "newest opset": (relu_of([1], opset=999), "opset 999"),
    "text values": (
        build([helper.make_node("Identity", ["x"], ["y"])], [value("x", [1], STRING)], [value("y", [1], STRING)]),
        "holds text",
    ),
    "sequence": (
        build(
            [helper.make_node("SequenceLength", ["x"], ["y"])],
            [helper.make_tensor_sequence_value_info("x", FLOAT, None)],
            [value("y", [], INT64)],
        ),
        "type sequence",
    ),
    "huge constant": (constant(data_type=FLOAT, dims=[1 << 40, 1 << 40], raw_data=b"abc"), "too large"),
    "sparse constant": (
        build(
            [
                helper.make_node(
                    "Constant",
                    [],
                    ["y"],
                    name="sparse",
                    sparse_value=helper.make_sparse_tensor(
                        numpy_helper.from_array(np.ones(1, np.float32), "v"),
                        numpy_helper.from_array(np.array([0])),
                        [3],
                    ),
                )
            ],
            [],
            [value("y", [3])],
        ),
        "sparse tensor",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_ends_in_one_input_error(name: str) -> None:
    data, reason = BROKEN[name]
    with pytest.raises(InputError, match=reason):
        import_model(data, "model")


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_cannot_be_handled_ends_in_one_unsupported_error(name: str) -> None:
    data, reason = UNSUPPORTED[name]
    with pytest.raises(UnsupportedError, match=reason):
        import_model(data, "model")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such model"):
        load_model(tmp_path / "none.onnx")
    with pytest.raises(InputError, match="not a file"):
        load_model(tmp_path)


WHOLE = proto("squeeze_excite").SerializeToString()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_never_end_in_another_exception(edits: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, byte in edits:
        data[place] = byte
    with contextlib.suppress(MetaInferError):
        import_model(bytes(data), "model")


# --- bytes out


def test_saved_bytes_do_not_depend_on_the_order_of_tables() -> None:
    model = proto("squeeze_excite")
    shuffled = onnx.ModelProto()
    shuffled.CopyFrom(model)
    tensors = list(reversed(shuffled.graph.initializer))
    del shuffled.graph.initializer[:]
    shuffled.graph.initializer.extend(tensors)
    for node in shuffled.graph.node:
        attributes = list(reversed(node.attribute))
        del node.attribute[:]
        node.attribute.extend(attributes)
    first = model_bytes(import_model(model.SerializeToString(), "a").model)
    assert first == model_bytes(import_model(shuffled.SerializeToString(), "a").model)
    model.graph.node[1].attribute.append(helper.make_attribute("group", 1))
    assert first != model_bytes(import_model(model.SerializeToString(), "a").model)


def test_saved_bytes_load_to_the_same_bytes() -> None:
    for name in ("lstm", "concat", "hard_swish_spelled_out"):
        data = model_bytes(imported(name).model)
        assert model_bytes(import_model(data, name).model) == data
