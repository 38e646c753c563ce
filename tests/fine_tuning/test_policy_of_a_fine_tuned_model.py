"""What `fine-tune` leaves behind is a model like any other: it is adapted, explained, built, and its record is told."""

import json

import pytest
from test_restructure import NET, change, made, model_of

from metainfer_core import pipeline
from metainfer_core.codegen.validate import validate_package
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.task_metrics import MetricChange
from metainfer_core.policy.lineage import MEASURED, NEEDS_RETRAINING, RECORD, Lineage, TakenChange
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load
from metainfer_core.verify.samples import random_samples
from studio.words.core_words import in_chinese

DIGEST = "sha256:" + "ab" * 32
WORDS = "Made from net (sha256:abababababab) with kernel@one, depthwise@two: "


def record(status):
    """As fine-tuning writes it."""
    figures = MetricChange(metric="accuracy", reference=0.9, value=0.91, low=-0.005, high=0.025, samples=500)
    return Lineage(
        status=status,
        source="net",
        source_digest=DIGEST,
        spec_digest=DIGEST,
        policy_digest=DIGEST,
        taken=(TakenChange(id="kernel@one", grade="safe"), TakenChange(id="depthwise@two", reviewed_by="ada")),
        trained=("one",),
        training_data="train.npz",
        training_digest=DIGEST,
        labelled=True,
        seed=0,
        steps=10,
        best_step=9,
        learning_rate=0.001,
        batch=8,
        against_source=figures if status == MEASURED else None,
    )


@pytest.fixture
def changed_file(tmp_path):
    """Writes a model whose structure was changed, with a record of this status."""

    def write(status):
        old = model_of(NET)
        kernel = change("kernel", "one", grade="safe", from_=5, to=3)
        model = made(old, kernel, change("depthwise", "two", kernel=[3, 3], channels=6))
        model.metadata_props[RECORD] = record(status).to_json().decode()
        path = tmp_path / "tuned.onnx"
        path.write_bytes(model_bytes(model))
        return path

    return write


def test_commands_adapt_a_changed_model_and_tell_its_record(meta_infer, changed_file, tmp_path):
    path, policy, page = changed_file(MEASURED), tmp_path / "tuned.policy", tmp_path / "why.html"
    status, out, err = meta_infer("adapt", "--model", path, "--hw-spec", "rk3588", "--output", policy, "--fast-mode")
    assert (status, err) == (0, err)
    told = WORDS + "measured after retraining. Held-out data: accuracy 0.9100, +0.0100 against the model before "
    told += "(95 % interval -0.0050 to +0.0250, 500 samples)."
    assert f"The model: {told}" in out
    why = ("explain", "--policy", policy, "--hw-spec", "rk3588")
    status, out, _ = meta_infer(*why)
    assert status == 0
    assert out.startswith(f"The model: {told}\n")
    status, out, _ = meta_infer(*why, "--json")
    assert json.loads(out)["fine_tuning"]["taken"][1]["reviewed_by"] == "ada"
    assert meta_infer(*why, "--format", "html", "--output", page)[0] == 0
    assert told in page.read_text().replace("&#43;", "+")
    assert in_chinese(told).startswith("由 net（sha256:abababababab）经 kernel@one")


def test_a_changed_model_is_built_and_gives_the_adapted_models_bits(changed_file):
    prepared, spec = pipeline.prepare(changed_file(NEEDS_RETRAINING)), load("rk3588")
    samples = random_samples(prepared.model, 2)
    adapted = pipeline.adapt(
        prepared, spec, samples, samples, Objective(fast=True, min_sqnr_db=10, min_channel_sqnr_db=0)
    )
    assert adapted.policy.fine_tuning.status == NEEDS_RETRAINING
    assert any("was not measured since" in each for each in adapted.policy.warnings)
    assert {line.action for line in adapted.policy.actions} == {"fuse", "place"}
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, "sim-npu", samples.feeds)
    assert (compiled.violations, compiled.differences) == ((), ())
    assert validate_package(compiled.package).equal
