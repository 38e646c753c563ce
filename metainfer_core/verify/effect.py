"""What a change does to the outputs, measured with the arithmetic that the device will use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect, output_effect
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.numerics.task_metrics import Metric, change
from metainfer_core.verify.samples import Outputs, Samples


def measure(
    reference: Sequence[Outputs], adapted: ir.Model, samples: Samples, metric: tuple[str, Metric] | None = None
) -> Effect:
    """The effect of `adapted` against the reference outputs of the unchanged model on the same samples.

    Args:
        reference: Outputs of the unchanged model, at least one for each sample.
        adapted: The changed model.
        samples: The inputs, with labels where there is a metric.
        metric: Its name and how it is counted; it judges the first output.
    """
    simulator = Simulator(lower(adapted))
    return effect_of(reference, [simulator.run(feed) for feed in samples.feeds], samples, metric)


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
