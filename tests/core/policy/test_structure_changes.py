"""Changes that need training again: what is proposed for a spec, in which class, and that nothing of it is done."""

import json

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from metainfer_core import pipeline
from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_data, as_html, as_text
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.pipeline.steps import Prepared
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.structure.changes import structure_changes
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load
from metainfer_core.verify.samples import random_samples


def net(first=48, classes=10, kernel=5, activation="LeakyRelu", size=56):
    """Conv to `first` channels, an activation, a dense Conv to 64 with a large kernel, pooled to classes."""
    generator = np.random.default_rng(0)

    def weights(name, *shape):
        return onnx.numpy_helper.from_array(generator.standard_normal(shape).astype(np.float32) / 50, name)

    pads = [kernel // 2] * 4
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w1"], ["a"], "first", pads=[1, 1, 1, 1]),
        onnx.helper.make_node(activation, ["a"], ["b"], "curve"),
        onnx.helper.make_node("Conv", ["b", "w2"], ["c"], "second", pads=pads),
        onnx.helper.make_node("GlobalAveragePool", ["c"], ["d"], "pool"),
        onnx.helper.make_node("Conv", ["d", "w3"], ["y"], "head"),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "net",
        [onnx.helper.make_tensor_value_info("x", 1, [1, 16, size, size])],
        [onnx.helper.make_tensor_value_info("y", 1, [1, classes, 1, 1])],
        [weights("w1", first, 16, 3, 3), weights("w2", 64, first, kernel, kernel), weights("w3", classes, 64, 1, 1)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])
    imported = import_model(model.SerializeToString(), "net")
    done = preprocess(imported.model)
    return Prepared(imported.name, imported.digest, done.model, done.report)


def found(model, spec="rk3588"):
    return {change.id: change for change in structure_changes(model.model, load(spec))}


def without(spec, *operators):
    """The spec, whose npu does not run these operators."""
    plain = json.loads(json.dumps(load(spec).plain()))
    table = plain["compute_units"]["npu"]["operators"]
    table["supported"] = [name for name in table["supported"] if name not in operators]
    table["rules"] = {name: rule for name, rule in table["rules"].items() if name not in operators}
    return HardwareSpec.from_plain(plain)


def test_channels_are_cut_to_the_multiple_that_the_unit_works_in():
    change = found(net(first=40))["channels@first"]
    assert (change.grade, dict(change.params)) == ("safe", {"from": 40, "to": 32})
    assert change.nodes == ("first", "curve", "second")
    assert change.sentence == "Train with 32 in place of 40 channels at first."
    (why,) = change.why
    assert why.claim == "npu works on 32 channels at a time; 40 are no multiple of it."
    assert (why.spec_field, why.spec_value) == ("compute_units.npu.channel_multiple", "32")
    assert change.risk.startswith("20% of the channels")
    assert change.predicted_time_us[1] < 0
    assert change.predicted_bytes == -(8 * (3 * 3 * 16 + 64 * 25) + 4 * 8 * 56 * 56)  # weights; made, read, made, read


def test_more_than_three_tenths_of_the_channels_need_review_and_fitting_ones_nothing():
    assert found(net(first=48))["channels@first"].grade == "needs review"
    assert "channels@first" not in found(net(first=64))
    assert "channels@first" not in found(net(first=24))  # nothing would be left


def test_what_the_outputs_mean_is_forbidden_and_says_why():
    change = found(net())["channels@head"]
    assert (change.grade, change.predicted_time_us) == ("forbidden", None)
    assert change.why[-1].claim == "y is an output of the model, whose shape must stay."
    assert change.then.startswith("Leave it")
    assert "channels@head" not in found(net(classes=32))


@pytest.mark.parametrize(("kernel", "grade"), [(5, "safe"), (7, "needs review")])
def test_a_large_kernel_becomes_the_next_smaller_one(kernel, grade):
    change = found(net(first=64, kernel=kernel))["kernel@second"]
    assert (change.grade, dict(change.params)) == (grade, {"from": kernel, "to": kernel - 2})
    assert change.predicted_bytes == -64 * 64 * (kernel**2 - (kernel - 2) ** 2)


def test_a_dense_kernel_may_become_a_depthwise_one_after_review():
    change = found(net(first=64, kernel=3), "k210")["depthwise@second"]
    assert (change.grade, change.params["channels"]) == ("needs review", 64)
    assert change.why[0].claim == "cpu does 73 products a channel in place of 576."
    assert change.predicted_bytes is not None
    assert change.predicted_bytes > 0  # two layers move more than one: only where computing binds is it proposed


def test_what_saves_less_than_a_hundredth_of_the_time_is_not_proposed():
    """On one value handing over the work takes 20 µs, and a layer of 64 outputs saves 0.23 of them, one of 56 0.2."""
    assert "depthwise@first" in found(net(first=64, kernel=3, size=1))
    assert "depthwise@first" not in found(net(first=56, kernel=3, size=1))


@pytest.mark.parametrize(("activation", "grade"), [("LeakyRelu", "safe"), ("HardSwish", "needs review")])
def test_an_activation_that_the_unit_lacks_becomes_relu(activation, grade):
    model = net(activation=activation).model
    assert not [each for each in structure_changes(model, load("rk3588")) if each.change == "activation"]
    (change,) = [
        each for each in structure_changes(model, without("rk3588", activation)) if each.change == "activation"
    ]
    assert (change.nodes, change.grade, dict(change.params)) == (("curve",), grade, {"from": activation, "to": "Relu"})
    assert change.why[0].spec_field == "compute_units.npu.operators.supported"
    no_relu = structure_changes(model, without("rk3588", activation, "Relu"))
    assert not [each for each in no_relu if each.change == "activation"]


def test_a_policy_carries_them_and_does_nothing_of_it():
    prepared, spec = net(first=40, kernel=3, size=12), load("rk3588")
    samples = random_samples(prepared.model, 2)
    policy = pipeline.adapt(prepared, spec, samples, samples, Objective(fast=True, precision=Precision.FLOAT32)).policy
    assert [each.id for each in policy.structure_changes] == [
        each.id for each in structure_changes(prepared.model, spec)
    ]
    assert Policy.from_json(policy.to_json()) == policy
    bare = Policy(**{**dict(policy), "structure_changes": None})
    assert "structure_changes" not in bare.plain()  # older policies keep their digests
    assert [each.content_digest for each in bare.actions] == [each.content_digest for each in policy.actions]

    told = explain(policy, spec)
    change = policy.structure_changes[0]
    said = as_text(told, policy)
    assert "With training again (predicted, not measured; nothing of it is done):" in said
    assert f"  safe: {change.sentence} (channels@first)\n    npu works on 32 channels at a time" in said
    assert "    Predicted: time changes by -" in said
    assert as_data(told, policy)["structure_changes"][0]["id"] == "channels@first"
    page = as_html(told, policy, spec)
    assert "<h2>With training again</h2>" in page
    assert "<td>forbidden</td>" in page
    assert "With training again" not in as_text(explain(bare, spec), bare)


def test_a_kernel_without_padding_to_give_up_is_left():
    model = net(first=64).model
    second = next(node for node in model.graph if node.name == "second")
    assert "kernel@second" in {change.id for change in structure_changes(model, load("rk3588"))}
    second.attributes["pads"] = ir.AttrInt64s("pads", (0, 0, 0, 0))
    second.outputs[0].shape = ir.Shape((1, 64, 52, 52))
    assert "kernel@second" not in {change.id for change in structure_changes(model, load("rk3588"))}


def test_channels_may_also_become_more_where_that_is_within_three_tenths():
    changes = found(net(first=56))
    more, fewer = changes["more_channels@first"], changes["channels@first"]
    assert (more.grade, dict(more.params)) == ("safe", {"from": 56, "to": 64})
    assert (fewer.grade, dict(fewer.params)) == ("needs review", {"from": 56, "to": 32})
    assert more.predicted_time_us[0] > 0  # nothing is gained but room to learn
    assert more.risk.startswith("14% more channels")
    assert "more_channels@first" not in found(net(first=48))  # 33 % more


def test_channels_are_counted_as_the_unit_fills_its_multiple():
    changes = found(net(first=56))
    more, fewer = (changes[f"{name}@first"].predicted_time_us for name in ("more_channels", "channels"))
    assert 20 * more[1] < -fewer[0]  # eight more are computed anyhow, and cost what they move alone


def test_the_channels_of_an_input_are_forbidden():
    plain = json.loads(json.dumps(load("rk3588").plain()))
    change = found(net())["input_shape@first"]
    assert (change.grade, change.params["from"]) == ("forbidden", 16)
    assert plain["compute_units"]["npu"]["channel_multiple"] == 32
    assert change.sentence == "The 16 channels of the input x stay as they are."


def text_net(text):
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    return preprocess(import_model(model.SerializeToString(), "text").model).model


ATTENTION = """
attention (float[1,16,96] x) => (float[1,16,96] y) <
    float[96,96] wq = {%s}, float[96,96] wk = {%s}, float[96,96] wv = {%s}, float scale = {0.25},
    float[96] gamma = {%s}, float[96] beta = {%s},
    int64[4] parted = {1,16,HEADS,WIDTH}, int64[3] joined = {1,16,96}> {
    [norm] n = LayerNormalization (x, gamma, beta)
    [q] q = MatMul (n, wq)
    [k] k = MatMul (n, wk)
    [v] v = MatMul (n, wv)
    [q_part] q4 = Reshape (q, parted)
    [k_part] k4 = Reshape (k, parted)
    [v_part] v4 = Reshape (v, parted)
    [q_turn] qt = Transpose <perm = [0,2,1,3]> (q4)
    [k_turn] kt = Transpose <perm = [0,2,3,1]> (k4)
    [v_turn] vt = Transpose <perm = [0,2,1,3]> (v4)
    [scores] s = MatMul (qt, kt)
    [scaled] ss = Mul (s, scale)
    [softmax] p = Softmax (ss)
    [weighted] w = MatMul (p, vt)
    [turn] wt = Transpose <perm = [0,2,1,3]> (w)
    [join] j = Reshape (wt, joined)
    [shortcut] y = Add (j, x)
}"""


def attention(heads, width):
    drawn = np.random.default_rng(0).standard_normal((3, 96 * 96)) / 10
    numbers = [", ".join(f"{value:.3f}" for value in row) for row in drawn]
    ones, zeros = ", ".join(["1.0"] * 96), ", ".join(["0.0"] * 96)
    text = ATTENTION.replace("HEADS", str(heads)).replace("WIDTH", str(width))
    return text_net(text % (*numbers, ones, zeros))


def npu_with(multiple, *operators):
    """The NPU of a chip that runs these operators besides its own, and works on so many channels at a time."""
    plain = json.loads(json.dumps(load("rk3588").plain()))
    unit = plain["compute_units"]["npu"]
    unit["channel_multiple"] = multiple
    unit["operators"]["supported"] = sorted({*unit["operators"]["supported"], *operators})
    return HardwareSpec.from_plain(plain)


def test_heads_become_wider_where_their_width_misses_the_multiple():
    spec = npu_with(16, "MatMul", "Softmax", "LayerNormalization")
    changes = {change.id: change for change in structure_changes(attention(12, 8), spec)}
    change = changes["heads@softmax"]
    assert (change.grade, dict(change.params)) == ("needs review", {"from": 12, "to": 6})
    assert {"softmax", "q_part", "k_part", "v_part", "scores", "scaled", "weighted"} == set(change.nodes)
    assert change.why[0].claim == "npu works on 16 channels at a time; 8 are no multiple of it."
    assert change.predicted_time_us[0] < 0
    # half of the scores: written, scaled (read, written), softmax (read, written), read
    assert change.predicted_bytes == -6 * (12 - 6) * 16 * 16
    assert "heads@softmax" not in {each.id for each in structure_changes(attention(6, 16), spec)}


def test_a_normalization_that_the_unit_lacks_becomes_one_that_it_can_do():
    plain = json.loads(json.dumps(npu_with(16, "MatMul", "Softmax", "Mul", "Add", "LayerNormalization").plain()))
    plain["compute_units"]["npu"]["operators"]["supported"].remove("LayerNormalization")
    changes = {each.id: each for each in structure_changes(attention(6, 16), HardwareSpec.from_plain(plain))}
    change = changes["normalization@norm"]
    assert (change.grade, dict(change.params)) == ("safe", {"from": "LayerNormalization", "to": "BatchNormalization"})
    assert change.why[0].spec_field == "compute_units.npu.operators.supported"
    having = {each.id for each in structure_changes(attention(6, 16), npu_with(16, "LayerNormalization"))}
    assert "normalization@norm" not in having


SPELLED = """
spelled (float[1,5,32] x, float[1,5,32] k) => (float[1,5,32] y) <
    float[32] gamma = {GAMMA}, float eps = {0.001}, float two = {2.0}, int64[1] last = {-1}> {
    [plus] z = Add (x, k)
    MEAN
    [square] p = Pow (d, two)
    [var] v = ReduceMean (p, last)
    [shift] e = Add (v, eps)
    [root] r = Sqrt (e)
    [over] q = Div (d, r)
    [scale] y = Mul (q, gamma)
}""".replace("GAMMA", ", ".join(["1.5"] * 32))
MEAN = "[mean] m = ReduceMean (z, last)\n [less] d = Sub (z, m)"


@pytest.mark.parametrize(
    ("mean", "operator", "grade", "first"),
    [(MEAN, "LayerNormalization", "safe", "mean"), ("", "RMSNormalization", "needs review", "square")],
)
def test_a_normalization_in_several_nodes_is_proposed_for_as_one(mean, operator, grade, first):
    text = SPELLED.replace("MEAN", mean).replace("(d, ", "(d, " if mean else "(z, ")
    model = text_net(text)
    lacking = without("rk3588", "LayerNormalization", "Sqrt", "Pow")
    change = {each.change: each for each in structure_changes(model, lacking)}["normalization"]
    assert (change.grade, dict(change.params)) == (grade, {"from": operator, "to": "BatchNormalization"})
    assert (change.nodes[0], change.nodes[-1]) == (first, "scale")
    assert change.predicted_bytes < 0  # two sums in place of six to eight passes
    pieces = ("ReduceMean", "Sub", "Pow", "Sqrt", "Div", "Mul", "Add")
    assert "normalization" not in {each.change for each in structure_changes(model, npu_with(16, *pieces))}


def test_a_transformer_stays_one():
    spec = without("rk3588", "Softmax")
    change = {each.id: each for each in structure_changes(attention(6, 16), spec)}["family@softmax"]
    assert (change.grade, dict(change.params)) == ("forbidden", {"from": "Transformer", "to": "CNN"})
    assert change.sentence == "The model stays a Transformer: it is not made a CNN."


def chain(depth, shortcut, size=56, weight=0.01):
    """So many convolutions with Relu, the input of each second one added to its result if wanted."""
    lines, value = [], "x"
    for index in range(depth):
        lines.append(f"[c{index}] a{index} = Conv <pads = [1,1,1,1]> ({value}, w)")
        lines.append(f"[r{index}] b{index} = Relu (a{index})")
        value, before = f"b{index}", value
        if shortcut and index % 2:
            lines.append(f"[s{index}] d{index} = Add (b{index}, {before})")
            value = f"d{index}"
    weights = ", ".join([str(weight)] * (16 * 16 * 9))
    body = "\n".join([*lines, f"[pool] y = GlobalAveragePool ({value})"])
    head = f"chain (float[1,16,{size},{size}] x) => (float[1,16,1,1] y) <float[16,16,3,3] w = {{{weights}}}>"
    return text_net(f"{head} {{\n{body}\n}}")


def test_shortcuts_are_taken_out_for_what_they_move_and_put_into_deep_models_without():
    spec = load("rk3588")
    out = {each.id: each for each in structure_changes(chain(4, shortcut=True), spec)}
    change = out["remove_residual@s1"]
    assert (change.grade, dict(change.params)) == ("needs review", {"kept": "b1"})
    assert change.predicted_bytes == -3 * 16 * 56 * 56
    assert change.why[0].spec_field == "memories.dram.bandwidth_gbps"
    assert not [name for name in out if name.startswith("add_residual")]


def test_a_sum_within_an_activation_is_no_shortcut():
    text = """bend (float[1,16,56,56] x) => (float[1,16,56,56] y) <float k = {0.044715}> {
        [s] s = Mul (x, x) [c] c = Mul (s, x) [k] t = Mul (c, k) [sum] u = Add (x, t) [relu] y = Relu (u) }"""
    assert "remove_residual" not in {each.change for each in structure_changes(text_net(text), load("rk3588"))}


def added(depth, size=7, spec=None, weight=0.01):
    changes = structure_changes(chain(depth, False, size, weight), spec or npu_with(16, "Add"))
    return [each for each in changes if each.change == "add_residual"]


def test_deep_models_without_a_shortcut_get_some_that_cost_next_to_nothing():
    found = added(12)
    assert found[0].nodes == ("c0", "r1")
    assert [each.grade for each in found] == ["needs review"] * len(found)
    assert found[0].predicted_time_us[1] > 0
    assert found[0].predicted_bytes == 3 * 16 * 7 * 7
    assert added(12, size=112) == []  # there a sum moves more than a twentieth of what all layers do
    assert found[0].why[0].claim == "About 5e-05 of a gradient's power gets back through these layers."
    assert added(12, weight=0.1) == []  # (144 * 0.1² / 2)² = 0.52 of it gets through
    assert added(11) == []
    assert added(12, spec=without("rk3588", "Add")) == []


def test_every_change_says_what_to_measure_afterwards():
    changes = [*structure_changes(attention(12, 8), npu_with(16)), *found(net(first=56)).values()]
    assert {change.change for change in changes} >= {"heads", "kernel", "channels", "more_channels", "depthwise"}
    for change in changes:
        assert change.measure.startswith("Accuracy on held-out data") == (change.grade != "forbidden")
