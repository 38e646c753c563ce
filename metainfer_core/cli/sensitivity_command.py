"""Command `meta-infer sensitivity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.cli.policy_commands import Calib, Eval, HwSpec, MinSqnr, Model, SampleCount
from metainfer_core.files import check_outputs, write_bytes
from metainfer_core.numerics.library import cache_folder
from metainfer_core.pipeline import prepare, samples_for
from metainfer_core.pipeline.sensitivity import measure_sensitivity
from metainfer_core.policy.objective import Objective, worst_sqnr_db
from metainfer_core.policy.sensitivity import Sensitivity
from metainfer_core.spec.library import load as load_spec
from metainfer_core.verify.samples import SAMPLES

SHOWN = 20
"""Layers that the text lists; `--json` gives all."""


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(
        "sensitivity",
        epilog="Example: meta-infer sensitivity --model model.onnx --hw-spec rk3588 --calib data.npz --eval other.npz",
    )(sensitivity_command)


def sensitivity_command(
    model: Model,
    hw_spec: HwSpec,
    shape: InputShapes = [],  # noqa: B006 - typer reads the default, nobody changes it
    calib: Calib = None,
    evaluation: Eval = None,
    samples: SampleCount = SAMPLES,
    min_sqnr_db: MinSqnr = 20.0,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="DIR", help="Where measurements are kept; the user's cache if not given."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write all layers to this JSON file.")] = None,
    as_json: Json = False,
) -> None:
    """Measure what INT8 costs at each layer, alone and with all layers before it, and name the first that diverges.

    A stopped run goes on where it was: measurements are kept.
    """
    if output is not None:
        check_outputs([output], "sensitivity report", [model, hw_spec, calib, evaluation])
    spec = load_spec(hw_spec)
    with progress("Measuring sensitivity") as report:
        report("reading the model", 0, 0)
        prepared = prepare(model, input_shapes(shape))
        found = measure_sensitivity(
            prepared,
            spec,
            samples_for(prepared, calib, samples),
            samples_for(prepared, evaluation or calib, samples),
            Objective(min_sqnr_db=min_sqnr_db),
            cache or cache_folder() / "sensitivity",
            report,
        )
    if output is not None:
        write_bytes(output, found.to_json() + b"\n", "sensitivity report")
    emit(as_json, found.plain(), _text(found))


def _text(found: Sensitivity) -> str:
    if not found.layers:
        return "No layer of this model can be INT8 on this spec."
    widest = max(len(layer.node_id) for layer in found.layers)
    lines = [f"Signal-to-noise of the outputs in dB, {found.data}; the most sensitive layers first."]
    lines.append(f"{'layer':{widest}}  {'predicted':>9}  {'alone':>7}  {'with all before':>15}")
    for layer in found.most_sensitive[:SHOWN]:
        predicted = f"{layer.predicted_db:.1f}" if layer.predicted_db is not None else "unknown"
        alone, together = worst_sqnr_db(layer.alone), worst_sqnr_db(layer.accumulated)
        lines.append(f"{layer.node_id:{widest}}  {predicted:>9}  {alone:7.1f}  {together:15.1f}")
    if len(found.layers) > SHOWN:
        lines.append(f"... and {len(found.layers) - SHOWN} less sensitive ones.")
    lines.append(
        "Predicted: what a layer's own rounding leaves at its own output, from statistics of weights and inputs."
    )
    if found.first_diverging is None:
        lines.append("INT8 on all layers keeps to the budget.")
    else:
        lines.append(f"The first layer that diverges is {found.first_diverging}: {found.why_diverging}")
    return "\n".join(lines)
