"""What samples say: the clock, where caches end and how slow they are, and which widths fill the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metainfer_core.microbench.measure import Sample
from metainfer_core.spec.hardware_spec import Quantity
from metainfer_core.values import Value

RISE = 1.3
"""A load is in a slower memory where it takes at least this times as long as on the plateau before."""
LEVEL = 1.15
"""On one plateau times differ by no more than this."""
MOST_LEVELS = 4
GAIN = 1.08
"""What counts as better: a gain of less drowns in what else the machine does."""
TOLD = 0.9
"""What is left of the rate, at most, for a loss to be told from noise."""
WIDTHS = (2, 4, 8, 16, 32, 64)


class Step(Value):
    """One level of memory, found by its plateau of times."""

    level: int
    """1 for the fastest."""
    fits_bytes: int
    """The largest size that was still as fast."""
    too_large_bytes: int | None
    """The least size that lay wholly in the next level; None where none did."""
    nanoseconds: Quantity


def chase_points(samples: Mapping[str, Sample]) -> tuple[tuple[int, Quantity], ...]:
    """Bytes chased through and the time of one load, smallest first."""
    found = [
        (int(name.split()[1]), sample.nanoseconds_each) for name, sample in samples.items() if name.startswith("chase ")
    ]
    return tuple(sorted(found, key=lambda point: point[0]))


def cache_steps(points: Sequence[tuple[int, Quantity]]) -> tuple[Step, ...]:
    """Levels of memory, told by plateaus in the time of a load over the size that is chased through.

    The fastest repetition counts: others were slowed by what else the machine did. A plateau is at least two sizes;
    what lies between two plateaus is partly in the one and partly in the other level.
    """
    plateaus: list[list[int]] = []
    begin = 0
    while begin < len(points):
        end = begin
        while end + 1 < len(points) and points[end + 1][1].low <= LEVEL * _time(points, (begin, end)):
            end += 1
        if end > begin:
            plateaus.append([begin, end])
        begin = end + 1
    merged: list[list[int]] = []
    for plateau in plateaus:
        if merged and _time(points, plateau) < RISE * _time(points, merged[-1]):
            merged[-1][1] = plateau[1]
        else:
            merged.append(plateau)
    found = []
    for level, (first, last) in enumerate(merged[:MOST_LEVELS], start=1):
        beyond = points[merged[level][0]][0] if level < len(merged) else None
        middle = points[(first + last) // 2][1]
        found.append(Step(level=level, fits_bytes=points[last][0], too_large_bytes=beyond, nanoseconds=middle))
    return tuple(found)


def _time(points: Sequence[tuple[int, Quantity]], plateau: Sequence[int]) -> float:
    return min(point[1].low for point in points[plateau[0] : plateau[1] + 1])


def alignment(rates: Mapping[int, float]) -> int:
    """The number of channels of whose multiples the arithmetic makes most: 1 where no width is better.

    Args:
        rates: Channels to multiply-accumulates in a nanosecond.

    A is the alignment where one channel more than a multiple of A loses at least half of what padding it to the next
    multiple would cost, wherever that can be told, and where no width is better than its next multiple of A. The least
    such A counts.
    """
    for width in WIDTHS:
        costs = {c: (c + 1) / (c + width) for c in rates if c % width == 0 and c + 1 in rates}
        told = {channels: cost for channels, cost in costs.items() if cost <= TOLD}
        falls = all(rates[channels + 1] <= rates[channels] * (1 + cost) / 2 for channels, cost in told.items())
        others = [(channels, -(-channels // width) * width) for channels in rates if channels % width]
        fuller = all(rates[channels] <= GAIN * rates[above] for channels, above in others if above in rates)
        if told and falls and fuller:
            return width
    return 1


def sweep(samples: Mapping[str, Sample], kernel: str) -> dict[int, float]:
    """Channels to the best rate that a kernel reached on them."""
    of_kernel = {name: sample for name, sample in samples.items() if name.startswith(f"{kernel} ")}
    return {int(name.split()[1]): sample.per_nanosecond.high for name, sample in of_kernel.items()}
