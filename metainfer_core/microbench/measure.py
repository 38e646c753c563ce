"""What is measured on a processor, in a seeded order, and what the repetitions gave."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, pstdev

from metainfer_core.microbench.program import Program
from metainfer_core.spec.hardware_spec import Quantity
from metainfer_core.values import Value

Progress = Callable[[str, int, int], None]
KIBIBYTE = 1024
ADDITIONS = 400_000
"""Short enough to end before another program gets its turn."""
INTERRUPTED = 2.0
"""A repetition that took more than this times the fastest one was interrupted by other programs."""
SMALLEST_BYTES, LARGEST_BYTES = 4 * KIBIBYTE, 256 * KIBIBYTE * KIBIBYTE
SWEPT_CHANNELS = (*range(1, 41), 47, 48, 49, 63, 64, 65, 95, 96, 97, 128)
SWEPT_ROWS, SWEPT_DEPTH = 64, 256


class Measurement(Value):
    """One start of the measuring program."""

    name: str
    words: tuple[str | int, ...]
    """Its arguments."""
    amount: float
    """Loads, bytes, calls, additions or multiply-accumulates in one repetition."""


class Sample(Value):
    """What a measurement gave."""

    measurement: Measurement
    nanoseconds: tuple[int, ...]
    """Of each repetition, in order."""

    @property
    def kept(self) -> tuple[int, ...]:
        """Repetitions that nothing interrupted."""
        limit = INTERRUPTED * min(self.nanoseconds)
        return tuple(each for each in self.nanoseconds if each <= limit)

    @property
    def nanoseconds_each(self) -> Quantity:
        """Time of one load, call or byte."""
        return spread(each / self.measurement.amount for each in self.kept)

    @property
    def per_nanosecond(self) -> Quantity:
        """Bytes, additions or multiply-accumulates in one nanosecond (10^9 a second)."""
        return spread(self.measurement.amount / each for each in self.kept)


def interrupted_share(samples: Iterable[Sample]) -> float:
    """Share of all repetitions that were left out as interrupted: how busy the machine was."""
    counted = [(len(sample.nanoseconds), len(sample.kept)) for sample in samples]
    every = sum(total for total, _ in counted)
    return (every - sum(kept for _, kept in counted)) / every if every else 0.0


def spread(values: Iterable[float]) -> Quantity:
    """Mean, standard deviation, least and most, to six digits."""
    found = [float(f"{value:.6g}") for value in values]
    low, high = min(found), max(found)
    mean = min(max(float(f"{fmean(found):.6g}"), low), high)
    return Quantity(min=low, typ=mean, max=high, std=float(f"{pstdev(found):.3g}"))


def chased_sizes(largest: int = LARGEST_BYTES) -> tuple[int, ...]:
    """Sizes in steps of about 1.4, whole KiB: fine enough to tell 32 from 48 KiB."""
    found = []
    size = SMALLEST_BYTES
    while size <= largest:
        found += [size] + ([size * 3 // 2] if size * 3 // 2 <= largest else [])
        size *= 2
    return tuple(found)


def everything(cores: int, largest: int, memory_bytes: int) -> tuple[Measurement, ...]:
    """All measurements of a processor.

    Args:
        cores: Threads that together read main memory.
        largest: Most bytes that are chased through, beyond all caches.
        memory_bytes: Main memory that there is; streams take at most a sixteenth of it.
    """
    stream = max(LARGEST_BYTES // 8, min(largest, memory_bytes // 16 // max(cores, 1) // 2))
    found = [Measurement(name="clock", words=("clock", ADDITIONS), amount=ADDITIONS)]
    for size in chased_sizes(largest):
        loads = 200_000 if size <= KIBIBYTE * KIBIBYTE else 20_000
        found.append(Measurement(name=f"chase {size}", words=("chase", size, loads, 1), amount=loads))
    for what in ("read", "write", "copy"):
        for threads in dict.fromkeys((1, cores)):
            name = f"{what} {threads}"
            found.append(Measurement(name=name, words=(what, stream, threads), amount=float(stream) * threads))
    found.append(Measurement(name="call", words=("call", 100_000), amount=100_000))
    found.append(Measurement(name="wake", words=("wake", 500), amount=500))
    for kernel in ("gemm_float32", "gemm_int8"):
        for channels in SWEPT_CHANNELS:
            macs = SWEPT_ROWS * channels * SWEPT_DEPTH
            rounds = 1 if macs >= 4_000_000 else 4_000_000 // macs + 1
            found.append(
                Measurement(
                    name=f"{kernel} {channels}",
                    words=(kernel, SWEPT_ROWS, channels, SWEPT_DEPTH),
                    amount=float(macs) * rounds,
                )
            )
    return tuple(found)


def measure(
    program: Program, plan: Sequence[Measurement], repetitions: int, seed: int, progress: Progress
) -> Mapping[str, Sample]:
    """The samples by name. The order is shuffled, so that what grows warm in time falls on all alike."""
    order = list(plan)
    random.Random(seed).shuffle(order)
    found = {}
    for done, each in enumerate(order):
        progress("measuring", done, len(order))
        found[each.name] = Sample(measurement=each, nanoseconds=program.run(*each.words, repetitions=repetitions))
    progress("measuring", len(order), len(order))
    return {each.name: found[each.name] for each in plan}
