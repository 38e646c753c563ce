"""Structure changes made: what is kept of the old weights, and that what cannot be made is refused."""

import numpy as np
import onnx.parser
import pytest

from fine_tuning.restructure import restructured, tensor_values
from fine_tuning.trained_layers import changed_nodes, with_neighbours
from metainfer_core.actions.rewiring import nodes_by_id, numbers_of
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.shapes import static_shape
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.verify.reference import run_every_tensor, run_reference

NET = """
net (float[1,4,9,9] x, float[6,4,5,5] w_one, float[6] w_one_bias, float[6,6,3,3] w_two, float[3,6] w_head)
    => (float[1,3] y) {
    [one] a = Conv <pads = [2,2,2,2]> (x, w_one, w_one_bias)
    [curve] b = LeakyRelu <alpha = 0.2> (a)
    [two] c = Conv <pads = [1,1,1,1]> (b, w_two)
    [sum] s = Add (c, b)
    [pool] p = GlobalAveragePool (s)
    [flat] f = Flatten (p)
    [head] y = Gemm <transB = 1> (f, w_head)
}"""
PLAIN = NET.replace("[sum] s = Add (c, b)", "[sum] s = Relu (c)")
NORMS = """
norms (float[1,5,8] x, float[8] w_gamma, float[8] w_beta, float[8,4] w_head) => (float[1,5,4] y) {
    [norm] n = LayerNormalization (x, w_gamma, w_beta)
    [head] y = MatMul (n, w_head)
}"""
BATCH = """
batch (float[1,4,5,5] x, float[4] w_gamma, float[4] w_beta, float[4] w_mean, float[4] w_variance)
    => (float[1,4,1,1] y) {
    [norm] n = BatchNormalization (x, w_gamma, w_beta, w_mean, w_variance)
    [pool] y = GlobalAveragePool (n)
}"""

SPELLED = """
spelled (float[1,5,8] x, float[8] w_gamma, float[8] w_beta, float[8,4] w_head) => (float[1,5,4] y)
    <float eps = {0.00001}, float two = {2.0}, int64[1] last = {-1}> {
    [mean] m = ReduceMean (x, last)
    [less] d = Sub (x, m)
    [square] p = Pow (d, two)
    [var] v = ReduceMean (p, last)
    [shift] e = Add (v, eps)
    [root] r = Sqrt (e)
    [over] q = Div (d, r)
    [scale] s = Mul (q, w_gamma)
    [norm] n = Add (s, w_beta)
    [head] y = MatMul (n, w_head)
}"""


def model_of(text, **weights):
    """The prepared model; weights that are not given are seeded random numbers, variances positive."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    generator = np.random.default_rng(0)
    for value in [each for each in model.graph.input if each.name.startswith("w_")]:
        shape = [each.dim_value for each in value.type.tensor_type.shape.dim]
        drawn = generator.standard_normal(shape)
        array = weights.get(value.name, np.abs(drawn) if "variance" in value.name else drawn)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(np.float32), value.name))
        model.graph.input.remove(value)
    return preprocess(import_model(model.SerializeToString(), "net").model).model


def change(kind, *nodes, grade="needs review", **params):
    plain = {"from_": "from"}
    given = {plain.get(key, key): value for key, value in params.items()}
    return StructureChange(change=kind, grade=grade, nodes=nodes, params=given, sentence="", why=(), risk="")


def feeds(model, count=3):
    generator = np.random.default_rng(1)
    return [
        {str(v.name): generator.standard_normal(static_shape(v)).astype(np.float32) for v in model.graph.inputs}
        for _ in range(count)
    ]


def made(model, *changes):
    def values_of(given, tensor):
        return tensor_values(given, tensor, feeds(model))

    return restructured(model, changes, values_of, seed=0)


def answers(model):
    return np.stack([next(iter(found.values())) for found in run_reference(model, feeds(model))])


def test_an_activation_becomes_another_and_its_neighbours_are_trained():
    old = model_of(NET)
    new = made(old, change("activation", "curve", from_="LeakyRelu", to="Relu"))
    assert [node.op_type for node in new.graph][:3] == ["Conv", "Relu", "Conv"]
    before, after = (np.stack([f["b"] for f in run_every_tensor(each, feeds(old))]) for each in (old, new))
    np.testing.assert_array_equal(after, np.maximum(before, 0))
    (changed,) = changed_nodes(old, new)
    assert {str(node.name) for node in with_neighbours((changed,))} == {str(changed.name), "one", "two", "head"}


def test_a_kernel_keeps_its_middle_and_its_output_size():
    old = model_of(NET)
    new = made(old, change("kernel", "one", from_=5, to=3))
    weights = [numbers_of(nodes_by_id(each)["one"].inputs[1]) for each in (old, new)]
    np.testing.assert_array_equal(weights[1], weights[0][:, :, 1:-1, 1:-1])
    only_middle = np.zeros((6, 4, 5, 5))
    only_middle[:, :, 1:-1, 1:-1] = 1.5
    same = model_of(NET, w_one=only_middle)
    np.testing.assert_allclose(answers(made(same, change("kernel", "one", from_=5, to=3))), answers(same), rtol=1e-5)
    with pytest.raises(UnsupportedError, match="too little padding"):
        made(old, change("kernel", "two", from_=5, to=1))


def test_a_dense_kernel_that_is_separable_becomes_depthwise_without_a_loss():
    generator = np.random.default_rng(2)
    separable = generator.standard_normal((6, 6, 1, 1)) * generator.standard_normal((1, 6, 3, 3))
    old = model_of(NET, w_two=separable)
    new = made(old, change("depthwise", "two", kernel=[3, 3], channels=6))
    groups = [node.attributes.get_int("group", 1) for node in new.graph if node.op_type == "Conv"]
    assert groups == [1, 6, 1]
    np.testing.assert_allclose(answers(new), answers(old), rtol=1e-4, atol=1e-5)


def test_the_strongest_channels_stay():
    generator = np.random.default_rng(3)
    weak, bias = generator.standard_normal((6, 4, 5, 5)), generator.standard_normal(6)
    weak[[1, 4]], bias[[1, 4]] = 0, 0
    old = model_of(PLAIN, w_one=weak, w_one_bias=bias)
    new = made(old, change("channels", "one", "curve", "two", from_=6, to=4))
    assert numbers_of(nodes_by_id(new)["two"].inputs[1]).shape == (6, 4, 3, 3)
    np.testing.assert_allclose(answers(new), answers(old), rtol=1e-4, atol=1e-5)


def test_new_channels_change_nothing_at_first_and_have_weights_to_learn_from():
    old = model_of(PLAIN)
    new = made(old, change("more_channels", "one", "curve", "two", from_=6, to=8))
    np.testing.assert_allclose(answers(new), answers(old), rtol=1e-4, atol=1e-5)
    assert np.abs(numbers_of(nodes_by_id(new)["one"].inputs[1])[6:]).min(axis=(1, 2, 3)).all()


def test_a_shortcut_goes_or_comes():
    old, plain = model_of(NET), model_of(PLAIN)
    assert [node.op_type for node in made(old, change("remove_residual", "sum", kept="c")).graph].count("Add") == 0
    around = made(plain, change("add_residual", "two", "sum"))
    found = next(iter(run_every_tensor(around, feeds(plain)[:1])))
    np.testing.assert_array_equal(found["sum.residual.out"], found["s"] + found["b"])
    np.testing.assert_allclose(found["p"], found["sum.residual.out"].mean(axis=(2, 3), keepdims=True), rtol=1e-5)


def test_statistics_of_the_data_take_the_place_of_each_samples():
    old = model_of(NORMS)
    new = made(old, change("normalization", "norm", grade="safe", from_="LayerNormalization", to="BatchNormalization"))
    assert [node.op_type for node in new.graph] == ["Mul", "Add", "MatMul"]
    found = np.stack([each["n"] for each in run_every_tensor(new, feeds(old))]).reshape(-1, 8)
    gamma, beta = (numbers_of(nodes_by_id(old)["norm"].inputs[index]) for index in (1, 2))
    np.testing.assert_allclose(found.mean(axis=0), beta, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=0), np.abs(gamma), rtol=1e-3)


@pytest.mark.parametrize("centred", [True, False])
def test_a_normalization_in_several_nodes_becomes_the_datas_statistics_too(centred):
    text, names = SPELLED, ["mean", "less", "square", "var", "shift", "root", "over", "scale", "norm"]
    if not centred:
        text = text.replace("[mean] m = ReduceMean (x, last)", "").replace("[less] d = Sub (x, m)", "")
        text, names = text.replace("(d, ", "(x, "), names[2:]
    old = model_of(text)
    operator = "LayerNormalization" if centred else "RMSNormalization"
    new = made(old, change("normalization", *names, grade="safe", from_=operator, to="BatchNormalization"))
    assert [node.op_type for node in new.graph] == ["Mul", "Add", "MatMul"]
    gamma, beta = (numbers_of(old.graph.initializers[name]) for name in ("w_gamma", "w_beta"))
    x = np.concatenate([given["x"].reshape(-1, 8) for given in feeds(old)]).astype(np.float64)
    middle = x.mean(axis=0) if centred else 0.0
    wanted = (x - middle) / np.sqrt(np.square(x - middle).mean(axis=0) + 1e-5) * gamma + beta
    found = np.concatenate([values["n"].reshape(-1, 8) for values in run_every_tensor(new, feeds(old))])
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    with pytest.raises(UnsupportedError, match="do not compute"):
        made(old, change("normalization", *names[:-3], grade="safe", from_=operator, to="BatchNormalization"))


def test_each_samples_statistics_take_the_place_of_the_datas():
    old = model_of(BATCH)
    new = made(old, change("normalization", "norm", grade="safe", from_="BatchNormalization", to="LayerNormalization"))
    gamma, beta = (numbers_of(nodes_by_id(old)["norm"].inputs[index]).reshape(1, 4, 1, 1) for index in (1, 2))
    for given, found in zip(feeds(old), run_every_tensor(new, feeds(old)), strict=True):
        x = given["x"].astype(np.float64)
        np.testing.assert_allclose(found["n"], (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gamma + beta, atol=1e-5)


def test_what_would_change_an_output_or_the_same_node_twice_is_refused():
    old = model_of(NET)
    with pytest.raises(InputError, match="both change one"):
        made(old, change("kernel", "one", from_=5, to=3), change("channels", "one", from_=6, to=4))
    with pytest.raises(InputError, match="no such node"):
        made(old, change("kernel", "nowhere", from_=5, to=3))
    with pytest.raises(UnsupportedError, match="There are 6 channels"):
        made(old, change("channels", "one", from_=7, to=4))
    assert [node.op_type for node in old.graph][1] == "LeakyRelu"  # the model given stays as it is
