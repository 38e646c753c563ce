"""How the values of one tensor lie, counted while samples pass by; the order of the samples does not matter.

Bins are as wide as a power of two and are counted from 0, so that a histogram that has to reach further merges its bins
two by two and is then the very one that would have been counted with the wider bins from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

HALF = 2048
"""Bins on either side of 0."""
MOST_COUNTED = 1 << 18
"""Elements of a tensor that are counted in one sample: evenly spaced ones of larger ones, but ends come from all."""


@dataclass
class Histogram:
    """Counts of values by size, zeros apart: 0 is exact in every scale."""

    counts: np.ndarray = field(default_factory=lambda: np.zeros(2 * HALF, np.int64))
    """Bin `i` holds the values in [(i - HALF) * width, (i + 1 - HALF) * width)."""
    exponent: int | None = None
    """The width is 2 to this power; None while there are zeros only."""
    zeros: int = 0

    @property
    def width(self) -> float:
        """Of one bin."""
        return 2.0 ** (self.exponent or 0)

    @property
    def centres(self) -> np.ndarray:
        """The middle of each bin."""
        return (np.arange(-HALF, HALF) + 0.5) * self.width

    def add(self, array: np.ndarray) -> None:
        """Counts an array of finite numbers."""
        values = array.reshape(-1)
        peak = float(np.abs(values).max(initial=0.0))
        if values.size > MOST_COUNTED:
            values = values[:: -(-values.size // MOST_COUNTED)]
        found = values[values != 0].astype(np.float64)
        self.zeros += values.size - found.size
        if peak == 0.0:
            return
        self._reach(int(np.frexp(peak)[1]) - int(np.log2(HALF)))
        places = np.floor(found / self.width).astype(np.int64) + HALF
        self.counts += np.bincount(np.clip(places, 0, 2 * HALF - 1), minlength=2 * HALF)

    def _reach(self, exponent: int) -> None:
        """Merges bins two by two until they are wide enough."""
        if self.exponent is None:
            self.exponent = exponent
        while self.exponent < exponent:
            merged = np.zeros_like(self.counts)
            merged[HALF // 2 : HALF // 2 + HALF] = self.counts.reshape(-1, 2).sum(axis=1)
            self.counts, self.exponent = merged, self.exponent + 1
