"""Preprocessing, rewrite by rewrite: each has a twin that must stay, and the outputs are compared each time."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_runs import assert_equal_outputs, preprocessed_and_checked, run
from tiny_models import TEXTS, from_text, imported, proto

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.shapes import describe
from metainfer_core.graph.static.preprocess import Preprocessed, dynamic_nodes, infer, preprocess


def imported_text(text: str) -> onnx.ModelProto:
    return import_model(from_text(text).SerializeToString(), "model").model


def op_types(result: Preprocessed) -> list[str]:
    return [node.op_type for node in result.model.graph]


@pytest.mark.parametrize("name", sorted(set(TEXTS) - {"dynamic_reshape"}))
def test_a_static_inference_model_keeps_its_nodes_and_outputs(name: str) -> None:
    result = preprocessed_and_checked(proto(name))
    assert result.report.rewrites == ()
    assert [node.name for node in result.model.graph] == [node.name for node in imported(name).model.graph]


def test_the_given_model_is_left_alone() -> None:
    model = imported("dynamic_reshape").model
    before = model_bytes(model)
    preprocess(model, {"x": (2, 3, 8, 8)})
    assert model_bytes(model) == before


# --- shapes (also case F18: bound dimensions fold the chain; each node that stays dynamic is named)


def test_a_bound_shape_folds_the_chain_that_computes_with_it() -> None:
    result = preprocessed_and_checked(proto("dynamic_reshape"), {"x": (2, 3, 8, 8)})
    assert op_types(result) == ["Conv", "Reshape"]
    assert [each.node for each in result.report.of_kind("fold_constant")] == ["shape", "gather", "unsqueeze", "concat"]
    assert result.report.input_shapes == {"x": (2, 3, 8, 8)}


def test_dimensions_are_bound_by_name_and_the_batch_is_one() -> None:
    result = preprocessed_and_checked(proto("dynamic_reshape"), {"H": (5,), "W": (7,)})
    assert result.report.input_shapes == {"x": (1, 3, 5, 7)}
    (assumption,) = result.report.assumptions
    assert "'x' takes one sample at a time" in assumption


def test_one_name_is_one_number_at_every_input() -> None:
    model = imported_text("g (float[N,2] x, float[N,2] z) => (float[N,2] y) { y = Add (x, z) }")
    result = preprocess(model, {"x": (3, 2)})
    assert result.report.input_shapes == {"x": (3, 2), "z": (3, 2)}
    with pytest.raises(InputError, match=r"\[4, 2\] does not fit the input 'z'"):
        preprocess(model, {"x": (3, 2), "z": (4, 2)})


def test_open_shapes_are_named_with_an_example() -> None:
    with pytest.raises(InputError) as refused:
        preprocess(imported("dynamic_reshape").model)
    assert "'x' [N, 3, H, W]" in refused.value.what
    assert '--input-shape "x=[1, 3, 224, 224]"' in refused.value.fix


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        ({"x": (1, 4, 8, 8)}, r"does not fit the input 'x'"),
        ({"x": (1, 3, 8)}, r"does not fit the input 'x'"),
        ({"x": (0, 3, 8, 8)}, "cannot be"),
        ({"x": (1, 3, 1 << 40, 8)}, "cannot be"),
        ({"q": (1,)}, "no input or dimension 'q'"),
        ({"N": (1, 2)}, "no input or dimension 'N'"),
        ({"x": (1, 3, 1 << 20, 1 << 20)}, "at most|At most"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(shapes: dict[str, tuple[int, ...]], reason: str) -> None:
    with pytest.raises((InputError, UnsupportedError), match=reason):
        preprocess(imported("dynamic_reshape").model, shapes)


def test_a_shape_that_the_model_was_not_made_for_names_the_node() -> None:
    model = imported_text(
        """g (float[1,2,H,8] x) => (float[A,B] y) <int64[2] target = {4,-1}, float[6,6] w = {1,1,1,1,1,1,1,1,1,1,1,1,
            1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}> { [flat] r = Reshape (x, target)
            [times] y = MatMul (r, w) }"""
    )
    with pytest.raises(InputError, match=r"times \(MatMul\) cannot take its inputs: 'r' float32\[4,20\]"):
        preprocess(model, {"H": (5,)})


def test_nodes_whose_shape_depends_on_data_are_all_named() -> None:
    model = imported_text(
        """g (float[4] x) => (float[K] y) {
            [where] n = NonZero (x)
            [float] f = Cast <to = 1> (n)
            [flat] s = Squeeze (f)
            [twice] y = Add (s, s) }"""
    )
    with pytest.raises(UnsupportedError, match="dynamic shape") as refused:
        preprocess(model)
    for name in ("where", "float", "flat", "twice"):
        assert f"{name} (" in refused.value.what
    assert "where (NonZero" in refused.value.why
    assert refused.value.what.startswith("4 nodes keep a dynamic shape: ")
    assert "flat" not in refused.value.why
    assert [node.name for node in dynamic_nodes(infer(model).model)] == ["where", "float", "flat", "twice"]


def test_a_single_node_whose_shape_depends_on_data_is_told_what_to_do() -> None:
    with pytest.raises(UnsupportedError) as refused:
        preprocess(imported_text("g (float[4] x) => (int64[1,K] y) { [where] y = NonZero (x) }"))
    assert refused.value.what == "1 node keeps a dynamic shape: where (NonZero, int64[1,?])."
    assert refused.value.fix.startswith(
        "End the model before these nodes and compute them in the program that calls it"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("g (float[1,4,5,5] x, float[2,3,3,3] w_a) => (float[A] y) { [c] y = Conv (x, w_a) }", "want 3 input channels"),
        ("g (float[1,4,5,5] x, float[3,2,3,3] w_a) => (float[A] y) { [c] y = Conv <group = 2> (x, w_a) }", "2 groups"),
        (
            "g (float[1,4,5,5] x, float[2,4,3,3] w_a, float[3] w_b) => (float[A] y) { [c] y = Conv (x, w_a, w_b) }",
            "bias has the shape",
        ),
        ("g (float[1,4,5,5] x, float[3,2,3,3] w_a) => (float[A] y) { [c] y = ConvTranspose (x, w_a) }", "3 input chan"),
        ("g (float[2,4] x, float[5,3] w_a) => (float[A] y) { [c] y = Gemm (x, w_a) }", "between 5 and 4"),
        ("g (float[4] x) => (float[A] y) <int64[2] s = {3,3}> { [c] y = Reshape (x, s) }", "4 elements"),
        (
            """g (float[5,1,3] x, float[1,16,2] w_a, float[1,16,4] w_r) => (float[A] y) {
                [c] y = LSTM <hidden_size = 4> (x, w_a, w_r) }""",
            r"\[1, 16, 3\]",
        ),
    ],
)
def test_operands_that_do_not_go_together_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        preprocess(imported_text(text))
    assert "The node c (" in refused.value.what


# --- constants


def test_what_is_constant_is_folded_and_an_output_keeps_a_node() -> None:
    result = preprocessed_and_checked(
        from_text(
            """g (float[2] x) => (float[2] y, float[2] z) <float[2] a = {1,2}, float[2] b = {3,4}> {
                [sum] s = Add (a, b)
                [root] r = Sqrt (s)
                y = Mul (x, r)
                [last] z = Neg (r) }"""
        )
    )
    assert [(node.op_type, node.name) for node in result.model.graph] == [("Mul", "Mul_2"), ("Identity", "last")]
    tensor = result.model.graph.initializers["r"].const_value
    assert tensor is not None
    np.testing.assert_allclose(tensor.numpy(), [2, np.sqrt(6)], rtol=1e-6)


def test_a_large_result_is_not_folded() -> None:
    model = from_text(
        """g (float[1] x) => (float[A] y) <int64[2] s = {3000,2000}> {
            [big] c = ConstantOfShape (s)
            y = Add (x, c) }"""
    )
    result = preprocess(import_model(model.SerializeToString(), "model").model)
    assert op_types(result) == ["ConstantOfShape", "Add"]
    (kept,) = result.report.of_kind("keep_large")
    assert "24,000,000 bytes" in kept.why


@pytest.mark.parametrize(
    "step",
    ["c{next} = Concat <axis = 0> (c{at}, c{at})", "m{at} = Neg (c{at})\n c{next} = Concat <axis = 0> (c{at}, m{at})"],
)
def test_constants_that_double_and_double_are_not_folded_to_the_end(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metainfer_core.graph.evaluate.FOLD_LIMIT_BYTES", 64)
    monkeypatch.setattr("metainfer_core.graph.evaluate.FOLD_TOTAL_BYTES", 2048)
    steps = "\n".join(step.format(at=index, next=index + 1) for index in range(20))
    model = imported_text(
        f"""g (float[1] x) => (float[1] y) <float[1] c0 = {{1}}> {{
            {steps}
            s = ReduceSum (c20)
            y = Add (x, s) }}"""
    )
    result = preprocess(model)
    assert result.report.of_kind("keep_large")
    made = sum(value.const_value.nbytes for value in result.model.graph.initializers.values() if value.const_value)
    assert made <= 2048


def test_weights_of_a_quantized_model_stay_integers() -> None:
    model = from_text(
        """g (float[2] x) => (float[2] y) <int8[2] w = {3,-4}, float s = {0.5}, int8 z = {0}> {
            [weights] d = DequantizeLinear (w, s, z)
            y = Mul (x, d) }"""
    )
    assert op_types(preprocessed_and_checked(model)) == ["DequantizeLinear", "Mul"]


def test_integer_division_by_zero_is_not_evaluated() -> None:
    model = imported_text(
        """g (int64[1] x) => (int64[1] y) <int64[1] a = {1}, int64[1] b = {0}> { c = Div (a, b)
            y = Add (x, c) }"""
    )
    assert op_types(preprocess(model)) == ["Div", "Add"]


def test_random_numbers_are_not_folded() -> None:
    model = imported_text("g (float[2] x) => (float[2] y) { r = RandomNormal <shape = [2]> ()\n y = Add (x, r) }")
    assert op_types(preprocess(model)) == ["RandomNormal", "Add"]


# --- nodes that do nothing, training leftovers, unused parts


def test_nodes_that_do_nothing_go() -> None:
    result = preprocessed_and_checked(
        from_text(
            """g (float[2,3] x) => (float[2,3] y) <int64[2] same = {2,3}, int64[4] none = {0,0,0,0}, float r = {0.5}> {
                a = Identity (x)
                b = Cast <to = 1> (a)
                c = Reshape (b, same)
                d = Transpose <perm = [0,1]> (c)
                e = Pad (d, none)
                f = Dropout (e, r)
                h = Concat <axis = 0> (f)
                i = Relu (h)
                y = Identity (i) }"""
        )
    )
    assert op_types(result) == ["Relu"]
    assert len(result.report.of_kind("remove_no_op")) == 8


def test_nodes_that_do_something_stay() -> None:
    result = preprocessed_and_checked(
        from_text(
            """g (float[2,2] x) => (float[2,2] y) <int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {0}> {
                t = Transpose (x)
                y = Slice (t, s, e, a, s) }"""
        )
    )
    assert op_types(result) == ["Transpose", "Slice"]


def test_an_identity_between_an_input_and_an_output_stays() -> None:
    result = preprocessed_and_checked(from_text("g (float[2] x) => (float[2] y) { y = Identity (x) }"))
    assert op_types(result) == ["Identity"]


def test_a_value_that_is_two_outputs_keeps_both_names() -> None:
    result = preprocessed_and_checked(
        from_text("g (float[2] x) => (float[2] y, float[2] z) { y = Relu (x)\n z = Identity (y) }")
    )
    assert [value.name for value in result.model.graph.outputs] == ["y", "z"]


def test_training_forms_become_inference_forms() -> None:
    model = from_text(
        """g (float[1,3,4,4] x, float[3] w_s, float[3] w_b, float[3] w_m, float[3] w_variance) => (float[1,3,4,4] y)
            <float ratio = {0.5}, bool train = {1}> {
            [bn] b, m, v = BatchNormalization <training_mode = 1> (x, w_s, w_b, w_m, w_variance)
            [drop] d, mask = Dropout (b, ratio, train)
            y = Relu (d) }"""
    )
    result = preprocess(import_model(model.SerializeToString(), "model").model)
    assert op_types(result) == ["BatchNormalization", "Relu"]
    changed = [each.node for each in result.report.rewrites if each.changes_values]
    assert changed == ["bn", "drop"]

    evaluation = onnx.ModelProto.FromString(model.SerializeToString())  # the same model as exported for inference
    evaluation.graph.node[0].attribute[0].i = 0
    del evaluation.graph.node[0].output[1:]
    evaluation.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(np.array(False), "train"))
    assert evaluation.graph.initializer[1].name == "train"
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 4)).astype(np.float32)
    assert_equal_outputs(run(evaluation.SerializeToString(), {"x": x}), run(model_bytes(result.model), {"x": x}))


def test_a_training_output_that_is_used_is_refused() -> None:
    model = imported_text(
        """g (float[1,3,4,4] x, float[3] w_s, float[3] w_b, float[3] w_m, float[3] w_variance)
            => (float[1,3,4,4] y, float[3] m) {
            [bn] y, m, v = BatchNormalization <training_mode = 1> (x, w_s, w_b, w_m, w_variance) }"""
    )
    with pytest.raises(UnsupportedError, match="training mode"):
        preprocess(model)


def test_a_mask_that_is_read_is_all_true() -> None:
    result = preprocessed_and_checked(
        from_text(
            """g (float[3] x) => (float[3] y) { d, mask = Dropout (x)
                f = Cast <to = 1> (mask)
                y = Add (d, f) }"""
        )
    )
    assert op_types(result) == ["Add"]


def test_what_nothing_reads_goes() -> None:
    result = preprocessed_and_checked(
        from_text("g (float[2] x, float[2] w_q) => (float[2] y) { [dead] d = Mul (x, w_q)\n [max] y = Relu (x) }")
    )
    assert op_types(result) == ["Relu"]
    assert [each.node for each in result.report.of_kind("remove_unused")] == ["dead"]
    assert not result.model.graph.initializers


# --- Gather to Slice


@pytest.mark.parametrize(
    ("indices", "axis", "bounds"),
    [
        ([0, 1, 2], 1, (0, 3, 1)),
        ([1, 3, 5], 1, (1, 6, 2)),
        ([5, 3, 1], 1, (5, 0, -2)),
        ([2, 1, 0], -1, (2, -(2**63), -1)),
        ([-2, -1], 1, (4, 6, 1)),
        ([3], 1, (3, 4, 1)),
        ([1, 0], 0, (1, -(2**63), -1)),
    ],
)
def test_evenly_stepped_indices_become_a_slice(indices: list[int], axis: int, bounds: tuple[int, int, int]) -> None:
    result = preprocessed_and_checked(gather(indices, axis))
    (node,) = result.model.graph
    assert (node.op_type, node.name) == ("Slice", "pick")
    numbers = [int(value.const_value.numpy()[0]) for value in node.inputs[1:] if value and value.const_value]
    assert (numbers[0], numbers[1], numbers[3]) == bounds
    assert [each.node for each in result.report.of_kind("gather_to_slice")] == ["pick"]


@pytest.mark.parametrize("indices", [[0, 1, 3], [2, 2], [0, 1, 0], [1, 0, -1]])
def test_other_indices_stay_a_gather(indices: list[int]) -> None:
    result = preprocessed_and_checked(gather(indices, 1))
    assert op_types(result) == ["Gather"]


def test_a_single_index_without_an_axis_stays_a_gather() -> None:
    result = preprocessed_and_checked(
        from_text("g (float[2,6] x) => (float[2] y) <int64 i = {3}> { [pick] y = Gather <axis = 1> (x, i) }")
    )
    assert op_types(result) == ["Gather"]


def gather(indices: list[int], axis: int) -> onnx.ModelProto:
    numbers = ",".join(map(str, indices))
    return from_text(
        f"""g (float[2,6] x) => (float[A,B] y) <int64[{len(indices)}] i = {{{numbers}}}> {{
            [pick] y = Gather <axis = {axis}> (x, i) }}"""
    )


# --- bound values


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("rate", np.array([1, 2]), "does not fit the input 'rate'"),
        ("rate", np.array(1.5), "does not fit the input 'rate'"),
        ("speed", np.array(1), "no input 'speed'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(name: str, value: np.ndarray, reason: str) -> None:
    model = imported_text("g (float[2] x, int64 rate) => (float[2] y) { r = Cast <to = 1> (rate)\n y = Mul (x, r) }")
    with pytest.raises(InputError, match=reason):
        preprocess(model, {}, {name: value})


def test_a_bound_value_takes_the_type_of_its_input() -> None:
    model = imported_text("g (float[2] x, float rate) => (float[2] y) { y = Mul (x, rate) }")
    result = preprocess(model, {}, {"rate": np.array(2)})
    assert describe(result.model.graph.initializers["rate"]) == "float32[]"
    x = np.array([1, 2], np.float32)
    assert run(model_bytes(result.model), {"x": x})["y"].tolist() == [2, 4]
