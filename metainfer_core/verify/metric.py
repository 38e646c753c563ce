"""The metric that the user names: a built-in one, or a function of the user's own."""

from __future__ import annotations

import importlib

from metainfer_core.errors import InputError
from metainfer_core.numerics.task_metrics import METRICS, Metric, metric_of
from metainfer_core.verify.samples import LABELS, Samples


def find_metric(name: str) -> Metric:
    """The metric of that name, or of the function `module:function`.

    Raises:
        InputError: there is none.
    """
    if name in METRICS:
        return METRICS[name]
    module_name, _, function_name = name.partition(":")
    if not function_name:
        raise InputError(
            f"There is no metric {name}.",
            f"The built-in ones are {', '.join(METRICS)}.",
            "Name one of them, or a function of your own as module:function.",
        )
    try:
        return metric_of(getattr(importlib.import_module(module_name), function_name))
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"The metric {name} cannot be found.",
            f"{type(error).__name__}: {error}.",
            "It must be importable, and take outputs and labels.",
        ) from error


def check_labels(name: str, samples: Samples) -> None:
    """Refuses a metric on data without labels."""
    if samples.labels is None:
        raise InputError(
            f"The metric {name} needs labels.",
            f"{samples.label} has no array {LABELS}.",
            f"Give evaluation data with labels: numpy.savez(path, **inputs, {LABELS}=...) and --eval path.",
        )
