"""Four ways to choose the range of a scale, and which of them leaves the least error on values not seen before.

The whole range keeps outliers and rounds everything else more coarsely; a cut range does the opposite. What is best
depends on the tensor, so each method makes its proposal on one part of the samples and all are compared on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from metainfer_core.actions.scales import STEPS, activation_scale
from metainfer_core.numerics.program import code_limits
from metainfer_core.numerics.ranges import WHOLE, ChosenRange, TensorRange
from metainfer_core.verify.histogram import Histogram

PERCENTILE = 99.99
"""Share of the values, in percent, that the percentile method keeps; what it cuts is divided between both ends."""
FRACTIONS = np.linspace(0.2, 1.0, 65)
"""Shares of an end of the range that are tried."""
LEAST_GAIN_DB = 0.1
"""By which a cut range must beat the whole one: less is chance."""
HIGHEST_DB = 300.0


def min_max(seen: Histogram, span: TensorRange, steps: int = STEPS) -> TensorRange:
    """All that was seen."""
    return span


def percentile(seen: Histogram, span: TensorRange, steps: int = STEPS) -> TensorRange:
    """All but a ten-thousandth of the values, the outermost ones."""
    cut = (int(seen.counts.sum()) + seen.zeros) * (1 - PERCENTILE / 100) / 2
    low = seen.centres[_first_beyond(seen.counts, cut)] - seen.width / 2
    high = seen.centres[::-1][_first_beyond(seen.counts[::-1], cut)] + seen.width / 2
    return TensorRange(low=max(span.low, min(float(low), 0.0)), high=min(span.high, max(float(high), 0.0)))


def _first_beyond(counts: np.ndarray, cut: float) -> int:
    """The first bin at which more than `cut` values are counted."""
    place = int(np.searchsorted(np.cumsum(counts), cut, side="right"))
    return min(place, len(counts) - 1)


def mse(seen: Histogram, span: TensorRange, steps: int = STEPS) -> TensorRange:
    """The least mean squared error: rounding inside the range and cutting outside of it."""
    lows, highs = _ends(span)
    low, high = (grid.reshape(-1) for grid in np.meshgrid(lows, highs, indexing="ij"))
    errors = squared_error(seen, low, high, steps)
    best = int(np.argmin(errors))
    return TensorRange(low=float(low[best]), high=float(high[best]))


def entropy(seen: Histogram, span: TensorRange, steps: int = STEPS) -> TensorRange:
    """The least information lost (Kullback-Leibler divergence) when the values become codes, 256 of 8 bits."""
    fractions = FRACTIONS[::-1]  # of equal ones the widest
    losses = [_divergence(seen, min(span.low, 0.0) * share, max(span.high, 0.0) * share, steps) for share in fractions]
    share = float(fractions[int(np.argmin(losses))])
    return TensorRange(low=min(span.low, 0.0) * share, high=max(span.high, 0.0) * share)


METHODS: Mapping[str, Callable[[Histogram, TensorRange, int], TensorRange]] = {
    WHOLE: min_max,
    "percentile": percentile,
    "mse": mse,
    "entropy": entropy,
}


def choose_range(seen: Histogram, held_out: Histogram, span: TensorRange, bits: int = 8) -> ChosenRange | None:
    """The range that leaves the least error on held-out values; None where there are none.

    It is that of `min-max`, the whole one, unless another method beats it by more than chance would.

    Args:
        seen: The values that the ranges are made from.
        held_out: The values that they are compared on.
        span: Least and greatest value of the seen ones.
        bits: Of a code.
    """
    if held_out.exponent is None or seen.exponent is None:
        return None
    steps = (1 << bits) - 1
    proposals = {name: method(seen, span, steps) for name, method in METHODS.items()}
    power = float((held_out.counts * held_out.centres**2).sum())
    found: dict[str, float] = {}
    for name, range_ in proposals.items():
        error = (
            float(squared_error(held_out, np.array([range_.low]), np.array([range_.high]))[0])
            if bits == 8
            else rounding_error(held_out, range_, bits)
        )
        found[name] = (
            HIGHEST_DB if error == 0 else float(np.clip(10 * np.log10(power / error), -HIGHEST_DB, HIGHEST_DB))
        )
    best = max(found, key=lambda name: found[name])  # of equal ones the first
    if found[best] < found[WHOLE] + LEAST_GAIN_DB:
        best = WHOLE
    rounded = {name: round(value, 2) for name, value in found.items()}
    return ChosenRange(low=proposals[best].low, high=proposals[best].high, method=best, held_out_db=rounded)


def rounding_error(values: Histogram, range_: TensorRange, bits: int) -> float:
    """Sum of squared errors of an asymmetric scale of few bits: of each bin by its middle, since steps are wide."""
    affine = activation_scale(range_.low, range_.high, symmetric=False, bits=bits)
    codes = np.clip(np.rint(values.centres / float(affine.scale)) + affine.zero_point, *code_limits(bits))
    wrong = values.centres - (codes - affine.zero_point) * float(affine.scale)
    return float((values.counts * wrong**2).sum())


def squared_error(values: Histogram, low: np.ndarray, high: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """Sum of squared errors of an asymmetric scale over each range [low, high] (widened to hold 0), by range.

    Inside, rounding leaves a twelfth of the squared step on average; outside, the distance to the end counts.
    """
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    step = (high - low) / steps
    centres, counts = values.centres, values.counts
    sums = [np.concatenate([[0.0], np.cumsum(counts * centres**power)]) for power in (0, 1, 2)]
    below = np.searchsorted(centres, low, side="left")
    above = np.searchsorted(centres, high, side="right")

    def outside(first: np.ndarray | int, last: np.ndarray | int, end: np.ndarray) -> np.ndarray:
        zeroth, once, twice = (part[last] - part[first] for part in sums)
        distance = twice - 2 * end * once + end**2 * zeroth
        return np.asarray(np.maximum(distance, 0.0))

    inside = sums[0][above] - sums[0][below]
    total: np.ndarray = inside * step**2 / 12 + outside(0, below, low) + outside(above, len(counts), high)
    return total


def _ends(span: TensorRange) -> tuple[np.ndarray, np.ndarray]:
    """Ends that are tried; one where the range has none on that side."""
    lows = span.low * FRACTIONS if span.low < 0 else np.zeros(1)
    highs = span.high * FRACTIONS if span.high > 0 else np.zeros(1)
    return lows, highs


def _divergence(seen: Histogram, low: float, high: float, steps: int) -> float:
    """Of the codes' distribution, spread over the bins that hold values, from that of the values cut to the range."""
    if high <= low:
        return float("inf")
    centres, counts = seen.centres, seen.counts.astype(np.float64)
    first, last = np.searchsorted(centres, low, side="left"), np.searchsorted(centres, high, side="right")
    if last <= first:
        return float("inf")
    inside = counts[first:last]
    cut = inside.copy()
    cut[0] += counts[:first].sum()
    cut[-1] += counts[last:].sum()
    codes = np.rint((centres[first:last] - low) / ((high - low) / steps)).astype(np.int64)
    codes -= codes.min()
    filled = inside > 0
    held, bins = np.bincount(codes, inside), np.bincount(codes, filled)
    spread = np.where(filled, held[codes] / np.maximum(bins[codes], 1), 0.0)
    total, kept = cut.sum(), spread.sum()
    if total == 0 or kept == 0:
        return float("inf")
    p, q = cut / total, spread / kept
    lost = p[(p > 0) & (q == 0)].sum()
    both = (p > 0) & (q > 0)
    # a value cut into a bin that no code stands for is lost altogether: as bad as a bit for each
    return float((p[both] * np.log(p[both] / q[both])).sum() + lost)
