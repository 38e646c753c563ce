"""Commands `compile`, `build`, `run`, `validate` and `targets`."""

from __future__ import annotations

import io
import math
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from metainfer_core import pipeline
from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.envelope import is_envelope
from metainfer_core.bundle.seen import read_seen, seen_file
from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.trust import time_text
from metainfer_core.bundle.trust_root import missing_trust, read_trust
from metainfer_core.bundle.verified import remember
from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.cli.policy_commands import (
    Calib,
    Eval,
    HwSpec,
    MinSqnr,
    Mode,
    Model,
    PrecisionOption,
    TargetLatency,
    WeightBits,
    checked_weight_bits,
    decide,
)
from metainfer_core.cli.streams import tell
from metainfer_core.cli.trust_commands import AllowDemo
from metainfer_core.codegen.catalog import backends
from metainfer_core.codegen.package import Package, read_package
from metainfer_core.codegen.run import execute
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import InputError, NotTrustedError, ObligationFailed
from metainfer_core.explain.report_page import report_html, report_text
from metainfer_core.files import alone, check_outputs, read_bytes, write_bytes
from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.objective import Objective, Precision, SearchMode
from metainfer_core.policy.plain import parse_policy
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.drafting.flat_profile import load_spec_or_profile
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from metainfer_core.values import read_json, sha256
from metainfer_core.verify.reference import run_reference
from metainfer_core.verify.report import BuildReport
from metainfer_core.verify.samples import read_arrays

PACKAGE_LIMIT_BYTES = 2 << 30
Target = Annotated[str, typer.Option("--target", help="The hardware backend package; see `meta-infer targets`.")]
Output = Annotated[Path, typer.Option("--output", help="The package to write, such as model.bin.")]
PackageFile = Annotated[Path, typer.Argument(metavar="X.bin", help="The package.")]


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command(
        "compile",
        epilog="Example: meta-infer compile --model m.onnx --policy m.bundle --hw-spec rk3588 --output m.bin",
    )(compile_command)
    app.command("build", epilog="Example: meta-infer build --model m.onnx --hw-spec rk3588 --output m.bin")(
        build_command
    )
    app.command("run", epilog="Example: meta-infer run m.bin --input input.npz --output result.npz")(run_command)
    app.command("validate", epilog="Example: meta-infer validate m.bin")(validate_command)
    app.command("targets", epilog="Example: meta-infer targets --json")(targets_command)


def compile_command(
    model: Model,
    policy: Annotated[Path, typer.Option("--policy", help="A signed bundle, or with --development a plain policy.")],
    hw_spec: HwSpec,
    output: Output,
    target: Target = "native-cpu",
    trust: Annotated[Path, typer.Option("--trust", help="Whose signatures count.")] = Path("workspace/trust.json"),
    development: Annotated[
        bool,
        typer.Option("--development", help="Accept a policy that nobody signed; the package is marked unreviewed."),
    ] = False,
    demo_allowed: AllowDemo = False,
    shape: InputShapes = [],  # noqa: B006 - typer reads the default, nobody changes it
    calib: Calib = None,
    evaluation: Eval = None,
    as_json: Json = False,
) -> None:
    """Compile what was signed into a package that proves its own output. Exit status 3 where trust is missing."""
    check_outputs([output, *_reports(output)], "package", [model, policy, hw_spec, trust, calib, evaluation])
    spec = load_spec(hw_spec)
    with progress("Compiling") as report:
        report("reading policy and model", 0, 0)
        approved, bundle_digest, is_demo = _policy_to_build(policy, development, trust, model, spec, demo_allowed)
        prepared = pipeline.prepare(model, input_shapes(shape) or approved.bound_shapes)
        if bundle_digest is not None and prepared.digest != approved.model_digest:
            raise NotTrustedError(
                f"{model}: this is no longer the model that the bundle was checked with.",
                f"It was changed while it was read: now it is {prepared.digest}.",
                "Give the model that was reviewed, and let nothing else write it meanwhile.",
                "wrong_model",
            )
        samples = pipeline.samples_for(prepared, evaluation or calib)
        calibration = (
            pipeline.missing_ranges(prepared, spec, approved, calib, report) if bundle_digest is None else None
        )
        if calibration is not None and calib is None:
            tell("Warning: the policy brings no ranges; they come from random numbers. Give --calib.")
        compiled = pipeline.compile_policy(
            prepared,
            spec,
            approved,
            target,
            samples.feeds,
            bundle_digest=bundle_digest,
            demo=is_demo,
            calibration=calibration,
            progress=report,
        )
        reference = run_reference(prepared.model, samples.feeds)
        found = pipeline.make_report(prepared, spec, approved, compiled, samples, reference, report)
    _write(output, compiled, found, as_json, {})


def build_command(
    model: Model,
    output: Output,
    hw_spec: Annotated[
        str | None, typer.Option("--hw-spec", help="The spec: a YAML file, or a name in hwspecs/.")
    ] = None,
    hardware: Annotated[
        Path | None, typer.Option("--hardware", help="A flat hardware profile instead of a spec.")
    ] = None,
    target: Target = "native-cpu",
    shape: InputShapes = [],  # noqa: B006 - typer reads the default, nobody changes it
    calib: Calib = None,
    evaluation: Eval = None,
    target_latency_ms: TargetLatency = None,
    precision: PrecisionOption = Precision.INT8,
    weight_bits: WeightBits = None,
    search_mode: Mode = SearchMode.BALANCED,
    min_sqnr_db: MinSqnr = 20.0,
    as_json: Json = False,
) -> None:
    """Go all the way without people: adapt, compile, run, compare, report. Makes a development package."""
    policy_path = _beside(output, ".policy")
    inputs = [model, hw_spec, hardware, calib, evaluation]
    check_outputs([output, policy_path, *_reports(output)], "package", inputs)
    spec = _spec_for_build(hw_spec, hardware)
    objective = Objective(
        target_latency_ms=target_latency_ms,
        precision=precision,
        weight_bits=checked_weight_bits(weight_bits),
        search_mode=search_mode,
        min_sqnr_db=min_sqnr_db,
    )
    prepared, adapted = decide(model, spec, shape, calib, evaluation, objective)
    with progress("Building") as report:
        compiled = pipeline.compile_policy(
            prepared, spec, adapted.policy, target, adapted.samples.feeds, progress=report
        )
        found = pipeline.make_report(
            prepared, spec, adapted.policy, compiled, adapted.samples, adapted.reference, report
        )
    write_bytes(policy_path, adapted.policy.to_json() + b"\n", "policy")
    _write(output, compiled, found, as_json, {"policy": str(policy_path)})


def run_command(
    package: PackageFile,
    data: Annotated[Path, typer.Option("--input", help="A .npz with one array per input, of exactly its shape.")],
    output: Annotated[Path | None, typer.Option("--output", help="Write the outputs to this .npz.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100_000, help="Timed runs.")] = 1,
    as_json: Json = False,
) -> None:
    """Run a package on inputs and show its outputs."""
    if output is not None:
        check_outputs([output], "outputs", [package, data])
    loaded = _package(package)
    execution = execute(loaded, read_arrays(data, "input file"), repeat=repeat, warm_up=1 if repeat > 1 else 0)
    if output is not None:
        buffer = io.BytesIO()
        np.savez(buffer, **execution.outputs)  # type: ignore[arg-type]
        write_bytes(output, buffer.getvalue(), "outputs")
    times = sorted(duration / 1e6 for duration in execution.nanoseconds)
    outputs = {
        name: {"shape": list(array.shape), "type": str(array.dtype), "head": _head(array)}
        for name, array in execution.outputs.items()
    }
    answer: dict[str, Any] = {"outputs": outputs, "output": str(output) if output else None}
    lines = [f"{name} {list(array.shape)} {array.dtype}: {_head(array)}" for name, array in execution.outputs.items()]
    if times:
        answer["median_ms"], answer["min_ms"], answer["runs"] = times[len(times) // 2], times[0], len(times)
        runs = "1 run" if len(times) == 1 else f"{len(times)} runs"
        where = "" if loaded.manifest.target.startswith("native") else ", emulated: it says nothing about the chip"
        lines.append(f"median {times[len(times) // 2]:.3f} ms, least {times[0]:.3f} ms over {runs}{where}")
    emit(as_json, answer, "\n".join(lines))


def validate_command(package: PackageFile, as_json: Json = False) -> None:
    """Replay a package's test vectors: every output must have the very bits that the simulator gave."""
    with progress("Validating") as report:
        result = validate_package(_package(package), report)
    emit(as_json, result.plain(), result.text)
    verdict(negative=not result.equal)


def targets_command(as_json: Json = False) -> None:
    """List the hardware backend packages that `--target` can name."""
    rows = [{"name": backend.name, "summary": backend.summary} for backend in backends()]
    emit(as_json, {"targets": rows}, "\n".join(f"{row['name']:16} {row['summary']}" for row in rows))


def _policy_to_build(
    path: Path, development: bool, trust: Path, model: Path, spec: HardwareSpec, demo_allowed: bool
) -> tuple[Policy, str | None, bool]:
    """The policy to build, the digest of the bundle that it came in, and whether that is a demo.

    Policies and bundles are told apart by content.
    """
    data = read_bytes(path, "policy or bundle")
    if not is_envelope(read_json(data, str(path))):
        if not development:
            raise NotTrustedError(
                f"{path}: this policy is not signed (check: unsigned).",
                "Only what people approved and a releaser signed is built as trusted.",
                f"Review and sign it (meta-infer review, meta-infer sign {path} ...), or add --development, "
                "which marks the package unreviewed.",
            )
        return parse_policy(data, str(path)), None, False
    if (missing := missing_trust(trust)) is not None:
        raise missing
    digest = load_model(model).digest
    rules = ruleset_digest()
    expected = Expected(model_digest=digest, spec_digest=spec.values_digest, ruleset_digest=rules, chip=spec.name)
    state = seen_file(trust)
    with alone(state) if state.parent.is_dir() else nullcontext():  # another compile must not forget what this one saw
        trusted, seen = read_trust(trust), read_seen(state)
        at = time_text(datetime.now(UTC))
        verified = open_bundle(data, trusted, at, expected, seen, str(path), demo_allowed)
        if not verified.is_demo:  # what is no proof of anything makes nothing else too old
            remember(state, verified)
    return verified.policy, sha256(data), verified.is_demo


def _spec_for_build(hw_spec: str | None, hardware: Path | None) -> HardwareSpec:
    if (hw_spec is None) == (hardware is None):
        raise InputError(
            "Give either --hw-spec or --hardware.",
            "One names a spec, the other a flat hardware profile.",
            "Example: --hw-spec rk3588",
        )
    return load_spec(hw_spec) if hw_spec is not None else load_spec_or_profile(hardware or Path())


def _write(output: Path, compiled: pipeline.Compiled, report: BuildReport, as_json: bool, more: dict[str, Any]) -> None:
    """Writes package and report, unless the build broke its promise; then only the report is written."""
    json_path, html_path = _reports(output)
    write_bytes(json_path, report.to_json() + b"\n", "report")
    write_bytes(html_path, report_html(report).encode(), "report")
    if compiled.violations or compiled.differences or not report.accuracy.simulator_equal:
        raise ObligationFailed(
            f"{output}: the package is not written, because the build did not keep its promise.",
            next(headline.answer for headline in report.headlines if headline.question == "What blocks it?"),
            f"The report says what differs: {html_path}",
        )
    write_bytes(output, compiled.data, "package", mode=0o644)
    latency = report.latency
    answer = more | {
        "package": str(output),
        "report": {"json": str(json_path), "html": str(html_path)},
        "latency": latency
        and {"median_ms": latency.median_ms, "baseline_ms": latency.baseline_median_ms, "ratio": latency.ratio},
        "memory": {
            "peak_bytes": sum(arena.peak_bytes for arena in report.memory),
            "lower_bound_bytes": sum(arena.lower_bound_bytes for arena in report.memory),
        },
        "accuracy": report.accuracy.against_reference.plain() | {"simulator_equal": report.accuracy.simulator_equal},
        "violations": len(report.violations),
        "approved_not_realised": [difference.plain() for difference in report.approved_not_realised],
        "development": report.development,
        "digest": report.package_digest,
    }
    emit(as_json, answer, f"{report_text(report)}\nPackage: {output}\nReport: {html_path}")


def _reports(output: Path) -> tuple[Path, Path]:
    """Where the reports on a package stand."""
    return _beside(output, ".report.json"), _beside(output, ".report.html")


def _beside(output: Path, ending: str) -> Path:
    return output.with_suffix(ending) if output.name else output  # a folder, which is refused as such


def _package(path: Path) -> Package:
    return read_package(read_bytes(path, "package", PACKAGE_LIMIT_BYTES), str(path))


def _head(array: np.ndarray, count: int = 6) -> list[float | str]:
    """The first numbers; JSON has none for NaN and infinity, so these are text."""
    numbers = [round(float(number), 6) for number in array.reshape(-1)[:count]]
    return [number if math.isfinite(number) else str(number) for number in numbers]
