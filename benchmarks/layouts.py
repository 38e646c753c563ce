"""Generated code in NCHW beside the same with the layouts that are proposed, one thread, in turn in one run.

    python benchmarks/layouts.py [MODEL.onnx ...] [--spec rk3588] [--vector-bits 512]

Below 1 the layouts are faster. The spec's CPUs are taken to have vectors as wide as this machine's, so that the
proposals are those for it; the times are this machine's and say nothing about a chip.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from metainfer_core import pipeline
from metainfer_core.pipeline.timing import measure_latency
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load

MODELS = Path(__file__).parents[2] / "shared" / "models"
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path, default=[MODELS / "mlperf_vww96.onnx"])
    parser.add_argument("--spec", default="rk3399")
    parser.add_argument("--vector-bits", type=int, default=_own_vector_bits())
    arguments = parser.parse_args()
    spec = _with_vectors(load(arguments.spec), arguments.vector_bits)
    print(f"{'model':20} {'nodes':>5} {'NCHW ms':>9} {'laid out ms':>11} {'ratio':>6} {'predicted':>9}")
    for path in arguments.models:
        prepared = pipeline.prepare(path)
        samples = pipeline.samples_for(prepared, None)
        policy = pipeline.adapt(prepared, spec, samples, samples, Objective(precision=Precision.INT8, fast=True)).policy
        layouts = [line for line in policy.actions if line.action == "layout"]
        if not layouts:
            print(f"{prepared.name:20} no layout is proposed", flush=True)
            continue
        plain = Policy.from_plain(
            {**policy.plain(), "actions": [line.plain() for line in policy.actions if line.action != "layout"]}
        )
        compiled = [
            pipeline.compile_policy(prepared, spec, each, "native-cpu", samples.feeds) for each in (plain, policy)
        ]
        medians: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for own, each in zip(medians, compiled, strict=True):
                found = measure_latency(prepared, each, samples.feeds[0])
                own += [found.median_ms] if found is not None else []
        usual, laid_out = (min(own) for own in medians)
        before, after = layouts[0].evidence.predicted_time_us or (0.0, 0.0)
        nodes = sum(len(line.nodes) for line in layouts)
        predicted = f"{after / before:9.2f}" if before else f"{'unknown':>9}"
        print(
            f"{prepared.name:20} {nodes:5} {usual:9.3f} {laid_out:11.3f} {laid_out / usual:6.2f} {predicted}",
            flush=True,
        )


def _with_vectors(spec: HardwareSpec, bits: int) -> HardwareSpec:
    plain = spec.plain()
    for unit in plain["compute_units"].values():
        if unit["kind"] == "cpu":
            unit["vector_width_bits"] = bits
    return HardwareSpec.from_plain(plain)


def _own_vector_bits() -> int:
    info = Path("/proc/cpuinfo")
    flags = info.read_text().split() if info.exists() else []
    return 512 if "avx512bw" in flags else 256 if "avx2" in flags else 128


if __name__ == "__main__":
    main()
