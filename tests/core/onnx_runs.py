"""Running ONNX bytes on ONNX Runtime with its optimiser off: what a model means, for tests to compare with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime

from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.shapes import static_shape
from metainfer_core.graph.static.preprocess import Preprocessed, preprocess


def session(data: bytes) -> onnxruntime.InferenceSession:
    """A session that runs the graph as it stands."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(data: bytes, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name."""
    running = session(data)
    names = [value.name for value in running.get_outputs()]
    return dict(zip(names, running.run(names, dict(feed)), strict=True))


def seeded_inputs(model: ir.Model, seed: int) -> dict[str, np.ndarray]:
    """Standard normal floats, bytes 0 to 255 as integers."""
    draw = np.random.default_rng(seed)
    feed = {}
    for value in model.graph.inputs:
        assert value.dtype is not None
        shape = static_shape(value)
        floating = value.dtype in (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16)
        array = draw.standard_normal(shape) if floating else draw.integers(0, 256, shape)
        feed[value.name or ""] = array.astype(value.dtype.numpy())
    return feed


def assert_equal_outputs(
    expected: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray], tolerance: float = 1e-6
) -> None:
    """Same names, shapes and types, and values within `tolerance` of the greatest value."""
    assert list(got) == list(expected)
    for name, wanted in expected.items():
        assert got[name].shape == wanted.shape
        assert got[name].dtype == wanted.dtype
        greatest = float(np.abs(wanted).max()) if wanted.size else 0.0
        np.testing.assert_allclose(got[name], wanted, rtol=0, atol=tolerance * max(1.0, greatest))


def preprocessed_and_checked(
    proto: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]] | None = None, seeds: int = 2
) -> Preprocessed:
    """The preprocessed model, after its outputs were compared with those of the file it came from."""
    data = proto.SerializeToString()
    result = preprocess(import_model(data, "model").model, shapes or {})
    for node in result.model.graph:
        assert all(static_shape(value) is not None for value in node.outputs if value.name)
    for seed in range(seeds):
        feed = seeded_inputs(result.model, seed)
        assert_equal_outputs(run(data, feed), run(model_bytes(result.model), feed))
    return result
