"""How long the generated program takes, beside ONNX Runtime in the same run."""

from __future__ import annotations

import platform
import statistics
import time

import onnxruntime

from metainfer_core.codegen.run import execute
from metainfer_core.pipeline.steps import Compiled, Prepared
from metainfer_core.verify.reference import session
from metainfer_core.verify.report import Latency
from metainfer_core.verify.samples import Feeds

ROUNDS, RUNS_A_ROUND, WARM_UP = 5, 10, 3


def measure_latency(prepared: Prepared, compiled: Compiled, feed: Feeds) -> Latency | None:
    """Rounds of both programs in turn, so that what else the machine does meets both alike.

    None for a program that runs under emulation: its times say nothing.
    """
    if not compiled.package.manifest.target.startswith("native"):
        return None
    baseline = session(prepared.model, optimise=True)
    names = [value.name for value in prepared.model.graph.outputs]
    inputs = dict(feed)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        ours += [
            duration / 1e6
            for duration in execute(compiled.package, inputs, repeat=RUNS_A_ROUND, warm_up=WARM_UP).nanoseconds
        ]
        for _ in range(WARM_UP):
            baseline.run(names, inputs)
        for _ in range(RUNS_A_ROUND):
            start = time.perf_counter_ns()
            baseline.run(names, inputs)
            theirs.append((time.perf_counter_ns() - start) / 1e6)
    median, baseline_median = statistics.median(ours), statistics.median(theirs)
    return Latency(
        median_ms=median,
        min_ms=min(ours),
        max_ms=max(ours),
        baseline=f"ONNX Runtime {onnxruntime.__version__}, CPU, one thread, all optimisations",
        baseline_median_ms=baseline_median,
        ratio=median / baseline_median,
        runs=len(ours),
        machine=f"this machine ({platform.machine()}, {_processor()})",
        note="This is the host that built the package: its speed says nothing about the chip.",
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else "processor unknown"
