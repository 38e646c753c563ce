"""Metrics: what a whole-tensor cosine hides is seen, a healthy twin stays silent, NaN and infinity count."""

from __future__ import annotations

import numpy as np
import pytest

from metainfer_core.numerics.metrics import LOWEST_DB, OutputEffect, output_effect, sqnr_by_channel
from metainfer_core.numerics.program import Quantization


def fake_quantized(x: np.ndarray, symmetric: bool = False) -> np.ndarray:
    """Eight bits for the whole tensor."""
    if symmetric:
        step = np.abs(x).max() / 127
        return np.clip(np.round(x / step), -127, 127) * step
    low, high = min(0.0, x.min()), max(0.0, x.max())
    step = (high - low) / 255
    zero = np.round(-low / step)
    return (np.clip(np.round(x / step) + zero, 0, 255) - zero) * step


def boxes_and_scores() -> tuple[np.ndarray, np.ndarray]:
    """Four box coordinates in pixels and 80 probabilities, [1, 84, 8400]."""
    draw = np.random.default_rng(0)
    box = draw.uniform(0, 640, (4, 8400))
    score = np.minimum(draw.beta(0.4, 8, (80, 8400)), 0.95)
    return box, score


def depthwise(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A 3x3 depthwise convolution."""
    n = x.shape[1] - 2
    taps = [(i, j) for i in range(3) for j in range(3)]
    return np.stack([sum(w[i, j] * c[i : n + i, j : n + j] for i, j in taps) for w, c in zip(weights, x, strict=True)])


def effect(reference: np.ndarray, actual: np.ndarray) -> OutputEffect:
    """Of one sample with a batch of one."""
    return output_effect("y", reference[None, None], actual[None, None])


def test_concat_under_one_scale_is_seen_as_dead_scores() -> None:
    box, score = boxes_and_scores()
    together = np.concatenate([box, score])
    found = effect(together, fake_quantized(together))
    assert found.cosine is not None
    assert found.cosine > 0.99999
    assert found.sqnr_db == pytest.approx(53, abs=1)
    assert found.dead_channels == 80
    assert found.worst_channel_sqnr_db is not None
    assert found.worst_channel_sqnr_db <= 0.0


def test_concat_with_a_scale_for_each_branch_is_silent() -> None:
    box, score = boxes_and_scores()
    apart = np.concatenate([fake_quantized(box), fake_quantized(score)])
    found = effect(np.concatenate([box, score]), apart)
    assert found.dead_channels == 0
    assert found.worst_channel_sqnr_db is not None
    assert found.worst_channel_sqnr_db > 20


def test_depthwise_weights_under_one_scale_are_seen_as_dead_channels() -> None:
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(64, 3, 3)) * np.geomspace(1e-3, 4.0, 64)[:, None, None]
    x = draw.normal(size=(64, 32, 32))
    y = depthwise(weights, x)
    broken = effect(y, depthwise(fake_quantized(weights, symmetric=True), x))
    assert broken.cosine is not None
    assert broken.cosine > 0.999
    assert 20 <= broken.dead_channels <= 35
    healthy = effect(y, depthwise(np.stack([fake_quantized(w, symmetric=True) for w in weights]), x))
    assert healthy.dead_channels == 0
    assert healthy.worst_channel_sqnr_db is not None
    assert healthy.worst_channel_sqnr_db > 30


def test_equal_outputs_have_no_error_at_all() -> None:
    x = np.random.default_rng(2).normal(size=(3, 1, 5, 4))
    found = output_effect("y", x, x.copy())
    assert (found.sqnr_db, found.worst_channel, found.worst_channel_sqnr_db) == (None, None, None)
    assert (found.dead_channels, found.channels, found.argmax_flips, found.max_abs_error) == (0, 5, None, 0.0)
    assert found.cosine == pytest.approx(1.0)


def test_signal_to_noise_and_worst_channel_by_hand() -> None:
    reference = np.ones((2, 1, 2, 8))
    actual = reference.copy()
    actual[:, :, 1] += 0.1
    found = output_effect("y", reference, actual)
    assert found.worst_channel == 1
    assert found.worst_channel_sqnr_db == pytest.approx(20.0)
    assert found.sqnr_db == pytest.approx(10 * np.log10(2 / 0.01))
    assert found.max_abs_error == pytest.approx(0.1)


def test_every_channel_has_a_figure_of_its_own() -> None:
    reference = np.ones((2, 1, 4, 8))
    actual = reference.copy()
    actual[:, :, 1] += 0.1
    actual[:, :, 2] = -reference[:, :, 2]
    actual[0, 0, 3, 0] = np.nan
    found = sqnr_by_channel(reference, actual)
    assert found == pytest.approx((None, 20.0, 10 * np.log10(1 / 4), LOWEST_DB), nan_ok=False)
    figures = output_effect("y", reference, actual)
    assert (figures.worst_channel, figures.worst_channel_sqnr_db) == (3, found[3])
    assert sqnr_by_channel(np.ones((2, 5)), np.full((2, 5), 1.1)) == pytest.approx((20.0,))


def test_constant_channel_of_the_reference_is_not_dead() -> None:
    reference = np.stack([np.zeros(9), np.arange(9.0)])[None, None]
    assert output_effect("y", reference, np.zeros_like(reference)).dead_channels == 1


def test_argmax_flips_count_samples() -> None:
    reference = np.array([[[1.0, 2.0]], [[2.0, 1.0]], [[0.0, 3.0]]])
    actual = np.array([[[1.0, 2.0]], [[1.0, 1.5]], [[0.5, 0.0]]])
    assert output_effect("y", reference, actual).argmax_flips == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_makes_every_figure_as_bad_as_can_be(bad: float) -> None:
    reference = np.random.default_rng(3).normal(size=(1, 1, 3, 100))
    actual = reference.copy()
    actual[0, 0, 2, 7] = bad
    found = output_effect("y", reference, actual)
    assert found.not_finite == 1
    assert (found.sqnr_db, found.worst_channel, found.worst_channel_sqnr_db) == (LOWEST_DB, 2, LOWEST_DB)
    assert found.cosine is None
    assert found.max_abs_error == 0.0


def test_infinity_where_the_reference_has_it_is_no_error() -> None:
    reference = np.array([[[np.inf, 1.0, np.nan]]])
    found = output_effect("y", reference, reference.copy())
    assert (found.sqnr_db, found.not_finite) == (None, 0)


def test_lost_infinity_is_an_error_without_a_size() -> None:
    reference = np.array([[[np.inf, 1.0]]])
    found = output_effect("y", reference, np.array([[[5.0, 1.0]]]))
    assert found.not_finite == 1
    assert found.sqnr_db == LOWEST_DB


def test_range_use_of_integers() -> None:
    codes = np.array([[[-64, 63, 0, 1]]], np.int8)
    quantization = Quantization(scales=(0.5,), zero_points=(-2,))
    real = (codes.astype(np.float64) + 2) * 0.5
    found = output_effect("y", real, codes, quantization)
    assert found.range_use == 0.5
    assert found.sqnr_db is None
    by_channel = Quantization(scales=(1.0, 2.0, 3.0, 4.0), zero_points=(0, 0, 0, 0), axis=1)
    scaled = codes.astype(np.float64) * np.array([1.0, 2.0, 3.0, 4.0])
    assert output_effect("y", scaled, codes, by_channel).sqnr_db is None


def test_shapes_that_differ_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="is compared with"):
        output_effect("y", np.zeros((1, 2)), np.zeros((1, 3)))


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def test_shares_are_also_judged_by_their_logits() -> None:
    """By shares one undecided sample decides for all; by the logits what moved in all of them does."""
    chance = np.random.default_rng(3)
    logits = chance.normal(size=(40, 1, 4)) * 2
    logits[1:, :, 0] += 12.0
    noise = chance.normal(size=logits.shape) * 0.2
    undecided_moves, all_move = logits.copy(), logits + noise
    undecided_moves[0] += noise[0] * 2
    all_move[0] = logits[0]
    one, many = (output_effect("y", softmax(logits), softmax(moved)) for moved in (undecided_moves, all_move))
    assert one.sqnr_db is not None and many.sqnr_db is not None  # noqa: PT018
    assert one.logit_sqnr_db is not None and many.logit_sqnr_db is not None  # noqa: PT018
    assert one.sqnr_db < many.sqnr_db
    assert one.logit_sqnr_db > many.logit_sqnr_db + 5
    centred = logits - logits.mean(axis=-1, keepdims=True)
    wrong = (all_move - all_move.mean(axis=-1, keepdims=True)) - centred
    assert many.logit_sqnr_db == pytest.approx(10 * np.log10((centred**2).sum() / (wrong**2).sum()), abs=1e-6)


def test_what_is_no_distribution_has_no_logits() -> None:
    shares = softmax(np.random.default_rng(4).normal(size=(5, 1, 3)))
    for wrong in (shares * 1.01, shares - 0.5, np.where(shares > 0.5, np.nan, shares)):
        assert output_effect("y", wrong, wrong + 0.01).logit_sqnr_db is None
    assert output_effect("y", shares, shares).logit_sqnr_db is None  # no error
    assert output_effect("y", np.ones((5, 1, 1)), np.ones((5, 1, 1)) * 0.5).logit_sqnr_db is None
