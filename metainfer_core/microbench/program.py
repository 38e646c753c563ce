"""The measuring program: compiled with the flags of every generated program, one start a measurement."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from metainfer_core.errors import ObligationFailed, UnsupportedError
from metainfer_core.numerics.toolchain import KERNELS, find_compiler

SOURCE = Path(__file__).with_name("microbench.cpp")
SECONDS = 120.0
"""Wall clock that one measurement may take."""


class Program:
    """The compiled program in a folder of the caller's."""

    def __init__(self, folder: Path) -> None:
        compiler = find_compiler()
        self.path = folder / "microbench"
        self.compiler = compiler.version
        compiler.compile(["-pthread", f"-I{KERNELS}", str(SOURCE), "-o", str(self.path)], "the microbenchmarks")

    def run(self, *words: str | int, repetitions: int = 5) -> tuple[int, ...]:
        """Nanoseconds of each repetition of one measurement.

        Raises:
            UnsupportedError: This machine has not enough memory for it.
            ObligationFailed: It took too long, or gave no times.
        """
        command = [str(self.path), *map(str, words)]
        told = " ".join(command[1:])
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
                env={**os.environ, "REPETITIONS": str(repetitions)},
            )
        except subprocess.TimeoutExpired as error:
            raise ObligationFailed(
                f"The measurement {told} did not end.",
                f"It was stopped after {SECONDS:.0f} s.",
                "Measure on an idle machine.",
            ) from error
        if done.returncode != 0:
            why = done.stderr.strip() or f"It ended with status {done.returncode}."
            raise UnsupportedError(f"The measurement {told} failed.", why, "Free some memory, and measure again.")
        times = tuple(int(line) for line in done.stdout.split() if line.isdigit())
        if len(times) != repetitions or min(times, default=0) <= 0:
            raise ObligationFailed(f"The measurement {told} gave no times.", "", "Measure again.")
        return times
