"""Layers of low rank: the least rank within the budget, where it is predicted to gain; no other layer is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, model_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import choose
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, Precision, worst_sqnr_db
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search import search
from metainfer_core.policy.search.factor_search import MARGIN_DB, stricter
from metainfer_core.policy.search.integer_search import Measured, alone
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory
from metainfer_core.verify.effect import measure
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,4,12,12] x, float[16,4,3,3] w_a, float[16,16,3,3] w_b, float[16,16,3,3] w_c)
    => (float[1,16,12,12] y) {
    [first] a = Conv <pads = [1,1,1,1]> (x, w_a) [relu] r = Relu (a)
    [low] b = Conv <pads = [1,1,1,1]> (r, w_b) [act] s = Relu (b)
    [full] y = Conv <pads = [1,1,1,1]> (s, w_c) }"""
RANK = 5


def chip(**fields: Any) -> HardwareSpec:
    """A CPU on which products cost more than bytes."""
    rates = {"clock_hz": 1e8, "macs_per_cycle": {"float32": 1, "int8": 2}, "launch_overhead_us": 0.1, **fields}
    memories = {"dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=2)}
    return spec_of(memories=memories, units={"cpu": cpu(**rates)})


def model() -> ir.Model:
    """The middle layer is of rank 5 but for a little noise."""
    rng = np.random.default_rng(3)
    low = np.einsum("rch,orw->ochw", rng.normal(size=(RANK, 16, 3)), rng.normal(size=(16, RANK, 3)))
    return model_of(TEXT, {"w_b": 0.1 * low + rng.normal(size=(16, 16, 3, 3)) * 1e-3})


@cache
def chosen(spec: HardwareSpec, objective: Objective, is_random: bool = False) -> Policy:
    found = model()
    samples = replace(random_samples(found), is_random=is_random, label="8 samples of a file")
    reference = run_reference(found, samples.feeds)
    return choose(found, spec, collect_ranges(found, samples), samples, reference, objective)


def factors(policy: Policy) -> dict[str, int]:
    return {line.node_id: line.params["rank"] for line in policy.actions if line.action == "factor_weights"}


def test_the_least_rank_within_the_budget_is_taken_and_then_quantized() -> None:
    policy = chosen(chip(), Objective())
    assert factors(policy) == {"low": RANK}
    assert policy.candidates[0]["name"].startswith("factored, ")
    (line,) = [line for line in policy.actions if line.action == "factor_weights"]
    assert line.evidence.alone is not None
    assert worst_sqnr_db(line.evidence.alone) >= 20 + MARGIN_DB
    assert line.risk.level == "medium"
    assert "Two layers of lower rank stand in for one, and nothing is trained again." in line.risk.facts
    assert {line.node_id for line in policy.actions if line.action == "quantize"} >= {"low.0_conv", "low.1_conv"}
    found = model()
    samples = random_samples(found)
    adapted = apply(found, chip(), policy)
    assert worst_sqnr_db(measure(run_reference(found, samples.feeds), adapted, samples)) >= 20
    assert len([step for step in lower(adapted).program.steps if "conv2d" in step.kernel]) == 4


def test_what_int8_does_to_a_layer_alone_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers beside the factored one have the same action with and without factors."""
    measured: list[Action] = []

    def counted(base: Draft, action: Action, measure: Callable[[ir.Model], Effect]) -> Measured:
        measured.append(action)
        return alone(base, action, measure)

    monkeypatch.setattr(search, "alone", counted)
    policy = chosen.__wrapped__(chip(), Objective())
    assert factors(policy) == {"low": RANK}
    assert {"first", "low", "low.0_conv"} <= {action.nodes[0] for action in measured}
    assert len(measured) == len(set(measured))


def test_in_float32_too() -> None:
    policy = chosen(chip(), Objective(precision=Precision.FLOAT32, min_sqnr_db=40.0))
    assert factors(policy) == {"low": RANK}
    assert policy.candidates[0]["name"] == "factored, float32"
    assert chosen(chip(), Objective(precision=Precision.FLOAT32, min_sqnr_db=70.0)).candidates[0]["name"] == "float32"


def test_where_bytes_decide_nothing_is_factored() -> None:
    """Two layers store what lies between them: where products cost nothing, that is a loss."""
    policy = chosen(chip(macs_per_cycle={"float32": 4096, "int8": 8192}), Objective())
    assert factors(policy) == {}
    assert not any(candidate["name"].startswith("factored") for candidate in policy.candidates)


def test_random_inputs_say_nothing_of_a_rank() -> None:
    assert factors(chosen(chip(), Objective(), is_random=True)) == {}


def test_half_of_the_budget_is_left_for_what_rounds_numbers() -> None:
    strict = stricter(Objective(min_sqnr_db=30.0, max_metric_drop=0.01))
    assert (strict.min_sqnr_db, strict.max_metric_drop) == (36.0, 0.005)
