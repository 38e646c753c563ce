"""What the tests of known failures share: a chip on which INT8 pays, a model built from nodes, and the whole way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from action_bench import cpu, npu, spec_of
from onnx import TensorProto, helper, numpy_helper

from metainfer_core.errors import UnsupportedError
from metainfer_core.pipeline.steps import Adapted, Compiled, Prepared, adapt, compile_policy, prepare
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory
from metainfer_core.verify.samples import Samples, read_samples

SAMPLES = 16


@dataclass(frozen=True)
class Case:
    """A model with the data that shows its failure."""

    model: onnx.ModelProto
    inputs: Mapping[str, np.ndarray]
    """Each input of the model with the samples on the first axis."""


@dataclass(frozen=True)
class Tried:
    """A case after `adapt`."""

    prepared: Prepared
    spec: HardwareSpec
    samples: Samples
    adapted: Adapted

    @property
    def policy(self) -> Policy:
        return self.adapted.policy

    def actions(self, kind: str) -> dict[str, PolicyAction]:
        """Actions of a kind by the node that they stand on."""
        return {line.node_id: line for line in self.policy.actions if line.action == kind}

    def refusals(self, kind: str) -> dict[str, str]:
        """Sentences of a kind's refusals by node."""
        return {refusal.nodes[0]: refusal.reason for refusal in self.policy.refusals if refusal.kind == kind}

    def compiled(self, policy: Policy | None = None) -> Compiled:
        return compile_policy(self.prepared, self.spec, policy or self.policy, "native-cpu", self.samples.feeds[:1])

    def forced(self, node_id: str, override: Mapping[str, object]) -> Policy:
        """The policy with a reviewer's override on the quantize action of a node, or a new action on it."""
        lines = list(self.policy.plain()["actions"])
        own = [line for line in lines if line["action"] == "quantize" and line["node_id"] == node_id]
        if own:
            own[0]["override"] = dict(override)
        else:
            lines.append({"node_id": node_id, "action": "quantize", "params": dict(override)})
        return Policy.from_plain({**self.policy.plain(), "actions": lines})

    def reason_against(self, policy: Policy) -> str:
        """Why a policy is refused when it is compiled."""
        try:
            self.compiled(policy)
        except UnsupportedError as error:
            return f"{error.what} {error.why}"
        raise AssertionError("the policy was compiled")


def chip(**npu_fields: object) -> HardwareSpec:
    """A chip whose NPU computes INT8 fast and whose CPU is slow, so that staying float has a price."""
    return spec_of(
        units={
            "npu": npu(**{"tops": 4, "launch_overhead_us": 0.1, "local_memory": "sram", **npu_fields}),
            "cpu": cpu(cores=1, clock_hz=1e8, macs_per_cycle={"int8": 1, "float32": 1}, launch_overhead_us=0.1),
        },
        memories={
            "sram": Memory(kind="sram", size_bytes=1 << 22, bandwidth_gbps=10),
            "dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=2),
        },
    )


def case(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Sequence[int]],
    weights: Mapping[str, np.ndarray],
) -> Case:
    """A case from nodes; `inputs` holds the samples on the first axis, the model sees one of them at a time."""
    graph = helper.make_graph(
        list(nodes),
        "case",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, *a.shape[1:])) for n, a in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in outputs.items()],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return Case(model, inputs)


def normal(*shape: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    """Seeded normal numbers."""
    return (np.random.default_rng([seed, *shape]).standard_normal(shape) * scale).astype(np.float32)


def try_case(given: Case, folder: Path, spec: HardwareSpec, objective: Objective | None = None) -> Tried:
    """`preprocess` and `adapt`, on files as a user has them."""
    (folder / "case.onnx").write_bytes(given.model.SerializeToString())
    np.savez(folder / "data.npz", **given.inputs)
    prepared = prepare(folder / "case.onnx")
    samples = read_samples(str(folder / "data.npz"), prepared.model)
    return Tried(prepared, spec, samples, adapt(prepared, spec, samples, samples, objective or Objective()))
