"""What a report says about the prediction and about the data, for policies that people changed."""

import numpy as np
import onnx
import onnx.parser
import pytest

from metainfer_core import pipeline
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.library import load as load_spec

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,16,16] x) => (float[1,8,16,16] y) { [first] r = Relu (x)  [second] y = Neg (r) }"""


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    prepared, spec = pipeline.prepare(path), load_spec("rk3399")
    samples = pipeline.samples_for(prepared, None)
    objective = Objective(precision=Precision.FLOAT32, fast=True)
    return prepared, spec, pipeline.adapt(prepared, spec, samples, samples, objective)


def report(adapted, policy, samples=None):
    prepared, spec, made = adapted
    used = samples or made.samples
    compiled = pipeline.compile_policy(prepared, spec, policy, "native-cpu", used.feeds)
    return pipeline.make_report(prepared, spec, policy, compiled, used, made.reference[: len(used.feeds)])


def test_a_prediction_is_that_of_the_proposal(adapted):
    policy = adapted[2].policy
    fast = report(adapted, policy).headlines[1].answer
    assert " ms on rk3399; " in fast
    changed = policy.plain()
    changed["actions"][0]["override"] = False
    fast = report(adapted, Policy.from_plain(changed, "policy")).headlines[1].answer
    assert " ms on rk3399 for the policy as proposed, before overrides; " in fast


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
