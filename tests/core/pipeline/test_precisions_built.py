"""FP16, BF16, packed weights and INT16 in one program, built for each target: approved, realised, the same bits."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from action_bench import cpu, spec_of
from tiny_models import from_text

from metainfer_core.codegen.run import run_package
from metainfer_core.codegen.validate import validate_package
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.steps import Compiled, compile_policy, prepare
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,8,9,20] x, float[8,8,3,3] w_a, float[16,8,3,3] w_b, float[24,16,3,3] w_c, float[1008,12] w_d)
    => (float[1,12] y) {
    [half] a = Conv (x, w_a) [brain] b = Sigmoid (a) [packed] c = Conv (b, w_b)
    [wide] d = Conv <pads = [0,0,0,0]> (c, w_c) [flat] f = Flatten (d) [six] y = MatMul (f, w_d) }"""
SPEC: HardwareSpec = spec_of(units={"cpu": cpu(data_types=("int8", "int16", "float16", "bfloat16", "float32"))})


PACKED = {"bits": 4, "scheme": "group_wise", "group_size": 8}


def lines(ranges: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """One action of each precision, as a plain policy brings them."""
    spans = {name: list(span) for name, span in ranges.items()}
    wide = {"bit_width": 16, "symmetric": True, "ranges": {name: spans[name] for name in ("c", "d")}}
    half = {"ranges": {name: spans[name] for name in ("x", "a")}}
    return [
        {"node_id": "wide", "action": "quantize", "params": wide},
        {"node_id": "half", "action": "half_precision", "params": half},
        {"node_id": "brain", "action": "half_precision", "params": {"format": "bfloat16", "half_sums": False}},
        {
            "node_id": "packed",
            "action": "store_low_bit",
            "params": {"bits": 4, "scheme": "group_wise", "group_size": 8},
        },
        {"node_id": "six", "action": "store_low_bit", "params": {"bits": 6, "symmetric": False}},
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The model, its samples and a policy with every precision."""
    path = tmp_path_factory.mktemp("precisions") / "model.onnx"
    onnx.save(from_text(TEXT, 0), path)
    prepared = prepare(path)
    samples = random_samples(prepared.model)
    ranges = {name: (span.low, span.high) for name, span in collect_ranges(prepared.model, samples).ranges.items()}
    policy = Policy.from_plain({"format": "metainfer.policy/1", "actions": lines(ranges)})
    return {"prepared": prepared, "samples": samples, "policy": policy}


def compiled(built: dict[str, Any], target: str) -> Compiled:
    return compile_policy(built["prepared"], SPEC, built["policy"], target, built["samples"].feeds[:2])


def test_every_precision_is_built_as_approved(built: dict[str, Any]) -> None:
    made = compiled(built, "native-cpu")
    assert made.differences == ()
    assert made.violations == ()
    kernels = {step.node_ids[0]: step.kernel for step in made.realised.steps}
    assert kernels["half"].endswith("_float16")
    assert kernels["brain"] == "sigmoid_bfloat16"
    assert kernels["packed"] == "conv2d_float32_int4"
    assert kernels["wide"] == "conv2d_int16"
    assert kernels["six"] == "gemm_float32_int6"
    weights = next(data for name, data in made.package.files.items() if name.endswith("weights.bin"))
    sizes = {one.name: one.size_bytes for one in made.realised.tensors if one.is_constant}
    assert sizes["packed.packed"] == 16 * 8 * 9 // 2
    assert sizes["six.packed"] == 1008 * 16 * 6 // 8  # filled up to a block of 16 columns
    assert sizes["half.weights"] == 8 * 8 * 9 * 2
    whole = 4 * (8 * 8 * 9 + 16 * 8 * 9 + 24 * 16 * 9 + 1008 * 12)
    assert len(weights) < whole / 2


@pytest.mark.parametrize(
    "target",
    [
        "native-cpu",
        pytest.param(
            "aarch64-linux",
            marks=pytest.mark.skipif(
                not (shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64")),
                reason="needs g++-aarch64-linux-gnu and qemu-user",
            ),
        ),
    ],
)
def test_the_program_has_the_bits_of_the_simulator(built: dict[str, Any], target: str) -> None:
    made = compiled(built, target)
    assert validate_package(made.package).equal
    feed = dict(built["samples"].feeds[1])
    got, simulated = run_package(made.package, feed)["y"], Simulator(made.lowered).run(feed)["y"]
    np.testing.assert_array_equal(got.view(np.uint32), simulated.view(np.uint32))
    expected = run_reference(built["prepared"].model, [feed])[0]["y"]
    noise = float(np.square(got - expected).sum())
    assert 15 < 10 * np.log10(float(np.square(expected).sum()) / noise) < 60


def test_the_adapted_model_names_its_types(built: dict[str, Any], tmp_path: Path) -> None:
    adapted = onnx.load_from_string(compiled(built, "native-cpu").package.files["adapted.onnx"])
    onnx.checker.check_model(adapted, full_check=True)
    kinds = {tensor.data_type for tensor in adapted.graph.initializer}
    types = onnx.TensorProto
    assert {types.FLOAT16, types.INT4, types.INT8, types.INT16} <= kinds
