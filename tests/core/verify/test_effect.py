"""Measuring: on all cores in the order of the samples, and given up exactly where the budget cannot hold any more."""

from __future__ import annotations

import os

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import model_of

from metainfer_core.errors import InputError
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify.effect import measure, measure_above
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import Samples

COUNT = 23


def scaled(by: float) -> ir.Model:
    """y = x * by, with a second output that nothing changes."""
    text = "m (float[1,3,4] x, float[1] w_s, float[1] w_t) => (float[1,3,4] y, float[1,3,4] z) { %s }"
    nodes = "[a] y = Mul (x, w_s) [b] z = Mul (x, w_t)"
    return model_of(text % nodes, {"w_s": np.array([by], np.float32), "w_t": np.array([2], np.float32)})


def samples(loud: int | None = None) -> Samples:
    """Seeded inputs; one of them is a thousand times as loud."""
    rng = np.random.default_rng(7)
    feeds = [{"x": rng.normal(size=(1, 3, 4)).astype(np.float32)} for _ in range(COUNT)]
    if loud is not None:
        feeds[loud]["x"] *= 1000
    return Samples(feeds=tuple(feeds), label="seeded", digest="sha256:0", is_random=False)


@pytest.mark.parametrize("cores", [{0}, {0, 1}, {0, 1, 2, 3, 4}])
def test_many_inputs_give_what_each_gives_in_their_order(cores: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: cores)
    simulator, feeds = Simulator(lower(scaled(3.0))), samples().feeds
    for keep in (False, True):
        found = list(simulator.run_each(feeds, keep))
        assert len(found) == COUNT
        for feed, made in zip(feeds, found, strict=True):
            assert made.keys() == simulator.run(feed, keep).keys()
            assert np.array_equal(made["y"], feed["x"] * np.float32(3.0))


def test_a_wrong_input_among_many_is_refused() -> None:
    feeds = [*samples().feeds, {"x": np.zeros((1, 3, 5), np.float32)}]
    with pytest.raises(InputError, match="is float32"):
        list(Simulator(lower(scaled(3.0))).run_each(feeds))


@pytest.mark.parametrize("loud", [None, 0, COUNT - 1])
@pytest.mark.parametrize(("by", "decibels"), [(1.0, None), (1.001, 60.0), (1.01, 40.0), (1.1, 20.0)])
def test_given_up_is_what_breaks_the_budget_and_nothing_else(
    by: float, decibels: float | None, loud: int | None
) -> None:
    """The error is a share of the signal, so the ratio over all samples is known; one sample alone never decides."""
    given = samples(loud)
    reference = run_reference(scaled(1.0), given.feeds)
    whole = measure(reference, scaled(by), given)
    assert whole.outputs[0].sqnr_db == (None if decibels is None else pytest.approx(decibels, abs=0.01))
    for limit in (10.0, 19.9, 20.1, 39.9, 40.1, 59.9, 60.1):
        found = measure_above(reference, scaled(by), given, limit)
        assert found == (whole if decibels is None or decibels > limit else None)


def test_noise_in_a_quiet_sample_is_allowed_by_a_loud_one() -> None:
    """Noise of the first sample is above its own signal, and far below the budget of all of them together."""
    given = samples(loud=COUNT - 1)
    first, *rest = run_reference(scaled(1.0), given.feeds)
    reference = ({**first, "y": first["y"] + 10}, *rest)
    whole = measure(reference, scaled(1.0), given)
    assert whole.outputs[0].sqnr_db is not None
    assert measure_above(reference, scaled(1.0), given, whole.outputs[0].sqnr_db - 0.01) == whole
    assert measure_above(reference, scaled(1.0), given, whole.outputs[0].sqnr_db + 0.01) is None


def test_what_is_no_number_any_more_is_given_up() -> None:
    given = samples()
    reference = run_reference(scaled(1.0), given.feeds)
    assert measure_above(reference, scaled(float("inf")), given, -200.0) is None
