"""Models made by PyTorch and TensorFlow themselves, imported by the command; `make test-full` installs both."""

import json
import subprocess
import sys

import numpy as np
import pytest

from metainfer_core.graph.files.load import load_model
from metainfer_core.verify.reference import run_reference

TORCH = """
import sys, torch
from torch import nn
torch.manual_seed(1)
class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
            nn.Conv2d(8, 8, 3, groups=8, stride=2), nn.GELU(approximate="tanh"))
        self.head = nn.Linear(8, 5)
    def forward(self, x):
        return self.head(self.body(x).mean((2, 3))).softmax(-1)
class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 10, batch_first=True, bidirectional=True), nn.Linear(20, 3)
    def forward(self, x, scale):
        steps, (state, _) = self.lstm(x)
        return {"steps": steps * scale, "logits": self.head(steps[:, -1]), "state": state}
batch = torch.export.Dim("batch", min=1, max=64)
nets = {
    "conv": (Conv(), (torch.randn(2, 3, 16, 16),), {"x": {0: batch}}),
    "lstm": (Lstm(), (torch.randn(2, 7, 6), torch.ones(1)), {"x": {0: torch.export.Dim("any")}, "scale": None}),
}
net, inputs, free = nets[sys.argv[1]]
torch.export.save(torch.export.export(net.eval(), inputs, dynamic_shapes=free), sys.argv[2])
"""

TENSORFLOW = """
import sys, tensorflow as tf
keras = tf.keras
keras.utils.set_random_seed(1)
layers = keras.layers
nets = {
    "conv": [keras.Input((16, 16, 3), name="x"), layers.Conv2D(8, 3, padding="same", use_bias=False),
             layers.BatchNormalization(), layers.ReLU(6.0), layers.DepthwiseConv2D(3, strides=2), layers.Dropout(0.5),
             layers.GlobalAveragePooling2D(), layers.Dense(5, activation="softmax")],
    "lstm": [keras.Input((7, 6), name="x"), layers.LSTM(10), layers.Dense(3)],
}
if sys.argv[1] in nets:
    keras.Sequential(nets[sys.argv[1]]).export(sys.argv[2])
else:
    class Strange(tf.Module):
        def __init__(self):
            words = tf.lookup.KeyValueTensorInitializer([1], [2])
            self.table = tf.lookup.StaticHashTable(words, 0) if sys.argv[1] == "table" else None
        @tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32)])
        def run(self, x):
            if sys.argv[1] == "file":
                return x + tf.cast(tf.strings.length(tf.io.read_file("/etc/hostname")), tf.float32)
            if sys.argv[1] == "python":
                return tf.numpy_function(lambda y: y, [x], tf.float32)
            if sys.argv[1] == "write":
                with tf.control_dependencies([tf.io.write_file("went_off", "x")]):
                    return tf.identity(x)
            return x + tf.cast(self.table.lookup(tf.constant([1])), tf.float32)
    net = Strange()
    tf.saved_model.save(net, sys.argv[2], signatures=net.run)
"""


def make(script, kind, path):
    made = subprocess.run([sys.executable, "-c", script, kind, str(path)], capture_output=True, text=True, timeout=600)
    assert path.exists(), made.stderr


def run_import(model, output, *more):
    command = [sys.executable, "-m", "metainfer_core", "import", str(model), "--output", str(output), "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=model.parent)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("script", "suffix"), [(TORCH, ".pt2"), (TENSORFLOW, "")], ids=["torch", "tensorflow"])
@pytest.mark.parametrize("kind", ["conv", "lstm"])
def test_a_real_model_computes_the_same_as_onnx(kind, script, suffix, tmp_path):
    source = tmp_path / f"{kind}{suffix}"
    make(script, kind, source)
    status, answer = run_import(source, tmp_path / "a.onnx", "--seed", "5")
    assert status == 0, answer
    assert len(answer["compared"]) == (3 if (kind, script) == ("lstm", TORCH) else 1)
    assert all(each["holds"] and each["max_abs_error"] < 1e-6 for each in answer["compared"])
    assert [text.split(",")[0] for text in answer["inputs"]] == ["x=[2", "x=[3"]  # the batch stayed free
    again = run_import(source, tmp_path / "b.onnx")[1]
    assert again["output_digest"] == answer["output_digest"]
    loaded = load_model(tmp_path / "a.onnx")
    assert json.loads(loaded.model.metadata_props["metainfer.import"])["source_digest"] == answer["source_digest"]
    shapes = {str(each.name): [5, *list(each.shape)[1:]] for each in loaded.model.graph.inputs if each.name == "x"}
    feeds = {name: np.ones(shape, np.float32) for name, shape in shapes.items()} | (
        {"scale": np.ones(1, np.float32)} if len(loaded.model.graph.inputs) == 2 else {}
    )
    assert {len(array) for array in run_reference(loaded.model, [feeds])[0].values()} <= {2, 5}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "says"),
    [("file", "the operator ReadFile"), ("python", "the operator PyFunc"), ("write", "the operator WriteFile"),
     ("table", "it holds tables or other resources")],
)  # fmt: skip
def test_a_saved_model_that_does_more_than_compute_is_refused(kind, says, tmp_path):
    make(TENSORFLOW, kind, tmp_path / "net")
    status, said = run_import(tmp_path / "net", tmp_path / "x.onnx")
    assert (status, says in said) == (1 if kind == "table" else 2, True), said
    assert {each.name for each in tmp_path.iterdir()} == {"net"}


@pytest.mark.slow
@pytest.mark.parametrize(("script", "name"), [(TORCH, "net.pt2"), (TENSORFLOW, "net")], ids=["torch", "tensorflow"])
def test_a_damaged_model_is_one_message(script, name, tmp_path):
    source = tmp_path / name
    make(script, "conv", source)
    damaged = source if source.is_file() else source / "saved_model.pb"
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 400] = bytes(400)
    damaged.write_bytes(data)
    status, said = run_import(source, tmp_path / "x.onnx")
    assert status in (1, 2), said
    assert str(source) in said
    assert not (tmp_path / "x.onnx").exists()
