"""Builds sources with the Makefile that the package carries, in a private folder, and tells how far it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from metainfer_core.codegen.backend import Backend
from metainfer_core.codegen.private_folder import private_folder
from metainfer_core.errors import DefectError, UnsupportedError
from metainfer_core.verify.reference import Progress, quiet

TIME_LIMIT_S = 1800.0


def build(files: Mapping[str, bytes], goal: str, product: str, backend: Backend, progress: Progress = quiet) -> bytes:
    """The file `product` that `make goal` makes from `files`; the same bytes in any folder and process.

    Raises:
        UnsupportedError: a program that is needed is not installed.
        InputError: the temporary folder cannot be written.
        DefectError: the sources do not compile.
    """
    find_programs(backend)
    with private_folder("build") as folder:
        for path, data in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        _make(folder, goal, _compilations(files, backend), progress)
        return (folder / product).read_bytes()


def find_programs(backend: Backend) -> dict[str, str]:
    """The programs that build for this target, with the first line of what each says about its version.

    Raises:
        UnsupportedError: one of them is not installed; names the Debian package.
    """
    wanted = {"make": "make", f"{backend.compiler_prefix}g++": backend.compiler_package}
    found = {}
    for program, package in wanted.items():
        path = shutil.which(program)
        if path is None:
            raise UnsupportedError(
                f"{program} is not installed.", f"It builds programs for {backend.name}.", f"apt install {package}"
            )
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
        found[program] = done.stdout.splitlines()[0] if done.stdout else "unknown"
    return found


def _compilations(files: Mapping[str, bytes], backend: Backend) -> int:
    parts = sum(path.startswith("steps_") for path in files)
    return parts * len(backend.variants) + 3


def _make(folder: Path, goal: str, total: int, progress: Progress) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}
    jobs = len(os.sched_getaffinity(0))
    command = ["make", f"-j{jobs}", "--no-print-directory", goal]
    log: list[str] = []
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None
    done = 0
    try:
        for line in process.stdout:
            log.append(line.rstrip())
            if " -c -o " in line:
                done += 1
                progress("compiling", min(done, total), total)
        status = process.wait(TIME_LIMIT_S)
    except BaseException:
        _stop(process)
        raise
    if status != 0:
        faults = [line for line in log if "error" in line.lower()] or log[-3:]
        raise DefectError("The generated sources do not compile.", "\n".join(faults[:5]), "Please report this.")


def _stop(process: subprocess.Popen[str]) -> None:
    """Ends make and the compilers that it started: they are a session of their own."""
    try:
        os.killpg(process.pid, 15)
    except ProcessLookupError:
        return
    process.wait(10)
