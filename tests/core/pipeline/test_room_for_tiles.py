"""What adapt proposes fits as a whole: what is placed in a local memory leaves room for the tiles of later steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx.parser
import pytest

from metainfer_core import pipeline
from metainfer_core.actions.staged_steps import asked_of
from metainfer_core.codegen.staging import staged_plan
from metainfer_core.errors import DoesNotFitError
from metainfer_core.numerics.lower import lower
from metainfer_core.policy.apply import apply
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.spec.library import load

HWSPECS = Path(__file__).parents[3] / "hwspecs"
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
wide (float[1,2048,257] x) => (float[1,2048,64] y) { s = Sigmoid (x) m = MatMul (s, w) y = Relu (m) }"""


def wide_model(path: Path) -> Path:
    model = onnx.parser.parse_model(TEXT)
    weights = np.random.default_rng(0).standard_normal((257, 64)).astype(np.float32) / 16
    model.graph.initializer.append(onnx.helper.make_tensor("w", 1, weights.shape, weights))
    onnx.save(model, path)
    return path


def test_a_policy_in_16_bit_floats_fits_on_targets_with_and_without_dma(tmp_path: Path) -> None:
    spec = load("rk3588", HWSPECS)
    prepared = pipeline.prepare(wide_model(tmp_path / "wide.onnx"))
    samples = pipeline.samples_for(prepared, None)
    objective = Objective(precision=Precision.FP16, fast=True)
    policy = pipeline.adapt(prepared, spec, samples, samples, objective).policy
    actions = {line.id: line for line in policy.actions}
    assert actions["tile@x.narrow"].params == {"axis": "elements", "size": 175488, "target_hw": "npu"}
    assert "place@x.narrow" not in actions  # 1,052,672 of 1,179,648 bytes, beside which no tile has room
    told = next(each for each in policy.refusals if each.nodes == ("x.narrow",))
    assert told.reason.startswith("With it the memory would need 2,105,600 bytes of 1,179,648: Memory 'npu_sram' ")
    adapted = apply(prepared.model, spec, policy)
    for everywhere in (False, True):
        staged_plan(lower(adapted), spec, asked_of(adapted), everywhere)
    untiled = tuple(line for line in policy.actions if line.id != "tile@x.narrow")
    adapted = apply(prepared.model, spec, policy.model_copy(update={"actions": untiled}))
    with pytest.raises(DoesNotFitError, match=r"x\.narrow: memory 'npu_sram'"):
        staged_plan(lower(adapted), spec, asked_of(adapted), everywhere=True)
