from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, keeps_promise, model_of, ops, proposed, rewritten, spec_of

from metainfer_core.actions.kinds.decompose import Decompose
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.rewiring import add_constant, node, numbers_of
from metainfer_core.actions.spelled_operators import spelled_by, spelled_operators
from metainfer_core.spec.hardware_spec import Operators

FUSE, DECOMPOSE, SPEC = Fuse(), Decompose(), spec_of()
ROW = (
    "m (float[2,5,32] x, float[32] w_g, float[32] w_b) => (float[2,5,32] y) "
    "<float eps = {{{eps}}}, float two = {{2.0}}, float half = {{0.5}}, float one = {{1.0}}, float zero = {{0.0}}, "
    "float n = {{0.03125}}, float less = {{0.032258064}}, int64[1] last = {{-1}}, "
    "int64[3] kept = {{2, 5, 1}}> "
)
CENTRED = "m = RowMean (x) d = Sub (x, m) "
AFFINE = "s = Mul (q, w_g) y = Add (s, w_b) "
ROW_MEAN = "ReduceMean <axes = [-1]> ("
LAYER_NORMS = {
    "torch": CENTRED + "p = Pow (d, two) v = RowMean (p) e = Add (v, eps) r = Sqrt (e) q = Div (d, r) " + AFFINE,
    "torch, centred twice": CENTRED
    + "d2 = Sub (x, m) p = Mul (d2, d2) v = RowMean (p) e = Add (eps, v) r = Sqrt (e) q = Div (d, r) "
    + "s = Mul (w_g, q) y = Add (w_b, s)",
    "tf2onnx, as a batch normalization": CENTRED
    + "p = Mul (d, d) v = RowMean (p) e = Add (v, eps) r = Sqrt (e) i = Reciprocal (r) g = Mul (i, w_g) "
    + "a = Mul (x, g) c = Mul (m, g) b = Sub (w_b, c) y = Add (a, b)",
    "flax, with the mean of squares": "t = ReduceSum <keepdims = 0> (x, last) m = Mul (t, n) x2 = Mul (x, x) "
    + "t2 = ReduceSum <keepdims = 0> (x2, last) s2 = Mul (t2, n) m2 = Mul (m, m) v0 = Sub (s2, m2) "
    + "v = Max (zero, v0) vr = Reshape (v, kept) e = Add (vr, eps) r = Sqrt (e) i = Reciprocal (r) "
    + "g = Mul (i, w_g) mr = Unsqueeze (m, last) d = Sub (x, mr) q = Mul (d, g) y = Add (q, w_b)",
    "root as a power": CENTRED
    + "p = Pow (d, two) v = RowMean (p) e = Add (v, eps) r = Pow (e, half) i = Div (one, r) q = Mul (d, i) "
    + AFFINE,
}
NEAR_MISSES = {
    "epsilon beside the root": "p = Pow (d, two) v = RowMean (p) e = Sqrt (v) r = Add (e, eps) q = Div (d, r) ",
    "the fourth power": "p0 = Pow (d, two) p = Pow (p0, two) v = RowMean (p) e = Add (v, eps) r = Sqrt (e) "
    "q = Div (d, r) ",
    "a deviation that is added": "p = Pow (d, two) v = RowMean (p) e = Add (v, eps) r = Sqrt (e) q = Add (d, r) ",
    "a variance that is clipped": "p = Pow (d, two) v = RowMean (p) v1 = Max (v, one) e = Add (v1, eps) "
    "r = Sqrt (e) q = Div (d, r) ",
    "a variance along another axis": "p = Pow (d, two) v = ReduceMean <axes = [1]> (p) e = Add (v, eps) r = Sqrt (e) "
    "q = Div (d, r) ",
}
CURVE = "m (float[2,4,8] x) => (float[2,4,8] y) <float half = {0.5}, float one = {1.0}, float root = {1.4142135}, "
CURVE += "float inverse = {0.70710677}, float three = {3.0}, float k = {0.044715}, float c = {0.7978846}> "
GELUS = {
    "torch": "a = Div (x, root) e = Erf (a) o = Add (e, one) p = Mul (x, o) y = Mul (p, half)",
    "tf2onnx": "h = Mul (half, x) a = Mul (x, inverse) e = Erf (a) o = Add (one, e) y = Mul (h, o)",
    "tanh": "p = Pow (x, three) q = Mul (p, k) s = Add (x, q) t = Mul (s, c) u = Tanh (t) o = Add (u, one) "
    "h = Mul (x, half) y = Mul (h, o)",
    "tanh, x^2 inside": "p = Mul (x, x) q = Mul (p, k) s = Add (q, one) b = Mul (x, s) t = Mul (c, b) u = Tanh (t) "
    "v = Mul (u, half) o = Add (v, half) y = Mul (o, x)",
}


def normalizing(body: str, eps: float = 1e-5, changed: tuple[str, str] = ("", "")) -> ir.Model:
    """The model of a body, with something else in place of something in its text."""
    return model_of(f"{ROW.format(eps=eps)}{{ {body.replace('RowMean (', ROW_MEAN)} }}".replace(*changed))


@pytest.mark.parametrize("eps", [1e-5, 1e-12, 1e-3])
@pytest.mark.parametrize("spelling", sorted(LAYER_NORMS))
def test_a_layer_normalization_is_told_however_it_is_written(spelling: str, eps: float) -> None:
    model = normalizing(LAYER_NORMS[spelling], eps)
    (action,), refusals = proposed(FUSE, model, SPEC)
    fused = rewritten(FUSE, model, SPEC, [action])
    assert refusals == []
    assert ops(fused) == ["LayerNormalization"]
    norm = fused.graph[0]
    assert norm.attributes.get_int("axis", 0) == -1
    assert norm.attributes.get_float("epsilon", 0.0) == np.float32(eps)
    for index, name in enumerate(("w_g", "w_b"), start=1):  # the very bits of the model's own numbers
        assert numbers_of(norm.inputs[index]).tobytes() == numbers_of(model.graph.initializers[name]).tobytes()
    assert keeps_promise(FUSE, model, fused)


@pytest.mark.parametrize("miss", sorted(NEAR_MISSES))
def test_what_is_nearly_a_layer_normalization_is_none(miss: str) -> None:
    model = normalizing(CENTRED + NEAR_MISSES[miss] + AFFINE, 1e-3)
    assert proposed(FUSE, model, SPEC)[0] == []


def test_a_variance_over_n_less_one_is_a_normalization_with_another_scale() -> None:
    body = "p = Pow (d, two) t = ReduceSum (p, last) v = Mul (t, less) e = Add (v, eps) r = Sqrt (e) q = Div (d, r) "
    model = normalizing(CENTRED + body + AFFINE, 1e-3)
    (action,), _ = proposed(FUSE, model, SPEC)
    fused = rewritten(FUSE, model, SPEC, [action])
    assert fused.graph[0].attributes.get_float("epsilon", 0.0) == pytest.approx(1e-3 * 31 / 32, rel=1e-6)
    scale = numbers_of(model.graph.initializers["w_g"]) * np.sqrt(31 / 32)
    np.testing.assert_allclose(numbers_of(fused.graph[0].inputs[1]), scale, rtol=1e-6)
    assert keeps_promise(FUSE, model, fused)


def test_a_normalization_whose_inside_somebody_else_reads_stays() -> None:
    model = normalizing(LAYER_NORMS["torch"], changed=("float[2,5,32] y)", "float[2,5,32] y, float[2,5,1] m)"))
    assert proposed(FUSE, model, SPEC)[0] == []


def test_without_scale_and_shift_the_scale_is_one() -> None:
    model = normalizing(LAYER_NORMS["torch"].replace(AFFINE, "y = Identity (q)"))
    (told,) = spelled_operators(model)
    assert [operand.tolist() for operand in told.operands] == [[1.0] * 32]
    assert spelled_by(told.nodes) == told
    assert spelled_by(told.nodes[:-1]) is None


def test_a_normalization_over_two_axes_keeps_both() -> None:
    text = ROW.format(eps=1e-5).replace("w_g", "w_g, float[5,32] w_h")
    text += "{ m = ReduceMean <axes = [1, 2]> (x) d = Sub (x, m) p = Mul (d, d) v = ReduceMean <axes = [1, 2]> (p) "
    text += "e = Add (v, eps) r = Sqrt (e) q = Div (d, r) y = Mul (q, w_h) }"
    model = model_of(text)
    (action,), _ = proposed(FUSE, model, SPEC)
    fused = rewritten(FUSE, model, SPEC, [action])
    assert ops(fused) == ["LayerNormalization"]
    assert fused.graph[0].attributes.get_int("axis", 0) == -2
    assert keeps_promise(FUSE, model, fused)


def test_what_onnx_has_no_operator_for_stays_with_the_reason() -> None:
    rms = "p = Mul (x, x) v = RowMean (p) e = Add (v, eps) r = Sqrt (e) q = Div (x, r) y = Mul (q, w_g)"
    actions, (refused,) = proposed(FUSE, normalizing(rms), SPEC)
    assert actions == []
    assert "together are one RMSNormalization, but the opset that models are kept in has no" in refused
    middle = normalizing(LAYER_NORMS["torch"].replace(AFFINE, "y = Identity (q)"), changed=("[-1]> (", "[1]> ("))
    actions, (refused,) = proposed(FUSE, middle, SPEC)
    assert actions == []
    assert "LayerNormalization in ONNX runs along the last axes, not along [1]" in refused


@pytest.mark.parametrize("spelling", sorted(GELUS))
def test_a_gelu_goes_into_the_layer_before_it(spelling: str) -> None:
    body = GELUS[spelling].replace("x", "g")
    text = CURVE.replace("float[2,4,8] x)", "float[2,4,6] x, float[6,8] w_m)") + "{ [g] g = MatMul (x, w_m) " + body
    model = model_of(text + " }")
    (action,), _ = proposed(FUSE, model, SPEC)
    fused = rewritten(FUSE, model, SPEC, [action])
    assert ops(fused) == ["MatMul", "Gelu"]
    expected = "tanh" if "tanh" in spelling else "none"
    assert fused.graph[1].attributes.get_string("approximate", "none") == expected
    assert keeps_promise(FUSE, model, fused)


@pytest.mark.parametrize(
    "changed", [("{0.044715}", "{0.0447}"), ("{0.7978846}", "{0.798}"), ("{0.5}", "{0.51}"), ("{1.0}", "{1.001}")]
)
def test_another_constant_is_no_gelu(changed: tuple[str, str]) -> None:
    assert list(spelled_operators(model_of(CURVE.replace(*changed) + "{ " + GELUS["tanh"] + " }"))) == []


def test_softmax_along_any_axis_with_and_without_its_maximum() -> None:
    head = "m (float[2,6,8] x) => (float[2,6,8] y) <int64[1] a = {1}, float low = {-1e30}> "
    stable = "{ m = ReduceMax <axes = [1]> (x) m1 = Max (m, low) s = Sub (x, m1) e = Exp (s) t = ReduceSum (e, a) "
    stable += "y = Div (e, t) }"
    bare = "{ e = Exp (x) t = ReduceSum (e, a) y = Div (e, t) }"
    for body in (stable, bare):
        model = model_of(head + body)
        (action,), _ = proposed(FUSE, model, SPEC)
        fused = rewritten(FUSE, model, SPEC, [action])
        assert ops(fused) == ["Softmax"]
        assert fused.graph[0].attributes.get_int("axis", 0) == 1
        assert keeps_promise(FUSE, model, fused)
    crossed = stable.replace("ReduceSum (e, a)", "ReduceSum (e, b)")
    (told,) = spelled_operators(model_of(head.replace("{1}", "{1}, int64[1] b = {2}") + crossed))
    assert told.attributes == {"axis": 2}
    assert len(told.nodes) == 3  # what is taken off before is one number a row of the other axis, so it stays


def test_a_unit_that_runs_the_nodes_and_not_the_operator_keeps_the_nodes() -> None:
    pieces = ("ReduceMean", "Sub", "Pow", "Add", "Sqrt", "Div", "Mul")
    runs_pieces = spec_of(units={"cpu": cpu(operators=Operators(supported=pieces))})
    actions, (refused,) = proposed(FUSE, normalizing(LAYER_NORMS["torch"]), runs_pieces)
    assert actions == []
    assert refused.endswith("but cpu runs them and not LayerNormalization: they stay as they are.")


def test_a_unit_that_runs_the_operator_and_not_its_nodes_gets_the_operator() -> None:
    model = normalizing(LAYER_NORMS["torch"])
    runs_whole = spec_of(units={"cpu": cpu(operators=Operators(supported=("LayerNormalization",)))})
    assert proposed(DECOMPOSE, model, runs_whole) == ([], [])
    (action,), _ = proposed(FUSE, model, runs_whole)
    assert ops(rewritten(FUSE, model, runs_whole, [action])) == ["LayerNormalization"]
    neither = spec_of(
        units={"cpu": cpu(operators=Operators(supported=("ReduceMean", "Sub", "Add", "Sqrt", "Mul", "Div")))}
    )
    (action,), _ = proposed(DECOMPOSE, model, neither)
    assert action.params["into"] == ("Mul",)  # the power, which the unit lacks


def test_the_pieces_of_a_decomposed_operator_are_not_put_together_again() -> None:
    text = "m (float[2,6,5] x, float[5] w_s, float[5] w_b) => (float[2,6,5] y) "
    model = model_of(text + "{ [n] y = LayerNormalization <epsilon = 0.01> (x, w_s, w_b) }")
    pieces = ("ReduceMean", "Sub", "Add", "Sqrt", "Div", "Mul")
    spec = spec_of(units={"cpu": cpu(operators=Operators(supported=pieces))})
    (action,), _ = proposed(DECOMPOSE, model, spec)
    assert proposed(FUSE, rewritten(DECOMPOSE, model, spec, [action]), spec) == ([], [])


def test_numbers_that_only_the_run_gives_are_no_scale() -> None:
    model = normalizing(LAYER_NORMS["torch"], changed=("w_g", "g"))
    (told,) = spelled_operators(model)
    assert told.nodes[-1].op_type == "Div"  # up to the product with what is computed


def test_a_constant_of_the_rows_own_is_no_shift() -> None:
    model = normalizing(LAYER_NORMS["torch"])
    shift = add_constant(model, "by_row", np.random.default_rng(0).normal(size=(5, 1)).astype(np.float32))
    last = next(each for each in model.graph if each.outputs[0].name == "y")
    node(model, str(last.name)).replace_input_with(1, shift)
    (told,) = spelled_operators(model)
    assert len(told.operands) == 1
    assert last not in told.nodes
