"""What training makes small: the distance to the old model's answers, and to the labels where there are some.

Outputs that are shares of classes are compared by their divergence (distillation, Hinton et al. 2015), others by the
power of the error over the power of the old model's output. Labels that are classes count by cross-entropy, labels of
an output's shape as the output that is wanted. With labels both halves count the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import is_distribution

LEAST_SHARE = 1e-12
"""Of a class, before its logarithm is taken."""


@dataclass(frozen=True)
class Objective:
    """The loss of some samples, by their places in the data."""

    targets: tuple[Any, ...]
    """For each output the old model's answers [samples, ...]; None for an output of integers."""
    shares: tuple[bool, ...]
    """Whether an output is a distribution over classes."""
    labels: Any = None

    def loss(self, outputs: Sequence[Any], places: Sequence[int]) -> Any:
        """Mean over the samples; `outputs` are those of the samples at `places`."""
        where = torch.tensor(list(places), dtype=torch.int64)
        parts = [
            _divergence(output, target[where]) if shares else _relative_power(output, target[where], target)
            for output, target, shares in zip(outputs, self.targets, self.shares, strict=True)
            if target is not None
        ]
        distilled = sum(parts[1:], parts[0]) / len(parts)
        if self.labels is None:
            return distilled
        return 0.5 * distilled + 0.5 * self._against_labels(outputs[0], where)

    def _against_labels(self, output: Any, where: Any) -> Any:
        labels = self.labels[where]
        if labels.is_floating_point():
            return _relative_power(output, labels.reshape(output.shape), self.labels)
        logits = torch.log(output.clamp_min(LEAST_SHARE)) if self.shares[0] else torch.log_softmax(output, -1)
        rows = logits.reshape(-1, logits.shape[-1])
        return torch.nn.functional.nll_loss(rows, labels.reshape(-1).long())


def objective(answers: Sequence[Mapping[str, np.ndarray]], labels: np.ndarray | None) -> Objective:
    """The objective for some samples.

    Args:
        answers: The old model's outputs, one mapping a sample.
        labels: What is right for each sample: a class, a class for each row, or the first output as it should be.

    Raises:
        InputError: The labels fit no output.
    """
    names = list(answers[0])
    stacked = [np.stack([answer[name] for answer in answers]) for name in names]
    floats = [array.dtype.kind == "f" for array in stacked]
    if not any(floats):
        raise InputError("The model has no output of floats.", "Integers have no slope to train along.", "Cut it off.")
    targets = tuple(torch.from_numpy(a.astype(np.float32)) if f else None for a, f in zip(stacked, floats, strict=True))
    shares = tuple(f and is_distribution(array) for array, f in zip(stacked, floats, strict=True))
    return Objective(targets, shares, None if labels is None else _labels(labels, stacked[0], names[0]))


def _labels(labels: np.ndarray, output: np.ndarray, name: str) -> Any:
    rows = int(np.prod(output.shape[1:-1]))
    if labels.dtype.kind == "f" and labels[0].size == output[0].size:
        return torch.from_numpy(labels.astype(np.float32))
    classes = labels.dtype.kind in "iub" and output.dtype.kind == "f" and labels[0].size == rows
    if not classes or labels.min() < 0 or labels.max() >= output.shape[-1]:
        raise InputError(
            f"The labels do not fit the output {name}.",
            f"It has the shape {list(output.shape[1:])}; a label has {list(labels.shape[1:])} of {labels.dtype}, "
            f"from {labels.min()} to {labels.max()}.",
            f"Give classes from 0 to {output.shape[-1] - 1}, the output as it should be, or no labels.",
        )
    return torch.from_numpy(labels.astype(np.int64))


def _divergence(output: Any, target: Any) -> Any:
    logs = torch.log(output.clamp_min(LEAST_SHARE))
    own = torch.where(target > 0, target * torch.log(target.clamp_min(LEAST_SHARE)), torch.zeros_like(target))
    return (own - target * logs).sum(-1).mean()


def _relative_power(output: Any, target: Any, all_targets: Any) -> Any:
    power = (all_targets * all_targets).mean().clamp_min(torch.finfo(torch.float32).tiny)
    return ((output - target) ** 2).mean() / power
