"""What values each tensor takes on calibration data."""

from __future__ import annotations

from metainfer_core.values import FrozenMap, Value


class TensorRange(Value):
    """Least and greatest value of one tensor over all samples."""

    low: float
    high: float


WHOLE = "min-max"
"""The calibration method that keeps all that was seen."""
ChannelRanges = tuple[tuple[float, float], ...]
"""Least and greatest value of each channel of one tensor."""


class ChosenRange(Value):
    """The range that a scale is best made from, and how it was found."""

    low: float
    high: float
    method: str
    """`min-max`, `percentile`, `mse` or `entropy`."""
    held_out_db: FrozenMap[float]
    """Method to the signal-to-noise ratio that it leaves on samples that no range was taken from."""
    by_values_db: FrozenMap[float] = {}
    """The same by the tensor's own values, where the layers that read it decided."""


class Calibration(Value):
    """Ranges of every float tensor of a model, and where the data came from."""

    data: str
    """What the data is, in words a reviewer reads: a file name, or `random inputs, seed 0`."""
    data_digest: str
    is_random: bool
    """True if no data was given: every figure made with it must be labelled so."""
    samples: int
    ranges: FrozenMap[TensorRange]
    """Tensor name to its range."""
    chosen: FrozenMap[ChosenRange] = {}
    """Tensor name to the range of the best method, where one beats the least and greatest value on held-out samples."""
    kept: FrozenMap[ChosenRange] = {}
    """Tensor name to its whole range, where that is the best one, with the figures of the methods that it beat."""
    narrow: FrozenMap[FrozenMap[ChosenRange]] = {}
    """Bits below 8 to what `chosen` and `kept` are for a scale of so many bits; only of widths that were asked for."""

    by_channel: FrozenMap[ChannelRanges] = {}
    """Tensor name to the ranges of its channels, where depthwise convolutions read it, and nothing else."""

    def with_chosen(self) -> Calibration:
        """The same, with the chosen ranges in the place of the least and greatest values."""
        cut = {name: TensorRange(low=span.low, high=span.high) for name, span in self.chosen.items()}
        return Calibration(**{**dict(self), "ranges": {**self.ranges, **cut}})

    def for_bits(self, bits: int) -> Calibration:
        """The same for scales of so many bits: their own chosen ranges, where some were made."""
        found = self.narrow.get(str(bits))
        if found is None:
            return self
        chosen = {name: span for name, span in found.items() if span.method != WHOLE}
        kept = {name: span for name, span in found.items() if span.method == WHOLE}
        own = Calibration(**{**dict(self), "chosen": chosen, "kept": kept, "narrow": {}})
        return own.with_chosen()
