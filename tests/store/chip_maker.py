"""A small real model on an invented chip, whose NPU has INT8 alone; and the policy that fuses and quantizes for it."""

import json

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import kind
from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.policy.apply import apply_line
from metainfer_core.policy.policy import Policy, PolicyAction, Risk
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.reference import collect_ranges
from metainfer_core.verify.samples import random_samples

MODEL = """
<ir_version: 10, opset_import: ["": 21]>
net (float[1,8,8,8] x) => (float[1,8,4,4] y) {
    c = Conv (x, w_0)
    r = Relu (c)
    y = Conv (r, w_1)
}
"""


def chip(dram_bytes=1 << 20, **more):
    """The spec; `dram_bytes` is all the memory that it has."""
    return HardwareSpec.from_plain(
        {
            "name": "chip",
            "version": "1.0.0",
            "compute_units": {
                "cpu": {"kind": "cpu", "cores": 1, "data_types": ["float32", "int8"]},
                "npu": {"kind": "npu", "data_types": ["int8"], "weight_granularity": ["channel", "tensor"]},
            },
            "memories": {"dram": {"kind": "dram", "size_bytes": dram_bytes, "alignment_bytes": 64}},
        }
        | more
    )


def write_chip(folder, dram_bytes=1 << 20, **more):
    """The spec in a file, as `--hw-spec` takes it."""
    path = folder / "chip_v1.0.0.yaml"
    plain = chip(dram_bytes, **more).plain()
    path.write_text(json.dumps(plain))  # JSON is YAML
    return path


def write_model(folder, seed=0, name="net.onnx"):
    """The model; the weights come from the seed, the graph is always the same."""
    proto = onnx.parser.parse_model(MODEL)
    rng = np.random.default_rng(seed)
    for index, size in enumerate((3, 3)):
        weights = rng.normal(0, 0.2, (8, 8, size, size)).astype(np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(weights, f"w_{index}"))
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return path


def policy_for(model_path, spec, risk="low", **more):
    """Fuses, then quantizes, all on the NPU; each action as its kind proposes it, of the given risk."""
    loaded = load_model(model_path)
    model = preprocess(loaded.model).model
    calibration = collect_ranges(model, random_samples(model))
    working, lines = model.clone(), []
    for name in ("fuse", "quantize"):
        for action in kind(name).propose(working, spec, calibration):
            if isinstance(action, Action):
                line = PolicyAction(
                    node_id=action.nodes[0],
                    action=name,
                    nodes=action.nodes,
                    params={**action.params, "target_hw": "npu"},
                    risk=Risk(level=risk, facts=()),
                )
                apply_line(working, spec, line, calibration)
                lines.append(line)
    given = {
        "name": "net_on_chip",
        "model_digest": loaded.digest,
        "spec_digest": spec.values_digest,
        "ruleset_digest": ruleset_digest(),
        "objective": {"goal": "least time"},
    }
    return Policy(actions=tuple(lines), **(given | more))
