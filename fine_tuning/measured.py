"""What training did, on samples that it never saw: before and after it, and against the model before the change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.task_metrics import MetricChange, change
from metainfer_core.verify.metric import check_labels, find_metric
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.samples import Samples

CLASSES, WANTED = "accuracy", "cosine"


@dataclass(frozen=True)
class Measured:
    """The metric's changes, paired sample by sample."""

    by_training: MetricChange
    against_source: MetricChange
    what: str
    """What the figure is of, in words."""


def metric_for(name: str | None, held_out: Samples, output: np.ndarray) -> tuple[str, np.ndarray, str]:
    """The metric's name, the labels that it needs, and what it is of.

    Without labels the old model's own answers are the labels: how often the new one gives the same class, or how
    near its output points.
    """
    classes = output.ndim in (2, 3) and output.shape[-1] > 1
    if held_out.labels is not None or name is not None:
        chosen = name or (CLASSES if held_out.labels is not None and held_out.labels.dtype.kind != "f" else WANTED)
        check_labels(chosen, held_out)
        assert held_out.labels is not None
        return chosen, held_out.labels, f"{chosen} on the labels"
    if classes:
        return CLASSES, output.argmax(axis=-1), "how often the class is the one of the model before"
    return WANTED, output, "cosine with the output of the model before"


def measure(before: ir.Model, changed: ir.Model, trained: ir.Model, held_out: Samples, metric: str | None) -> Measured:
    """Runs all three models on the held-out samples, by ONNX Runtime."""
    name = str(before.graph.outputs[0].name)
    old, untrained, new = (
        np.stack([outputs[name] for outputs in run_reference(model, held_out.feeds)])
        for model in (before, changed, trained)
    )
    chosen, labels, what = metric_for(metric, held_out, old)
    found = find_metric(chosen)
    return Measured(change(chosen, found, untrained, new, labels), change(chosen, found, old, new, labels), what)
