"""Command of `meta-infer`: fine-tune, which makes and trains what a policy proposes for training again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import onnx_ir as ir
import typer

from fine_tuning.accepted import accepted, trained_lines
from fine_tuning.fine_tune import Order, fine_tune, need_extra
from fine_tuning.measured import Measured
from fine_tuning.settings import Settings
from fine_tuning.split import split
from metainfer_core.cli import console
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.cli.policy_commands import HwSpec, Model
from metainfer_core.cli.streams import tell
from metainfer_core.errors import NotTrustedError
from metainfer_core.files import check_outputs
from metainfer_core.graph.files.save import model_digest, save_model
from metainfer_core.graph.same_graph import graph_difference
from metainfer_core.pipeline import prepare
from metainfer_core.policy.lineage import Lineage
from metainfer_core.policy.plain import read_policy
from metainfer_core.spec.library import load as load_spec
from metainfer_core.verify.metric import find_metric
from metainfer_core.verify.samples import read_samples

MOST_SAMPLES = 1_000_000


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(
        "fine-tune",
        epilog="Example: meta-infer fine-tune --model model.onnx --policy model.policy --hw-spec rk3588 "
        "--data train.npz --change kernel@conv2 --output tuned.onnx",
    )(fine_tune_command)


def fine_tune_command(
    model: Model,
    policy: Annotated[Path, typer.Option("--policy", help="The policy of this model, which proposes the changes.")],
    hw_spec: HwSpec,
    data: Annotated[
        str,
        typer.Option(
            "--data", help="What is trained on, as calibration data is given; with an array `labels`, or without."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="X.onnx", help="Where the trained model goes.")],
    shape: InputShapes = [],  # noqa: B006 - typer copies it
    evaluation: Annotated[
        str | None, typer.Option("--eval", help="What is measured on; a fifth of the data, held out, if not given.")
    ] = None,
    change: Annotated[
        list[str],
        typer.Option("--change", metavar="ID", help="A structure change of the policy, as explain names it; repeat."),
    ] = [],  # noqa: B006 - typer copies it
    reviewed_by: Annotated[
        str | None, typer.Option("--reviewed-by", metavar="NAME", help="Who reviewed the changes that need it.")
    ] = None,
    all_layers: Annotated[
        bool, typer.Option("--all-layers", help="Train all layers, not only the changed ones and those next to them.")
    ] = False,
    metric: Annotated[
        str | None, typer.Option("--metric", help="What is measured; needs labels. Accuracy if not given.")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1_000_000, help="Steps of training, at most.")] = 500,
    batch: Annotated[int, typer.Option("--batch", min=1, max=4096, help="Samples of a step.")] = 16,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", min=1e-9, max=1.0, help="Of Adam, at the start.")
    ] = 1e-3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the parts of the data, their order, new weights.")] = 0,
    as_json: console.Json = False,
) -> None:
    """Make what a policy proposes for training again, train the changed layers, and measure on held-out data.

    Trained with it are the policy's factor_weights and store_low_bit actions that are not switched off. Without labels
    the model before is the teacher. A stopped run goes on where it was when the command is given again.
    """
    checkpoint = output.with_name(f"{output.name}.checkpoint.npz")
    check_outputs([output, checkpoint], "model", [model, policy, hw_spec, data, evaluation])
    need_extra()
    spec, loaded = load_spec(hw_spec), read_policy(policy)
    changes = accepted(loaded, tuple(change), reviewed_by, str(policy))
    lines = trained_lines(loaded, changes, str(policy))
    if metric is not None:
        find_metric(metric)
    with console.progress("Fine-tuning") as report:
        report("reading the model and the data", 0, 0)
        prepared = prepare(model, input_shapes(shape))
        if loaded.model_digest not in (None, prepared.digest):
            raise NotTrustedError(
                f"{policy} was made for another model.",
                f"It names {loaded.model_digest}; this one is {prepared.digest}.",
                "Give the model of the policy.",
                "wrong_model",
            )
        samples = read_samples(data, prepared.model, MOST_SAMPLES)
        held_out = read_samples(evaluation, prepared.model, MOST_SAMPLES) if evaluation else None
        order = Order(
            before=prepared, policy=loaded, spec=spec, changes=changes, lines=lines, reviewed_by=reviewed_by,
            split=split(samples, held_out, seed), metric=metric, all_layers=all_layers,
            settings=Settings(steps, batch, learning_rate, seed),
        )  # fmt: skip

        def keep_model(best: ir.Model) -> None:
            save_model(output, best)
            tell(f"Stopped. {output} holds the best so far, not measured; the same command goes on from there.")

        tuned, record, measured = fine_tune(order, checkpoint, keep_model, report)
        save_model(output, tuned)
        with suppress(FileNotFoundError):
            checkpoint.unlink()
    same = graph_difference(prepared.model, prepare(output).model) is None
    answer: dict[str, Any] = {
        "output": str(output),
        "output_digest": model_digest(tuned),
        "same_graph": same,
        "record": record.plain(),
    }
    console.emit(as_json, answer, "\n".join(_lines(record, measured, output, same)))


def _lines(record: Lineage, measured: Measured, output: Path, same: bool) -> list[str]:
    next_step = (
        "Next: the graph is the same, so take the policy over: meta-infer review reapply."
        if same
        else "Next: the graph is another one, so it needs a policy of its own: meta-infer adapt."
    )
    return [
        f"Trained {', '.join(record.trained[:8])}{' ...' if len(record.trained) > 8 else ''}: "
        f"{record.steps} steps, the best is {record.best_step}; "
        f"loss {record.loss_before:.4g} to {record.loss_after:.4g}.",
        f"Measured on {record.held_out}: {measured.what}.",
        f"  by training: {measured.by_training.words.replace('unchanged', 'untrained')}",
        f"  by all of it: {measured.against_source.words.replace('unchanged model', 'model before')}",
        f"Written to {output}, marked as {record.status}.",
        next_step,
    ]
