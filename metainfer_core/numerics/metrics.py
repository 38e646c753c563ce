"""How far outputs moved: per channel first, because whole-tensor figures hide dead outputs.

A whole-tensor cosine of 0.9999 tells nothing about a channel whose values are a thousand times smaller than another's;
so each channel is judged against its own signal. NaN and infinity are counted by themselves: a single one where the
reference has none makes every figure that contains it as bad as it can be.
"""

from __future__ import annotations

import numpy as np

from metainfer_core.numerics.program import Quantization
from metainfer_core.numerics.task_metrics import MetricChange
from metainfer_core.values import Value

AUDIBLE = 1e-4
"""Share of an output's greatest value from which on a channel counts against a budget."""
LEAST_SHARE = 1e-30
"""Of a class: what is below has this one's logarithm."""
SHARES_SUM = 1e-3
"""By which the shares of all classes may miss 1."""
LOWEST_DB, HIGHEST_DB = -300.0, 300.0
"""Bounds of a signal-to-noise figure: no signal left, or a signal so small that float64 tells no difference."""


class OutputEffect(Value):
    """How far one output of the model moved, over all samples. Signal-to-noise in decibels.

    Channels lie along axis 1 of each sample's output [batch, channels, ...], where it has two axes or more.
    """

    output: str
    sqnr_db: float | None = None
    """None: no error at all."""
    logit_sqnr_db: float | None = None
    """Of what a softmax made the output from, where it is a distribution over classes; else None.

    Shares near 0 or 1 hide how far logits moved, so that a handful of undecided samples rules their error; in the
    logarithms, which are the logits less a number of each sample, every sample counts.
    """
    worst_channel: int | None = None
    worst_channel_sqnr_db: float | None = None
    audible_channel: int | None = None
    audible_channel_sqnr_db: float | None = None
    """The worst of the channels that reach `AUDIBLE` of the output's greatest value. A class of probability 1e-9 has
    noise above its signal and matters to nobody; a score of 0.5 beside a box of 640 pixels matters."""
    dead_channels: int = 0
    """Channels that vary in the reference and are constant afterwards."""
    audible_dead_channels: int = 0
    """Those of them that reach `AUDIBLE` of the output's greatest value."""
    channels: int = 1
    range_use: float | None = None
    """Share of the integer codes that the tensor's values span, 0 to 1."""
    argmax_flips: int | None = None
    """Samples whose greatest class moved; None unless a sample is [classes] or [batch, classes]."""
    max_abs_error: float = 0.0
    """Over elements that are finite in both."""
    not_finite: int = 0
    """Elements that are NaN or infinite on one side and not the same on the other."""
    cosine: float | None = None
    """Shown because people know it; never decisive."""


class Effect(Value):
    """A measured change of the model's outputs against the unchanged model."""

    outputs: tuple[OutputEffect, ...]
    samples: int
    data: str
    """What the inputs were; says `random inputs` where no data was given."""
    metric: MetricChange | None = None
    """The user's metric, where the samples have labels."""


def output_effect(
    name: str, reference: np.ndarray, actual: np.ndarray, quantization: Quantization | None = None
) -> OutputEffect:
    """How far one output moved.

    Args:
        name: Name of the output.
        reference: Values of the unchanged model, [samples, batch, channels, ...].
        actual: Values of the changed model, of the same shape: real numbers, or integers with their quantization.
        quantization: Of `actual` where it holds integers; then the range use is known.
    """
    if reference.shape != actual.shape:
        raise ValueError(f"{name}: {reference.shape} is compared with {actual.shape}")
    codes = actual if quantization is not None else None
    x = np.asarray(reference, np.float64)
    y = _real(actual, quantization) if quantization is not None else np.asarray(actual, np.float64)
    signal, seen, error, broken = _apart(x, y)
    by_channel = _by_channel(signal), _by_channel(error), _by_channel(broken)
    figures = [_sqnr(s, e, bool(b.any())) for s, e, b in zip(*by_channel, strict=True)]
    worst = min(range(len(figures)), key=lambda channel: _order(figures[channel]))
    peaks = np.abs(by_channel[0]).max(axis=1, initial=0.0)
    loud = [channel for channel in range(len(figures)) if peaks[channel] >= AUDIBLE * peaks.max(initial=0.0)]
    audible = min(loud, key=lambda channel: _order(figures[channel]))
    after = _by_channel(seen)
    dead = [bool(np.ptp(s) > 0.0 and np.ptp(a) == 0.0) for s, a in zip(by_channel[0], after, strict=True)]
    return OutputEffect(
        output=name,
        sqnr_db=_sqnr(signal, error, bool(broken.any())),
        logit_sqnr_db=_logit_sqnr(x, y),
        worst_channel=worst if figures[worst] is not None else None,
        worst_channel_sqnr_db=figures[worst],
        audible_channel=audible if figures[audible] is not None else None,
        audible_channel_sqnr_db=figures[audible],
        dead_channels=sum(dead),
        audible_dead_channels=sum(dead[channel] for channel in loud),
        channels=len(figures),
        range_use=_range_use(codes) if codes is not None else None,
        argmax_flips=_argmax_flips(x, y),
        max_abs_error=float(np.abs(error).max(initial=0.0)),
        not_finite=int(broken.sum()),
        cosine=_cosine(signal, seen) if not broken.any() else None,
    )


def _logit_sqnr(x: np.ndarray, y: np.ndarray) -> float | None:
    """Signal-to-noise of the logarithms of shares, each sample's less their mean; None for what is no distribution."""
    if x.ndim < 2 or x.shape[-1] < 2 or not all(map(is_distribution, (x, y))):
        return None
    logits, moved = (
        logs - logs.mean(axis=-1, keepdims=True) for logs in (np.log(np.maximum(side, LEAST_SHARE)) for side in (x, y))
    )
    return _sqnr(logits, moved - logits, False)


def is_distribution(shares: np.ndarray) -> bool:
    """Whether all rows of the last axis are shares of classes that sum to 1."""
    return bool(np.isfinite(shares).all() and (shares >= 0).all()) and bool(
        (np.abs(shares.sum(axis=-1) - 1.0) <= SHARES_SUM).all()
    )


def sqnr_by_channel(reference: np.ndarray, actual: np.ndarray) -> tuple[float | None, ...]:
    """Signal-to-noise of each channel of an output in decibels, None where it has no error; shapes as above."""
    signal, _, error, broken = _apart(np.asarray(reference, np.float64), np.asarray(actual, np.float64))
    by_channel = _by_channel(signal), _by_channel(error), _by_channel(broken)
    return tuple(_sqnr(s, e, bool(b.any())) for s, e, b in zip(*by_channel, strict=True))


def broken_channels(reference: np.ndarray, actual: np.ndarray) -> tuple[int, ...]:
    """Channels with an element that is no finite number on one side and not the same on the other; shapes as above."""
    broken = _by_channel(_apart(np.asarray(reference, np.float64), np.asarray(actual, np.float64))[3])
    return tuple(np.flatnonzero(broken.any(axis=1)).tolist())


def power(values: np.ndarray) -> float:
    """Sum of the squares of what is finite."""
    real = np.asarray(values, np.float64)
    return float(np.sum(np.where(np.isfinite(real), real, 0.0) ** 2))


def noise_power(reference: np.ndarray, actual: np.ndarray) -> float:
    """Sum of the squares of all errors; infinite where one side is no number and the other is not the same."""
    _, _, error, broken = _apart(np.asarray(reference, np.float64), np.asarray(actual, np.float64))
    return float("inf") if broken.any() else float(np.sum(error * error))


def _apart(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What can be reckoned with of both, the error between them, and where one is broken and the other is not so."""
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    finite = np.isfinite(x) & np.isfinite(y)
    signal, seen = np.where(np.isfinite(x), x, 0.0), np.where(np.isfinite(y), y, 0.0)
    return signal, seen, np.where(same | ~finite, 0.0, seen - signal), ~finite & ~same


def _real(codes: np.ndarray, quantization: Quantization) -> np.ndarray:
    """Integers as the real numbers that they stand for; the first axis counts samples."""
    scales, zeros = np.asarray(quantization.scales), np.asarray(quantization.zero_points)
    if quantization.axis is not None:
        shape = [1] * codes.ndim
        shape[quantization.axis + 1] = -1
        scales, zeros = scales.reshape(shape), zeros.reshape(shape)
    real: np.ndarray = (codes.astype(np.float64) - zeros) * scales
    return real


def _by_channel(values: np.ndarray) -> np.ndarray:
    """[channels, everything else]: axis 2 counts channels, where each sample has a batch and channels."""
    if values.ndim < 3:
        return values.reshape(1, -1)
    return np.moveaxis(values, 2, 0).reshape(values.shape[2], -1)


def _sqnr(signal: np.ndarray, error: np.ndarray, is_broken: bool) -> float | None:
    """10 log10 of signal power over error power; None where there is no error."""
    noise = float(np.sum(error * error))
    if is_broken:
        return LOWEST_DB
    if noise == 0.0:
        return None
    power = float(np.sum(signal * signal))
    if power == 0.0:
        return LOWEST_DB
    return float(np.clip(10.0 * (np.log10(power) - np.log10(noise)), LOWEST_DB, HIGHEST_DB))


def _order(sqnr: float | None) -> float:
    return float("inf") if sqnr is None else sqnr


def _range_use(codes: np.ndarray) -> float:
    """Share of the codes of its type that the values span."""
    info = np.iinfo(codes.dtype)
    return (int(codes.max()) - int(codes.min()) + 1) / (int(info.max) - int(info.min) + 1)


def _argmax_flips(x: np.ndarray, y: np.ndarray) -> int | None:
    """Samples in which the greatest class stands elsewhere; None where a sample is no row of classes.

    A feature map's greatest element decides nothing, and moves with any rounding.
    """
    if x.ndim not in (2, 3) or x.shape[-1] < 2:
        return None
    # A NaN is never the greatest of the reference, and takes the place of the greatest afterwards.
    before = np.argmax(np.where(np.isnan(x), -np.inf, x), axis=-1)
    flips = before != np.argmax(y, axis=-1)
    return int(flips.reshape(len(x), -1).any(axis=1).sum())


def _cosine(x: np.ndarray, y: np.ndarray) -> float | None:
    """Cosine of the angle between the two; None where one of them is zero."""
    size = float(np.linalg.norm(x)) * float(np.linalg.norm(y))
    return float(np.sum(x * y)) / size if size > 0.0 else None
