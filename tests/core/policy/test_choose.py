from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest
from action_bench import cpu, model_of, npu, ops, spec_of

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lower import lower
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import choose, predict
from metainfer_core.policy.objective import Objective, Precision, SearchMode, worst_sqnr_db
from metainfer_core.policy.plain import parse_policy
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.policy.search.mixed_search import most_tries
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory, Operators
from metainfer_core.verify.effect import measure
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

RATES: dict[str, Any] = {"clock_hz": 1e9, "macs_per_cycle": {"float32": 4, "int8": 16}, "launch_overhead_us": 0.1}


def chip(**fields: Any) -> HardwareSpec:
    memories = {
        "dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps={"min": 1, "typ": 2}),
        "sram": Memory(kind="sram", size_bytes=1 << 18, bandwidth_gbps=20),
    }
    return spec_of(memories=memories, units={"cpu": cpu(**{**RATES, **fields})})


BLOCK = """
    m (float[1,3,16,16] x, float[8,3,3,3] w_a, float[8] w_bias, float[8] w_gamma, float[8] w_beta, float[8] w_mean,
       float[8] w_variance, float[8,1,3,3] w_d, float[8,8,1,1] w_p) => (float[1,8,16,16] y) {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
        [bn] n = BatchNormalization (a, w_gamma, w_beta, w_mean, w_variance)
        [act] r = HardSwish (n)
        [dw] d = Conv <group = 8, pads = [1,1,1,1]> (r, w_d)
        [pw] p = Conv (d, w_p)
        [add] s = Add (p, r)
        [out] y = Relu (s)
    }"""


def chosen(model: ir.Model, spec: HardwareSpec, objective: Objective | None = None) -> Policy:
    samples = random_samples(model)
    reference = run_reference(model, samples.feeds)
    return choose(model, spec, collect_ranges(model, samples), samples, reference, objective or Objective())


def quality(model: ir.Model, adapted: ir.Model) -> float:
    samples = random_samples(model)
    return worst_sqnr_db(measure(run_reference(model, samples.feeds), adapted, samples))


def lines(policy: Policy, kind: str) -> list[PolicyAction]:
    return [line for line in policy.actions if line.action == kind]


def test_a_block_goes_all_the_way() -> None:
    model, spec = model_of(BLOCK), chip()
    policy = chosen(model, spec)
    kinds = [line.action for line in policy.actions]
    assert kinds == sorted(kinds, key=["fold_batch_norm", "fuse", "keep_float", "quantize", "place"].index)
    assert [line.nodes for line in lines(policy, "fuse")] == [("a", "act"), ("add", "out")]
    assert [line.node_id for line in lines(policy, "quantize")] == ["a", "dw", "pw", "add"]
    assert len({line.id for line in policy.actions}) == len(policy.actions)
    assert policy.spec_digest == spec.values_digest
    assert policy.ruleset_digest == ruleset_digest()
    assert policy.candidates[0]["chosen"] is True
    assert policy.candidates[0]["name"].startswith("int8 on cpu, weights by ")
    assert {candidate["name"] for candidate in policy.candidates} >= {"float32"}
    best, plain = policy.candidates[0], next(each for each in policy.candidates if each["name"] == "float32")
    assert f"at least {best['sqnr_db']:.1f} dB; {best['integer_nodes']} nodes in INT8" in best["accuracy"]
    assert f"{best['moved_bytes']:,} bytes moved" in best["accuracy"]
    assert (best["exact"], best["within_budget"], plain["integer_nodes"]) == (False, True, 0)
    assert plain["moved_bytes"] > best["moved_bytes"]
    assert policy.warnings[0].startswith("No data was given")
    adapted = apply(model, spec, policy)
    assert quality(model, adapted) > 20
    steps = [step.node_ids for step in lower(adapted).program.steps]
    assert len(steps) < 8  # folded and fused


def test_each_line_brings_its_evidence() -> None:
    policy = chosen(model_of(BLOCK), chip())
    for line in lines(policy, "quantize"):
        assert line.evidence.alone is not None
        assert line.evidence.together is not None
        assert line.why[0].spec_field == "compute_units.cpu.data_types"
        assert line.alternatives[0].option == "float32"
        assert line.risk is not None
        assert (line.risk.level, line.review_required) == ("high", True)  # random data
        low, high = line.evidence.predicted_time_us or (1.0, 1.0)
        assert low <= high < 0  # INT8 is faster on this chip
    (fold,) = lines(policy, "fold_batch_norm")
    assert fold.evidence.alone is not None
    assert fold.evidence.alone.outputs[0].max_abs_error < 1e-4
    assert (fold.evidence.predicted_bytes or 0) < 0
    assert lines(policy, "place")[0].evidence.alone is None


def test_what_an_action_does_alone_is_that_of_the_chosen_variant() -> None:
    model = model_of(BLOCK)
    slow_to_start = npu(
        weight_granularity=("tensor",), launch_overhead_us=1e5, clock_hz=1e9, macs_per_cycle={"int8": 4096}
    )
    alone = chip()
    both = spec_of(memories=dict(alone.memories), units={"npu": slow_to_start, **alone.compute_units})

    def effects(spec: HardwareSpec) -> dict[str, Any]:
        policy = chosen(model, spec)
        lines = [line for line in policy.actions if line.action == "quantize"]
        assert {line.params["target_hw"] for line in lines} == {"cpu"}
        return {line.node_id: line.evidence.alone for line in lines}

    assert effects(both) == effects(alone)
    assert all(effects(alone).values())


def test_an_applied_policy_survives_its_file() -> None:
    model, spec = model_of(BLOCK), chip()
    policy = chosen(model, spec)
    again = parse_policy(policy.to_json())
    assert again == policy
    assert ops(apply(model, spec, again)) == ops(apply(model, spec, policy))


def test_reviewers_words_count() -> None:
    model, spec = model_of(BLOCK), chip()
    plain = chosen(model, spec).plain()

    def with_fields(line_id: str, **fields: object) -> ir.Model:
        edited = json.loads(json.dumps(plain))
        for line in edited["actions"]:
            if f"{line['action']}@{line['node_id']}" == line_id:
                line.update(fields)
        return apply(model, spec, Policy.from_plain(edited))

    off = with_fields("quantize@dw", override=False)
    assert next(node for node in off.graph if node.name == "dw").inputs[1].const_value is not None
    sensitive = with_fields("fuse@add", precision_sensitive=True)
    assert "metainfer.fused_with" not in next(node for node in sensitive.graph if node.name == "out").metadata_props
    assert quality(model, sensitive) > 20
    with pytest.raises(UnsupportedError, match="quantize@dw is not legal"):
        with_fields("quantize@dw", override={"target_hw": "moon"})


CANCEL = """
    m (float[1,3,8,8] x, float[8,3,3,3] w_a, float[8,3,3,3] w_b) => (float[1,8,6,6] z) <float big = {300.0}> {
        [a] a = Conv (x, w_a)
        [far] t = Mul (a, big)
        [b] b = Conv (x, w_b)
        [join] u = Add (t, b)
        [rest] z = Sub (u, t)
    }"""


def test_what_breaks_the_budget_stays_float_for_a_measured_reason() -> None:
    """A small branch that is added to a large one and taken apart again: 8 bits of the sum hold nothing of it."""
    model, spec = model_of(CANCEL), chip()
    policy = chosen(model, spec)
    (kept,) = lines(policy, "keep_float")
    assert (kept.node_id, kept.params["cause"]) == ("join", "over_budget")
    assert kept.why[0].claim.startswith("INT8 on join alone breaks the budget: z has ")
    assert [line.node_id for line in lines(policy, "quantize")] == ["a", "far", "b"]
    assert policy.candidates[0]["name"].startswith("mixed, int8 on cpu")
    assert "over the budget: z has " in policy.candidates[-1]["accuracy"]
    assert quality(model, apply(model, spec, policy)) >= 20


def test_cost_ranks_what_is_within_the_budget() -> None:
    """Where INT8 is slower on the chip, float32 is chosen; where energy counts, the fewer bytes win."""
    model = model_of(BLOCK)
    slow = chip(macs_per_cycle={"float32": 4, "int8": 0.5})
    assert chosen(model, slow).candidates[0]["name"] == "float32"
    by_bytes = chosen(model, slow, Objective(search_mode=SearchMode.ENERGY))
    assert by_bytes.candidates[0]["name"].startswith("int8")
    unknown = chosen(model, chip(macs_per_cycle={}))
    assert "predicted_ms" not in unknown.candidates[0]
    assert unknown.candidates[0]["name"].startswith("int8")  # fewer bytes
    assert any("cannot be predicted" in warning for warning in unknown.warnings)
    assert any("compute_units.cpu.macs_per_cycle.int8" in warning for warning in unknown.warnings)


def test_each_candidate_carries_the_price_of_what_would_be_built() -> None:
    model, spec = model_of(BLOCK), chip()
    policy, floats = chosen(model, spec), chosen(model, spec, Objective(precision=Precision.FLOAT32))
    for made in (policy, floats):
        built = predict(apply(model, spec, made), spec)
        assert lines(made, "place")  # it changes the price, and is settled last
        assert built.total is not None
        assert made.candidates[0]["typical_ms"] == round(built.total.typical / 1000, 6)
        assert made.candidates[0]["moved_bytes"] == sum(built.bytes_by_memory.values())
    beside = next(each for each in policy.candidates if each["name"] == "float32")
    assert {**beside, "chosen": True} == floats.candidates[0]


def test_targets_are_soft() -> None:
    policy = chosen(model_of(BLOCK), chip(), Objective(target_latency_ms=1e-6))
    assert any("The target of 1e-06 ms is not met" in warning for warning in policy.warnings)
    assert not any("not met" in w for w in chosen(model_of(BLOCK), chip(), Objective(target_latency_ms=1e6)).warnings)


def test_precision_and_fast_mode() -> None:
    model, spec = model_of(BLOCK), chip()
    plain = chosen(model, spec, Objective(precision=Precision.FLOAT32))
    assert lines(plain, "quantize") == []
    assert [candidate["name"] for candidate in plain.candidates] == ["float32"]
    with pytest.raises(UnsupportedError, match="The chip has no 16-bit floats"):
        chosen(model, spec, Objective(precision=Precision.FP16))
    fast = chosen(model, spec, Objective(fast=True))
    assert {line.evidence.alone for line in lines(fast, "quantize")} == {None}
    assert all(line.evidence.together is not None for line in lines(fast, "quantize"))


def test_an_npu_gets_what_it_runs_padded_and_the_rest_falls_back() -> None:
    accelerator = npu(
        channel_multiple=16,
        launch_overhead_us=0.1,
        operators=Operators(supported=("Conv", "Relu", "Add"), fallback="cpu"),
        cores=1,
    )
    base = chip()
    spec = spec_of(memories=dict(base.memories), units={"cpu": cpu(**RATES), "npu": accelerator})
    text = BLOCK.replace("float[8,8,1,1] w_p)", "float[8,8,1,1] w_p, float[8,8,1,1] w_end)")
    model = model_of(text.replace("[out] y = Relu (s)", "[last] l = Relu (s) [out] y = Conv (l, w_end)"))
    policy = chosen(model, spec)
    assert [line.params["padded"] for line in lines(policy, "pad_channels")] == [16]
    units = {line.node_id: line.params["target_hw"] for line in lines(policy, "quantize")}
    assert units["dw"] == units["pw"] == "npu"
    adapted = apply(model, spec, policy)
    for step in lower(adapted).program.steps:
        assert step.unit in spec.compute_units
    assert predict(adapted, spec).total is not None
    assert quality(model, adapted) > 20


def test_fallbacks_can_be_switched_off() -> None:
    model = model_of("m (float[1,8] x) => (float[1,8] y) { [s] y = Selu (x) }")
    fast = npu(data_types=("float32",), macs_per_cycle={"float32": 512}, clock_hz=1e9,
               operators=Operators(supported=("Relu",), fallback="cpu"))  # fmt: skip
    spec = spec_of(units={"fast": fast, "cpu": cpu()})
    on, off = chosen(model, spec), chosen(model, spec, Objective(allow_fallback=False))
    assert [line.params["target_hw"] for line in lines(on, "decompose")] == ["cpu"]
    assert lines(off, "decompose") == []
    assert [refusal.reason for refusal in off.refusals if refusal.kind == "decompose"] == [
        "fast does not run Selu. It could run on cpu, but fallbacks are switched off."
    ]


def test_a_model_without_a_kernel_says_so() -> None:
    model = model_of("m (float[1,4,4] x) => (float[1,4,4] y) { [d] y = Trilu (x) }")
    with pytest.raises(UnsupportedError, match="Trilu"):
        chosen(model, chip())


SCRIPT = """
import sys
sys.path[:0] = {paths!r}
from test_choose import BLOCK, chip, chosen
from action_bench import model_of
sys.stdout.buffer.write(chosen(model_of(BLOCK), chip()).to_json())
"""


def test_same_bytes_in_a_fresh_process_with_another_hash_seed(tmp_path: Path) -> None:
    here = Path(__file__).parent
    script = SCRIPT.format(paths=[str(here), str(here.parent)])
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, timeout=120, check=True
    )
    assert done.stdout == chosen(model_of(BLOCK), chip()).to_json()


def test_progress_is_told() -> None:
    """Every part that runs the model tells its own step and, where it is known, how much of it is done."""
    model = model_of(CANCEL)
    samples = random_samples(model)
    told: list[tuple[str, int, int]] = []
    choose(
        model,
        chip(),
        collect_ranges(model, samples),
        samples,
        run_reference(model, samples.feeds),
        Objective(),
        lambda step, done, total: told.append((step, done, total)),
    )
    assert list(dict.fromkeys(step for step, _, _ in told)) == [
        "proposing structural actions",
        "measuring in floats",
        "reading what each layer sees",
        "measuring INT8 variants",
        "mending what rounding does",
        "measuring the mended rounding",
        "measuring INT8 node by node",
        "searching what stays float",
        "pricing",
        "measuring all actions together",
    ]
    mended = [(done, total) for step, done, total in told if step == "mending what rounding does"]
    assert mended == [(done, 10) for done in range(10)]
    tried = [(done, total) for step, done, total in told if step == "searching what stays float"]
    parts = [done / total for done, total in tried]
    assert parts == sorted(parts)  # it never goes back
    assert {done / most_tries(5) for done in range(4)} <= set(parts)  # what both orders drop is tried once
    assert len(parts) > 4  # and moves within a try, by samples
    assert [(done, total) for step, done, total in told if step == "measuring in floats"] == [
        (0, 1), *((done, len(samples.feeds)) for done in range(1, len(samples.feeds)))
    ]  # fmt: skip
