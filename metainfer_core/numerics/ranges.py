"""What values each tensor takes on calibration data."""

from __future__ import annotations

from metainfer_core.values import FrozenMap, Value


class TensorRange(Value):
    """Least and greatest value of one tensor over all samples."""

    low: float
    high: float


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
