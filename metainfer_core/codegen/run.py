"""Runs a package's host binary on this machine, or under emulation: raw files in, raw files out, a time limit."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from metainfer_core.codegen.catalog import backend
from metainfer_core.codegen.package import Package, Port
from metainfer_core.codegen.private_folder import private_folder
from metainfer_core.codegen.realised import read_realised
from metainfer_core.errors import InputError, ObligationFailed
from metainfer_core.numerics.program import numpy_type
from metainfer_core.values import Value
from metainfer_core.verify.realised_graph import RealisedGraph

TIME_LIMIT_S = 600.0


@dataclass(frozen=True)
class Execution:
    """What one start of the binary gave."""

    outputs: dict[str, np.ndarray]
    nanoseconds: tuple[int, ...] = ()
    """Of each timed run."""
    start_up_nanoseconds: int = 0
    """Checks and loading before the first run."""
    ticks: tuple[int, ...] = ()
    """Of the target's clock, by step, summed over the timed runs."""
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    """Every step's outputs, where they were dumped."""


class _Answer(Value):
    """What a binary says on its stdout."""

    nanoseconds: tuple[int, ...] = ()
    start_up_nanoseconds: int = 0
    ticks: tuple[int, ...] = ()
    variants: tuple[str, ...] = ()


def run_package(package: Package, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of one inference, by name."""
    return execute(package, inputs).outputs


def execute(
    package: Package,
    inputs: Mapping[str, np.ndarray],
    *,
    repeat: int = 1,
    warm_up: int = 0,
    dump: bool = False,
    profile: bool = False,
    variant: str | None = None,
    time_limit_s: float = TIME_LIMIT_S,
) -> Execution:
    """Runs the binary in a private folder.

    Args:
        package: As `read_package` gave it.
        inputs: One array for each input of the model, of exactly its shape and type.
        repeat: Timed runs.
        warm_up: Runs before them.
        dump: Keep every step's outputs (of the last run).
        profile: Count each step's ticks.
        variant: The instruction set to use; None: the best one that this machine has.
        time_limit_s: Seconds after which the binary is stopped.

    Raises:
        InputError: an input is missing, unknown, or of another shape or type.
        UnsupportedError: nothing on this machine runs the target's binaries.
        ObligationFailed: the binary failed, or took too long.
    """
    arrays = check_inputs(package, inputs)
    with private_folder("run") as folder:
        command = _command(package, folder)
        for index, array in enumerate(arrays):
            path = folder / f"input_{index}.bin"
            path.write_bytes(array.tobytes())
            command += ["--input", str(path)]
        output_paths = [folder / f"output_{index}.bin" for index in range(len(package.manifest.outputs))]
        for path in output_paths:
            command += ["--output", str(path)]
        command += ["--repeat", str(repeat), "--warm-up", str(warm_up)]
        dump_folder = folder / "tensors"
        dump_folder.mkdir()
        command += ["--dump", str(dump_folder)] if dump else []
        command += ["--profile"] if profile else []
        command += ["--variant", variant] if variant else []
        answer = _run(command, folder, time_limit_s)
        outputs = {
            port.name: _array(path, port) for path, port in zip(output_paths, package.manifest.outputs, strict=True)
        }
        tensors = _dumped(dump_folder, read_realised(package)) if dump else {}
    return Execution(
        outputs=outputs,
        nanoseconds=answer.nanoseconds,
        start_up_nanoseconds=answer.start_up_nanoseconds,
        ticks=answer.ticks,
        tensors=tensors,
    )


def supported_variants(package: Package) -> tuple[str, ...]:
    """Instruction sets of the package that this machine, or the emulator, can run, best first."""
    with private_folder("run") as folder:
        return _run([*_command(package, folder), "--variants"], folder, TIME_LIMIT_S).variants


def _command(package: Package, folder: Path) -> list[str]:
    """The binary, put into `folder`, behind what starts it."""
    binary = folder / "program"
    binary.write_bytes(package.binary)
    binary.chmod(0o700)
    return [*backend(package.manifest.target).runner(), str(binary)]


def check_inputs(package: Package, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The arrays in the order of the model's inputs; raises InputError naming what does not fit."""
    ports = package.manifest.inputs
    unknown = sorted(set(inputs) - {port.name for port in ports})
    if unknown:
        known = ", ".join(port.name for port in ports)
        raise InputError(f"The model has no input {unknown[0]!r}.", f"It reads {known}.", "Correct the name.")
    arrays = []
    for port in ports:
        wanted = f"{port.element_type} {list(port.shape)}"
        if port.name not in inputs:
            raise InputError(
                f"The input {port.name!r} is missing.", f"The model reads {wanted}.", "Give an array for it."
            )
        array = np.asarray(inputs[port.name])
        if array.shape != port.shape or array.dtype != numpy_type(port.element_type):
            raise InputError(
                f"The input {port.name!r} does not fit.",
                f"Got {array.dtype} {list(array.shape)}, expected {wanted}.",
                "Give an array of exactly this shape and type.",
            )
        arrays.append(np.ascontiguousarray(array, dtype=numpy_type(port.element_type).newbyteorder("<")))
    return arrays


def _run(command: list[str], folder: Path, time_limit_s: float) -> _Answer:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=time_limit_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise ObligationFailed(
            "The built program did not end.", f"It was stopped after {time_limit_s:g} s.", "Allow more time."
        ) from error
    except OSError as error:
        raise ObligationFailed("The built program cannot be started.", f"{error}.", "Build it again.") from error
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()[-500:] or "it said nothing"
        raise ObligationFailed(f"The built program failed (status {done.returncode}).", words, "Build it again.")
    try:
        return _Answer.from_json(done.stdout, "What it says of its run")
    except InputError as error:
        raise ObligationFailed("The built program gave a broken answer.", str(error), "Build it again.") from error


def _array(path: Path, port: Port) -> np.ndarray:
    """The array that the program wrote."""
    size = path.stat().st_size if path.is_file() else 0
    if size != port.size_bytes:
        raise ObligationFailed(
            f"The built program gave a broken {port.name!r}.",
            f"It wrote {size:,} bytes; {port.size_bytes:,} were expected.",
            "Build it again.",
        )
    return port.array(path.read_bytes()).copy()


def _dumped(folder: Path, realised: RealisedGraph) -> dict[str, np.ndarray]:
    found = {}
    for path in sorted(folder.iterdir()):
        tensor = realised.tensors[int(path.stem)]
        port = Port(name=tensor.name, element_type=tensor.element_type, shape=tensor.shape)
        found[tensor.name] = _array(path, port)
    return found
