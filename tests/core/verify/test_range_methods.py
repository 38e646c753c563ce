"""Histograms that do not know the order of samples, and the four calibration methods held against true rounding."""

from __future__ import annotations

import numpy as np
import pytest
from action_bench import model_of

from metainfer_core.actions.scales import activation_scale
from metainfer_core.numerics.program import code_limits
from metainfer_core.numerics.ranges import TensorRange
from metainfer_core.verify.histogram import HALF, MOST_COUNTED, Histogram
from metainfer_core.verify.range_methods import METHODS, choose_range, squared_error
from metainfer_core.verify.reference import HELD_OUT, collect_ranges
from metainfer_core.verify.samples import Samples


def counted(*arrays: np.ndarray) -> Histogram:
    histogram = Histogram()
    for array in arrays:
        histogram.add(array)
    return histogram


def span_of(array: np.ndarray) -> TensorRange:
    return TensorRange(low=float(array.min()), high=float(array.max()))


def method_of(seen: Histogram, held_out: Histogram, span: TensorRange) -> str:
    chosen = choose_range(seen, held_out, span)
    assert chosen is not None
    return chosen.method


def rounding_error(values: np.ndarray, low: float, high: float, bits: int = 8) -> float:
    """The squared error that the scale of a range really leaves, value by value."""
    affine = activation_scale(low, high, symmetric=False, bits=bits)
    codes = np.clip(np.rint(values / float(affine.scale)) + affine.zero_point, *code_limits(bits))
    return float(((values - (codes - affine.zero_point) * float(affine.scale)) ** 2).sum())


def test_bins_do_not_depend_on_the_order_of_samples() -> None:
    parts = [np.array(values) for values in ([0.0, 0.5, -0.25], [1000.0], [3.0, -7.0, 0.0])]
    forward, backward = counted(*parts), counted(*reversed(parts))
    assert (forward.counts == backward.counts).all()
    assert (forward.exponent, forward.zeros) == (backward.exponent, backward.zeros) == (-1, 2)
    assert forward.counts.sum() == 5
    assert forward.counts[HALF + 2000] == 1  # 1000 in bins of a half
    assert forward.counts[HALF + 6] == 1  # 3
    assert forward.counts[HALF - 14] == 1  # -7
    assert forward.counts[HALF - 1] == 1  # -0.25
    assert forward.counts[HALF + 1] == 1  # 0.5


def test_only_zeros_have_no_width() -> None:
    histogram = counted(np.zeros((4, 5)))
    assert (histogram.exponent, histogram.zeros) == (None, 20)
    assert choose_range(histogram, histogram, TensorRange(low=0.0, high=0.0)) is None


def test_of_a_large_tensor_evenly_spaced_elements_are_counted_but_its_end_is_kept() -> None:
    large = np.ones(2 * MOST_COUNTED, np.float32)
    large[1] = 4096.0  # falls between the counted ones
    histogram = counted(large)
    assert histogram.counts.sum() == MOST_COUNTED
    assert histogram.exponent == 2


@pytest.mark.parametrize(("low", "high"), [(-13.0, 12.0), (-4.0, 4.0), (-1.0, 9.0), (0.0, 5.0)])
def test_the_error_of_a_range_is_that_of_true_rounding(low: float, high: float) -> None:
    values = np.random.default_rng(0).laplace(size=100_000)
    found = float(squared_error(counted(values), np.array([low]), np.array([high]))[0])
    assert found == pytest.approx(rounding_error(values, low, high), rel=0.02)


def test_each_method_on_a_tensor_with_one_outlier() -> None:
    generator = np.random.default_rng(0)
    values = np.append(generator.uniform(-1.0, 1.0, 100_000), 100.0)
    seen, span = counted(values), span_of(values)
    ranges = {name: method(seen, span) for name, method in METHODS.items()}
    assert ranges["min-max"] == span
    assert ranges["percentile"].high == pytest.approx(1.0, abs=0.1)
    assert ranges["percentile"].low == pytest.approx(-1.0, abs=0.1)
    assert 1.0 < ranges["entropy"].high < 100.0
    # least of 100,000 (1 + high)^2 / 12 / 255^2 + (100 - high)^2
    assert ranges["mse"].high == pytest.approx(88.5, abs=0.7)
    errors = {name: rounding_error(values, span.low, span.high) for name, span in ranges.items()}
    assert min(errors, key=lambda name: errors[name]) == "mse"


def test_the_method_is_chosen_on_values_that_no_range_was_made_from() -> None:
    generator = np.random.default_rng(1)
    seen, held_out = generator.laplace(size=50_000), generator.laplace(size=50_000)
    chosen = choose_range(counted(seen), counted(held_out), span_of(seen))
    assert chosen is not None
    true = {
        name: 10 * np.log10((held_out**2).sum() / rounding_error(held_out, range_.low, range_.high))
        for name, range_ in ((name, method(counted(seen), span_of(seen))) for name, method in METHODS.items())
    }
    assert chosen.method == max(true, key=lambda name: true[name])
    assert chosen.held_out_db == pytest.approx(true, abs=0.05)


def test_an_outlier_that_comes_again_is_not_cut() -> None:
    """What looks like chance in the seen part is common in the other: whoever compares on the seen part cuts it."""
    seen = np.append(np.random.default_rng(0).uniform(-1, 1, 200_000), [8.0])
    again = np.append(np.random.default_rng(1).uniform(-1, 1, 1_000), np.full(1_000, 8.0))
    assert method_of(counted(seen), counted(seen), span_of(seen)) != "min-max"
    assert method_of(counted(seen), counted(again), span_of(seen)) == "min-max"


def test_uniform_values_keep_their_whole_range() -> None:
    values = np.random.default_rng(0).uniform(-3, 3, 50_000)
    chosen = choose_range(counted(values), counted(values), span_of(values))
    assert chosen is not None
    assert (chosen.method, chosen.low, chosen.high) == ("min-max", values.min(), values.max())
    assert set(chosen.held_out_db) == set(METHODS)


@pytest.mark.parametrize("bits", [4, 6])
def test_few_bits_are_compared_by_what_rounding_to_them_leaves(bits: int) -> None:
    """Fewer codes are better spent on fewer values: what is best for 8 bits is too wide for 4."""
    generator = np.random.default_rng(2)
    seen, held_out = generator.laplace(size=50_000), generator.laplace(size=50_000)
    chosen, of_eight = (choose_range(counted(seen), counted(held_out), span_of(seen), width) for width in (bits, 8))
    assert chosen is not None
    assert of_eight is not None
    assert chosen.high < of_eight.high
    power = (held_out**2).sum()
    true = 10 * np.log10(power / rounding_error(held_out, chosen.low, chosen.high, bits))
    assert chosen.held_out_db[chosen.method] == pytest.approx(true, abs=0.1)
    wide = 10 * np.log10(power / rounding_error(held_out, of_eight.low, of_eight.high, bits))
    assert true > wide + 0.5


def test_calibration_chooses_for_the_tensors_that_profit() -> None:
    model = model_of("m (float[1,4096] x) => (float[1,4096] y) { [r] y = Relu (x) }")
    generator = np.random.default_rng(0)
    feeds = [{"x": generator.laplace(size=(1, 4096)).astype(np.float32)} for _ in range(2 * HELD_OUT)]
    calibration = collect_ranges(model, Samples(tuple(feeds), "laplace", "sha256:0", is_random=False))
    assert set(calibration.chosen) == {"x", "y"}
    whole, cut = calibration.ranges["y"], calibration.chosen["y"]
    assert cut.high < whole.high
    assert calibration.with_chosen().ranges["y"] == TensorRange(low=cut.low, high=cut.high)
    few = collect_ranges(model, Samples(tuple(feeds[: HELD_OUT - 1]), "laplace", "sha256:0", is_random=False))
    assert few.chosen == {}  # nothing is held out
    assert few.kept == {}
    assert calibration.narrow == {}
    data = Samples(tuple(feeds), "laplace", "sha256:0", is_random=False)
    narrow = collect_ranges(model, data, widths=(4,))
    assert narrow.chosen == calibration.chosen
    assert narrow.for_bits(4).ranges["y"].high < cut.high < narrow.ranges["y"].high
    assert narrow.for_bits(6) == narrow
    flat = [{"x": generator.uniform(-1, 1, (1, 4096)).astype(np.float32)} for _ in range(2 * HELD_OUT)]
    kept = collect_ranges(model, Samples(tuple(flat), "flat", "sha256:0", is_random=False)).kept
    assert set(kept["x"].held_out_db) == set(METHODS)
