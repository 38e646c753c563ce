"""From a trained model to the same trained further: every approval is outdated, and only what stayed is offered."""

import itertools
import json

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper
from review_maker import JUSTIFICATION, TRUST, approve_all

from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.graph.same_graph import graph_difference
from metainfer_core.pipeline import adapt, prepare, samples_for
from metainfer_core.pipeline.retrained import take_over
from metainfer_core.policy.lineage import NEEDS_RETRAINING, NOT_MEASURED, RECORD
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.reapply import left_out
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.review.carry import carry, earlier_revision
from review_store.review.decide import Decision, current_state, decide

GRAPH = """
<ir_version: 10, opset_import: ["": 21]>
digits (float[1,16] x) => (float[1,4] scores) {
    a = Gemm (x, w_0, b_0)
    r = Relu (a)
    c = Gemm (r, w_1, b_1)
    s = Relu (c)
    scores = Gemm (s, w_2, b_2)
}
"""
WIDTHS = (16, 24, 24, 4)
FIRST, SECOND, THIRD = "quantize@Gemm_0", "quantize@Gemm_2", "quantize@Gemm_4"


def data(seed, count=256):
    """Four noisy patterns to tell apart."""
    patterns = np.random.default_rng(7).normal(0, 1, (4, 16))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, count)
    return (patterns[labels] + rng.normal(0, 0.8, (count, 16))).astype(np.float32), labels


def fresh_weights():
    rng = np.random.default_rng(3)
    pairs = itertools.pairwise(WIDTHS)
    return [[rng.normal(0, np.sqrt(2 / rows), (rows, columns)), np.zeros(columns)] for rows, columns in pairs]


def trained(weights, steps, seed):
    """Gradient descent on the cross entropy; returns the weights and the share of held-out samples that are right."""
    weights = [[w.copy(), b.copy()] for w, b in weights]
    inputs, labels = data(seed)
    for _ in range(steps):
        layers = [inputs.astype(np.float64)]
        for index, (w, b) in enumerate(weights):
            out = layers[-1] @ w + b
            layers.append(np.maximum(out, 0) if index < 2 else out)
        chances = np.exp(layers[-1] - layers[-1].max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(len(labels)), labels] -= 1
        slope = chances / len(labels)
        for index in (2, 1, 0):
            w, b = weights[index]
            back = slope @ w.T * (layers[index] > 0)
            weights[index] = [w - 0.1 * layers[index].T @ slope, b - 0.1 * slope.sum(axis=0)]
            slope = back
    held_out, right = data(99)
    out = held_out
    for index, (w, b) in enumerate(weights):
        out = out @ w + b
        out = np.maximum(out, 0) if index < 2 else out
    return weights, float((out.argmax(axis=1) == right).mean())


def write(path, weights):
    proto = onnx.parser.parse_model(GRAPH)
    for index, (w, b) in enumerate(weights):
        proto.graph.initializer.append(numpy_helper.from_array(w.astype(np.float32), f"w_{index}"))
        proto.graph.initializer.append(numpy_helper.from_array(b.astype(np.float32), f"b_{index}"))
    path.write_bytes(proto.SerializeToString())
    return path


SPEC = HardwareSpec.from_plain(
    {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {
            "cpu": {
                "kind": "cpu",
                "cores": 1,
                "data_types": ["float32", "int8"],
                "weight_granularity": ["tensor"],
            }
        },
        "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 20, "alignment_bytes": 64}},
    }
)


@pytest.fixture(scope="module")
def first():
    """A model that was trained until it is good."""
    weights, right = trained(fresh_weights(), 400, seed=1)
    assert right > 0.9
    return weights


@pytest.fixture
def place(tmp_path, first, monkeypatch):
    """The trained model, data, and the policy that adapt proposes for it, with the effect of each action alone."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.onnx", first)
    np.savez(tmp_path / "data.npz", x=data(5, 32)[0][:, None, :])
    prepared = prepare(tmp_path / "net.onnx")
    samples = samples_for(prepared, "data.npz")
    made = adapt(prepared, SPEC, samples, samples, Objective(min_sqnr_db=15.0)).policy
    (tmp_path / "adapted.policy").write_bytes(made.to_json())
    plain = take_over(made, prepared, prepared, SPEC, samples, samples)
    (tmp_path / "net.policy").write_bytes(plain.to_json())
    (tmp_path / "chip_v1.0.0.yaml").write_bytes(SPEC.to_json())
    return tmp_path


def policy_in(place):
    return Policy.from_json((place / "net.policy").read_bytes(), "net.policy")


def taken_over(place, model):
    was, now = prepare(place / "net.onnx"), prepare(model)
    samples = samples_for(now, "data.npz")
    return take_over(policy_in(place), was, now, SPEC, samples, samples)


def offers(log, old, new, person="bob"):
    state = current_state(log, new, TRUST)
    return {each.action_id: each.obstacle for each in carry(earlier_revision(log, state, TRUST), state, person)}


def with_outlier(weights):
    """The weights as someone left them: one column of the second layer is grown, and the third layer makes up for it.

    In float nothing changes; scaled as one tensor, INT8 has few codes left for all other columns.
    """
    grown = [[w.copy(), b.copy()] for w, b in weights]
    grown[1][0][:, 0] *= 12
    grown[1][1][0] *= 12
    grown[2][0][0] /= 12
    return grown


def test_what_stayed_is_confirmed_together_and_what_moved_is_not_offered(log, place, first):
    old = policy_in(place)
    assert {FIRST, SECOND, THIRD} <= {each.id for each in old.actions}
    approve_all(log, old, "bob")
    tuned, right = trained(first, 20, seed=2)
    assert right > 0.9
    assert any(not np.array_equal(a[0], b[0]) for a, b in zip(first, tuned, strict=True))
    same = taken_over(place, write(place / "tuned.onnx", tuned))
    assert (same.name, same.model_digest != old.model_digest) == (old.name, True)
    assert [each.id for each in same.actions] == [each.id for each in old.actions]
    assert {each.word for each in current_state(log, same, TRUST).actions} <= {"outdated", "required"}
    before, now = ({each.id: each for each in of.actions} for of in (old, same))
    assert before[SECOND].params["ranges"] != now[SECOND].params["ranges"]  # calibrated anew
    assert before[SECOND].evidence.alone != now[SECOND].evidence.alone  # measured anew
    offered = offers(log, old, same)
    assert offered[FIRST] == offered[SECOND] == ""

    broken = taken_over(place, write(place / "broken.onnx", with_outlier(tuned)))
    offered = offers(log, old, broken)
    assert offered[FIRST] == ""
    assert offered[SECOND]  # planted: its effect did change
    moved = {each.id: each.evidence.alone for each in broken.actions}[SECOND].outputs[0].sqnr_db
    assert moved < before[SECOND].evidence.alone.outputs[0].sqnr_db - 6
    state = current_state(log, broken, TRUST)
    ids = tuple(each for each, obstacle in offered.items() if not obstacle)
    decide(log, state, Decision("bob", ids, ("approve",)), "2026-11-29T13:00:00Z", None)
    words = {each.id: each.word for each in current_state(log, broken, TRUST).actions}
    assert words[FIRST] == "approved"
    assert words[SECOND] in ("outdated", "required")


def test_the_same_weights_give_the_same_effects(place):
    """So what differs after retraining comes from the weights, not from another way of measuring."""
    adapted = Policy.from_json((place / "adapted.policy").read_bytes(), "adapted.policy")
    old, again = policy_in(place), taken_over(place, place / "net.onnx")
    assert again.actions == old.actions == adapted.actions
    assert sum(each.evidence.alone is not None for each in adapted.actions) >= 3


def test_what_was_worked_out_from_the_old_weights_is_worked_out_anew(place):
    old = policy_in(place)
    others = [each.plain() for each in old.actions if each.id not in ("correct_bias@Gemm_2", "place@x")]
    for node, absurd in (("Gemm_2", [1000] * 24), ("Relu_1", [1000])):
        learned = PolicyAction(node_id=node, action="correct_bias", params={"codes": absurd}, nodes=(node,))
        planted = Policy.from_plain(old.plain() | {"actions": [*others, learned.plain()]}, "policy")
        (place / "net.policy").write_bytes(planted.to_json())
        new = taken_over(place, place / "net.onnx")
        made = [each for each in new.actions if each.id == learned.id]
        assert all(max(map(abs, each.params["codes"])) < 100 for each in made)
        gone = [each for each in left_out(planted, new) if each.nodes == (node,)]
        assert len(made) + len(gone) == 1
        assert not made or node == "Gemm_2"


def test_another_graph_is_refused_with_what_differs(place, first):
    proto = onnx.load(place / "net.onnx")
    proto.graph.node[1].op_type = "Sigmoid"
    onnx.save(proto, place / "other.onnx")
    with pytest.raises(InputError, match="Sigmoid") as caught:
        taken_over(place, place / "other.onnx")
    assert "meta-infer adapt" in caught.value.fix
    wider = [[w.copy(), b.copy()] for w, b in first]
    wider[1] = [np.hstack([wider[1][0], wider[1][0][:, :1]]), np.append(wider[1][1], 0.0)]
    wider[2][0] = np.vstack([wider[2][0], wider[2][0][:1]])
    was, now = prepare(place / "net.onnx"), prepare(write(place / "wider.onnx", wider))
    assert "float32[25]" in graph_difference(was.model, now.model)
    assert graph_difference(was.model, prepare(place / "net.onnx").model) is None


def test_the_new_weights_bring_the_record_of_their_training(place, first):
    plain = {
        **dict.fromkeys(("source_digest", "spec_digest", "policy_digest", "training_digest"), "sha256:ab"),
        **{"status": NEEDS_RETRAINING, "source": "net", "taken": [], "trained": ["Gemm_0"], "training_data": "t.npz"},
        **{"labelled": True, "seed": 0, "steps": 5, "best_step": 5, "learning_rate": 0.1, "batch": 8},
    }
    path = write(place / "tuned.onnx", trained(first, 5, seed=9)[0])
    proto = onnx.load(path)
    onnx.helper.set_model_props(proto, {RECORD: json.dumps(plain)})
    onnx.save(proto, path)
    policy = taken_over(place, path)
    assert policy.fine_tuning is not None
    assert (policy.fine_tuning.source, policy.fine_tuning.trained) == ("net", ("Gemm_0",))
    assert NOT_MEASURED in policy.warnings


def test_another_model_or_spec_than_the_policy_names_is_refused(place, first):
    write(place / "third.onnx", trained(first, 5, seed=9)[0])
    was = prepare(place / "third.onnx")
    samples = samples_for(was, "data.npz")
    with pytest.raises(NotTrustedError, match="not the one that this policy was made for"):
        take_over(policy_in(place), was, was, SPEC, samples, samples)
    other = HardwareSpec.from_plain(SPEC.plain() | {"memories": {"dram": {"kind": "dram", "size_bytes": 1 << 21}}})
    net = prepare(place / "net.onnx")
    with pytest.raises(NotTrustedError, match="another hardware spec"):
        take_over(policy_in(place), net, net, other, samples, samples)


def test_the_commands_from_new_weights_to_confirmed(place, first, meta_infer):

    write(place / "tuned.onnx", with_outlier(trained(first, 20, seed=2)[0]))
    lines = ("--why-allowed", "measured", "--accuracy-effect", "small", "--fallback", JUSTIFICATION.fallback)
    ids = [part for each in policy_in(place).actions for part in ("--action", each.id)]
    assert meta_infer("review", "decide", "net.policy", *ids, "--approve", *lines, "--as", "bob")[0] == 0
    given = ("--before", "net.onnx", "--model", "tuned.onnx", "--hw-spec", "chip_v1.0.0.yaml", "--calib", "data.npz")
    status, out, _ = meta_infer("review", "reapply", "net.policy", *given, "--output", "new.policy", "--json")
    assert (status, json.loads(out)["actions"]) == (0, len(policy_in(place).actions))
    assert meta_infer("review", "reapply", "net.policy", *given, "--output", "new.policy")[0] == 2  # never over a file
    listed = json.loads(meta_infer("review", "carry", "new.policy", "--as", "bob", "--json")[1])
    assert FIRST in listed["fitting"]
    assert SECOND in listed["others"]
    assert meta_infer("review", "carry", "new.policy", "--as", "bob", "--action", SECOND)[0] == 2
    confirm = [part for each in listed["fitting"] for part in ("--action", each)]
    assert meta_infer("review", "carry", "new.policy", "--as", "bob", *confirm)[0] == 0
    state = {
        each["id"]: each["state"]
        for each in json.loads(meta_infer("review", "list", "new.policy", "--json")[1])["actions"]
    }
    assert state[FIRST] == "approved"
    assert state[SECOND] != "approved"
