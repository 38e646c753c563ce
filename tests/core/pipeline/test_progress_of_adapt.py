"""What a person who waits for a policy is told: no part of the work goes on under the name of the one before."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser

from metainfer_core.pipeline import adapt, prepare, samples_for
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.spec.library import load

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1,4] x) => (float[1,4] y) { [first] a = Relu (x) [second] y = Neg (a) }"""


def test_every_step_before_the_search_is_told_with_its_own_count(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(3).standard_normal((3, 1, 4)).astype(np.float32))
    prepared = prepare(tmp_path / "net.onnx")
    samples = samples_for(prepared, str(tmp_path / "data.npz"))
    told: list[tuple[str, int, int]] = []
    adapt(
        prepared,
        load("esp32s3"),
        samples,
        samples,
        Objective(precision=Precision.FLOAT32, fast=True),
        lambda step, done, total: told.append((step, done, total)),
    )
    assert told[:9] == [
        *(("calibrating", done, 3) for done in range(3)),
        *(("choosing ranges", done, 3) for done in range(3)),
        *(("running the unchanged model", done, 3) for done in range(3)),
    ]
    floats = [(done, total) for step, done, total in told if step == "measuring in floats"]
    assert floats == [(0, 1), (1, 3), (2, 3)]  # the bar moves with each sample that the model is measured on
    assert list(dict.fromkeys(step for step, _, _ in told[9:])) == [
        "proposing structural actions",
        "measuring in floats",
        "pricing",
        "measuring all actions together",
    ]
