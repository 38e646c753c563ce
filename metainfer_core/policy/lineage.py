"""Where a model that was changed and trained again comes from: the record that fine-tuning writes into it."""

from __future__ import annotations

from typing import Final, Literal

import onnx_ir as ir

from metainfer_core.numerics.task_metrics import MetricChange
from metainfer_core.values import JsonMap, Value

RECORD = "metainfer.fine_tuning"
"""Key of the record in the ONNX model's metadata."""
NEEDS_RETRAINING: Final = "needs retraining"
MEASURED: Final = "measured after retraining"
NOT_MEASURED = "This model's structure or weights were changed, and it was not measured since: it needs retraining."


class TakenChange(Value):
    """A structure change, or an action of the policy, that is in the trained model."""

    id: str
    grade: Literal["safe", "needs review"] | None = None
    """None: an action, which was in the policy to be approved."""
    params: JsonMap = {}
    reviewed_by: str | None = None
    """Who looked at a change that needs review, as the command was told."""


class Lineage(Value):
    """The record of one fine-tuning. It is what the command did; it is not signed."""

    format: Literal["metainfer.fine_tuning/1"] = "metainfer.fine_tuning/1"
    status: Literal["needs retraining", "measured after retraining"]
    source: str
    """Name of the model before."""
    source_digest: str
    spec_digest: str
    policy_digest: str
    """Of the policy whose changes were made."""
    taken: tuple[TakenChange, ...]
    trained: tuple[str, ...]
    """Ids of the nodes whose weights were trained."""
    training_data: str
    training_digest: str
    labelled: bool
    seed: int
    steps: int
    """Steps that were trained."""
    best_step: int
    """The step whose weights these are."""
    learning_rate: float
    batch: int
    loss_before: float | None = None
    """On the samples that decided when to stop."""
    loss_after: float | None = None
    held_out: str | None = None
    held_out_digest: str | None = None
    by_training: MetricChange | None = None
    """From the changed model as it was before training to the trained one."""
    against_source: MetricChange | None = None
    """From the model before to the trained one."""
    versions: JsonMap = {}

    @property
    def words(self) -> str:
        """The record in a sentence or two."""
        taken = ", ".join(each.id for each in self.taken)
        first = f"Made from {self.source} ({self.source_digest[:19]}) with {taken}: {self.status}."
        if self.against_source is None:
            return first
        return f"{first} Held-out data: {self.against_source.words.replace('unchanged model', 'model before')}."


def lineage_warnings(model: ir.Model) -> tuple[str, ...]:
    """What the author of a policy for this model must know of where it comes from."""
    found = lineage_of(model)
    return (NOT_MEASURED,) if found is not None and found.status == NEEDS_RETRAINING else ()


def lineage_of(model: ir.Model) -> Lineage | None:
    """The record in a model; None where it has none.

    Raises:
        InputError: There is one that cannot be read.
    """
    text = model.metadata_props.get(RECORD)
    return None if text is None else Lineage.from_json(text.encode(), f"the model's metadata, {RECORD}")
