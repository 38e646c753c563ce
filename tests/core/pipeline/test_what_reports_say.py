"""What a report says about the prediction and about the data, for policies that people changed."""

import numpy as np
import onnx
import onnx.parser
import pytest

from metainfer_core import pipeline
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.pipeline.reporting import over_budget
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import predict
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.library import load as load_spec

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,16,16] x) => (float[1,8,16,16] y) { [first] r = Relu (x)  [second] y = Neg (r) }"""


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    prepared, spec = pipeline.prepare(path), load_spec("esp32s3")
    samples = pipeline.samples_for(prepared, None)
    objective = Objective(precision=Precision.FLOAT32, fast=True)
    return prepared, spec, pipeline.adapt(prepared, spec, samples, samples, objective)


def report(adapted, policy, samples=None):
    prepared, spec, made = adapted
    used = samples or made.samples
    compiled = pipeline.compile_policy(prepared, spec, policy, "native-cpu", used.feeds)
    return pipeline.make_report(prepared, spec, policy, compiled, used, made.reference[: len(used.feeds)])


def test_a_prediction_is_that_of_what_was_built(adapted):
    prepared, spec, made = adapted
    found = report(adapted, made.policy)
    assert found.predicted_ms == made.policy.candidates[0]["predicted_ms"]
    assert " ms on esp32s3; " in found.headlines[1].answer

    changed = made.policy.plain()
    placed = next(line for line in changed["actions"] if line["action"] == "place")
    placed["override"] = False  # this tensor goes back to the slow memory
    without = Policy.from_plain(changed, "policy")
    slower = report(adapted, without)
    total = predict(apply(prepared.model, spec, without), spec).total
    assert slower.predicted_ms == pytest.approx((total.low / 1000, total.high / 1000), abs=1e-6)
    assert slower.predicted_ms[1] > found.predicted_ms[1]
    low, high = slower.predicted_ms
    assert slower.headlines[1].answer.startswith(f"predicted {low:.3g} to {high:.3g} ms on esp32s3; measured ")


def test_the_policy_s_warnings_stay_when_there_is_data(adapted, tmp_path):
    random = [warning for warning in report(adapted, adapted[2].policy).warnings if "random" in warning]
    assert [warning.split(":")[0].split(" and")[0] for warning in random] == [
        "No data was given",
        "Errors were measured on random inputs",
    ]
    np.savez(tmp_path / "data.npz", x=np.ones((2, 1, 8, 16, 16), np.float32))
    samples = pipeline.samples_for(adapted[0], str(tmp_path / "data.npz"))
    warnings = report(adapted, adapted[2].policy, samples).warnings
    assert [warning for warning in warnings if "random" in warning] == random[:1]


def test_what_was_built_over_the_budget_says_so(adapted):
    def built(sqnr_db):
        return Effect(outputs=(OutputEffect(output="y", sqnr_db=sqnr_db),), samples=2, data="2 samples of a.npz")

    policy = adapted[2].policy  # its budget: 20 dB
    assert over_budget(policy, built(20.0)) == ()
    (said,) = over_budget(policy, built(17.3))
    assert said == "As built, it breaks the accuracy budget of its policy: y has 17.3 dB; the budget is 20 dB."
    for objective in ({}, {"goal": "least time"}):
        assert over_budget(Policy.from_plain({**policy.plain(), "objective": objective}), built(17.3)) == ()
    assert not any("budget" in each for each in report(adapted, policy).warnings)
