"""Measures what overrides would do, with everything that `adapt` measured with."""

from __future__ import annotations

from metainfer_core.numerics.task_metrics import METRICS
from metainfer_core.pipeline.steps import Prepared, missing_ranges
from metainfer_core.policy.choose import tools_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.what_if import WhatIf, what_if
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.reference import Progress, quiet, run_reference
from metainfer_core.verify.samples import Samples


def measure_overrides(
    before: Policy,
    after: Policy,
    prepared: Prepared,
    spec: HardwareSpec,
    calib: str | None,
    evaluation_samples: Samples,
    progress: Progress = quiet,
) -> WhatIf:
    """The effect of what differs between two states of one policy.

    Args:
        before: The policy with the overrides that are in force.
        after: The same actions with further overrides.
        prepared: The model that it is for.
        spec: The hardware that it is for.
        calib: Data for the ranges of actions that bring none, as for adapt.
        evaluation_samples: What effects are measured on.
        progress: Called with each step.
    """
    objective = Objective.from_plain(before.plain().get("objective", {}))
    progress("running the unchanged model", 0, 0)
    calibration = missing_ranges(prepared, spec, before, calib, progress) or missing_ranges(
        prepared, spec, after, calib, progress
    )
    reference = run_reference(prepared.model, evaluation_samples.feeds)
    unknown = _why_no_metric(objective, evaluation_samples)
    told = Objective.from_plain({**objective.plain(), "metric": None}) if unknown else objective
    tools = tools_for(prepared.model, spec, evaluation_samples, reference, told, progress)
    return what_if(before, after, prepared.model, spec, calibration, tools, evaluation_samples, unknown)


def _why_no_metric(objective: Objective, samples: Samples) -> str:
    """Why the metric that the policy names is not measured; empty where it is, or where there is none.

    A policy comes from anywhere: a function that it names is not run for that alone.
    """
    if objective.metric is None:
        return ""
    if objective.metric not in METRICS:
        return f"The metric {objective.metric} of the policy was not measured: it is a program of somebody's own."
    if samples.labels is None:
        return f"The metric {objective.metric} of the policy was not measured: the data has no labels."
    return ""
