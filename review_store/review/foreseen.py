"""What a policy would become on a chip, without building it: the graph that a package's binary will be held against."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.storage import Storage, assign_storage
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.numerics.signatures import signature
from metainfer_core.policy.apply import effective, is_off
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.default_memory import default_memory
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.realised_graph import Moved, RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.report import Difference


def foreseen_differences(
    prepared: ir.Model, spec: HardwareSpec, policy: Policy, program: Program
) -> tuple[Difference, ...]:
    """What the program does other than the policy says: the very comparison that ends every compile.

    Args:
        prepared: The model that the policy was made for, before it was applied.
        spec: The hardware.
        policy: With the reviewers' overrides.
        program: The adapted model, lowered.
    """
    actions = tuple(effective(line) for line in policy.actions if not is_off(line))
    op_types = {str(node.name): node.op_type for node in prepared.graph}
    return differences(actions, foreseen(program, spec), op_types)


def foreseen(program: Program, spec: HardwareSpec) -> RealisedGraph:
    """The program as a package's binary will be read back, but for the addresses."""
    units = frozenset(step.unit for step in program.steps if step.unit is not None)
    signatures = tuple(signature(step.kernel) for step in program.steps)
    storages = assign_storage(program, default_memory(spec, units), signatures)
    tensors = {each.name: each for each in program.tensors}
    views = [
        each.is_view and storages[step.outputs[0]] is storages[step.inputs[0]]
        for each, step in zip(signatures, program.steps, strict=True)
    ]
    return RealisedGraph(
        target="foreseen",
        inputs=program.inputs,
        outputs=program.outputs,
        steps=tuple(_step(step, is_view) for step, is_view in zip(program.steps, views, strict=True)),
        tensors=tuple(_tensor(tensors[name], storage, tensors) for name, storage in storages.items()),
        arenas={},
    )


def _step(step: Step, is_view: bool) -> RealisedStep:
    return RealisedStep(
        kernel="view" if is_view else step.kernel,
        node_ids=step.node_ids,
        inputs=step.inputs,
        outputs=step.outputs,
        unit=step.unit,
        moved=Moved.from_plain(dict(step.params)) if step.kernel == TRANSFER else None,
    )


def _tensor(tensor: Tensor, storage: Storage, tensors: Mapping[str, Tensor]) -> RealisedTensor:
    given = tensor.quantization
    scales = tuple(float(np.float32(scale)) for scale in given.scales) if given else ()
    return RealisedTensor(
        name=tensor.name,
        element_type=tensor.element_type,
        shape=tensor.shape,
        size_bytes=tensor.size_bytes,
        memory=None if storage.is_constant else storage.memory,
        offset_bytes=None,
        is_constant=tensors[storage.tensors[0]].constant is not None,
        granularity=None if not scales else "channel" if len(scales) > 1 else "tensor",
        symmetric=None if given is None else not any(given.zero_points),
        scales=scales,
        zero_points=given.zero_points if given else (),
    )
