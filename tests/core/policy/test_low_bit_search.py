from __future__ import annotations

from action_bench import calibrated, cpu, model_of, samples_of, spec_of

from metainfer_core.policy.choose import choose
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.reference import run_reference

LAYERS = """m (float[1,64] x, float[64,64] w_a, float[64,64] w_b, float[64,8] w_c) => (float[1,8] y) {
    [first] a = Gemm (x, w_a) [relu] r = Relu (a) [second] b = Gemm (r, w_b) [third] y = Gemm (b, w_c) }"""


def chosen(min_sqnr_db: float, bits: int) -> Policy:
    model = model_of(LAYERS)
    rates = {"int8": 4, "float32": 4}
    spec = spec_of(units={"cpu": cpu(cores=1, clock_hz=1e9, macs_per_cycle=rates, launch_overhead_us=0.1)})
    objective = Objective.from_plain(
        {"precision": Precision.FLOAT32, "weight_bits": bits, "min_sqnr_db": min_sqnr_db, "min_channel_sqnr_db": -100.0,
         "max_argmax_flips": 1.0}
    )  # fmt: skip
    samples = samples_of(model)
    return choose(model, spec, calibrated(model), samples, run_reference(model, samples.feeds), objective)


def stored(policy: Policy) -> list[str]:
    return [line.node_id for line in policy.actions if line.action == "store_low_bit"]


def test_all_layers_with_many_weights_are_stored_in_few_bits() -> None:
    policy = chosen(5.0, 4)
    assert stored(policy) == ["first", "second"]  # the third has 512 weights
    assert [candidate["name"] for candidate in policy.candidates] == ["float32, weights of 4 bits", "float32"]
    assert policy.actions[0].evidence.together is not None


def test_layers_that_cost_too_much_keep_their_weights() -> None:
    both = chosen(-50.0, 4)
    assert stored(both) == ["first", "second"]
    effect = both.actions[0].evidence.together
    assert effect is not None
    together = effect.outputs[0].sqnr_db
    assert together is not None
    fewer = chosen(together + 1.0, 4)
    assert len(stored(fewer)) == 1
    assert stored(chosen(200.0, 4)) == []
