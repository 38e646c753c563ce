"""Command `meta-infer review reapply`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.files import check_outputs, refuse_existing, write_bytes
from metainfer_core.pipeline import prepare, samples_for
from metainfer_core.pipeline.retrained import take_over
from metainfer_core.policy.reapply import left_out
from metainfer_core.spec.library import load as load_spec
from review_store.commands.review_options import Calib, Evaluation
from review_store.review.workspace import read_policy


def reapply_command(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy for the old weights.")],
    before: Annotated[Path, typer.Option("--before", metavar="MODEL", help="The ONNX model that it was made for.")],
    model: Annotated[Path, typer.Option("--model", help="The same graph with the new weights.")],
    hw_spec: Annotated[str, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")],
    output: Annotated[Path, typer.Option("--output", help="The policy for the new weights; a new file.")],
    calib: Calib = None,
    evaluation: Evaluation = None,
    as_json: Json = False,
) -> None:
    """Retrained weights: does the same actions on the new model and measures all their effects anew."""
    check_outputs([output], "policy", [policy, before, model, hw_spec, calib, evaluation])
    refuse_existing(output, what="policy for the new weights")
    spec = load_spec(hw_spec)
    old = read_policy(policy)
    with progress("Taking over") as report:
        report("reading the models", 0, 0)
        was, now = (prepare(path, old.bound_shapes) for path in (before, model))
        calibration_samples = samples_for(now, calib)
        evaluation_samples = samples_for(now, evaluation or calib)
        new = take_over(old, was, now, spec, calibration_samples, evaluation_samples, report)
    gone = left_out(old, new)
    write_bytes(output, new.to_json() + b"\n", "policy")
    lines = [f"{output}: {len(new.actions)} of {len(old.actions)} actions, all effects measured anew."]
    lines += [f"Left out: {each.kind} on {', '.join(each.nodes)}: {each.reason}" for each in gone]
    lines += [f"Warning: {warning}" for warning in new.warnings]
    lines.append(f"Next: meta-infer review carry {shlex.quote(str(output))}")
    data = {
        "policy": str(output),
        "actions": len(new.actions),
        "left_out": [each.plain() for each in gone],
        "warnings": list(new.warnings),
    }
    emit(as_json, data, "\n".join(lines))
