"""How long the analysis of a large model takes: read, made static, summed up node by node, priced on a chip.

Run it as `python benchmarks/analysis.py [NODES] [RUNS]`, alone on the machine. Two models: branches of small operators
without a parameter of their own, and a chain of convolutions with batch norm and activation. Prints the median of the
processor's seconds for each step and, for scale, the ratio of their sum to ONNX's own full check of the same file.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from metainfer_core.cost.estimate import estimate
from metainfer_core.cost.workload import workloads_of_summary
from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.graph.summary import summarise
from metainfer_core.spec.library import load

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "studio"))

from branching import branching  # noqa: E402

CHANNELS, SIDE = 8, 16
Result = TypeVar("Result")


def convolutions(count: int) -> bytes:
    """A chain of this many nodes: Conv, BatchNormalization, Relu, again and again."""
    random, nodes, constants = np.random.default_rng(0), [], []

    def constant(name: str, shape: tuple[int, ...], spread: float) -> str:
        drawn = random.uniform(1 - spread, 1 + spread, shape) if len(shape) == 1 else random.normal(0, spread, shape)
        constants.append(numpy_helper.from_array(drawn.astype(np.float32), name))
        return name

    for at in range(count):
        reads, writes, kind = "x" if at == 0 else f"t{at - 1}", f"t{at}", ("Conv", "BatchNormalization", "Relu")[at % 3]
        if kind == "Conv":
            weights = constant(f"w{at}", (CHANNELS, CHANNELS, 3, 3), 0.1)
            nodes.append(helper.make_node(kind, [reads, weights], [writes], f"{kind}{at}", pads=[1, 1, 1, 1]))
        elif kind == "BatchNormalization":
            moments = [constant(f"{name}{at}", (CHANNELS,), 0.1) for name in ("scale", "bias", "mean", "variance")]
            nodes.append(helper.make_node(kind, [reads, *moments], [writes], f"{kind}{at}"))
        else:
            nodes.append(helper.make_node(kind, [reads], [writes], f"{kind}{at}"))
    shape = [1, CHANNELS, SIDE, SIDE]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", f"t{count - 1}")]
    graph = helper.make_graph(nodes, "convolutions", ports[:1], ports[1:], constants)
    made: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return made


def timed(path: Path) -> dict[str, float]:
    """Seconds of each step of one analysis of a model file."""
    spec, found = load("rk3588", ROOT / "hwspecs"), {}

    def told(step: str, act: Callable[[], Result]) -> Result:
        began = time.process_time()
        result = act()
        found[step] = time.process_time() - began
        return result

    imported = told("read", lambda: load_model(path))
    static = told("make static", lambda: preprocess(imported.model))
    summary = told("sum up", lambda: summarise(static.model))
    units = {node.id: "npu" for node in summary.nodes}
    priced = told("price", lambda: estimate(workloads_of_summary(summary, units), spec))
    assert len(priced.calls) == len(summary.nodes)
    return found


def theirs(path: Path) -> float:
    """Seconds of ONNX's own full check, which infers the shapes too."""
    began = time.process_time()
    onnx.checker.check_model(onnx.load(path), full_check=True)
    return time.process_time() - began


def main(count: int, runs: int) -> None:
    for name, make in (("branches", branching), ("convolutions", convolutions)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(make(count))
            rows, scale = [timed(path) for _ in range(runs)], statistics.median(theirs(path) for _ in range(runs))
        steps = {step: statistics.median(row[step] for row in rows) for step in rows[0]}
        whole = sum(steps.values())
        told = ", ".join(f"{step} {seconds:.2f}" for step, seconds in steps.items())
        print(f"{name:13} {count} nodes: {whole:.2f} s ({told}), {whole / scale:.0f} times ONNX's check")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
