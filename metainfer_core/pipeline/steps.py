"""The whole flow as one readable list of steps: prepare, adapt, compile, check. Each takes values and gives values.

Lower parts get here what they need from higher ones: choosing a policy gets the way to measure it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.as_onnx import as_onnx
from metainfer_core.actions.narrow_integers import faster_widths, stated_widths
from metainfer_core.actions.rewiring import array_of
from metainfer_core.actions.staged_steps import asked_of
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.compile_plan import compile_plan
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.kernel_differences import not_equalised
from metainfer_core.codegen.package import Package, read_package
from metainfer_core.codegen.realised import read_constants, read_realised
from metainfer_core.codegen.staging import staged_plan
from metainfer_core.errors import DoesNotFitError, UnsupportedError
from metainfer_core.graph.files.load import import_model, load_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.report import PreprocessReport
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.npu.device import devices
from metainfer_core.npu.stage import Asked, stage
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import apply, apply_line, effective, is_off
from metainfer_core.policy.choose import choose
from metainfer_core.policy.lineage import lineage_of, lineage_warnings
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.search.tools import Refused
from metainfer_core.policy.structure.changes import structure_changes
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.check_legal import Violation, check_legal
from metainfer_core.verify.metric import check_labels, find_metric
from metainfer_core.verify.realised_graph import RealisedGraph
from metainfer_core.verify.reference import Progress, collect_ranges, quiet, run_reference
from metainfer_core.verify.report import Difference
from metainfer_core.verify.samples import SAMPLES, Feeds, Outputs, Samples, random_samples, read_samples

TEST_VECTORS = 2
"""Inputs that every package carries with the outputs that it must give."""


@dataclass(frozen=True)
class Prepared:
    """A model as every later step sees it: static shapes, constants folded, node ids fixed."""

    name: str
    digest: str
    """Of the file that was imported."""
    model: ir.Model
    report: PreprocessReport


@dataclass(frozen=True)
class Adapted:
    """A policy, and what choosing it was measured on."""

    policy: Policy
    samples: Samples
    reference: tuple[Outputs, ...]
    """Outputs of the unchanged model on the samples, by ONNX Runtime."""


@dataclass(frozen=True)
class Compiled:
    """A package, and what was found in it."""

    data: bytes
    package: Package
    adapted: ir.Model
    lowered: Lowered
    realised: RealisedGraph
    violations: tuple[Violation, ...]
    differences: tuple[Difference, ...]


def prepare(
    path: Path,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    input_values: Mapping[str, np.ndarray] | None = None,
) -> Prepared:
    """Imports a model and makes its shapes static."""
    imported = load_model(path)
    done = preprocess(imported.model, input_shapes, input_values)
    return Prepared(imported.name, imported.digest, done.model, done.report)


def samples_for(prepared: Prepared, data: str | None, limit: int = SAMPLES) -> Samples:
    """At most `limit` samples from `data` (see `read_samples`), or seeded random ones that are labelled so."""
    return read_samples(data, prepared.model, limit) if data else random_samples(prepared.model)


def adapt(
    prepared: Prepared,
    spec: HardwareSpec,
    calibration_samples: Samples,
    evaluation_samples: Samples,
    objective: Objective,
    progress: Progress = quiet,
) -> Adapted:
    """Proposes, measures and chooses: the policy for this model on this spec."""
    if objective.metric is not None:
        find_metric(objective.metric)
        check_labels(objective.metric, evaluation_samples)
    calibration: Calibration = collect_ranges(prepared.model, calibration_samples, progress, faster_widths(spec))
    reference = run_reference(prepared.model, _told(evaluation_samples.feeds, progress))
    policy = choose(
        prepared.model,
        spec,
        calibration,
        evaluation_samples,
        reference,
        objective,
        progress,
        report=prepared.report,
        name=f"{prepared.name}_on_{spec.name.lower()}",
        model_digest=prepared.digest,
        overfull=lambda adapted: _overfull(adapted, spec),
        refused=lambda adapted: _refused(adapted, spec),
        calibration_samples=calibration_samples,
    )
    changes = structure_changes(prepared.model, spec) or None
    found = {
        "structure_changes": changes,
        "fine_tuning": lineage_of(prepared.model),
        "warnings": (*policy.warnings, *lineage_warnings(prepared.model)),
    }
    policy = Policy(**{**dict(policy), **found})
    return Adapted(policy, evaluation_samples, reference)


def _told(feeds: tuple[Feeds, ...], progress: Progress) -> Iterator[Feeds]:
    """The feeds one by one, each told before it is run."""
    for index, feed in enumerate(feeds):
        progress("running the unchanged model", index, len(feeds))
        yield feed


def missing_ranges(
    prepared: Prepared, spec: HardwareSpec, policy: Policy, data: str | None, progress: Progress = quiet
) -> Calibration | None:
    """Ranges for a plain policy, whose quantize actions bring none; None where every action brings its own."""
    quantized = [effective(line) for line in policy.actions if line.action == "quantize" and not is_off(line)]
    if all("ranges" in action.params for action in quantized):
        return None
    return collect_ranges(prepared.model, samples_for(prepared, data), progress, stated_widths(spec))


def _overfull(adapted: ir.Model, spec: HardwareSpec) -> DoesNotFitError | None:
    """The memory of the spec that this model cannot be planned into, on targets with and without DMA."""
    lowered, asked = lower(adapted), asked_of(adapted)
    try:
        staged_plan(lowered, spec, asked, everywhere=False)
        fed = tuple(devices(spec).values())
        if fed and (staged := _staged(lowered, spec, asked)) is not None:
            compile_plan(staged, spec, fed)
    except DoesNotFitError as error:
        return error
    return None


def _staged(lowered: Lowered, spec: HardwareSpec, asked: Asked) -> Lowered | None:
    """The program as DMA would feed it; None where a step alone is too large, whatever else lies in the memory."""
    try:
        return stage(lowered, spec, asked, everywhere=True)
    except (DoesNotFitError, UnsupportedError):
        return None


def _refused(adapted: ir.Model, spec: HardwareSpec) -> Refused | None:
    """Whether compiling refuses the model, on targets with and without DMA."""
    lowered, asked = lower(adapted), asked_of(adapted)
    for everywhere in (False, True) if devices(spec) else (False,):
        try:
            staged_plan(lowered, spec, asked, everywhere)
        except (DoesNotFitError, UnsupportedError) as error:
            return Refused(error, everywhere=not everywhere)
    return None


def compile_policy(
    prepared: Prepared,
    spec: HardwareSpec,
    policy: Policy,
    target: str,
    feeds: tuple[Feeds, ...],
    *,
    bundle_digest: str | None = None,
    demo: bool = False,
    calibration: Calibration | None = None,
    progress: Progress = quiet,
) -> Compiled:
    """Applies the policy, lowers it, plans memory, generates and builds code, and reads back what was built.

    A policy without `bundle_digest` makes a development package, marked unreviewed; `demo`, one that is marked so.

    Raises:
        UnsupportedError: An action is not legal here, or an operator has no kernel.
        DoesNotFitError: A memory of the spec is too small.
    """
    progress("applying the policy", 0, 4)
    adapted = apply(prepared.model, spec, policy, calibration)
    progress("mapping to kernels", 1, 4)
    lowered = lower(adapted)
    progress("generating and compiling code", 2, 4)
    parents = {"model": prepared.digest, "spec": spec.values_digest, "policy": policy.digest}
    data = build_package(
        lowered,
        spec,
        target,
        parents | ({"bundle": bundle_digest} if bundle_digest else {}),
        policy.to_json(),
        model_bytes(as_onnx(adapted)),
        feeds[:TEST_VECTORS],
        development=bundle_digest is None,
        demo=demo,
        model=prepared.name,
        asked=asked_of(adapted),
        progress=progress,
    )
    progress("reading back what was built", 3, 4)
    package = read_package(data)
    realised = read_realised(package)
    op_types = {str(node.name): node.op_type for node in prepared.model.graph}
    # a node that an action took out (a folded batch norm) is still covered by a step, but no unit has to run it
    run_types = {str(node.name): node.op_type for node in adapted.graph}
    return Compiled(
        data,
        package,
        adapted,
        lowered,
        realised,
        check_legal(realised, spec, run_types),
        (
            *differences(approved_actions(policy), realised, op_types),
            *_not_equalised(prepared, spec, policy, realised, package),
        ),
    )


def _not_equalised(
    prepared: Prepared, spec: HardwareSpec, policy: Policy, realised: RealisedGraph, package: Package
) -> tuple[Difference, ...]:
    """What was approved to be equalised and is not so in the built weights."""
    actions = approved_actions(policy)
    if not any(action.kind == "equalise" for action in actions):
        return ()
    before = prepared.model.clone()
    for line in itertools.takewhile(lambda line: line.action != "equalise", policy.actions):
        apply_line(before, spec, line, None)
    layers = {str(node.name): node.inputs[1] for node in before.graph if node.op_type == "Conv"}
    weights = {name: array for name, value in layers.items() if (array := array_of(value)) is not None}
    return tuple(not_equalised(actions, weights, realised, read_constants(package)))


def illegal_actions(prepared: Prepared, spec: HardwareSpec, policy: Policy) -> tuple[str, ...]:
    """Each action that is not legal on this model and spec, in the order of the policy, with the reason."""
    working, found = prepared.model.clone(), []
    for line in policy.actions:
        try:
            apply_line(working, spec, line, None)
        except UnsupportedError as error:
            found.append(f"{line.id}: {error.why}")
    return tuple(found)


def approved_actions(policy: Policy) -> tuple[Action, ...]:
    """The actions as they are to be done: overrides in, those that are switched off out."""
    return tuple(effective(line) for line in policy.actions if not is_off(line))


def reimport(adapted_model: bytes) -> ir.Model:
    """The adapted model out of a package, for comparing layer by layer."""
    return import_model(adapted_model, "the package's adapted model").model
