"""Layers get 4 or 6 bits where the spec says that they are multiplied faster, as many as the accuracy budget allows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, model_of, spec_of

from metainfer_core.actions.kinds.quantize import Width
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import choose
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, worst_sqnr_db
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search.integer_search import Measured, integer_actions, quantized
from metainfer_core.policy.search.narrow_search import narrowed
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

TEXT = """m (float[1,16,16,16] x, float[32,16,3,3] w_a, float[32,32,3,3] w_b, float[16,32,1,1] w_c, float[8,16,1,1] w_d)
    => (float[1,8,5,5] z) {
    [a] a = Conv (x, w_a) [b] b = Conv (a, w_b) [pool] p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
    [c] c = Conv (p, w_c) [d] d = Conv (c, w_d) [shift] z = MaxPool <kernel_shape = [2, 2]> (d) }"""


def chip(**macs: float) -> HardwareSpec:
    """A chip with so many products a cycle in each type."""
    rates = {"clock_hz": 1e8, "launch_overhead_us": 0.1, "accumulator_bits": 32}
    unit = cpu(
        data_types=("int4", "int6", "int8", "float32"), macs_per_cycle={"float32": 1, "int8": 8, **macs}, **rates
    )
    return spec_of({"dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=20)}, {"cpu": unit})


@cache
def model() -> ir.Model:
    return model_of(TEXT)


def chosen(spec: HardwareSpec, **objective: Any) -> Policy:
    samples = random_samples(model())
    reference = run_reference(model(), samples.feeds)
    return choose(model(), spec, collect_ranges(model(), samples), samples, reference, Objective(**objective))


def widths(policy: Policy) -> dict[str, int]:
    return {line.node_id: line.params["bit_width"] for line in policy.actions if line.action == "quantize"}


def test_layers_have_few_bits_where_these_are_faster_and_the_budget_allows() -> None:
    spec = chip(int4=32, int6=16)
    policy = chosen(spec, min_sqnr_db=22.0)
    found = widths(policy)
    assert {4, 6} & set(found.values())
    assert set(found.values()) != {4}
    best = policy.candidates[0]
    assert best["name"].startswith("layers in INT")
    few = sum(len(line.nodes) for line in policy.actions if line.params.get("bit_width") in (4, 6))
    assert f" nodes in INT8, {few} in 4 or 6 bits; " in best["accuracy"]
    assert best["narrow_nodes"] == few
    line = next(line for line in policy.actions if line.action == "quantize" and line.params["bit_width"] < 8)
    bits = line.params["bit_width"]
    times = {4: 4, 6: 2}[bits]
    assert line.why[0].claim == f"cpu multiplies INT{bits} {times} times as fast as INT8, and the budget holds with it."
    assert line.why[0].spec_field == f"compute_units.cpu.macs_per_cycle.int{bits}"
    assert line.alternatives[0].option == "INT8"
    assert line.evidence.alone is not None
    assert line.evidence.together is not None
    assert worst_sqnr_db(line.evidence.together) >= 22.0
    four = [line for line in policy.actions if line.params.get("bit_width") == 4]
    assert all(line.risk is not None and line.risk.level == "high" for line in four)
    program = lower(apply(model(), spec, policy)).program
    types = {tensor.name: tensor.element_type for tensor in program.tensors}
    for name, width in found.items():
        steps = [step for step in program.steps if name in step.node_ids]
        assert {types[step.outputs[0]] for step in steps} == {f"int{width}"}, name
    if "pool" in found:
        assert found["pool"] == found["b"]


UNKNOWN = (
    "How fast cpu multiplies INT4 is not known (compute_units.cpu.macs_per_cycle.int4); its codes take as many bytes."
)
SLOW = (
    "cpu multiplies INT4 no faster than INT8 (compute_units.cpu.macs_per_cycle.int4), and its codes take as many bytes."
)


@pytest.mark.parametrize(("macs", "why"), [({}, UNKNOWN), ({"int4": 8, "int6": 8}, SLOW)], ids=["unknown", "no faster"])
def test_few_bits_are_not_proposed_where_they_gain_nothing(macs: dict[str, float], why: str) -> None:
    policy = chosen(chip(**macs), min_sqnr_db=5.0)
    assert set(widths(policy).values()) == {8}
    assert not [one for one in policy.candidates if "layers in" in one["name"]]
    layer = next(line for line in policy.actions if line.action == "quantize" and line.node_id == "a")
    assert {one.option: one.reason for one in layer.alternatives}["INT4"] == why


def test_few_bits_are_not_proposed_where_the_unit_does_not_state_them() -> None:
    spec = chip(int4=32)
    unit = spec.compute_units["cpu"]
    silent = type(unit)(**{**unit.__dict__, "data_types": ("int8", "float32")})
    policy = chosen(type(spec)(**{**spec.__dict__, "compute_units": {"cpu": silent}}), min_sqnr_db=5.0)
    assert set(widths(policy).values()) == {8}


def test_the_noisiest_layers_keep_their_bits() -> None:
    """Each of four layers costs 3 of noise in 4 bits and 1 in 6; the budget bears 8."""
    spec, samples = chip(int4=32, int6=16), random_samples(model())
    start = Draft(model().clone(), spec, collect_ranges(model(), samples))
    best = quantized(start.branch(), {}, {})
    ids = {action.nodes[0]: action.id for action in integer_actions(best)}
    costs = {4: 3.0, 6: 1.0, 8: 0.0}
    seen: list[dict[str, int]] = []

    def build(narrow: dict[str, Width]) -> Draft:
        return quantized(start.branch(), {}, {}, narrow=narrow)

    def effect(noise: float) -> Effect:
        ratio = -10 * np.log10(noise / 1000) if noise else None
        return Effect(
            outputs=(OutputEffect(output="z", sqnr_db=ratio, max_abs_error=noise),), samples=1, data="made up"
        )

    def measure(draft: Draft) -> Measured:
        bits = {one.nodes[0]: one.params["bit_width"] for one in integer_actions(draft)}
        seen.append(bits)
        return effect(sum(costs[bits[name]] for name in "abcd"))

    alone = dict.fromkeys(ids.values(), effect(0.5)) | {
        identity: effect(1.0 + "dcba".find(name)) for name, identity in ids.items() if name in "abcd"
    }
    objective = Objective(min_sqnr_db=float(-10 * np.log10(8.1 / 1000)))
    (found,) = narrowed(build, measure, best, alone, objective)  # type: ignore[arg-type]
    assert found.words == "layers in INT4 and INT6"
    bits = {one.nodes[0]: one.params["bit_width"] for one in integer_actions(found.draft)}
    assert [bits[name] for name in "abcd"] == [6, 6, 4, 4]
    assert [bits["pool"], bits["shift"]] == [6, 4]
    assert len(seen) <= 6
