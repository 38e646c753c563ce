"""Layers of low rank, with what is fused behind them: built as approved for each target, the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from npu_bench import chip
from tiny_models import from_text

from metainfer_core.codegen.run import run_package
from metainfer_core.codegen.validate import validate_package
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.steps import compile_policy, prepare
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,8,9,7] x, float[16,8,3,3] w_a, float[16] w_s, float[1008,12] w_d) => (float[1,12] y) {
    [conv] a = Conv <pads = [1,1,1,1]> (x, w_a, w_s) [relu] r = Relu (a) [flat] f = Flatten (r) [plain] g = Relu (f)
    [dense] y = MatMul (g, w_d) }"""


@pytest.mark.parametrize("target", ["native-cpu", "sim-npu"])
def test_factors_are_built_as_approved(target: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(from_text(TEXT, 0), path)
    prepared = prepare(path)
    samples = random_samples(prepared.model)
    lines = [
        {"node_id": "conv", "action": "factor_weights", "params": {"rank": 5}},
        {"node_id": "dense", "action": "factor_weights", "params": {"rank": 4}},
        {"node_id": "conv.1_conv", "action": "fuse", "params": {"with": ["relu"]}},
    ]
    policy = Policy.from_plain({"format": "metainfer.policy/1", "actions": lines})
    made = compile_policy(prepared, chip(1 << 18, data_types=("int8", "float32")), policy, target, samples.feeds[:2])
    assert (made.differences, made.violations) == ((), ())
    kernels = [step.kernel for step in made.realised.steps if step.moved is None]
    assert len([kernel for kernel in kernels if kernel.startswith("conv2d")]) == 2
    assert len([kernel for kernel in kernels if kernel.startswith("gemm")]) == 2
    assert validate_package(made.package).equal
    feed = dict(samples.feeds[1])
    got, simulated = run_package(made.package, feed)["y"], Simulator(made.lowered).run(feed)["y"]
    np.testing.assert_array_equal(got.view(np.uint32), simulated.view(np.uint32))
