"""If and Loop: folded where known, with the same outputs; refused with the node and the reason where not."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_runs import assert_equal_outputs, preprocessed_and_checked, run
from tiny_models import from_text

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import preprocess

BRANCHES = """<then_branch = t () => (float[2] a) { [then_op] q = Relu (x)
 [then_out] a = Add (q, x) }, else_branch = e () => (float[2] a) { [else_out] a = Neg (x) }>"""


@pytest.mark.parametrize(("flag", "expected"), [("1", ["then_op", "then_out"]), ("0", ["else_out"])])
def test_a_constant_condition_takes_its_branch(flag: str, expected: list[str]) -> None:
    model = from_text(f"g (float[2] x) => (float[2] y) <bool c = {{{flag}}}> {{ [choose] y = If (c) {BRANCHES} }}")
    result = preprocessed_and_checked(model)
    assert [node.name for node in result.model.graph] == expected
    (rewrite,) = result.report.of_kind("inline_branch")
    assert rewrite.node == "choose"
    assert "is constant" in rewrite.why


def test_a_condition_that_follows_from_bound_shapes_takes_its_branch() -> None:
    model = from_text(
        f"""g (float[N] x) => (float[M] y) <int64[1] two = {{2}}> {{
            s = Shape (x)
            same = Equal (s, two)
            c = Squeeze (same)
            [choose] y = If (c) {BRANCHES} }}"""
    )
    result = preprocessed_and_checked(model, {"x": (2,)})
    (rewrite,) = result.report.of_kind("inline_branch")
    assert "follows from" in rewrite.why
    assert [node.name for node in result.model.graph] == ["then_op", "then_out"]


def test_an_unknown_condition_is_refused_with_node_and_maker() -> None:
    model = from_text(
        f"""g (float[2] x) => (float[2] y) <float zero = {{0.0}}> {{
            m = ReduceMax <keepdims = 0> (x)
            [is_positive] c = Greater (m, zero)
            [choose] y = If (c) {BRANCHES} }}"""
    )
    with pytest.raises(UnsupportedError, match="choose") as refused:
        preprocess(import_model(model.SerializeToString(), "model").model)
    assert "is_positive (Greater)" in refused.value.why
    assert "--input-value" in refused.value.fix


def test_a_bound_input_value_decides_and_stops_being_an_input() -> None:
    model = from_text(
        f"""g (float[2] x, int64 rate) => (float[2] y) <int64 wide = {{16000}}> {{
            c = Equal (rate, wide)
            [choose] y = If (c) {BRANCHES} }}"""
    )
    data = model.SerializeToString()
    for rate in (16000, 8000):
        result = preprocess(import_model(data, "model").model, {}, {"rate": np.array(rate)})
        assert [value.name for value in result.model.graph.inputs] == ["x"]
        x = np.array([1.5, -2.0], np.float32)
        expected = run(data, {"x": x, "rate": np.array(rate)})
        assert_equal_outputs(expected, run(model_bytes(result.model), {"x": x}))


def test_branches_with_equal_names_inside_do_not_clash() -> None:
    model = from_text(
        f"""g (float[2] x) => (float[2] y) <bool yes = {{1}}> {{
            [first] p = If (yes) {BRANCHES}
            [second] r = If (yes) {BRANCHES}
            y = Add (p, r) }}"""
    )
    result = preprocessed_and_checked(model)
    names = [node.name for node in result.model.graph]
    assert len(names) == len(set(names)) == 5


def test_a_branch_that_passes_an_outer_value_keeps_the_output_name() -> None:
    model = from_text(
        """g (float[2] x) => (float[2] y) <bool yes = {1}> {
            [choose] y = If (yes) <then_branch = t () => (float[2] a) { a = Identity (x) },
                                   else_branch = e () => (float[2] b) { b = Neg (x) }> }"""
    )
    result = preprocessed_and_checked(model)
    assert [value.name for value in result.model.graph.outputs] == ["y"]


LOOP = """g (float[2] x) => (float[2] y, float[K,2] steps) <int64 trips = {%s}, bool yes = {%s}> {
    [loop] y, steps = Loop (trips, yes, x) <body =
        b (int64 i, bool going, float[2] v) => (bool on, float[2] w, float[2] s) {
        on = Identity (going)
        f = Cast <to = 1> (i)
        a = Add (v, f)
        [times] w = Mul (a, x)
        s = Neg (w) }> }"""


@pytest.mark.parametrize("trips", [1, 3])
def test_a_loop_of_known_length_is_unrolled(trips: int) -> None:
    result = preprocessed_and_checked(from_text(LOOP % (trips, 1)))
    assert sum(node.op_type == "Mul" for node in result.model.graph) == trips
    assert result.report.of_kind("unroll_loop")[0].why == f"It runs {trips} times, known from constants."
    assert len({node.name for node in result.model.graph}) == len(result.model.graph)


def test_a_loop_that_a_constant_condition_ends_is_unrolled() -> None:
    model = from_text(
        """g (float[2] x) => (float[2] y) <int64 start = {0}, int64 last = {3}, bool yes = {1}> {
            [loop] n, y = Loop (, yes, start, x) <body = b (int64 i, bool going, int64 n, float[2] v)
                => (bool on, int64 m, float[2] w) <int64 one = {1}> {
                m = Add (n, one)
                on = Less (m, last)
                w = Relu (v) }> }"""
    )
    result = preprocessed_and_checked(model)
    assert sum(node.op_type == "Relu" for node in result.model.graph) == 3


def test_a_loop_inside_a_branch_is_unrolled() -> None:
    model = from_text(
        """g (float[2] x) => (float[2] y) <bool yes = {1}, int64 two = {2}> {
            [choose] y = If (yes) <then_branch = t () => (float[2] a) {
                    [loop] a = Loop (two, yes, x) <body = b (int64 i, bool going, float[2] v) => (bool on, float[2] w) {
                        on = Identity (going)
                        w = Exp (v) }> },
                else_branch = e () => (float[2] b) { b = Neg (x) }> }"""
    )
    result = preprocessed_and_checked(model)
    assert [node.op_type for node in result.model.graph] == ["Exp", "Exp"]


def test_a_loop_over_unknown_trips_is_refused() -> None:
    model = from_text(
        """g (float[2] x, int64 trips) => (float[2] y) <bool yes = {1}> {
            [loop] y = Loop (trips, yes, x) <body = b (int64 i, bool going, float[2] v) => (bool on, float[2] w) {
                on = Identity (going)
                w = Relu (v) }> }"""
    )
    with pytest.raises(UnsupportedError, match=r"loop \(Loop\).*\n.*how often it runs"):
        preprocess(import_model(model.SerializeToString(), "model").model)


def test_an_endless_loop_is_refused() -> None:
    model = from_text(
        """g (float[2] x) => (float[2] y) <bool yes = {1}> {
            [loop] y = Loop (, yes, x) <body = b (int64 i, bool going, float[2] v) => (bool on, float[2] w) {
                on = Identity (going)
                w = Relu (v) }> }"""
    )
    with pytest.raises(UnsupportedError, match="1024 iterations"):
        preprocess(import_model(model.SerializeToString(), "model").model)
