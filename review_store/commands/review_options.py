"""What the commands of the review share: their options, the policy that they are about, and its state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import progress
from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from review_store.record.log import EventLog
from review_store.review.decide import current_state
from review_store.review.state import ReviewState
from review_store.review.workspace import read_policy, trust_path

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy under review.")]
Workspace = Annotated[Path, typer.Option("--workspace", help="Folder with the record of the review.")]
ModelFile = Annotated[Path | None, typer.Option("--model", help="The ONNX model; needed where the policy names none.")]
SpecFile = Annotated[str | None, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")]
Calib = Annotated[str | None, typer.Option("--calib", help="Calibration data, as for adapt.")]
Evaluation = Annotated[
    str | None, typer.Option("--eval", help="Data that effects are measured on; the calibration data if not given.")
]
SampleCount = Annotated[
    int, typer.Option("--samples", min=1, max=1_000_000, help="How many samples of the data are used, at most.")
]


def digests(model: Path | None, hw_spec: str | None) -> tuple[str | None, str | None, HardwareSpec | None]:
    """Digests of the model and of the spec's values, where they are given, and the spec."""
    spec = None if hw_spec is None else load_spec(hw_spec)
    with progress("Reading") as report:
        if model is not None:
            report(str(model), 0, 0)
        return (
            None if model is None else load_model(model).digest,
            None if spec is None else spec.values_digest,
            spec,
        )


def policy_of(path: Path, model: Path | None, hw_spec: str | None) -> tuple[Policy, HardwareSpec | None]:
    """The policy, bound to the model and the spec that are given; and the spec."""
    model_digest, spec_digest, spec = digests(model, hw_spec)
    return read_policy(path, model_digest, spec_digest), spec


def opened(workspace: Path, policy: Policy) -> tuple[EventLog, ReviewState]:
    """The record of a workspace, and what it says about a policy."""
    log = EventLog(workspace)
    return log, current_state(log, policy, read_trust(trust_path(workspace)))
