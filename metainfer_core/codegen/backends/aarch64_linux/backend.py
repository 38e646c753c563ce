"""aarch64-linux: Armv8-A with Advanced SIMD, cross-compiled, run on the board or under QEMU."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from metainfer_core.codegen.backend import Backend, Variant
from metainfer_core.errors import UnsupportedError

PREFIX = "aarch64-linux-gnu-"
LIBRARIES = "/usr/aarch64-linux-gnu"


def _runner() -> tuple[str, ...]:
    if platform.machine() in ("aarch64", "arm64"):
        return ()
    emulator = shutil.which("qemu-aarch64")
    if emulator is None:
        raise UnsupportedError(
            "This machine cannot run programs built for aarch64-linux.",
            "There is no qemu-aarch64.",
            "Install it: apt install qemu-user libc6-arm64-cross.",
        )
    return (emulator, "-L", LIBRARIES)


AARCH64_LINUX = Backend(
    name="aarch64-linux",
    summary="64-bit Arm Linux (Armv8-A), such as the RK3588's and RK3399's cores",
    folder=Path(__file__).parent,
    compiler_prefix=PREFIX,
    compiler_package="g++-aarch64-linux-gnu",
    variants=(Variant("armv8_a", ("-march=armv8-a",)),),
    runner=_runner,
)
