"""The adapted model as QDQ ONNX in runtimes that other people use: as right as in our simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from metainfer_core import pipeline
from metainfer_core.graph.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import output_effect
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.policy.apply import apply
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import Feeds, random_samples

MODELS = Path(__file__).parents[4] / "shared" / "models"
Outputs = Sequence[np.ndarray]


def in_onnxruntime(model: bytes, feeds: Sequence[Feeds]) -> Outputs:
    """With its optimiser on, as users run it."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return [session.run(None, dict(feed))[0] for feed in feeds]


def in_openvino(model: bytes, feeds: Sequence[Feeds]) -> Outputs:
    """On its CPU plug-in."""
    openvino = pytest.importorskip("openvino", reason="pip install openvino: this test runs the adapted model in it")
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU")
    return [np.asarray(compiled(dict(feed))[0]) for feed in feeds]


@pytest.mark.slow
@pytest.mark.parametrize("runtime", [in_onnxruntime, in_openvino])
@pytest.mark.parametrize("name", ["mlperf_resnet8", "ppocr_cls"])
def test_the_adapted_model_is_as_right_elsewhere(name: str, runtime: Callable[..., Outputs]) -> None:
    prepared = pipeline.prepare(MODELS / f"{name}.onnx")
    samples = random_samples(prepared.model, 32)
    policy = pipeline.adapt(prepared, load("rk3588"), samples, samples, Objective(fast=True)).policy
    assert any(line.action == "quantize" for line in policy.actions)
    adapted = apply(prepared.model, load("rk3588"), policy)
    simulator, output = Simulator(lower(adapted)), str(prepared.model.graph.outputs[0].name)
    ours = np.stack([simulator.run(feed)[output] for feed in samples.feeds])
    theirs = np.stack(runtime(model_bytes(adapted), samples.feeds))
    exact = np.stack([one[output] for one in run_reference(prepared.model, samples.feeds)])
    right = [(found.argmax(-1) == exact.argmax(-1)).mean() for found in (ours, theirs)]
    assert abs(right[0] - right[1]) <= 1 / 32  # one sample whose two classes are as good as equal
    close = [output_effect(output, exact, found).sqnr_db or 300.0 for found in (ours, theirs)]
    assert close[1] > close[0] - 1.5
