"""What holds of every policy that the search chooses, whatever the model and the chip."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from metainfer_core.actions import legality
from metainfer_core.actions.catalog import kind
from metainfer_core.numerics.lower import lower
from metainfer_core.policy.apply import apply, effective
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.effect import measure
from metainfer_core.verify.samples import Outputs, Samples


def assert_sound(
    policy: Policy, model: ir.Model, spec: HardwareSpec, samples: Samples, reference: Sequence[Outputs]
) -> None:
    """Every action is legal when it is applied, all of it can be lowered, and the usual budget holds."""
    assert len({line.id for line in policy.actions}) == len(policy.actions)
    assert any(line.action == "quantize" for line in policy.actions)
    assert all(line.why and line.sentence and line.risk for line in policy.actions)
    adapted = apply(model, spec, policy)  # raises where an action is not legal
    program = lower(adapted).program
    assert all(step.unit in spec.compute_units for step in program.steps)
    covered = {node_id for step in program.steps for node_id in step.node_ids}
    assert {str(node.name) for node in model.graph} <= covered
    memories = {tensor.memory for tensor in program.tensors if tensor.constant is None}
    assert memories <= {*spec.memories, None}  # None: where the target puts what no action placed
    assert shortfalls(Objective(), measure(reference, adapted, samples)) == ()
    for line in policy.actions[:3]:  # the original model still refuses what is not of it
        of_kind = kind(line.action)
        assert of_kind is not None
        stranger = effective(line).with_nodes(("nowhere",))
        assert legality.refusal(model, spec, of_kind, stranger) is not None
