"""Chosen without the compiler's limits; what is chosen with them for larger models is held in `test_builds.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from sound_policy import assert_sound

from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.policy.choose import choose
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

ROOT = Path(__file__).parents[3]
MODELS = ROOT / ".." / "shared" / "models"
SPECS = [
    ROOT / "hwspecs" / f"{chip}.yaml" for chip in ("esp32s3_v1.0.0", "rk3399_v1.0.0", "rk3568_v1.0.0", "rk3588_v1.1.0")
]


@pytest.mark.parametrize("spec_path", SPECS, ids=lambda path: path.stem)
def test_resnet8_on_each_chip(spec_path: Path) -> None:
    done = preprocess(load_model(MODELS / "mlperf_resnet8.onnx").model)
    model, spec = done.model, read_spec(spec_path)
    samples = random_samples(model)
    reference = run_reference(model, samples.feeds)
    policy = choose(model, spec, collect_ranges(model, samples), samples, reference, Objective(), report=done.report)
    assert_sound(policy, model, spec, samples, reference)
