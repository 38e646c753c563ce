import numpy as np
import pytest

from metainfer_core.verify.equivalence import distances


def one(array, dtype=np.float32):
    return ({"y": np.array(array, dtype)},)


def test_the_limit_is_absolute_plus_relative_times_the_peak():
    held = distances(one([0.0, 100.0]), one([0.0, 100.01]))[0]
    assert held.allowed == pytest.approx(1e-5 + 1e-2)
    assert held.max_abs_error == pytest.approx(0.01, rel=1e-3)
    assert held.holds
    missed = distances(one([0.0, 100.0]), one([0.0, 100.02]))[0]
    assert not missed.holds
    assert missed.share == pytest.approx(2, rel=1e-2)
    assert missed.reason == "The outputs differ by 0.02; 0.01 is allowed."


@pytest.mark.parametrize(
    ("reference", "actual", "words"),
    [
        ([1.0, 2.0], [1.0, np.nan], "NaN or infinity"),
        ([1.0, np.nan], [1.0, 2.0], "NaN or infinity"),
        ([1.0, np.inf], [1.0, -np.inf], "NaN or infinity"),
        ([1.0, 2.0], [[1.0, 2.0]], "shape"),
    ],
)
def test_what_cannot_be_compared_does_not_hold(reference, actual, words):
    (distance,) = distances(one(reference), one(actual))
    assert not distance.holds
    assert words in distance.reason


def test_equal_special_values_hold_and_a_missing_output_does_not():
    assert distances(one([np.inf, np.nan, 1.0]), one([np.inf, np.nan, 1.0]))[0].holds
    assert distances(one([1.0]), ({},))[0].reason == "Sample 0 has no output y."


def test_integers_must_be_equal():
    assert distances(one([1, 2], np.int8), one([1, 2], np.int8))[0].holds
    assert not distances(one([1, 2], np.int8), one([1, 3], np.int8))[0].holds


def test_the_worst_sample_counts():
    reference = (*one([1.0]), *one([1.0]))
    actual = (*one([1.0]), *one([1.5]))
    assert distances(reference, actual)[0].max_abs_error == 0.5
