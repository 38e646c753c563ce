"""Command `profile`: what a processor really does, as a new version of its spec; what each step of a package takes."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.cli import console
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.private_folder import private_folder
from metainfer_core.codegen.profile import StepTime, profile_package
from metainfer_core.errors import InputError
from metainfer_core.files import alone, check_outputs, read_bytes, refuse_existing, write_bytes
from metainfer_core.microbench.findings import alignment, cache_steps, chase_points, sweep
from metainfer_core.microbench.measure import LARGEST_BYTES, Sample, everything, interrupted_share, measure
from metainfer_core.microbench.new_version import Run, measured_values, new_version, next_version
from metainfer_core.microbench.program import Program
from metainfer_core.microbench.this_machine import unit_of_this_machine
from metainfer_core.spec import library
from metainfer_core.spec.files.yaml_file import save_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import diff
from metainfer_core.values import canonical_json, sha256

PACKAGE_LIMIT_BYTES = 2 << 30
BUSY = 0.2
"""Share of interrupted repetitions from which on the machine counts as busy."""


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(
        "profile",
        epilog="Example: meta-infer profile --full --hw-spec my_board_v1.0.0.yaml · meta-infer profile model.bin",
    )(profile)


def profile(
    package: Annotated[
        Path | None, typer.Argument(metavar="X.bin", help="A package: show what each of its steps takes here.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Measure this machine's processor and memory.")] = False,
    hw_spec: Annotated[
        str | None, typer.Option("--hw-spec", metavar="SPEC", help="The spec of this machine; it stays as it is.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="SPEC.yaml", help="The new version; else beside the spec, next minor."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="NAME", help="The compute unit that this machine is.")
    ] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", min=3, max=1000, help="Of each measurement.")] = 9,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the order of the measurements.")] = 0,
    json: console.Json = False,
) -> None:
    """Measures this machine into a new version of its spec (--full), or the steps of a package."""
    if (package is None) == (not full):
        raise InputError(
            "There is nothing to measure." if package is None else "Both a package and --full are given.",
            "The steps of a package are measured, or this machine.",
            "Give a package, or --full --hw-spec SPEC.",
        )
    if package is not None:
        _profile_package(package, repetitions, json)
    elif hw_spec is None:
        raise InputError(
            "--full needs the spec that it measures.",
            "What is measured goes into a new version of it.",
            "Give --hw-spec SPEC; `meta-infer spec host -o SPEC` drafts that of this machine.",
        )
    else:
        _profile_machine(hw_spec, output, unit, repetitions, seed, json)


def _profile_machine(
    reference: str, output: Path | None, unit: str | None, repetitions: int, seed: int, json: bool
) -> None:
    spec = library.load(reference)
    name, processor = unit_of_this_machine(spec, unit)
    version = next_version(spec.version)
    given = library.named_by_path(output) if output else None
    version = given[1] if given else version
    target = output or _beside(reference, f"{spec.name}_v{version}.yaml")
    record_path = target.with_name(f"{target.stem}.measured.json")
    refuse_existing(target, record_path, what="spec with measured values")
    check_outputs([target, record_path], "hardware spec", [])
    cores = spec.compute_units[name].cores or 1
    sizes = [int(each.size_bytes.low) for each in spec.memories.values() if each.size_bytes]
    memory = max(sizes, default=LARGEST_BYTES * 64)
    plan = everything(cores, min(LARGEST_BYTES, memory // 16), memory)
    with private_folder("profile") as folder, console.progress("profile") as progress:
        program = Program(folder)
        samples = measure(program, plan, repetitions, seed, progress)
    record = {
        "format": "metainfer.microbenchmarks/1",
        "machine": processor,
        "compiler": program.compiler,
        "seed": seed,
        "repetitions": repetitions,
        "samples": [sample.plain() for sample in samples.values()],
    }
    data = canonical_json(record)
    today = datetime.date.today().isoformat()
    run = Run(today, processor, program.compiler, sha256(data), record_path.name)
    after = new_version(spec, measured_values(spec, name, samples), run, version)
    with alone(target):
        refuse_existing(target, record_path, what="spec with measured values")  # what another run wrote meanwhile
        _save_both(after, target, data, record_path)
    _report(spec, after, target, samples, json)


def _save_both(spec: HardwareSpec, target: Path, record: bytes, record_path: Path) -> None:
    """Writes a spec and the record that it names: both, or none."""
    write_bytes(record_path, record, "record of the measurements")
    try:
        save_spec(spec, target)
    except BaseException:
        record_path.unlink(missing_ok=True)
        raise


def _beside(reference: str, file_name: str) -> Path:
    """Where the new version goes: beside a spec file, else here."""
    path = Path(reference)
    return (path.parent if path.exists() else Path()) / file_name


def _report(
    before: HardwareSpec, after: HardwareSpec, target: Path, samples: dict[str, Sample] | Any, json: bool
) -> None:
    changes = [change for change in diff(before, after) if change.path not in ("version", "change_log")]
    steps = cache_steps(chase_points(samples))
    share = interrupted_share(samples.values())
    multiples = {kernel: alignment(sweep(samples, kernel)) for kernel in ("gemm_float32", "gemm_int8")}
    lines = [f"{target}: {before.name} {after.version}, measured on this machine; {before.version} stays as it was."]
    lines += [f"  {change.sentence}" for change in changes]
    lines.append("Levels of memory, by the time of a load:")
    lines += [f"  {step.fits_bytes:>12,} bytes: {step.nanoseconds.nominal:.2f} ns" for step in steps]
    lines += [f"{kernel} is fastest on multiples of {width} channels." for kernel, width in multiples.items()]
    if share > BUSY:
        lines.append(
            f"{share:.0%} of the repetitions were interrupted by other programs: measure again on an idle machine."
        )
    data = {
        "spec": str(target),
        "version": after.version,
        "changes": [change.plain() | {"sentence": change.sentence} for change in changes],
        "levels": [step.plain() for step in steps],
        "alignment": multiples,
        "interrupted_share": share,
    }
    console.emit(json, data, "\n".join(lines))


def _profile_package(path: Path, repetitions: int, json: bool) -> None:
    package = read_package(read_bytes(path, "package", PACKAGE_LIMIT_BYTES), str(path))
    times = profile_package(package, repetitions)
    total = sum(step.microseconds for step in times)
    lines = [f"{total:,.1f} µs a run, on this machine"]
    lines += [_step_line(step, total) for step in sorted(times, key=lambda step: -step.microseconds)]
    console.emit(json, {"microseconds": total, "steps": [step.plain() for step in times]}, "\n".join(lines))


def _step_line(step: StepTime, total: float) -> str:
    share = step.microseconds / total if total else 0.0
    return f"{step.microseconds:>10,.1f} µs {share:>6.1%}  {step.kernel}  {', '.join(step.node_ids)}"
