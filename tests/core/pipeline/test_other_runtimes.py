"""The adapted model as QDQ ONNX in runtimes that other people use: as right as in our simulator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from metainfer_core import pipeline
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import output_effect
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.policy.apply import apply
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load
from metainfer_core.verify.samples import Feeds, Samples, random_samples

MODELS = Path(__file__).parents[4] / "shared" / "models"
Outputs = Sequence[np.ndarray]


def in_onnxruntime(model: bytes, feeds: Sequence[Feeds], as_written: bool) -> Outputs:
    """With its optimiser on, as users run it; as written: without the pass that quantizes layers left in float."""
    switched_off = ["WeightBiasQuantization"] if as_written else None
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"], disabled_optimizers=switched_off)
    return [session.run(None, dict(feed))[0] for feed in feeds]


def in_openvino(model: bytes, feeds: Sequence[Feeds], as_written: bool) -> Outputs:
    """On its CPU plug-in; as written: float stays float32, where it takes BF16 and INT8 of its own choice."""
    import openvino  # which `make test-full` installs

    own = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", own if as_written else {})
    return [np.asarray(compiled(dict(feed))[0]) for feed in feeds]


def decibels(output: str, exact: np.ndarray, found: np.ndarray) -> float:
    """Signal over noise; much where nothing differs."""
    return output_effect(output, exact, found).sqnr_db or 300.0


@functools.cache
def adapted_to_rk3588(name: str) -> tuple[ir.Model, Samples, np.ndarray]:
    """The adapted model, inputs, and what the unchanged model gives for them."""
    prepared = pipeline.prepare(MODELS / f"{name}.onnx")
    samples = random_samples(prepared.model, 32)
    found = pipeline.adapt(prepared, load("rk3588"), samples, samples, Objective(fast=True))
    assert any(line.action == "quantize" for line in found.policy.actions)
    (output,) = prepared.model.graph.outputs
    exact = np.stack([one[str(output.name)] for one in found.reference])
    return apply(prepared.model, load("rk3588"), found.policy), samples, exact


@pytest.mark.slow
@pytest.mark.parametrize("runtime", [in_onnxruntime, in_openvino])
@pytest.mark.parametrize("name", ["mlperf_resnet8", "ppocr_cls"])
def test_the_adapted_model_is_as_right_elsewhere(name: str, runtime: Callable[..., Outputs]) -> None:
    adapted, samples, exact = adapted_to_rk3588(name)
    simulator, output = Simulator(lower(adapted)), str(adapted.graph.outputs[0].name)
    ours = np.stack([simulator.run(feed)[output] for feed in samples.feeds])
    as_used, as_written = (np.stack(runtime(model_bytes(adapted), samples.feeds, told)) for told in (False, True))
    first, second = np.sort(exact, -1)[..., -1], np.sort(exact, -1)[..., -2]
    decided = first - second > 2 * np.abs(ours - exact).max()  # the others are as good as equal to INT8
    assert decided.sum() >= 8
    for theirs in (as_used, as_written):
        assert (theirs.argmax(-1) == exact.argmax(-1))[decided].all()
    assert decibels(output, exact, as_used) > Objective().min_sqnr_db
    assert decibels(output, exact, as_written) > decibels(output, exact, ours) - 1.5
