"""The line of a plain policy that names a width does what it says: weights and activations of 6 bits on its unit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from action_bench import cpu, npu, spec_of
from tiny_models import from_text

from metainfer_core.codegen.run import run_package
from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.pipeline.steps import Compiled, Prepared, compile_policy, missing_ranges, prepare
from metainfer_core.policy.plain import parse_policy
from metainfer_core.spec.hardware_spec import HardwareSpec, IntSupport
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,8,9,9] x, float[16,8,3,3] w_a, float[16] w_b, float[4,16,1,1] w_c) => (float[1,4,7,7] y) {
    [Conv_12] a = Conv (x, w_a, w_b) [Relu_13] r = Relu (a) [Conv_14] y = Conv (r, w_c) }"""
LINE = {
    "node_id": "Conv_12",
    "action": "quantize",
    "params": {"bit_width": 6, "scheme": "channel_wise", "target_hw": "npu_int6"},
}
FUSE = {"node_id": "Conv_12", "action": "fuse", "params": {"with": ["Relu_13"], "target_hw": "npu_int6"}}


def spec(*data_types: str) -> HardwareSpec:
    units = {"npu_int6": npu(data_types=data_types, accumulator_bits=32), "cpu": cpu()}
    return spec_of(units=units, npu_int_support=IntSupport(bit_widths=(6, 8)))


def prepared(folder: Path) -> Prepared:
    onnx.save(from_text(TEXT, 0), folder / "model.onnx")
    return prepare(folder / "model.onnx")


def compiled(model: Prepared, spec: HardwareSpec, *lines: dict[str, Any]) -> Compiled:
    policy = parse_policy(json.dumps({"version": "1.2", "actions": list(lines)}).encode())
    ranges = missing_ranges(model, spec, policy, None)
    assert ranges is not None
    assert set(ranges.narrow) <= {"6"}
    feeds = random_samples(model.model).feeds[:2]
    return compile_policy(model, spec, policy, "native-cpu", feeds, calibration=ranges)


def test_weights_and_activations_of_the_named_node_have_6_bits_on_the_named_unit(tmp_path: Path) -> None:
    model = prepared(tmp_path)
    made = compiled(model, spec("int6", "int8"), FUSE, LINE)
    assert made.differences == ()
    assert made.violations == ()
    (step,) = [step for step in made.realised.steps if "Conv_12" in step.node_ids]
    tensors = {tensor.name: tensor for tensor in made.realised.tensors}
    assert step.unit == "npu_int6"
    assert [tensors[name].element_type for name in (step.inputs[0], step.outputs[0])] == ["int6", "int6"]
    weights = tensors["Conv_12.weights"]
    assert (weights.element_type, len(weights.scales)) == ("int6", 16)
    (other,) = [step for step in made.realised.steps if "Conv_14" in step.node_ids]
    assert tensors[other.inputs[0]].element_type == "float32"
    feed = random_samples(model.model).feeds[1]
    got = run_package(made.package, feed)["y"]
    np.testing.assert_array_equal(got, Simulator(made.lowered).run(feed)["y"])
    expected = run_reference(model.model, [feed])[0]["y"]
    assert 18 < 10 * np.log10((expected**2).sum() / ((got - expected) ** 2).sum()) < 40


def test_a_unit_without_the_width_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"npu_int6 has no INT6: compute_units\.npu_int6\.data_types"):
        compiled(prepared(tmp_path), spec("int8"), LINE)


def test_fewer_bits_for_weights_alone(tmp_path: Path) -> None:
    four = {"node_id": "Conv_12", "action": "quantize", "params": {"weight_bits": 4, "target_hw": "npu_int6"}}
    made = compiled(prepared(tmp_path), spec("int6", "int8"), four)
    (step,) = [step for step in made.realised.steps if "Conv_12" in step.node_ids]
    tensors = {tensor.name: tensor for tensor in made.realised.tensors}
    assert tensors[step.inputs[0]].element_type == "int8"
    assert tensors["Conv_12.weights"].element_type == "int4"
