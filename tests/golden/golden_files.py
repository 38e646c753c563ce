"""Golden files: what the product decides, says and generates for one small model on one small chip.

They are there to be read in a diff: a change of a kind, a rule or a template shows what it changes. Only `make golden`
writes them. All numbers of the model and its data are small and exact in float32, so every machine gives the same.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from metainfer_core import pipeline
from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_text
from metainfer_core.files import write_bytes
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.plain import plain_form
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.samples import Samples

FOLDER = Path(__file__).parent / "files"
SPEC = HardwareSpec.from_plain(
    {
        "name": "small_chip",
        "version": "1.0.0",
        "compute_units": {
            "cpu": {
                "kind": "cpu",
                "data_types": ["int8", "float32"],
                "clock_hz": 1e9,
                "macs_per_cycle": {"int8": 16, "float32": 4},
                "launch_overhead_us": 1,
            },
            "npu": {
                "kind": "npu",
                "data_types": ["int8"],
                "clock_hz": 1e9,
                "macs_per_cycle": {"int8": 256},
                "launch_overhead_us": 2,
                "channel_multiple": 4,
                "weight_granularity": ["tensor", "channel"],
                "operators": {"supported": ["Conv", "Relu", "Add", "MaxPool"], "fallback": "cpu"},
            },
        },
        "memories": {
            "sram": {"kind": "sram", "size_bytes": 65536, "bandwidth_gbps": 16, "alignment_bytes": 64},
            "dram": {"kind": "dram", "size_bytes": 1048576, "bandwidth_gbps": 2, "alignment_bytes": 64},
        },
        "sensitive_layers": ["classifier"],
        "sources": {"sheet": {"title": "Small Chip Data Sheet", "document_digest": "sha256:" + "0" * 64}},
        "provenance": {
            "compute_units.npu.data_types": {"source": "sheet", "page": 3, "text": "The NPU computes in INT8."},
            "memories.sram.size_bytes": {"source": "sheet", "page": 2, "text": "64 KB SRAM"},
        },
    }
)


def small_model() -> onnx.ModelProto:
    """Conv, batch norm, Relu, a residual block, pooling, a classifier. Weights are -2 .. 2, batch norm is exact."""
    generator = np.random.default_rng(7)

    def constant(name, *shape):
        return numpy_helper.from_array(generator.integers(-2, 3, shape).astype(np.float32), name)

    norm = {"gamma": 2, "beta": 1, "mean": 1, "variance": 3}  # variance + epsilon is 4, whose root is exact
    weights = [constant("w1", 6, 2, 3, 3), constant("w2", 6, 6, 1, 1), constant("w3", 6, 3), constant("b3", 3)]
    weights += [numpy_helper.from_array(np.full(6, value, np.float32), name) for name, value in norm.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", *norm], ["n1"], "norm1", epsilon=1.0),
        helper.make_node("Relu", ["n1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv2"),
        helper.make_node("Add", ["c2", "r1"], ["a2"], "add2"),
        helper.make_node("Relu", ["a2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p"], "pool", kernel_shape=[8, 8]),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "classifier"),
    ]
    image = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 2, 8, 8])
    scores = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 3])
    graph = helper.make_graph(nodes, "small", [image], [scores], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def small_data() -> Samples:
    generator = np.random.default_rng(8)
    feeds = tuple({"x": generator.integers(-4, 5, (1, 2, 8, 8)).astype(np.float32)} for _ in range(8))
    return Samples(feeds, "8 samples of whole numbers", "sha256:" + "0" * 64, is_random=False)


def golden_files() -> dict[str, bytes]:
    """File name to content, as the code makes them now."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.onnx"
        path.write_bytes(small_model().SerializeToString())
        prepared = pipeline.prepare(path, {})
    data = small_data()
    policy = pipeline.adapt(prepared, SPEC, data, data, Objective()).policy
    compiled = pipeline.compile_policy(prepared, SPEC, policy, "native-cpu", data.feeds)
    assert not compiled.violations, compiled.violations
    assert not compiled.differences, compiled.differences
    plain = json.dumps(json.loads(plain_form(policy)), indent=2) + "\n"
    sources = {name: content for name, content in compiled.package.files.items() if name.startswith("source/steps_")}
    return {
        "small.policy": plain.encode(),
        "small.explanation.txt": (as_text(explain(policy, SPEC), policy) + "\n").encode(),
        **{f"small.{name.rpartition('/')[2]}": content for name, content in sources.items()},
    }


def main() -> None:
    made = golden_files()
    for path in set(FOLDER.glob("*")) - {FOLDER / name for name in made}:
        path.unlink()
    for name, content in made.items():
        write_bytes(FOLDER / name, content, "golden file", mode=0o644)
    sys.stdout.write("".join(f"written: tests/golden/files/{name}\n" for name in made))


if __name__ == "__main__":
    main()
