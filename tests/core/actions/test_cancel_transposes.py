from __future__ import annotations

import onnx_ir as ir
import pytest
from action_bench import cpu, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.cancel_transposes import CancelTransposes
from metainfer_core.actions.rewiring import FROM
from metainfer_core.graph.shapes import static_shape
from metainfer_core.spec.hardware_spec import Operators
from metainfer_core.spec.operators import OperatorRule

KIND, SPEC = CancelTransposes(), spec_of()
TO_LAST, TO_FIRST = "Transpose <perm = [0,2,3,1]>", "Transpose <perm = [0,3,1,2]>"


def model(body: str, out: str = "float[1,3,4,5] y") -> ir.Model:
    numbers = (
        "<float half = {0.5}, float zero = {0.0}, float six = {6.0}, float[1,4,5,3] b = {"
        + ",".join(str(index / 10) for index in range(60))
        + "}>"
    )
    return model_of(f"m (float[1,3,4,5] x) => ({out}) {numbers} {{ {body} }}")


def test_a_pair_with_elementwise_nodes_between_cancels() -> None:
    before = model(f"[t1] a = {TO_LAST} (x) [relu] r = Relu (a) [mul] m = Mul (half, r) [t2] y = {TO_FIRST} (m)")
    (action,), refusals = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert (action.nodes, refusals) == (("t1", "relu", "mul", "t2"), [])
    assert ops(after) == ["Relu", "Mul"]
    assert [static_shape(each.outputs[0]) for each in after.graph] == [(1, 3, 4, 5)] * 2
    assert after.graph[1].metadata_props[FROM] == "mul,t1,t2"
    assert after.graph.outputs[0].name == "y"
    assert keeps_promise(KIND, before, after)
    assert action.why[0].claim == "t1 and t2 follow each other, with relu, mul between them: nothing is moved."
    assert KIND.sentence(action) == "Let t1 and t2 cancel or become one."


def test_two_orders_become_one() -> None:
    before = model(
        f"[t1] a = {TO_LAST} (x) [clip] c = Clip (a, zero, six) [t2] y = Transpose <perm = [0,2,1,3]> (c)",
        "float[1,5,4,3] y",
    )
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert ops(after) == ["Clip", "Transpose"]
    assert after.graph[1].attributes["perm"].as_ints() == (0, 3, 2, 1)
    assert keeps_promise(KIND, before, after)


def test_without_a_perm_the_axes_are_reversed() -> None:
    before = model("[t1] a = Transpose (x) [exp] e = Exp (a) [t2] y = Transpose (e)")
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert ops(after) == ["Exp"]
    assert keeps_promise(KIND, before, after)


def test_the_first_one_stays_where_others_read_it() -> None:
    body = f"[t1] a = {TO_LAST} (x) [relu] r = Relu (a) [t2] y = {TO_FIRST} (r) [s] z = Softmax <axis = 3> (a)"
    before = model(body, "float[1,3,4,5] y, float[1,4,5,3] z")
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert sorted(ops(after)) == ["Relu", "Softmax", "Transpose"]
    assert keeps_promise(KIND, before, after)


def test_a_pair_alone_is_gone() -> None:
    before = model(f"[t1] a = {TO_LAST} (x) [t2] c = {TO_FIRST} (a) [relu] y = Relu (c)")
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert ops(after) == ["Relu"]
    assert keeps_promise(KIND, before, after)


@pytest.mark.parametrize(
    "body",
    [
        f"[t1] a = {TO_LAST} (x) [s] s = Softmax <axis = 3> (a) [t2] y = {TO_FIRST} (s)",  # sees its axis
        f"[t1] a = {TO_LAST} (x) [add] s = Add (a, b) [t2] y = {TO_FIRST} (s)",  # a constant with axes of its own
        f"[t1] a = {TO_LAST} (x) [r] r = Relu (a) [t2] t = {TO_FIRST} (r) [u] u = {TO_FIRST} (r) [y] y = Add (t, u)",
    ],
)
def test_what_cannot_move_is_left_alone(body: str) -> None:
    assert proposed(KIND, model(body), SPEC) == ([], [])


def test_refusals() -> None:
    bare = model(f"[t1] a = {TO_LAST} (x) [t2] y = {TO_FIRST} (a)")
    assert proposed(KIND, bare, SPEC) == (
        [], ["y is an output of the model, and so would be the input of t1 itself."]
    )  # fmt: skip
    body = f"[t1] a = {TO_LAST} (x) [relu] r = Relu (a) [t2] y = Transpose <perm = [0,2,1,3]> (r) "
    shared = model(body + "[s] z = Softmax <axis = 3> (a)", "float[1,5,4,3] y, float[1,4,5,3] z")
    told = "a is needed elsewhere too, so as many Transposes would be left."
    assert proposed(KIND, shared, SPEC) == ([], [told])
    wrong = Action(kind="cancel_transposes", nodes=("t1", "t2"))
    assert refusal(KIND, model(body, "float[1,5,4,3] y"), SPEC, wrong) == (
        "t1 does not lead to t2 by elementwise nodes that nobody else reads."
    )


def test_an_order_that_a_unit_does_not_run_is_refused() -> None:
    rule = OperatorRule(of=("perm",), one_of=("[0, 2, 3, 1]", "[0, 2, 1, 3]"))
    units = {"npu": npu(operators=Operators(rules={"Transpose": {"orders": rule}})), "cpu": cpu()}
    before = model(f"[t1] a = {TO_LAST} (x) [t2] y = Transpose <perm = [0,2,1,3]> (a)", "float[1,5,4,3] y")
    told = (
        "t2 has perm [0, 3, 2, 1]; npu runs [0, 2, 3, 1] or [0, 2, 1, 3] "
        "(compute_units.npu.operators.rules.Transpose.orders). The two apart are run there."
    )
    assert proposed(KIND, before, spec_of(units=units)) == ([], [told])


def test_a_planted_mistake_breaks_the_promise() -> None:
    before = model(
        f"[t1] a = {TO_LAST} (x) [relu] r = Relu (a) [t2] y = Transpose <perm = [0,2,1,3]> (r)", "float[1,5,4,3] y"
    )
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    after.graph[1].attributes["perm"] = ir.AttrInt64s("perm", [0, 3, 1, 2])
    assert not keeps_promise(KIND, before, after)
