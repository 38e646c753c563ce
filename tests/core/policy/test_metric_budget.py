"""A metric as the budget: what it decides and refuses, what it leaves to decibels. And who has no action, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from action_bench import cpu, model_of, spec_of

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.numerics.task_metrics import METRICS, MetricChange
from metainfer_core.policy.choose import choose
from metainfer_core.policy.objective import Objective, Precision, shortfalls
from metainfer_core.policy.search.left_alone import left_alone
from metainfer_core.spec.hardware_spec import Memory
from metainfer_core.verify.metric import check_labels, find_metric
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import Samples, random_samples, read_samples

ACCURACY = Objective(metric="accuracy")
ROUGH = Objective(fast=True, min_sqnr_db=-100.0, min_channel_sqnr_db=-100.0)


def effect(value: float, reference: float = 0.9, sqnr_db: float = 5.0, not_finite: int = 0) -> Effect:
    change = MetricChange(metric="accuracy", reference=reference, value=value, low=-0.01, high=0.01, samples=1000)
    output = OutputEffect(output="y", sqnr_db=sqnr_db, not_finite=not_finite)
    return Effect(outputs=(output,), samples=1000, data="planted", metric=change)


def test_the_metric_decides_and_decibels_do_not() -> None:
    assert shortfalls(ACCURACY, effect(0.8982)) == ()  # 0.2 % of 0.9 are 0.0018
    (sentence,) = shortfalls(ACCURACY, effect(0.8981))
    assert sentence == (
        "accuracy 0.8981, -0.0019 against the unchanged model (95 % interval -0.0100 to +0.0100, 1000 samples); "
        "it got worse by 0.0019, the budget is 0.0018, 0.20% of 0.9000."
    )
    (close,) = shortfalls(ACCURACY, effect(0.898199))
    assert close.endswith("it got worse by 0.001801, the budget is 0.001800, 0.20% of 0.9000.")
    assert shortfalls(Objective(), effect(0.9)) == ("y has 5.0 dB; the budget is 20 dB.",)
    assert shortfalls(Objective(), effect(0.9, sqnr_db=19.98)) == ("y has 19.98 dB; the budget is 20 dB.",)
    assert shortfalls(Objective(), effect(0.9, sqnr_db=20.0)) == ()
    assert shortfalls(ACCURACY, effect(0.95, not_finite=3)) == ("3 elements of y are no longer numbers.",)


def test_fewer_errors_are_no_drop() -> None:
    fewer = MetricChange(
        metric="wer", reference=0.1, value=0.05, low=-0.06, high=-0.04, samples=10, lower_is_better=True
    )
    output = OutputEffect(output="y")
    assert shortfalls(Objective(metric="wer"), Effect(outputs=(output,), samples=10, data="", metric=fewer)) == ()
    more = MetricChange.from_plain({**fewer.plain(), "value": 0.15})
    assert len(shortfalls(Objective(metric="wer"), Effect(outputs=(output,), samples=10, data="", metric=more))) == 1


def test_metrics_by_name_and_by_function() -> None:
    assert find_metric("f1") is METRICS["f1"]
    with pytest.raises(InputError, match=r"There is no metric speed.\n.*accuracy, f1, map, wer, cosine"):
        find_metric("speed")
    with pytest.raises(InputError, match="The metric nowhere:f cannot be found"):
        find_metric("nowhere:f")
    of_numpy = find_metric("numpy:vdot")
    kept = of_numpy.keep(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    assert of_numpy.total(kept) == 11.0


def test_labels_stand_in_the_data(tmp_path: Path) -> None:
    model = model_of("m (float[1,4] x) => (float[1,4] y) { [r] y = Relu (x) }")
    path = tmp_path / "data.npz"
    np.savez(path, x=np.ones((6, 1, 4), np.float32), labels=np.arange(6))
    found = read_samples(str(path), model, limit=4)
    assert found.labels is not None
    assert found.labels.tolist() == [0, 1, 2, 3]
    first = found.first(2)
    assert first.labels is not None
    assert (first.labels.tolist(), first.label) == ([0, 1], "first 2 of 4 samples of data.npz (first 4 of 6)")
    assert first.digest != found.digest
    np.savez(path, x=np.ones((6, 1, 4), np.float32))
    with pytest.raises(InputError, match="The metric accuracy needs labels"):
        check_labels("accuracy", read_samples(str(path), model))
    np.savez(path, x=np.ones((6, 1, 4), np.float32), labels=np.arange(5))
    with pytest.raises(InputError, match=r"the array labels has the shape \[5\]"):
        read_samples(str(path), model)


def test_a_policy_within_the_metric() -> None:
    """Labels that the model is right on: INT8 that moves no answer is within the budget, whatever decibels it costs."""
    model = model_of("""
        m (float[1,128] x, float[128,128] w_a, float[128] w_bias, float[128,4] w_b) => (float[1,4] y) {
            [a] p = Gemm (x, w_a, w_bias)
            [relu] q = Relu (p)
            [b] y = MatMul (q, w_b)
        }""")
    feeds = tuple({"x": np.random.default_rng(seed).standard_normal((1, 128)).astype(np.float32)} for seed in range(24))
    reference = run_reference(model, feeds)
    labels = np.array([one["y"].argmax() for one in reference])
    samples = Samples(feeds, "24 samples", "sha256:0", is_random=False, labels=labels)
    objective = Objective(metric="accuracy", min_sqnr_db=300.0)
    spec = spec_of(units={"cpu": cpu(clock_hz=1e9, macs_per_cycle={"float32": 1, "int8": 4})})
    policy = choose(model, spec, collect_ranges(model, samples), samples, reference, objective)
    assert policy.candidates[0]["chosen"]
    assert policy.candidates[0]["accuracy"].startswith("accuracy 1.0000, +0.0000 against the unchanged model")
    together = next(line.evidence.together for line in policy.actions if line.action == "quantize")
    assert together is not None
    assert together.metric is not None
    assert together.metric.value == 1.0


def test_every_node_without_an_action_has_a_reason() -> None:
    model = model_of("""
        m (float[1,4] x, float[4,4] w_m) => (float[1,4] y) {
            [mm] p = MatMul (x, w_m)
            [soft] s = Softmax (p)
            [add] y = Add (s, s)
        }""")
    actions = [Action(kind="place", nodes=("mm",)), Action(kind="quantize", nodes=("mm",))]
    refusals = [Refusal(kind="place", nodes=("soft",), reason="no room")]
    found = left_alone(model, actions, refusals, Objective())
    assert [(each.nodes, each.reason) for each in found] == [
        (("soft",), "Softmax has no integer kernel."),
        (
            ("add",),
            "add stands among nodes that stay float, so INT8 would only add conversions, of 48 bytes of floats.",
        ),
    ]
    wide = left_alone(model, [], [], Objective(precision=Precision.FLOAT32))
    assert wide[0].reason == "No precision below float32 was asked for, and no other kind fits mm."
    assert left_alone(model, actions, [*refusals, *found], Objective()) == ()
    whole = left_alone(model, [], [], Objective(), "INT8 saves no time on this chip.")
    assert [each.reason for each in whole] == [
        "INT8 saves no time on this chip.",
        "Softmax has no integer kernel.",
        "INT8 saves no time on this chip.",
    ]


def test_where_float_is_faster_every_layer_says_so_with_both_times() -> None:
    model = model_of("m (float[1,8] x, float[8,4] w_fc) => (float[1,4] y) { [fc] y = MatMul (x, w_fc) }")
    dram = Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=2)
    spec = spec_of({"dram": dram}, {"cpu": cpu(clock_hz=1e9, macs_per_cycle={"float32": 64, "int8": 0.1})})
    samples = random_samples(model)
    policy = choose(model, spec, collect_ranges(model, samples), samples, run_reference(model, samples.feeds), ROUGH)
    best, other = policy.candidates[0], next(each for each in policy.candidates if each["integer_nodes"])
    assert best["name"] == "float32"
    (reason,) = [refused.reason for refused in policy.refusals if refused.nodes == ("fc",)]
    slow, fast = f"{other['typical_ms']:.4g} ms", f"{best['typical_ms']:.4g} ms"
    assert reason.startswith(f"INT8 saves no time on this chip: {other['name']} is predicted to take ")
    assert (slow in reason, f"float32 {fast}." in reason) == (True, True)
