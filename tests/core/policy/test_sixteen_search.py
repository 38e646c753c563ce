"""What 8 bits cannot hold is computed in 16 bits where the chip has them, and stays float32 only where it has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, model_of, npu, spec_of

from metainfer_core.actions.action import Action, Reason
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import choose
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, worst_sqnr_db
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search.integer_search import Measured, Sixteen
from metainfer_core.policy.search.mixed_search import Mix
from metainfer_core.policy.search.sixteen_search import most_rescues, rescued
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory, Operators
from metainfer_core.verify.effect import measure
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

CANCEL = """
    m (float[1,4,8,8] x, float[4,4,1,1] w_a, float[4,4,1,1] w_far, float[4,4,1,1] w_b) => (float[1,4,8,8] z) {
        [a] a = Conv (x, w_a) [far] f = Conv (x, w_far) [join] s = Add (a, f) [apart] d = Sub (s, f)
        [b] z = Conv (d, w_b) }"""
"""A small branch that is added to a large one and taken apart again: 8 bits of the sum hold nothing of it."""
UNEVEN = """
    m (float[1,4,8,8] x, float[32,4,1,1] w_a, float[32,32,1,1] w_b, float[4,32,1,1] w_c) => (float[1,4,8,8] z) {
        [a] a = Conv (x, w_a) [t] t = Tanh (a) [b] b = Conv (t, w_b) [c] z = Conv (b, w_c) }"""
RATES: dict[str, Any] = {"clock_hz": 1e9, "launch_overhead_us": 0.1, "accumulator_bits": 32}


def chip(**macs: float) -> HardwareSpec:
    """A CPU with these types, so many products a cycle in each."""
    rates = {**RATES, "macs_per_cycle": {"float32": 1, "int8": 16, **macs}}
    memories = {"dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=2)}
    unit = cpu(data_types=("int8", "float32", *macs), **rates)
    return spec_of(memories=memories, units={"cpu": unit})


def model() -> ir.Model:
    """Its far branch is sixty times as large as the other."""
    return model_of(CANCEL, {"w_far": np.random.default_rng(4).normal(size=(4, 4, 1, 1)) * 60})


def uneven() -> ir.Model:
    """One input channel of the last layer is a thousand times smaller than the others, and its weights larger."""
    rng = np.random.default_rng(5)
    first, last = rng.normal(size=(32, 4, 1, 1)), rng.normal(size=(32, 32, 1, 1))
    first[0] /= 1000
    last[:, 0] *= 1000
    return model_of(UNEVEN, {"w_a": first, "w_b": last})


def chosen(found: ir.Model, spec: HardwareSpec) -> Policy:
    samples = random_samples(found)
    reference = run_reference(found, samples.feeds)
    return choose(found, spec, collect_ranges(found, samples), samples, reference, Objective())


def widths(policy: Policy) -> dict[str, Any]:
    """Node to the bits of its quantize action, or the format of its half_precision action."""
    kinds = {"quantize": "bit_width", "half_precision": "format"}
    return {line.node_id: line.params[kinds[line.action]] for line in policy.actions if line.action in kinds}


def test_a_chain_that_8_bits_break_stays_on_16() -> None:
    found, spec = model(), chip(int16=8)
    policy = chosen(found, spec)
    assert policy.candidates[0]["name"].startswith("mixed with INT16, int8 on cpu")
    assert widths(policy) == {"a": 8, "far": 8, "join": 16, "apart": 16, "b": 8}
    join, apart = (line for line in policy.actions if line.node_id in ("join", "apart"))
    assert join.why[0].claim.startswith("INT8 on join alone breaks the budget: z has ")
    assert apart.why[0].claim == "It reads 16-bit activations of join, which 8 bits would round again."
    assert join.evidence.alone is not None
    adapted = apply(found, spec, policy)
    kernels = [step.kernel for step in lower(adapted).program.steps]
    assert kernels.count("add_int16") == 2
    assert not any(kernel.endswith("_float32") for kernel in kernels)
    samples = random_samples(found)
    effect = measure(run_reference(found, samples.feeds), adapted, samples)
    assert worst_sqnr_db(effect) >= 20
    assert "3 nodes in INT8, 2 in 16 bits" in policy.candidates[0]["accuracy"]


def test_without_16_bits_on_the_chip_nothing_has_them() -> None:
    policy = chosen(model(), chip())
    assert not any("with" in candidate["name"].partition(",")[0] for candidate in policy.candidates)
    assert widths(policy) == {}


def test_a_type_that_no_node_can_have_is_no_candidate() -> None:
    """The chip has INT16, but its accumulator holds no sum of it, and no unit runs an addition in it."""
    spec = chip(int16=8)
    alone = npu(data_types=("int16",), operators=Operators(supported=("Conv",)), accumulator_bits=16)
    units = {"cpu": chip().compute_units["cpu"], "npu": alone}
    policy = chosen(
        model(), HardwareSpec.from_plain({**spec.plain(), "compute_units": {k: u.plain() for k, u in units.items()}})
    )
    assert not any(candidate["name"].startswith("mixed with") for candidate in policy.candidates)


def test_a_type_without_a_known_pace_is_no_candidate_beside_others_that_have_one() -> None:
    """Else all candidates would be ranked by the bytes that they move."""
    spec = chip(int16=8)
    rates = {"float32": 1, "int8": 16}
    npu_of_int16 = npu(data_types=("int16",), accumulator_bits=48, tops=None)
    units = {"cpu": cpu(data_types=("int8", "float32"), **{**RATES, "macs_per_cycle": rates}), "npu": npu_of_int16}
    plain = {name: unit.plain() for name, unit in units.items()}
    policy = chosen(model(), HardwareSpec.from_plain({**spec.plain(), "compute_units": plain}))
    assert all("typical_ms" in candidate for candidate in policy.candidates)
    assert not any(candidate["name"].startswith("mixed with") for candidate in policy.candidates)


def test_what_8_bit_weights_break_has_16_bit_floats() -> None:
    found, spec = uneven(), chip(int16=8, float16=4)
    policy = chosen(found, spec)
    assert policy.candidates[0]["name"].startswith("mixed with FP16, int8 on cpu")
    assert widths(policy) == {"a": "float16", "b": "float16", "c": 8}
    (half,) = [line for line in policy.actions if line.action == "half_precision" and line.node_id == "b"]
    assert half.why[0].claim.startswith("INT8 on b alone breaks the budget: z has ")
    assert half.params["target_hw"] == "cpu"
    assert half.evidence.alone is not None
    kernels = [step.kernel for step in lower(apply(found, spec, policy)).program.steps]
    assert [kernel for kernel in kernels if "conv2d" in kernel][1].endswith("_float16")


@pytest.mark.parametrize(("bad", "floats"), [({"d"}, 3), ({"a"}, 1), (set(), 0), ({"a", "e"}, 5)])
def test_as_few_nodes_as_halving_finds_stay_float32(bad: set[str], floats: int) -> None:
    """A made-up model whose budget breaks where a bad node has 16 bits."""
    names = "abcde"
    best = Draft(model(), chip(int16=8), None)
    reason = Reason(claim="It breaks the budget.")
    best.actions = [
        Action(kind="keep_float", nodes=(name,), params={"cause": "over_budget"}, why=(reason,)) for name in names
    ]
    best.actions.append(Action(kind="keep_float", nodes=("f",), params={"cause": "sensitive"}, why=(reason,)))
    made: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def build(kept: Mapping[str, Reason], sixteen: Sixteen) -> Draft:
        made.append((tuple(sorted(kept)), tuple(sorted(sixteen.nodes))))
        wide = [Action(kind="quantize", nodes=(name,), params={"bit_width": 16}) for name in sixteen.nodes]
        return Draft(best.model, best.spec, None, wide)

    def judge(draft: Draft) -> Measured:
        return Effect(outputs=(), samples=1, data="") if not bad & set(made[-1][1]) else "It breaks."

    noise = {name: 1.0 / (1 + index) for index, name in enumerate("acbde")}
    found = list(rescued(Mix(lambda kept: best, judge, judge, lambda draft: 0.0, Objective()), build, best, noise))
    order = "acbde"
    assert len(made) <= most_rescues(best.spec, len(names))
    if floats == 5:
        assert found == []
        return
    (rescue,) = found
    assert rescue.words == "INT16"
    fitting = [kept for kept, sixteen in made if not bad & set(sixteen)]
    assert fitting[-1] == tuple(sorted(order[: floats if floats != 3 else 4]))
