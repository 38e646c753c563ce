"""A node in FP16 among 8-bit ones: built as approved for each target, each form in the memory approved for it."""

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

TEXT = """m (float[1,8,6,6] x, float[8,8,3,3] w_a, float[8,8,1,1] w_b, float[8,8,1,1] w_c) => (float[1,8,6,6] y) {
    [first] a = Conv <pads = [1,1,1,1]> (x, w_a) [middle] b = Conv (a, w_b) [last] y = Conv (b, w_c) }"""


@pytest.mark.parametrize("target", ["native-cpu", "sim-npu"])
def test_an_fp16_node_among_codes_is_built_as_approved(target: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(from_text(TEXT, 0), path)
    prepared = prepare(path)
    samples = random_samples(prepared.model)
    ranges = {name: [span.low, span.high] for name, span in collect_ranges(prepared.model, samples).ranges.items()}

    def line(node: str, action: str, **params: Any) -> dict[str, Any]:
        return {"node_id": node, "action": action, "params": params}

    lines = [
        line("first", "quantize", ranges=ranges),
        line("last", "quantize", ranges=ranges),
        line("middle", "half_precision", ranges=ranges),
        line("middle", "place", memory={"b": "other"}),
    ]
    policy = Policy.from_plain({"format": "metainfer.policy/1", "actions": lines})
    spec = chip(1 << 18, data_types=("int8", "float16"))
    memories = {**spec.plain()["memories"], "other": {"kind": "dram", "size_bytes": 1 << 20}}
    spec = type(spec).from_plain({**spec.plain(), "memories": memories})
    made = compile_policy(prepared, spec, policy, target, samples.feeds[:2])
    assert (made.differences, made.violations) == ((), ())
    kernels = {step.kernel for step in made.realised.steps}
    assert {"widen_int8_float16", "narrow_float16_int8"} <= kernels
    assert not any(kernel.endswith("_float32") for kernel in kernels)
    stored = {tensor.name: tensor.memory for tensor in made.realised.tensors}
    assert stored["b"] == "other"
    assert stored["b.widened.quantized"] != "other"  # another tensor, which nobody placed
    assert validate_package(made.package).equal
    feed = dict(samples.feeds[1])
    got, simulated = run_package(made.package, feed)["y"], Simulator(made.lowered).run(feed)["y"]
    np.testing.assert_array_equal(got.view(np.uint32), simulated.view(np.uint32))
