"""sim-npu: an NPU as the spec describes it, on this machine: its local memory, its DMA, and the laws of both."""

from __future__ import annotations

from pathlib import Path

from metainfer_core.codegen.backend import Backend, Variant
from metainfer_core.codegen.backends.native_cpu.backend import NATIVE_CPU
from metainfer_core.codegen.backends.sim_npu.simulator import simulate
from metainfer_core.codegen.backends.sim_npu.timeline import timeline

SIM_NPU = Backend(
    name="sim-npu",
    summary="an NPU with local memory and DMA, simulated on this x86-64 machine by the spec's limits",
    folder=Path(__file__).parent,
    compiler_prefix="",
    compiler_package="g++",
    variants=(Variant("x86_64_v3", ("-march=x86-64-v3",)),),
    runner=NATIVE_CPU.runner,
    feeds_units=True,
    simulate=simulate,
    figures=timeline,
)
