"""The user's samples in three parts: to train on, to decide when to stop, and held out to measure on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metainfer_core.errors import InputError
from metainfer_core.values import sha256
from metainfer_core.verify.samples import Feeds, Samples

SHARE = 5
"""One in so many samples decides when to stop, and one is held out where no other data is."""
FEWEST = 20
"""Samples that training takes at least."""


@dataclass(frozen=True)
class Split:
    """Which samples are for what."""

    feeds: Sequence[Feeds]
    labels: np.ndarray | None
    trained: tuple[int, ...]
    deciding: tuple[int, ...]
    held_out: Samples
    label: str
    """What the training data is, in words."""
    digest: str

    @property
    def training_feeds(self) -> list[Feeds]:
        """The samples that are trained on."""
        return [self.feeds[place] for place in self.trained]


def split(samples: Samples, held_out: Samples | None, seed: int) -> Split:
    """Parts the samples by the seed.

    Raises:
        InputError: They are too few, or held-out samples stand among those that are trained on.
    """
    if len(samples.feeds) < FEWEST:
        raise InputError(
            f"There are {len(samples.feeds)} samples to train on.",
            f"At least {FEWEST} are needed: a fifth decides when to stop, and a fifth is measured on.",
            "Give more data.",
        )
    order = [int(place) for place in np.random.default_rng(seed).permutation(len(samples.feeds))]
    part = len(order) // SHARE
    deciding, rest = order[:part], order[part:]
    trained = rest
    if held_out is None:
        kept, trained = rest[:part], rest[part:]
        held_out = Samples(
            tuple(samples.feeds[place] for place in kept),
            f"{part} held out of {samples.label}",
            sha256(f"{samples.digest} {kept}".encode()),
            samples.is_random,
            None if samples.labels is None else samples.labels[kept],
        )
    seen = {_digest(samples.feeds[place]) for place in (*trained, *deciding)}
    known = sum(_digest(feed) in seen for feed in held_out.feeds)
    if known:
        raise InputError(
            f"{known} of the {len(held_out.feeds)} held-out samples are among those that are trained on.",
            "What was trained on is known, so measuring on it says nothing.",
            "Remove samples that stand twice, or give other data with --eval.",
        )
    where = sha256(f"{samples.digest} {_labels_digest(samples.labels)} {trained} {deciding}".encode())
    return Split(samples.feeds, samples.labels, tuple(trained), tuple(deciding), held_out, samples.label, where)


def _digest(feed: Feeds) -> str:
    return sha256(b"".join(name.encode() + np.ascontiguousarray(feed[name]).tobytes() for name in sorted(feed)))


def _labels_digest(labels: np.ndarray | None) -> str:
    return "" if labels is None else sha256(np.ascontiguousarray(labels).tobytes())
