"""Choose a policy for a model on a spec: the search, with measuring by the simulator and prices by the cost model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import onnx_ir as ir

from metainfer_core.actions.kinds.bind_shape import BindShape
from metainfer_core.actions.narrow_integers import faster_widths
from metainfer_core.cost.estimate import Estimate, estimate
from metainfer_core.cost.workload import workloads_of_program
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.report import PreprocessReport
from metainfer_core.graph.summary import summarise
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import LOWEST_DB, Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search.half_search import formats
from metainfer_core.policy.search.placing import Overfull
from metainfer_core.policy.search.search import search
from metainfer_core.policy.search.tools import Progress, Refused, StepBySample, Tools
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.effect import effect_of, measure, measure_above
from metainfer_core.verify.layer_data import collect_layers
from metainfer_core.verify.metric import find_metric
from metainfer_core.verify.reference import collect_ranges, quiet
from metainfer_core.verify.samples import Outputs, Samples
from metainfer_core.verify.suffix_runs import run

MEASURED_ALONE = 8
"""Samples that each action alone is measured on: enough to rank them. What is chosen is measured on all."""


def choose(
    model: ir.Model,
    spec: HardwareSpec,
    calibration: Calibration,
    samples: Samples,
    reference: Sequence[Outputs],
    objective: Objective,
    progress: Progress = quiet,
    report: PreprocessReport | None = None,
    name: str = "",
    model_digest: str | None = None,
    overfull: Overfull = lambda adapted: None,
    calibration_samples: Samples | None = None,
    refused: Callable[[ir.Model], Refused | None] = lambda adapted: None,
) -> Policy:
    """The best legal policy within the accuracy budget, with measured and predicted evidence for each action.

    Args:
        model: The preprocessed model; it is left as it is.
        spec: The hardware.
        calibration: Ranges of the model's tensors.
        samples: Inputs that effects are measured on.
        reference: Outputs of the unchanged model on them.
        objective: Budget and goal.
        progress: Called with a step's name, how much of it is done, and the whole.
        report: What preprocessing did; shapes that it bound are put on record.
        name: Lineage of the policy, such as `ppocr_cls_on_rk3588`.
        model_digest: Of the model file that the policy is for.
        calibration_samples: Inputs that ranges and rounding are learned from; `samples` if not given.
        overfull: The memory that the planner cannot fit an adapted model into, where there is one.
        refused: Whether the compiler would refuse an adapted model.

    Raises:
        DoesNotFitError: Whatever is done, a memory of the spec is too small.
        UnsupportedError: The model as it is has an operator without a kernel, or no unit has the precision.
    """
    if objective.precision is Precision.FP16 and not formats(spec):
        fields = ", ".join(f"compute_units.{name}.data_types" for name in sorted(spec.compute_units))
        raise UnsupportedError(
            "The chip has no 16-bit floats.",
            f"No unit of {spec.name} lists float16 or bfloat16 ({fields or 'compute_units'}).",
            "Use --precision int8 or float32, or add the data type to the spec with its source.",
        )
    tools = tools_for(model, spec, samples, reference, objective, progress, calibration_samples, overfull, refused)
    bound = BindShape().bound(report) if report is not None else ()
    return search(model, spec, calibration, objective, tools, bound, name, model_digest)


def tools_for(
    model: ir.Model,
    spec: HardwareSpec,
    samples: Samples,
    reference: Sequence[Outputs],
    objective: Objective,
    progress: Progress = quiet,
    calibration_samples: Samples | None = None,
    overfull: Overfull = lambda adapted: None,
    refused: Callable[[ir.Model], Refused | None] = lambda adapted: None,
) -> Tools:
    """How effects are measured, prices predicted and ranges taken; arguments as for `choose`."""
    metric = (objective.metric, find_metric(objective.metric)) if objective.metric is not None else None
    learned_from = calibration_samples or samples
    few = samples.first(MEASURED_ALONE)
    telling = StepBySample(progress)
    # Takes minutes, once on a machine: it shall not go on under the name of what is measured first.
    load_library(lambda _: progress("compiling the kernels, once on this machine", 0, 0))
    start = functools.cache(lambda: run(lower(model), few.feeds))
    return Tools(
        measure=lambda adapted: measure(reference, adapted, samples, metric, telling.sample),
        measure_within=_giving_up(reference, samples, objective, telling.sample),
        measure_few=lambda adapted: effect_of(reference, run(lower(adapted), few.feeds, start()).outputs, few),
        price=lambda adapted: predict(adapted, spec),
        calibrate=lambda adapted: collect_ranges(adapted, learned_from, progress, faster_widths(spec)),
        layers=lambda adapted: collect_layers(adapted, learned_from, telling.sample),
        overfull=overfull,
        refused=refused,
        progress=telling.step,
    )


def _giving_up(
    reference: Sequence[Outputs], samples: Samples, objective: Objective, told: Callable[[int, int], None]
) -> Callable[[ir.Model], Effect | None] | None:
    """Measuring that stops where the decibels are lost; None where the budget is of another kind."""
    if objective.metric is not None or objective.min_sqnr_db <= LOWEST_DB:
        return None
    return lambda adapted: measure_above(reference, adapted, samples, objective.min_sqnr_db, told)


def predict(adapted: ir.Model, spec: HardwareSpec) -> Estimate:
    """Predicted time and bytes of an adapted model, of the kernel calls that it is lowered to."""
    return estimate(workloads_of_program(lower(adapted).program, summarise(adapted)), spec)
