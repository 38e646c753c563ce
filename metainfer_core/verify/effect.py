"""What a change does to the outputs, measured with the arithmetic that the device will use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect, noise_power, output_effect, power
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.numerics.task_metrics import Metric, change
from metainfer_core.verify.samples import Outputs, Samples

ROUNDING = 1e-6
"""Share by which sums of squares in another order may differ."""


def measure(
    reference: Sequence[Outputs],
    adapted: ir.Model,
    samples: Samples,
    metric: tuple[str, Metric] | None = None,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Effect:
    """The effect of `adapted` against the reference outputs of the unchanged model on the same samples.

    Args:
        reference: Outputs of the unchanged model, at least one for each sample.
        adapted: The changed model.
        samples: The inputs, with labels where there is a metric.
        metric: Its name and how it is counted; it judges the first output.
        told: Called after each sample with how many are done, and how many there are.
    """
    actual: list[Outputs] = []
    for outputs in Simulator(lower(adapted)).run_each(samples.feeds):
        actual.append(outputs)
        told(len(actual), len(samples.feeds))
    return effect_of(reference, actual, samples, metric)


def measure_above(
    reference: Sequence[Outputs],
    adapted: ir.Model,
    samples: Samples,
    min_sqnr_db: float,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Effect | None:
    """As `measure`; None as soon as the noise so far is more than an output may have over all samples.

    Noise only grows from sample to sample, so what is given up would not have kept to the budget.
    """
    count = len(samples.feeds)
    signal = {name: sum(power(one[name]) for one in reference[:count]) for name in reference[0]}
    allowed = {name: (1 + ROUNDING) * whole * 10 ** (-min_sqnr_db / 10) for name, whole in signal.items()}
    noise, actual = dict.fromkeys(signal, 0.0), []
    for before, after in zip(reference, Simulator(lower(adapted)).run_each(samples.feeds), strict=False):
        actual.append(after)
        told(len(actual), count)
        for name in noise:
            noise[name] += noise_power(before[name], after[name])
            if not noise[name] <= allowed[name]:
                return None
    return effect_of(reference, actual, samples)


def effect_of(
    reference: Sequence[Outputs],
    actual: Sequence[Outputs],
    samples: Samples,
    metric: tuple[str, Metric] | None = None,
) -> Effect:
    """The effect of a changed model whose outputs on the samples are known."""
    both = {
        name: (np.stack([one[name] for one in reference[: len(actual)]]), np.stack([other[name] for other in actual]))
        for name in reference[0]
    }
    judged = None
    if metric is not None and samples.labels is not None:
        before, after = next(iter(both.values()))
        judged = change(*metric, before, after, samples.labels)
    effects = tuple(output_effect(name, before, after) for name, (before, after) in both.items())
    return Effect(outputs=effects, samples=len(samples.feeds), data=samples.label, metric=judged)
