"""Trained models: float outputs within 1e-5 + 1e-4 * max|x| of ONNX Runtime with its optimiser off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from operator_cases import reference

from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator

MODELS = Path(__file__).parents[4] / "shared" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.onnx"))


def prepared(name: str) -> ir.Model:
    """Batch of one; pictures of 64 x 96."""
    model = load_model(MODELS / f"{name}.onnx").model
    usual = {2: 64, 3: 96}
    shapes = {
        str(value.name): tuple(n if isinstance(n, int) else usual.get(axis, 1) for axis, n in enumerate(value.shape))
        for value in model.graph.inputs
        if value.shape is not None and not value.shape.is_static()
    }
    return preprocess(model, shapes).model


def inputs(model: ir.Model, seed: int) -> dict[str, np.ndarray]:
    """Normal numbers, or bytes."""
    rng = np.random.default_rng(seed)
    feed = {}
    for value in model.graph.inputs:
        shape = tuple(int(n) for n in value.shape.numpy()) if value.shape is not None else ()
        is_float = value.dtype == ir.DataType.FLOAT
        feed[str(value.name)] = (
            rng.normal(size=shape).astype(np.float32) if is_float else rng.integers(0, 256, shape).astype(np.int32)
        )
    return feed


@pytest.mark.parametrize("name", NAMES)
def test_float_outputs_equal_onnx_runtime(name: str) -> None:
    model = prepared(name)
    simulator, proto = Simulator(lower(model)), ir.to_proto(model)
    assert isinstance(proto, onnx.ModelProto)
    for seed in range(2):
        feed = inputs(model, seed)
        actual = simulator.run(feed)
        for output, expected in reference(proto, feed).items():
            limit = 1e-5 + 1e-4 * np.abs(expected).max()
            assert np.abs(actual[output] - expected).max() <= limit
            assert np.ptp(expected) > 0 or expected.size == 1


def test_all_models_are_there() -> None:
    assert len(NAMES) >= 12
