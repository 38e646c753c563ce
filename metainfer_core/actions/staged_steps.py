"""The kernel calls of an adapted model that run on units with a local memory, and what actions ask of their staging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import onnx_ir as ir

from metainfer_core.actions.rewiring import PREFETCH, TILE
from metainfer_core.errors import UnsupportedError
from metainfer_core.npu.device import Device, devices
from metainfer_core.npu.stage import Asked
from metainfer_core.npu.tiles import Axis, Tile
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.program import Step, Tensor
from metainfer_core.numerics.same_model import SameModel
from metainfer_core.numerics.signatures import signature
from metainfer_core.spec.hardware_spec import HardwareSpec


@dataclass(frozen=True)
class StagedStep:
    """One computing step on a unit with a local memory."""

    step: Step
    device: Device
    before: Step | None
    """What the same unit computes last before it."""

    @property
    def node(self) -> str:
        """The node that an action on this step stands on."""
        return self.step.node_ids[0]


@dataclass(frozen=True)
class StagedModel:
    """The staged steps of a model, in order, and all tensors of its program."""

    steps: tuple[StagedStep, ...]
    tensors: Mapping[str, Tensor]

    def of_node(self, node: str) -> StagedStep | str:
        """The one step that an action on the node is about, or why there is none."""
        found = [one for one in self.steps if one.node == node]
        if not found:
            return f"{node} is not the first node of a step on a unit with a local memory."
        if len(found) > 1:
            return f"{node} is computed in {len(found)} steps already."
        return found[0]


def staged_model(model: ir.Model, spec: HardwareSpec, unit: str | None = None) -> StagedModel | str:
    """The model's staged steps, or why it cannot be lowered.

    Args:
        model: Adapted so far.
        spec: The hardware.
        unit: Runs the nodes whose unit the model does not name yet.
    """
    return _staged_model(SameModel(model, without=(TILE, PREFETCH)), tuple(devices(spec).values()), unit)


@lru_cache(maxsize=1)
def _staged_model(seen: SameModel, fed: tuple[Device, ...], unit: str | None) -> StagedModel | str:
    """Many actions ask about one program, one after another: the last answer is kept."""
    model, known = seen.model, {device.unit: device for device in fed}
    if not known:
        return "No unit of the spec has a local memory (compute_units.<unit>.local_memory)."
    try:
        program = lower(model).program
    except UnsupportedError as error:
        return " ".join(part for part in (error.what, error.why) if part)
    names = {str(node.name) for node in model.graph}
    found: list[StagedStep] = []
    last: dict[str, Step] = {}
    for step in program.steps:
        device = known.get(step.unit or unit or "")
        if device is None or signature(step.kernel).is_view or not step.node_ids:
            continue
        if step.node_ids[0] in names:
            found.append(StagedStep(step, device, last.get(device.unit)))
        last[device.unit] = step
    return StagedModel(tuple(found), {tensor.name: tensor for tensor in program.tensors})


def asked_of(model: ir.Model) -> Asked:
    """What the approved actions ask, as they left it on the graph."""
    tiles = {}
    for node in model.graph:
        axis, _, size = node.metadata_props.get(TILE, "").partition(":")
        if size:
            tiles[str(node.name)] = Tile(axis=_axis(axis), size=int(size))
    ahead = tuple(str(node.name) for node in model.graph if node.metadata_props.get(PREFETCH))
    return Asked(tiles=tiles, ahead=ahead)


def _axis(word: str) -> Axis:
    return next(axis for axis in get_args(Axis) if axis == word)
