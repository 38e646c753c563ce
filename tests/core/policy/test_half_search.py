from __future__ import annotations

from action_bench import calibrated, cpu, model_of, npu, samples_of, spec_of

from metainfer_core.policy.choose import choose
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import Memory
from metainfer_core.verify.reference import run_reference

MODEL = """m (float[1,8,9,9] x, float[4,8,3,3] w_c) => (float[1,4,7,7] y, float[9,9,8,1] z) {
    [conv] y = Conv (x, w_c) [turn] z = Transpose <perm = [2,3,1,0]> (x) }"""


def chosen(*data_types: str) -> Policy:
    model = model_of(MODEL)
    rates = dict.fromkeys(data_types, 64)
    fast = npu(data_types=data_types, tops=None, clock_hz=1e9, macs_per_cycle=rates, launch_overhead_us=0.1)
    slow = cpu(cores=1, clock_hz=1e8, macs_per_cycle={"float32": 1}, launch_overhead_us=0.1)
    memories = {"dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=4)}
    spec = spec_of(memories=memories, units={"npu": fast, "cpu": slow})
    samples = samples_of(model)
    objective = Objective(precision=Precision.FP16, max_argmax_flips=1.0)
    return choose(model, spec, calibrated(model), samples, run_reference(model, samples.feeds), objective)


def test_each_format_that_the_chip_has_is_a_candidate() -> None:
    policy = chosen("float16", "bfloat16")
    names = [candidate["name"] for candidate in policy.candidates]
    assert sorted(names) == ["BF16 on npu", "FP16 on npu", "float32"]
    (line,) = [line for line in policy.actions if line.action == "half_precision"]
    assert (line.node_id, line.params["target_hw"]) == ("conv", "npu")
    assert line.evidence.together is not None


def test_what_only_moves_float32_is_left_alone_with_the_reason() -> None:
    (refusal,) = [one for one in chosen("float16").refusals if one.nodes == ("turn",)]
    assert (refusal.kind, refusal.reason) == (
        "half_precision",
        "turn only moves values between nodes that stay float32.",
    )
