"""Training itself, in PyTorch, by the command; `make test-full` installs it."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import onnx
import onnx.parser
import pytest

from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.lineage import lineage_of
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.verify.reference import run_reference

NET = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1,1,8,8] x, float[12,1,5,5] w_one, float[12] w_bias, float[4,12] w_head, float[4] w_head_bias)
    => (float[1,4] y) {
    [one] a = Conv <pads = [2,2,2,2]> (x, w_one, w_bias)
    [curve] b = Relu (a)
    [pool] p = GlobalMaxPool (b)
    [flat] f = Flatten (p)
    [head] g = Gemm <transB = 1> (f, w_head, w_head_bias)
    [shares] y = Softmax (g)
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of random weights, 300 inputs with its own classes as labels, two policies."""
    place = tmp_path_factory.mktemp("fine")
    model, generator = onnx.parser.parse_model(NET), np.random.default_rng(0)
    for value in [each for each in model.graph.input if each.name.startswith("w_")]:
        shape = [each.dim_value for each in value.type.tensor_type.shape.dim]
        array = _with_twins(value.name, generator.standard_normal(shape)).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
        model.graph.input.remove(value)
    x = generator.standard_normal((300, 1, 1, 8, 8)).astype(np.float32)
    logs = np.log(_shares(model, x, place))
    for tensor in model.graph.initializer:  # each class the best one for some
        if tensor.name == "w_head_bias":
            bias = onnx.numpy_helper.to_array(tensor) - logs.mean(axis=0)
            tensor.CopyFrom(onnx.numpy_helper.from_array(bias.astype(np.float32), tensor.name))
    labels = _shares(model, x, place).argmax(axis=1)
    assert np.bincount(labels).min() > 20
    np.savez(place / "labelled.npz", x=x, labels=labels)
    np.savez(place / "plain.npz", x=x)
    change = StructureChange(
        change="channels", grade="safe", nodes=("one", "curve", "pool", "flat", "head"),
        params={"from": 12, "to": 9}, sentence="", why=(), risk="",
    )  # fmt: skip
    stored = PolicyAction(node_id="one", action="store_low_bit", params={"bits": 4, "scheme": "tensor_wise"})
    (place / "change.policy").write_bytes(Policy(actions=(), structure_changes=(change,)).to_json())
    (place / "stored.policy").write_bytes(Policy(actions=(stored,)).to_json())
    return place


def _with_twins(name, array):
    """Channels of one size, but for the last three, which are weak copies of the first and are read the other way."""
    if name == "w_one":
        array /= np.sqrt((array**2).sum(axis=(1, 2, 3), keepdims=True))
        array[9:] = 0.8 * array[:3]
    elif name == "w_head":
        array *= 2 / np.linalg.norm(array, axis=0)
        array[:, 9:] = -0.7 * array[:, :3]
    elif name == "w_bias":
        array[:] = 0
    return array


def _shares(model, x, place):
    """What the model, saved to the folder, says to each input."""
    onnx.save(model, place / "net.onnx")
    answers = run_reference(load_model(place / "net.onnx").model, [{"x": each} for each in x])
    return np.stack([answer["y"][0] for answer in answers])


def command(folder, policy, data, output, *more):
    words = ["--model", "net.onnx", "--policy", policy, "--hw-spec", "rk3588", "--data", data, "--output", output]
    return [sys.executable, "-m", "metainfer_core", "fine-tune", *words, *more, "--json"]


def tune(folder, *words):
    done = subprocess.run(command(folder, *words), capture_output=True, text=True, timeout=600, cwd=folder)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


CHANGE = ("--change", "channels@one", "--batch", "32", "--learning-rate", "5e-3")


@pytest.mark.slow
def test_fewer_channels_learn_what_the_model_before_knew(folder):
    status, answer = tune(folder, "change.policy", "plain.npz", "a.onnx", *CHANGE, "--steps", "75")
    assert status == 0, answer
    record = lineage_of(load_model(folder / "a.onnx").model)
    assert record.plain() == answer["record"]
    assert (record.status, record.source, [each.id for each in record.taken]) == (
        "measured after retraining", "net", ["channels@one"],
    )  # fmt: skip
    assert record.trained == ("one", "head")
    assert record.loss_after < 0.6 * record.loss_before
    assert record.by_training.metric == "accuracy"
    assert record.by_training.value > record.by_training.reference
    assert record.against_source.reference == 1.0  # without labels its own answers are right
    assert answer["same_graph"] is False
    assert not list(folder.glob("*.checkpoint.npz"))
    status, again = tune(folder, "change.policy", "plain.npz", "b.onnx", *CHANGE, "--steps", "75")
    assert again["output_digest"] == answer["output_digest"]
    assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()


@pytest.mark.slow
def test_weights_in_few_bits_learn_to_live_with_it_on_the_same_graph(folder):
    more = ("--steps", "100", "--learning-rate", "5e-4")
    status, answer = tune(folder, "stored.policy", "labelled.npz", "c.onnx", *more)
    assert status == 0, answer
    record = answer["record"]
    assert (answer["same_graph"], record["labelled"]) == (True, True)
    assert record["loss_after"] < record["loss_before"]
    assert record["taken"] == [{"id": "store_low_bit@one", "params": {"bits": 4, "scheme": "tensor_wise"}}]


@pytest.mark.slow
def test_a_stopped_run_keeps_its_best_and_goes_on_to_the_same_weights(folder):
    words = ("change.policy", "plain.npz")
    running = subprocess.Popen(
        command(folder, *words, "parts.onnx", *CHANGE, "--steps", "1000000"), cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"METAINFER_PROGRESS": "json"},
    )  # fmt: skip
    for line in running.stderr:
        if '"training ' in line and json.loads(line)["progress"][1] >= 25:
            break
    running.send_signal(signal.SIGTERM)
    said = running.communicate(timeout=300)[1]
    assert running.returncode == 130
    assert "holds the best so far, not measured" in said
    kept = lineage_of(load_model(folder / "parts.onnx").model)
    assert (kept.status, kept.against_source) == ("needs retraining", None)
    assert kept.steps >= 25
    more = str(kept.steps + 25)
    parts = tune(folder, *words, "parts.onnx", *CHANGE, "--steps", more)[1]
    whole = tune(folder, *words, "whole.onnx", *CHANGE, "--steps", more)[1]
    assert parts["record"] == whole["record"]
    assert parts["output_digest"] == whole["output_digest"]


@pytest.mark.slow
def test_what_cannot_be_trained_is_refused_in_one_message(folder):
    np.savez(folder / "wrong.npz", x=np.zeros((30, 1, 1, 8, 8), np.float32), labels=np.full(30, 7))
    status, answer = tune(folder, "change.policy", "wrong.npz", "d.onnx", *CHANGE, "--eval", "plain.npz")
    assert (status, answer["error"]["what"]) == (2, "The labels do not fit the output y.")
    np.savez(folder / "shape.npz", x=np.zeros((30, 1, 1, 8, 9), np.float32))
    status, answer = tune(folder, "change.policy", "shape.npz", "d.onnx", *CHANGE)
    assert (status, answer["error"]["why"]) == (2, "The model reads [1, 1, 8, 8] of float32.")
    status, answer = tune(folder, "change.policy", "plain.npz", "d.onnx")
    assert (status, answer["error"]["fix"][:26]) == (2, "Name a change with --chang")
    assert not (folder / "d.onnx").exists()
