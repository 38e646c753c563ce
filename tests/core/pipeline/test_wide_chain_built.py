"""A residual chain on 16-bit activations between 8-bit layers: built as approved for each target, the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from metainfer_core.verify.reference import collect_ranges
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,8,6,6] x, float[8,8,3,3] w_a, float[8,8,1,1] w_b, float[8,8,1,1] w_c, float[1,8,1,1] w_s)
    => (float[1,16,6,6] y) {
    [first] a = Conv <pads = [1,1,1,1]> (x, w_a) [middle] b = Conv (a, w_b) [add] s = Add (a, b) [relu] r = Relu (s)
    [scale] m = Mul (r, w_s) [last] c = Conv (m, w_c) [out] o = Add (c, m) [join] y = Concat <axis = 1> (o, m) }"""
WIDE = ("add", "scale", "out", "join")


@pytest.mark.parametrize("target", ["native-cpu", "sim-npu"])
def test_a_mix_of_widths_is_built_as_approved(target: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(from_text(TEXT, 0), path)
    prepared = prepare(path)
    samples = random_samples(prepared.model)
    ranges = {name: [span.low, span.high] for name, span in collect_ranges(prepared.model, samples).ranges.items()}

    def line(node: str, **params: Any) -> dict[str, Any]:
        return {"node_id": node, "action": "quantize", "params": {"ranges": ranges, **params}}

    lines = [{"node_id": "add", "action": "fuse", "params": {"with": ["relu"]}}]
    lines += [line(node) for node in ("first", "middle", "last")]
    lines += [line(node, bit_width=16, symmetric=True) for node in WIDE]
    policy = Policy.from_plain({"format": "metainfer.policy/1", "actions": lines})
    spec = chip(data_types=("int8", "int16"), accumulator_bits=48)
    made = compile_policy(prepared, spec, policy, target, samples.feeds[:2])
    assert (made.differences, made.violations) == ((), ())
    kernels = {step.kernel for step in made.realised.steps}
    assert {"add_int16", "mul_int16", "concat_16", "rescale_int16_int8", "rescale_int8_int16"} <= kernels
    assert not any(kernel.endswith("_float32") for kernel in kernels)
    assert validate_package(made.package).equal
    feed = dict(samples.feeds[1])
    got, simulated = run_package(made.package, feed)["y"], Simulator(made.lowered).run(feed)["y"]
    np.testing.assert_array_equal(got.view(np.uint32), simulated.view(np.uint32))
