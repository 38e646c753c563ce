"""What is known to fail on a chip is refused with what to do instead; what hurts is a risk that is shown."""

from __future__ import annotations

from typing import Any

from action_bench import cpu, model_of, npu, spec_of

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import kind
from metainfer_core.actions.known_issues import known_harm
from metainfer_core.actions.units import NoUnit, unit_for
from metainfer_core.policy.draft import Draft
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators
from metainfer_core.spec.known_issues import KnownIssue

MODEL = """m (float[1,3,8,8] x, float[4,3,3,3] w_a, float[4,4,5,5] w_b) => (float[1,4,8,8] y) {
    [conv_a] a = Conv <pads = [1,1,1,1]> (x, w_a)
    [relu_a] b = Relu (a)
    [conv_b] y = Conv <pads = [2,2,2,2]> (b, w_b) }"""
EVIDENCE = "Outputs were all zero on 12 of 12 boards (SDK 2.3)."


def spec_with(**issue: Any) -> HardwareSpec:
    given = {"verdict": "fails", "operators": ["Conv", "Relu"], "evidence": EVIDENCE, **issue}
    return spec_of(known_issues={"conv_relu": KnownIssue.from_plain(given)})


def told(spec: HardwareSpec, action: Action) -> str | None:
    of_kind = kind(action.kind)
    assert of_kind is not None
    refused = legality.refusal(model_of(MODEL), spec, of_kind, action)
    return refused.reason if refused else None


FUSE = Action(kind="fuse", nodes=("conv_a", "relu_a"), params={"with": ["relu_a"], "target_hw": "cpu"})


def test_a_known_failure_is_refused_and_says_what_to_do_instead() -> None:
    spec = spec_with(action="fuse", workaround="keep the two apart", substitute=["Clip"])
    assert told(spec, FUSE) == (
        f"fuse of conv_a, relu_a is known to fail: {EVIDENCE} (known_issues.conv_relu). "
        "Use Clip in its place; or keep the two apart."
    )


def test_only_what_the_issue_speaks_of_is_refused() -> None:
    assert told(spec_of(), FUSE) is None
    assert told(spec_with(action="split"), FUSE) is None  # another kind
    assert told(spec_with(action="fuse", unit="gpu"), FUSE) is None  # another unit
    assert told(spec_with(action="fuse", operators=["Conv", "Sigmoid"]), FUSE) is None  # another chain
    small = {"of": ["kernel_h"], "max": 3}
    assert told(spec_with(action="fuse", when=[small]), FUSE) is not None
    assert told(spec_with(action="fuse", when=[{"of": ["kernel_h"], "min": 5}]), FUSE) is None


def test_an_issue_of_a_unit_stops_all_that_gives_it_the_operators() -> None:
    spec = spec_with(unit="cpu", operators=["Conv"], when=[{"of": ["kernel_h"], "min": 5}])
    quantize = {"bit_width": 8, "scheme": "tensor_wise", "symmetric": True, "target_hw": "cpu"}
    refused = told(spec, Action(kind="quantize", nodes=("conv_b",), params={**quantize, "ranges": RANGES}))
    assert refused == f"quantize of conv_b on cpu is known to fail: {EVIDENCE} (known_issues.conv_relu)."
    assert told(spec, Action(kind="quantize", nodes=("conv_a",), params={**quantize, "ranges": RANGES})) is None


RANGES = {name: [-1.0, 1.0] for name in ("x", "a", "b", "y")}


def test_what_hurts_is_allowed_and_told_as_a_risk() -> None:
    spec = spec_with(verdict="hurts", action="fuse")
    assert told(spec, FUSE) is None
    sentence = f"fuse of conv_a, relu_a is known to hurt: {EVIDENCE} (known_issues.conv_relu)."
    assert known_harm(model_of(MODEL), spec, FUSE) == (sentence,)
    draft = Draft(model_of(MODEL), spec, None)
    assert draft.take([FUSE]) == [FUSE]
    assert draft.branch().harms == {"fuse@conv_a": (sentence,)}


def test_an_operator_that_no_unit_runs_names_its_substitute() -> None:
    issue = KnownIssue(
        verdict="fails", operators=("GroupNormalization",), evidence="p. 12", substitute=("LayerNormalization",)
    )
    units = {"npu": npu(operators=Operators(unavailable=("GroupNormalization",))), "cpu": cpu()}
    found = unit_for(spec_of(units=units, known_issues={"group_norm": issue}), "GroupNormalization", "int8")
    assert isinstance(found, NoUnit)
    assert found.reason.endswith("and names no fallback. Use LayerNormalization in its place.")
