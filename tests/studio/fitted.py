"""A workspace with a small model, a spec and a policy that was really searched for, for tests of the later screens."""

import functools
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from metainfer_core.pipeline import adapt, prepare, samples_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.library import load

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,8,4,4] y) {
    [conv_1] a = Conv <pads = [1,1,1,1]> (x, w_1, b_1)
    [relu_1] b = Relu (a)
    [conv_2] c = Conv <pads = [1,1,1,1], strides = [2,2]> (b, w_2, b_2)
    [add] d = Add (c, b_3)
    [relu_2] y = Relu (d)
}"""
SHAPES = {"w_1": (8, 3, 3, 3), "b_1": (8,), "w_2": (8, 8, 3, 3), "b_2": (8,), "b_3": (1, 8, 1, 1)}
NAME = "net_on_esp32s3"
PATH = f"policies/{NAME}.policy"


def model_bytes():
    proto = onnx.parser.parse_model(TEXT)
    generator = np.random.default_rng(7)
    for name, shape in SHAPES.items():
        array = (generator.standard_normal(shape) * 0.3).astype(np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto.SerializeToString()


@functools.cache
def _built():
    folder = Path(tempfile.mkdtemp(prefix="metainfer-studio-"))
    (folder / "net.onnx").write_bytes(model_bytes())
    samples = np.random.default_rng(1).standard_normal((4, 1, 3, 8, 8)).astype(np.float32)
    np.savez(folder / "calibration.npz", x=samples)
    prepared = prepare(folder / "net.onnx")
    data = samples_for(prepared, str(folder / "calibration.npz"))
    policy = adapt(prepared, load("esp32s3"), data, data, Objective(fast=True)).policy
    (folder / "policies").mkdir()
    (folder / PATH).write_bytes(policy.to_json())
    return folder


def fitted(workspace, **risks):
    """Fills a workspace; `risks` sets the level of actions by their number, such as `a0="high"`. Gives the policy."""
    shutil.copytree(_built(), workspace, dirs_exist_ok=True)
    plain = Policy.from_json((workspace / PATH).read_bytes()).plain()
    for number, action in enumerate(plain["actions"]):
        level = risks.get(f"a{number}", "low")
        action["risk"] = {"level": level, "facts": [f"It is {level} for this test."]}
        action.pop("review_required", None)
    policy = Policy.from_plain(plain)
    (workspace / PATH).write_bytes(policy.to_json())
    return policy
