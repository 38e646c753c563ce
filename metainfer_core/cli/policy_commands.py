"""Commands `meta-infer adapt` and `meta-infer explain`."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.cli.streams import answer, tell
from metainfer_core.errors import InputError
from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_data, as_html, as_text
from metainfer_core.files import check_outputs, write_bytes
from metainfer_core.numerics.task_metrics import METRICS
from metainfer_core.pipeline import Adapted, Prepared, adapt, illegal_actions, prepare, samples_for
from metainfer_core.policy.objective import Objective, Precision, SearchMode
from metainfer_core.policy.plain import read_policy
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from metainfer_core.verify.samples import SAMPLES

Model = Annotated[Path, typer.Option("--model", help="The ONNX model.")]
HwSpec = Annotated[str, typer.Option("--hw-spec", help="The spec: a YAML file, or a name in hwspecs/ such as rk3588.")]
Calib = Annotated[
    str | None,
    typer.Option(
        "--calib", help="Calibration data: a .npz with an array per input (first axis: sample), or module:function."
    ),
]
Eval = Annotated[
    str | None, typer.Option("--eval", help="Data that effects are measured on; the calibration data if not given.")
]
TargetLatency = Annotated[
    float | None, typer.Option("--target-latency-ms", min=0.0, max=1e9, help="Goal for the time predicted on the spec.")
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        "--precision",
        help="Least precision that is proposed: int8, fp16 (also bf16, where a unit has it), or float32 for none.",
    ),
]
WeightBits = Annotated[
    int | None,
    typer.Option(
        "--weight-bits", help="Store weights of layers in float32 in 4 or 6 bits, where the accuracy budget allows."
    ),
]
Mode = Annotated[SearchMode, typer.Option("--search-mode", help="What counts most.")]
MinSqnr = Annotated[
    float,
    typer.Option(
        "--min-sqnr-db",
        min=-1000.0,
        max=1000.0,
        help="Accuracy budget: least signal-to-noise ratio of each output, in dB.",
    ),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help=f"What counts as accuracy: {', '.join(METRICS)}, or module:function. Needs an array `labels` in the data.",
    ),
]
MaxMetricDrop = Annotated[
    float,
    typer.Option(
        "--max-metric-drop",
        min=0.0,
        max=1.0,
        help="Accuracy budget with --metric: largest drop, as a share of the unchanged model's figure.",
    ),
]
SampleCount = Annotated[
    int, typer.Option("--samples", min=1, max=1_000_000, help="How many samples of the data are used, at most.")
]


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command(
        "adapt",
        epilog="Example: meta-infer adapt --model model.onnx --hw-spec rk3588 --calib data.npz --output model.policy",
    )(adapt_command)
    app.command("explain", epilog="Example: meta-infer explain --policy model.policy --hw-spec rk3588")(explain_command)


def decide(
    model: Path,
    spec: HardwareSpec,
    shapes: list[str],
    calib: str | None,
    evaluation: str | None,
    objective: Objective,
    samples: int = SAMPLES,
) -> tuple[Prepared, Adapted]:
    """What `adapt` and `build` share: prepare the model, read the data, choose a policy."""
    with progress("Adapting") as report:
        report("reading the model", 0, 0)
        prepared = prepare(model, input_shapes(shapes))
        calibration_samples = samples_for(prepared, calib, samples)
        evaluation_samples = samples_for(prepared, evaluation or calib, samples)
        return prepared, adapt(prepared, spec, calibration_samples, evaluation_samples, objective, report)


def checked_weight_bits(bits: int | None) -> Literal[4, 6] | None:
    """The bits as the objective takes them; raises InputError for a width that kernels do not unpack."""
    known: dict[int | None, Literal[4, 6] | None] = {None: None, 4: 4, 6: 6}
    if bits in known:
        return known[bits]
    raise InputError(f"--weight-bits {bits} is not possible.", "Kernels unpack 4 or 6 bits.", "Give one of these.")


def adapt_command(
    model: Model,
    hw_spec: HwSpec,
    shape: InputShapes = [],  # noqa: B006 - typer reads the default, nobody changes it
    calib: Calib = None,
    evaluation: Eval = None,
    target_latency_ms: TargetLatency = None,
    precision: PrecisionOption = Precision.INT8,
    weight_bits: WeightBits = None,
    search_mode: Mode = SearchMode.BALANCED,
    min_sqnr_db: MinSqnr = 20.0,
    metric: MetricOption = None,
    max_metric_drop: MaxMetricDrop = 0.002,
    samples: SampleCount = SAMPLES,
    fast_mode: Annotated[bool, typer.Option("--fast-mode", help="Skip measuring each action alone.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="The policy file; the model's name if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Propose how to fit a model to a chip: each action with its reason, its measured effect and its risk."""
    path = output or Path(f"{model.stem}.policy")
    check_outputs([path], "policy", [model, hw_spec, calib, evaluation])
    spec = load_spec(hw_spec)
    objective = Objective(
        target_latency_ms=target_latency_ms,
        precision=precision,
        weight_bits=checked_weight_bits(weight_bits),
        search_mode=search_mode,
        min_sqnr_db=min_sqnr_db,
        metric=metric,
        max_metric_drop=max_metric_drop,
        fast=fast_mode,
    )
    prepared, adapted = decide(model, spec, shape, calib, evaluation, objective, samples)
    write_bytes(path, adapted.policy.to_json() + b"\n", "policy")
    illegal = illegal_actions(prepared, spec, adapted.policy)
    emit(as_json, adapt_answer(adapted.policy, path, illegal), _adapt_text(adapted.policy, path, hw_spec))


def adapt_answer(policy: Policy, path: Path, illegal: tuple[str, ...]) -> dict[str, Any]:
    """What scripts may rely on."""
    plain = policy.plain()
    return {
        "policy": str(path),
        "candidates": plain.get("candidates", []),
        "actions": len(policy.actions),
        "refusals": len(policy.refusals),
        "violations": len(illegal),
        "structure_changes": len(policy.structure_changes or ()),
        **({"fine_tuning": policy.fine_tuning.plain()} if policy.fine_tuning is not None else {}),
        "warnings": list(policy.warnings),
    }


def _adapt_text(policy: Policy, path: Path, hw_spec: str) -> str:
    kinds: dict[str, int] = {}
    for action in policy.actions:
        kinds[action.action] = kinds.get(action.action, 0) + 1
    refused = len(policy.refusals)
    lines = [f"{path}: {len(policy.actions)} actions, {refused} refusal{'' if refused == 1 else 's'}"]
    lines += [f"  {count:4} {name}" for name, count in sorted(kinds.items())]
    if policy.fine_tuning is not None:
        lines.append(f"The model: {policy.fine_tuning.words}")
    lines.append("Candidates, best first (predicted on the spec):")
    for candidate in policy.plain().get("candidates", []):
        time = candidate.get("predicted_ms")
        words = f"{time[0]:.3g} to {time[1]:.3g} ms" if time else "time unknown"
        mark = "*" if candidate.get("chosen") else " "
        lines.append(f"  {mark} {candidate['name']}: {words}; {candidate.get('accuracy', '')}")
    if policy.structure_changes:
        count = len(policy.structure_changes)
        lines.append(f"{count} change{'' if count == 1 else 's'} that would need training again; explain shows them.")
    lines += [f"Warning: {warning}" for warning in policy.warnings]
    lines.append(f"Next: meta-infer explain --policy {shlex.quote(str(path))} --hw-spec {shlex.quote(hw_spec)}")
    return "\n".join(lines)


def explain_command(
    policy: Annotated[Path, typer.Option("--policy", help="The policy, plain or ours.")],
    hw_spec: HwSpec,
    output_format: Annotated[str, typer.Option("--format", help="text, json or html.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", help="Write to this file instead of stdout.")] = None,
    action: Annotated[str | None, typer.Option("--action", help="Only this action id or node id.")] = None,
    as_json: Json = False,
) -> None:
    """Say why each action of a policy is there: the spec values with their pages, the effect, the risk."""
    if output_format not in ("text", "json", "html"):
        raise InputError(f"--format {output_format}: there is no such format.", fix="Use text, json or html.")
    if output is not None:
        check_outputs([output], "explanation", [policy, hw_spec])
    loaded = read_policy(policy)
    spec = load_spec(hw_spec)
    explanations = explain(loaded, spec)
    if action is not None:
        explanations = tuple(one for one in explanations if action == one.id or action in one.node_ids)
        if not explanations:
            near = get_close_matches(action, [one.id for one in loaded.actions], n=3, cutoff=0.4)
            raise InputError(
                f"{policy}: there is no action {action}.",
                f"It has {len(loaded.actions)} actions" + (f"; the nearest: {', '.join(near)}." if near else "."),
                f"List them: meta-infer explain --policy {shlex.quote(str(policy))} --hw-spec {shlex.quote(hw_spec)}",
            )
    if loaded.spec_digest not in (None, spec.values_digest):
        tell(f"Warning: the policy was made for another spec than {spec.name} {spec.version}.")
    if output_format == "html":
        page = as_html(explanations, loaded, spec)
        if output is None:
            answer(page)
            return
        write_bytes(output, page.encode(), "page")
    elif output is not None:
        write_bytes(output, (as_text(explanations, loaded) + "\n").encode(), "text")
    if output is not None:
        emit(as_json, {"output": str(output)}, str(output))
        return
    emit(as_json or output_format == "json", as_data(explanations, loaded), as_text(explanations, loaded))
    verdict(False)
