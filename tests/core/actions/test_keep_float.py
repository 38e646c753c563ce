from __future__ import annotations

from typing import Any

import pytest
from action_bench import calibrated, cpu, keeps_promise, model_of, npu, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action, Reason
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.rewiring import KEEP_FLOAT, UNIT, node
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.integer_search import quantized
from metainfer_core.spec.hardware_spec import Operators, Quantity

KIND = KeepFloat()
CONV = "m (float[1,3,4,4] x, float[8,3,3,3] w_c) => (float[1,8,2,2] y) { [conv] c = Conv (x, w_c) [relu] y = Relu (c) }"


@pytest.mark.parametrize(
    ("fields", "cause", "field", "claim"),
    [
        (
            {"sensitive_layers": ("conv",)},
            "sensitive",
            "sensitive_layers",
            "conv is one of the spec's sensitive_layers: its precision must not be lowered.",
        ),
        (
            {"units": {"cpu": cpu(data_types=("float32",))}},
            "no_integer_unit",
            "compute_units.cpu.data_types",
            "cpu has no int8: compute_units.cpu.data_types is float32.",
        ),
        (
            {"units": {"cpu": cpu(data_types=("float32",)), "npu": npu(operators=Operators(supported=("Relu",)))}},
            "no_integer_unit",
            "compute_units.npu.operators.supported",
            "npu does not run Conv (compute_units.npu.operators.supported does not list it), and names no fallback.",
        ),
    ],
)
def test_each_cause_is_on_record(fields: dict[str, Any], cause: str, field: str, claim: str) -> None:
    model = model_of(CONV)
    spec = spec_of(**fields)
    (action,), refusals = proposed(KIND, model, spec)
    assert refusals == []
    assert (action.nodes, action.params) == (("conv",), {"cause": cause, "target_hw": "cpu"})
    assert (action.why[0].claim, action.why[0].spec_field) == (claim, field)
    kept = rewritten(KIND, model, spec, [action])
    assert node(kept, "conv").metadata_props[KEEP_FLOAT] == "1"
    assert node(kept, "conv").metadata_props[UNIT] == "cpu"
    assert keeps_promise(KIND, model, kept)


def test_a_layer_that_can_be_int8_is_not_named() -> None:
    assert proposed(KIND, model_of(CONV), spec_of()) == ([], [])


def test_a_kept_node_is_protected_from_quantize() -> None:
    model, spec = model_of(CONV), spec_of()
    why = Reason(claim="INT8 on conv alone breaks the budget: y has 3.0 dB; the budget is 20 dB.")
    action = KIND.because(model, spec, node(model, "conv"), "over_budget", why)
    kept = rewritten(KIND, model, spec, [action])
    assert proposed(Quantize(), kept, spec, calibrated(model)) == (
        [],
        ["conv was decided to stay float by a keep_float action."],
    )
    assert KIND.sentence(action) == "Keep conv in float32 on cpu."


def test_what_an_earlier_action_quantized_cannot_be_kept_float() -> None:
    model, spec = model_of(CONV), spec_of()
    done = rewritten(Quantize(), model, spec, proposed(Quantize(), model, spec, calibrated(model))[0])
    reason = refusal(KIND, done, spec, Action(kind="keep_float", nodes=("conv",)))
    assert reason == "An earlier action quantized the weights of conv."


def test_a_unit_without_float32_is_refused() -> None:
    spec = spec_of(units={"cpu": cpu(), "npu": npu()})
    action = Action(kind="keep_float", nodes=("conv",), params={"target_hw": "npu"})
    assert refusal(KIND, model_of(CONV), spec, action) == ("npu has no float32: compute_units.npu.data_types is int8.")
    action = Action(kind="keep_float", nodes=("conv",), params={"cause": "mood"})
    assert str(refusal(KIND, model_of(CONV), spec, action)).startswith("params: cause is not right.")


LIMITED = Operators(limits={"Conv": {"stride_h": Quantity(min=1, max=7)}})
NO_CONV = Operators(supported=("Relu",))
STRIDED = (
    "m (float[1,3,16,16] x, float[8,3,8,8] w_c) => (float[1,8,2,2] y) { [conv] y = Conv <strides = [8,8]> (x, w_c) }"
)


@pytest.mark.parametrize("operators", [LIMITED, NO_CONV], ids=["limited", "no_conv"])
def test_what_the_home_of_int8_does_not_run_may_be_int8_on_the_unit_that_is_tried(operators: Operators) -> None:
    model, spec = model_of(STRIDED), spec_of(units={"cpu": cpu(), "npu": npu(operators=operators)})
    (kept,), refusals = proposed(KIND, model, spec)
    assert (kept.nodes, kept.params["cause"], refusals) == (("conv",), "no_integer_unit", [])
    assert proposed(KeepFloat("cpu"), model, spec) == ([], [])
    draft = quantized(Draft(model, spec, calibrated(model)), {"target_hw": "cpu"}, {})
    assert [(action.kind, action.params["target_hw"]) for action in draft.actions] == [("quantize", "cpu")]


def test_the_unit_that_is_tried_has_limits_of_its_own() -> None:
    model, spec = model_of(STRIDED), spec_of(units={"cpu": cpu(operators=LIMITED), "npu": npu()})
    assert proposed(KIND, model, spec) == ([], [])
    (kept,), _ = proposed(KeepFloat("cpu"), model, spec)
    assert (
        kept.why[0].claim == "conv has stride_h 8; cpu runs 1 to 7 (compute_units.cpu.operators.limits.Conv.stride_h)."
    )
