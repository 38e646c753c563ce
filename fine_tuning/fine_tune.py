"""A fine-tuning as one list of steps: change the model, train it, measure it, record where it comes from."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx_ir as ir

from fine_tuning.checkpoint import Arrays, Checkpoint, read_checkpoint, write_checkpoint
from fine_tuning.measured import Measured, measure
from fine_tuning.restructure import restructured, tensor_values, with_shapes
from fine_tuning.rounding import roundings
from fine_tuning.settings import Settings
from fine_tuning.split import Split
from fine_tuning.trained_layers import changed_nodes, weights_of, with_neighbours
from metainfer_core import __version__
from metainfer_core.actions.rewiring import name_of, nodes_by_id, numbers_of
from metainfer_core.errors import InputError
from metainfer_core.pipeline import Prepared
from metainfer_core.policy.apply import apply_line, effective, finish
from metainfer_core.policy.lineage import MEASURED, NEEDS_RETRAINING, RECORD, Lineage, TakenChange
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import canonical_json, sha256
from metainfer_core.verify.reference import Progress, quiet, run_reference
from metainfer_core.verify.samples import Outputs

EXTRA = "torch"
FACTORED, STORED = "factor_weights", "store_low_bit"


@dataclass(frozen=True)
class Order:
    """What is made of which model, and what it is trained on."""

    before: Prepared
    policy: Policy
    spec: HardwareSpec
    changes: tuple[StructureChange, ...]
    lines: tuple[PolicyAction, ...]
    """Actions of the policy that are trained with: factored weights, weights in few bits."""
    reviewed_by: str | None
    split: Split
    metric: str | None
    all_layers: bool
    settings: Settings


@dataclass(frozen=True)
class Changed:
    """The model with its changes, before training."""

    model: ir.Model
    trained: tuple[str, ...]
    """Ids of the nodes whose weights are trained."""
    weights: Arrays
    stored: tuple[PolicyAction, ...]
    """Actions that round weights when the model is compiled."""


def need_extra() -> None:
    """Refuses where PyTorch is not installed; says which extra brings it."""
    if importlib.util.find_spec("torch") is None:
        raise InputError(
            f"Fine-tuning needs the extra {EXTRA!r}, which is not installed.",
            f"There is no module torch in {sys.prefix}.",
            f'Install it: pip install "meta-infer[{EXTRA}]".',
        )


def changed_model(order: Order) -> Changed:
    """The model with its changes, and which of its weights are trained.

    Raises:
        UnsupportedError: A change or an action cannot be made here.
        InputError: Nothing would be trained.
    """
    old = order.before.model
    feeds = order.split.training_feeds

    def values_of(model: ir.Model, tensor: str) -> np.ndarray:
        return tensor_values(model, tensor, feeds)

    model = restructured(old, order.changes, values_of, order.settings.seed) if order.changes else old.clone()
    factored = [line for line in order.lines if line.action == FACTORED]
    for line in factored:
        apply_line(model, order.spec, line, None)
    if factored:
        model = with_shapes(model, old)
    stored = tuple(line for line in order.lines if line.action == STORED)
    as_stored(model, order.spec, stored)  # refused now rather than after training
    known = nodes_by_id(model)
    rounded = [known[(line.nodes or (line.node_id,))[0]] for line in stored]
    chosen = tuple(model.graph) if order.all_layers else (*with_neighbours(changed_nodes(old, model)), *rounded)
    trained = {str(node.name): weights_of(node) for node in model.graph if node in set(chosen) and weights_of(node)}
    if not trained:
        raise InputError(
            "There is nothing to train.",
            "No layer with weights of float32 is changed, or stands next to one that is.",
            "Train all layers: --all-layers.",
        )
    arrays = {name: np.array(numbers_of(model.graph.initializers[name])) for each in trained.values() for name in each}
    return Changed(model, tuple(trained), arrays, stored)


def as_stored(model: ir.Model, spec: HardwareSpec, stored: Sequence[PolicyAction]) -> ir.Model:
    """The model as it will be compiled, as far as weights in few bits go."""
    if not stored:
        return model
    adapted = model.clone()
    for line in stored:
        apply_line(adapted, spec, line, None)
    finish(adapted, spec)
    return adapted


def task_digest(order: Order, changed: Changed) -> str:
    """Of everything that decides what is trained, besides how long."""
    settings = {key: value for key, value in vars(order.settings).items() if key != "steps"}
    weights = [[name, list(array.shape), sha256(array.tobytes())] for name, array in sorted(changed.weights.items())]
    stored = [effective(line).plain() for line in changed.stored]
    parts = [order.before.digest, order.split.digest, settings, weights, stored, version("torch")]
    return sha256(canonical_json(parts))


def fine_tune(
    order: Order, checkpoint: Path, keep_model: Callable[[ir.Model], None], progress: Progress = quiet
) -> tuple[ir.Model, Lineage, Measured]:
    """Changes, trains and measures; the model holds the record.

    A run that is stopped leaves the checkpoint and, through `keep_model`, the best so far, marked as not measured.
    """
    from fine_tuning.objective import objective
    from fine_tuning.training import TrainingData, train

    progress("changing the model", 0, 0)
    changed = changed_model(order)
    progress("asking the model before for its answers", 0, 0)
    split = order.split
    answers: tuple[Outputs, ...] = run_reference(order.before.model, split.feeds)
    data = TrainingData(split.feeds, objective(answers, split.labels), split.trained, split.deciding)
    task = task_digest(order, changed)
    state: Checkpoint | None = read_checkpoint(checkpoint, task, changed.weights)
    last: list[Checkpoint] = [state] if state is not None else []

    def keep(now: Checkpoint) -> None:
        last[:] = [now]
        write_checkpoint(checkpoint, task, now)

    try:
        rounded = roundings(changed.model, changed.stored)
        done = train(changed.model, changed.weights, rounded, data, order.settings, state, keep, progress)
        trained = _with_weights(changed.model, done.best)
        progress("measuring on held-out data", 0, 0)
        measured = measure(
            order.before.model,
            as_stored(changed.model, order.spec, changed.stored),
            as_stored(trained, order.spec, changed.stored),
            split.held_out,
            order.metric,
        )
    except KeyboardInterrupt:
        if last:
            keep_model(_recorded(_with_weights(changed.model, last[0].best), lineage(order, changed, last[0], None)))
        raise
    record = lineage(order, changed, done, measured)
    return _recorded(trained, record), record, measured


def lineage(order: Order, changed: Changed, state: Checkpoint, measured: Measured | None) -> Lineage:
    """The record; without a measurement the model is marked as one that needs retraining."""
    changes = [
        TakenChange(
            id=each.id, grade="safe" if each.grade == "safe" else "needs review", params=each.params,
            reviewed_by=order.reviewed_by if each.grade != "safe" else None,
        )
        for each in order.changes
    ]  # fmt: skip
    actions = [TakenChange(id=line.id, params=line.params) for line in order.lines]
    return Lineage(
        status=NEEDS_RETRAINING if measured is None else MEASURED,
        source=order.before.name,
        source_digest=order.before.digest,
        spec_digest=order.spec.values_digest,
        policy_digest=order.policy.digest,
        taken=(*changes, *actions),
        trained=changed.trained,
        training_data=order.split.label,
        training_digest=order.split.digest,
        labelled=order.split.labels is not None,
        seed=order.settings.seed,
        steps=state.step,
        best_step=state.best_step,
        learning_rate=order.settings.learning_rate,
        batch=order.settings.batch,
        loss_before=state.first_loss,
        loss_after=state.best_loss,
        held_out=order.split.held_out.label,
        held_out_digest=order.split.held_out.digest,
        by_training=measured.by_training if measured else None,
        against_source=measured.against_source if measured else None,
        versions={"torch": version("torch"), "meta-infer": __version__},
    )


def _with_weights(model: ir.Model, weights: Arrays) -> ir.Model:
    trained = model.clone()
    for name, array in weights.items():
        value = trained.graph.initializers[name]
        value.const_value = ir.tensor(np.ascontiguousarray(array), name=name_of(value))
    return trained


def _recorded(model: ir.Model, record: Lineage) -> ir.Model:
    model.metadata_props[RECORD] = record.to_json().decode()
    return model
