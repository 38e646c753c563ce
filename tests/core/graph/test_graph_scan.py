"""Scan: unrolled with the same outputs, along any axis and in both directions; refused where its length is unknown."""

from __future__ import annotations

import pytest
from onnx_runs import preprocessed_and_checked
from tiny_models import from_text

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess

BODY = """body = b (float[2] s_in, float[2] e) => (float[2] s_out, float[2] o) {
    [sum] s_out = Add (s_in, e) [twice] o = Mul (s_out, w_two) }"""


def scan(attributes: str, x: str = "float[3,2] x", out: str = "float[3,2] os") -> str:
    return f"""g (float[2] s, {x}) => (float[2] last, {out}) <float[2] w_two = {{2.0, 3.0}}> {{
        [scan] last, os = Scan <num_scan_inputs = 1, {attributes} {BODY}> (s, x) }}"""


@pytest.mark.parametrize(
    ("attributes", "x", "out"),
    [
        ("", "float[3,2] x", "float[3,2] os"),
        ("scan_input_axes = [1], scan_output_axes = [-1],", "float[2,3] x", "float[2,3] os"),
        ("scan_input_directions = [1],", "float[3,2] x", "float[3,2] os"),
        ("scan_output_directions = [1], scan_output_axes = [1],", "float[3,2] x", "float[2,3] os"),
    ],
)
def test_a_scan_is_unrolled_with_the_same_outputs(attributes: str, x: str, out: str) -> None:
    result = preprocessed_and_checked(from_text(scan(attributes, x, out)))
    operators = [node.op_type for node in result.model.graph]
    assert (operators.count("Add"), operators.count("Mul"), "Scan" in operators) == (3, 3, False)
    (rewrite,) = result.report.of_kind("unroll_loop")
    assert (rewrite.node, rewrite.why) == ("scan", "It runs 3 times, known from constants.")


def test_states_and_several_inputs_of_a_scan() -> None:
    model = from_text(
        """g (float[2] a, float[2] b, float[4,2] x, float[2,4] y) => (float[2] p, float[2] q, float[4,2] os) {
            p, q, os = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1], body = t
                (float[2] a_in, float[2] b_in, float[2] e, float[2] f) => (float[2] a_out, float[2] b_out, float[2] o) {
                    a_out = Add (b_in, e)
                    b_out = Sub (a_in, f)
                    o = Mul (a_out, b_out) }> (a, b, x, y) }"""
    )
    assert len(preprocessed_and_checked(model).report.of_kind("unroll_loop")) == 1


@pytest.mark.parametrize(
    ("x", "out", "why"),
    [
        ("float[N,2] x", "float[N,2] os", None),
        ("float[0,2] x", "float[0,2] os", "It never runs, so what it stacks is empty."),
        ("float[1025,2] x", "float[1025,2] os", "Unrolled it has over 1024 iterations and 2050 nodes."),
    ],
)
def test_a_scan_of_unknown_no_or_too_great_length_is_refused(x: str, out: str, why: str | None) -> None:
    model = import_model(from_text(scan("", x, out)).SerializeToString(), "model").model
    if why is None:
        assert preprocess(model, {"x": (3, 2)}).report.of_kind("unroll_loop")  # its shape is given
        return
    with pytest.raises(UnsupportedError, match="scan") as refused:
        preprocess(model)
    assert refused.value.why == why
