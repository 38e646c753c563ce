"""Changes of a model's structure that need training again: proposed with their class and predicted effect, never made.

Each changes what the model computes, so that its worth is known only once the changed model was trained and measured.
The three classes are those of the requirements: safe changes are known to train back to about the same accuracy, others
need somebody's review first, and what touches the outputs' meaning is forbidden and listed with its reason.
"""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.policy.structure.change import Grade, StructureChange
from metainfer_core.policy.structure.channels import channel_changes
from metainfer_core.policy.structure.forbidden import forbidden_changes
from metainfer_core.policy.structure.kernels import kernel_changes
from metainfer_core.policy.structure.operators import operator_changes
from metainfer_core.policy.structure.place import place_of
from metainfer_core.policy.structure.wiring import wiring_changes
from metainfer_core.spec.hardware_spec import HardwareSpec


def structure_changes(model: ir.Model, spec: HardwareSpec) -> tuple[StructureChange, ...]:
    """What training again would make possible on this spec, safe changes first; the model stays as it is.

    Args:
        model: The preprocessed model, with fixed shapes.
        spec: Its fastest unit for INT8, or for float32 where it has none for INT8, is what the changes are made for.
    """
    place = place_of(model, spec)
    if place is None:
        return ()
    found = [
        *operator_changes(model, place),
        *channel_changes(model, place),
        *kernel_changes(model, place),
        *wiring_changes(model, place),
        *forbidden_changes(model, place),
    ]
    order: tuple[Grade, ...] = ("safe", "needs review", "forbidden")
    return tuple(sorted(found, key=lambda each: order.index(each.grade)))
