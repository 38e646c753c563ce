"""A real model on each chip that the product comes with: built as promised, or refused with the resource that lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from metainfer_core import pipeline
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import DoesNotFitError
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load

ROOT = Path(__file__).parents[3]
MODELS = ROOT.parent / "shared" / "models"
CHIPS = sorted({path.stem.split("_v")[0] for path in (ROOT / "hwspecs").glob("*.yaml")})
TOO_SMALL = {
    "silero_vad": {"p8x32a": "hub_ram", "pulp_soc": "l2", "veer_eh1": None},
    "magika": {"i80960ka": "dram", "p8x32a": "hub_ram", "pulp_soc": "l2", "veer_eh1": None},
}
"""Chips whose least memory does not hold the model, with the memory that is named (None: any)."""


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("model", ["silero_vad", "magika"])
def test_the_model_is_built_or_what_lacks_is_named(model: str, chip: str) -> None:
    spec = load(chip, ROOT / "hwspecs")
    prepared = pipeline.prepare(MODELS / f"{model}.onnx")
    samples = pipeline.samples_for(prepared, None)
    if chip in TOO_SMALL[model]:
        with pytest.raises(DoesNotFitError) as refusal:
            pipeline.adapt(prepared, spec, samples, samples, Objective(fast=True))
        memory = TOO_SMALL[model][chip]
        assert "too small" in refusal.value.what
        assert memory is None or f"'{memory}'" in refusal.value.what
        return
    adapted = pipeline.adapt(prepared, spec, samples, samples, Objective(fast=True))
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, "native_cpu", samples.feeds)
    report = pipeline.make_report(prepared, spec, adapted.policy, compiled, samples, adapted.reference)
    assert report.violations == ()
    assert report.approved_not_realised == ()
    assert validate_package(compiled.package).equal
