"""The C++ compiler: where it is, and the flags that the simulator and every generated program share.

The flags keep the arithmetic as it is written: no contraction of a product and a sum (the kernels ask for it by name),
no reordering. `-fno-strict-aliasing` because one arena holds tensors of all types; the other two only free the compiler
from keeping errno and floating-point traps, which changes no value.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metainfer_core.errors import UnsupportedError

Target = Literal["x86-64", "aarch64"]

KERNELS = Path(__file__).parent / "kernels"
"""Folder of the C++ headers."""

KERNEL_FLAGS: tuple[str, ...] = (
    "-std=c++17",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wno-psabi",
    "-fconstexpr-ops-limit=2147483647",  # the laws of a large plan are asserted while it is compiled
)
_PREFIX: dict[Target, str] = {"x86-64": "x86_64-linux-gnu-", "aarch64": "aarch64-linux-gnu-"}
_PACKAGE: dict[Target, str] = {"x86-64": "g++-x86-64-linux-gnu", "aarch64": "g++-aarch64-linux-gnu"}
_X86_64_V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler for one target."""

    command: str
    version: str
    """First line of `--version`."""
    target: Target
    flags: tuple[str, ...]
    """KERNEL_FLAGS, and those that choose the target's instructions."""

    def compile(self, arguments: list[str], what: str, seconds: float = 600.0) -> None:
        """Runs the compiler with its flags and `arguments`; raises UnsupportedError if it fails."""
        try:
            done = subprocess.run(
                [self.command, *self.flags, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise UnsupportedError(
                f"{self.command} did not finish {what}.", f"It was stopped after {seconds:.0f} s.", "Try again."
            ) from error
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
            raise UnsupportedError(
                f"{self.command} could not compile {what}.",
                " ".join(lines[:3]) or f"It ended with status {done.returncode}.",
                "The kernels are tested with g++ 12; install that one.",
            )


def host_target() -> Target:
    """The target of this machine; raises UnsupportedError on another kind of processor."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        return "x86-64"
    if machine in ("aarch64", "arm64"):
        return "aarch64"
    raise UnsupportedError(
        f"This machine's processor is {machine}.", "Kernels are built for x86-64 and aarch64.", "Use one of these."
    )


def find_compiler(target: Target | None = None) -> Compiler:
    """The compiler for `target` (None: this machine); raises UnsupportedError naming the Debian package."""
    host = host_target()
    target = target or host
    candidates = [_PREFIX[target] + "g++"]
    if target == host:
        candidates.insert(0, "g++")
    for candidate in candidates:
        command = shutil.which(candidate)
        if command is not None:
            return Compiler(command, _version(command), target, KERNEL_FLAGS + _instruction_set(target, host))
    package = "g++" if target == host else _PACKAGE[target]
    raise UnsupportedError(
        f"There is no C++ compiler for {target}.",
        f"Looked for {' and '.join(candidates)}.",
        f"Install it: apt-get install {package}",
    )


def _version(command: str) -> str:
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "unknown"


def _instruction_set(target: Target, host: Target) -> tuple[str, ...]:
    """x86-64-v3 (AVX2, FMA), unless this machine has to run it and cannot."""
    if target != "x86-64":
        return ()
    if host != "x86-64" or _cpu_flags() >= _X86_64_V3:
        return ("-march=x86-64-v3",)
    return ("-march=x86-64",)


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return next((set(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), set())
