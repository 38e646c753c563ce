"""A node in FP16 whose result is written tile by tile: what still lies in its memory from before is no result of it."""

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
from metainfer_core.errors import ObligationFailed
from metainfer_core.pipeline.steps import compile_policy, prepare
from metainfer_core.policy.policy import Policy

TEXT = """m (float[1,8,16,16] x, float[16,8,1,1] w_a) => (float[1,16,16,16] y) {
    [pre] p = Relu (x) [first] a = Conv (p, w_a) [last] y = Relu (a) }"""
HIDDEN_NAN = np.array(0x3F807FFF, np.uint32).view(np.float32)
"""A float32 near 1 whose lower half is a NaN of FP16."""


def test_what_lies_in_the_memory_from_before_is_no_infinity(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(from_text(TEXT, 0), path)
    prepared = prepare(path)
    feed = {"x": np.full((1, 8, 16, 16), HIDDEN_NAN, np.float32)}

    def line(node: str, action: str, **params: Any) -> dict[str, Any]:
        return {"node_id": node, "action": action, "params": params}

    lines = [
        line("first", "half_precision", ranges={name: [-50, 50] for name in "pa"}, target_hw="npu"),
        line("pre", "place", memory={"p": "tight"}),
        line("first", "place", memory={"a": "tight"}),
        line("first", "tile", axis="rows", size=1, target_hw="npu"),
    ]
    policy = Policy.from_plain({"format": "metainfer.policy/1", "actions": lines})
    spec = chip(1 << 18, data_types=("int8", "float16"))
    memories = {**spec.plain()["memories"], "tight": {"kind": "dram", "size_bytes": 10240}}
    spec = type(spec).from_plain({**spec.plain(), "memories": memories})
    made = compile_policy(prepared, spec, policy, "native-cpu", (feed,))
    assert (made.differences, made.violations) == ((), ())
    tensors = {tensor.name: tensor for tensor in made.realised.tensors}
    assert (tensors["a"].memory, tensors["a"].offset_bytes) == (tensors["p"].memory, tensors["p"].offset_bytes)
    assert [step.kernel for step in made.realised.steps].count("conv2d_float16") == 4
    assert validate_package(made.package).equal
    with pytest.raises(ObligationFailed, match="its result left the range of 16-bit floats"):
        run_package(made.package, {"x": np.full((1, 8, 16, 16), 60000.0, np.float32)})
