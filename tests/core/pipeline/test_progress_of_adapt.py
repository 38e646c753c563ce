"""What a person who waits for a policy is told: no part of the work goes on under the name of the one before."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from metainfer_core.numerics import library
from metainfer_core.pipeline import adapt, prepare, samples_for
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.spec.library import load

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1,4] x) => (float[1,4] y) { [first] a = Relu (x) [second] y = Neg (a) }"""


def test_compiling_the_kernels_on_a_new_machine_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net.onnx").write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    prepared = prepare(tmp_path / "net.onnx")
    samples = samples_for(prepared, None)
    kept = library.cache_folder() / f"kernels-{library._digest()}.so"
    library.load_library()  # on a machine without them they are compiled here
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path / "new")
    told: list[str] = []

    def compile_library(compiler: object, path: Path) -> None:
        told.append("it is compiled")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(kept.read_bytes())

    monkeypatch.setattr(library, "compile_library", compile_library)
    objective = Objective(precision=Precision.FLOAT32, fast=True)
    adapt(prepared, load("esp32s3"), samples, samples, objective, lambda step, done, total: told.append(step))
    compiled = told.index("it is compiled")
    assert told[compiled - 1] == "compiling the kernels, once on this machine"
    assert "measuring in floats" in told[compiled:]


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
