"""Models of kinds that no rule was written for: read, made static, and computed in float as other runtimes do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.steps import prepare
from metainfer_core.verify.samples import random_samples

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from other_kinds import KINDS, NEWEST  # noqa: E402

BY_NAME = {kind.__name__: kind for kind in KINDS}
REFUSED = {
    "ssd_nms": r"1 node keeps a dynamic shape: NonMaxSuppression_\d+ \(NonMaxSuppression, int64\[\?,3\]\)",
    "ssd_topk": r"TopK_\d+ \(TopK\) cannot be computed",
}


def outputs_elsewhere(model: onnx.ModelProto, feeds: Any) -> list[Any]:
    """By ONNX Runtime, or by ONNX's own evaluator where that does not know the opset yet."""
    if model.opset_import[0].version == NEWEST:
        return list(ReferenceEvaluator(model).run(None, dict(feeds)))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


@pytest.mark.parametrize("name", sorted(set(BY_NAME) - set(REFUSED)))
def test_the_float_program_gives_what_other_runtimes_give(name: str, tmp_path: Path) -> None:
    model = BY_NAME[name]()
    path = tmp_path / f"{name}.onnx"
    onnx.save(model, path)
    batch = {dim.dim_param: (1,) for value in model.graph.input for dim in value.type.tensor_type.shape.dim[:1]}
    prepared = prepare(path, {size: one for size, one in batch.items() if size})
    feeds = random_samples(prepared.model, 1).feeds[0]
    found = Simulator(lower(prepared.model)).run(feeds)
    for value, wanted in zip(model.graph.output, outputs_elsewhere(model, feeds), strict=True):
        assert np.abs(found[value.name] - wanted).max() <= 2e-5 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_no_program_can_be_made_of_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    onnx.save(BY_NAME[name](), path)
    with pytest.raises(UnsupportedError, match=REFUSED[name]):
        lower(prepare(path).model)


def test_the_same_model_is_made_each_time() -> None:
    assert BY_NAME["yolo"]().SerializeToString(deterministic=True) == BY_NAME["yolo"]().SerializeToString(
        deterministic=True
    )
