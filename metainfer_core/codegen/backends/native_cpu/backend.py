"""native-cpu: the spec's arenas and arithmetic on the machine at hand; its speed says nothing about the chip."""

from __future__ import annotations

import platform
from pathlib import Path

from metainfer_core.codegen.backend import Backend, Variant
from metainfer_core.errors import UnsupportedError


def _runner() -> tuple[str, ...]:
    if platform.machine() not in ("x86_64", "AMD64"):
        raise UnsupportedError(
            "This machine cannot run programs built for native-cpu.",
            f"They are x86-64; this is {platform.machine()}.",
            "Use --target aarch64-linux.",
        )
    return ()


NATIVE_CPU = Backend(
    name="native-cpu",
    summary="x86-64 Linux: AVX2 with FMA, AVX-512 where the processor has it",
    folder=Path(__file__).parent,
    compiler_prefix="",
    compiler_package="g++",
    variants=(
        Variant("x86_64_v4", ("-march=x86-64-v4", "-mprefer-vector-width=512")),
        Variant("x86_64_v3", ("-march=x86-64-v3",)),
    ),
    runner=_runner,
)
