"""Changes that need training again: what is proposed for a spec, in which class, and that nothing of it is done."""

import json

import numpy as np
import onnx
import pytest

from metainfer_core import pipeline
from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_data, as_html, as_text
from metainfer_core.graph.load import import_model
from metainfer_core.graph.preprocess import preprocess
from metainfer_core.pipeline.steps import Prepared
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.structure_changes import structure_changes
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
    assert list(found(net(first=64, kernel=3))) == [
        "channels@head"
    ]  # there what is moved binds, and two layers move more


def test_what_saves_less_than_a_hundredth_of_the_time_is_not_proposed():
    """The same layers on the same chip, but the first one costs so much that the second one no longer counts."""
    large = found(net(first=64, kernel=5))
    assert "depthwise@second" in large
    assert not [name for name in found(net(first=64, kernel=5, size=2)) if name.startswith("depthwise")]


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
    assert f"  safe: {change.sentence}\n    npu works on 32 channels at a time" in said
    assert "    Predicted: time changes by -" in said
    assert as_data(told, policy)["structure_changes"][0]["id"] == "channels@first"
    page = as_html(told, policy, spec)
    assert "<h2>With training again</h2>" in page
    assert "<td>forbidden</td>" in page
    assert "With training again" not in as_text(explain(bare, spec), bare)
