"""Tile a step whose data is more than the local memory of its unit holds: the same kernel, part by part."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.rewiring import TILE, node
from metainfer_core.actions.staged_steps import StagedModel, StagedStep, staged_model
from metainfer_core.actions.units import describe, unknown_unit
from metainfer_core.npu.stage import parts_on
from metainfer_core.npu.tiles import AXES, Axis, Extent, Part, Tile, extent
from metainfer_core.npu.working_set import largest, working_sets
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "A unit with a local memory computes what lies there; what does not fit at once is brought in parts."
MOST_TILES = 512
"""More tiles than this cost more transfers than the unit can win back."""


class TileParams(Value):
    """Parameters of a tile action."""

    axis: Axis
    size: int = pydantic.Field(ge=1)
    """Channels, rows or elements of one tile; the last one takes what is left."""
    target_hw: str | None = None
    """Compute unit whose local memory the tiles fit."""


class TileKind(ActionKind):
    """Computes a node in tiles that each fit the local memory of its unit.

    DMA brings the part of the input and the weights that one tile needs, and takes its part of the result away. Along
    channels a tile makes some of the output channels, along rows some of the output rows, along elements some of the
    elements of an elementwise operator.
    """

    name = "tile"
    obligation = Obligation(relative=0.0, absolute=0.0, why="Each output is computed by the same operations, once.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = TileParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each step too large for its unit's local memory: the tile that moves least, or why there is none."""
        staged = staged_model(model, spec)
        if isinstance(staged, str):
            return
        for one in staged.steps:
            capacity = one.device.capacity_bytes
            needed = working_sets(one.device, one.step, staged.tensors, (None,))[0]
            if capacity is not None and needed > capacity:
                yield self._proposal(spec, staged, one, needed, capacity)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The node must be one step on such a unit, which can be cut so, into tiles that fit and that DMA can move."""
        params = TileParams.from_plain(action.params)
        reason = _reason_against(model, spec, action.nodes[0], params)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the node; its transfers are planned when the model is compiled."""
        params = TileParams.from_plain(action.params)
        node(model, action.nodes[0]).metadata_props[TILE] = f"{params.axis}:{params.size}"

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        where = f" in the local memory of {action.params['target_hw']}" if action.params.get("target_hw") else ""
        return f"Compute {action.nodes[0]} in tiles of {action.params['size']} {action.params['axis']}{where}."

    def _proposal(
        self, spec: HardwareSpec, staged: StagedModel, one: StagedStep, needed: int, capacity: int
    ) -> Action | Refusal:
        device = one.device
        field = f"memories.{device.memory}.size_bytes"
        claim = (
            f"{one.node} works on {needed:,} bytes at once ({largest(device, one.step, staged.tensors)}); "
            f"{device.memory} holds {capacity:,} ({field}): {needed - capacity:,} too many."
        )
        fitting: list[tuple[int, int, Tile]] = []
        against: list[str] = []
        for axis in AXES:
            found = _largest_tile(one, staged, axis, capacity)
            if isinstance(found, str):
                against.append(found)
            else:
                fitting.append(found)
        if not fitting:
            return Refusal(kind=self.name, nodes=(one.node,), reason=f"{claim} {' '.join(dict.fromkeys(against))}")
        fitting.sort(key=lambda entry: entry[:2])
        moved, count, tile = fitting[0]
        others = tuple(
            Alternative(
                option=f"tiles of {other.size} {other.axis}",
                reason=f"{number} tiles move {total:,} bytes in place of {moved:,}.",
            )
            for total, number, other in fitting[1:]
        )
        return Action(
            kind=self.name,
            nodes=(one.node,),
            params={"axis": tile.axis, "size": tile.size, "target_hw": device.unit},
            why=(Reason(claim=claim, spec_field=field, spec_value=describe(spec, field), law=LAW),),
            constraint=f"Each of the {count} tiles fits the {capacity:,} bytes of {device.memory}.",
            alternatives=others
            or (
                Alternative(
                    option=f"{one.node} on another unit", reason=f"Its data would leave {device.unit} and come back."
                ),
            ),
        )


def _reason_against(model: ir.Model, spec: HardwareSpec, name: str, params: TileParams) -> str | None:
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    staged = staged_model(model, spec, params.target_hw)
    if isinstance(staged, str):
        return staged
    one = staged.of_node(name)
    if isinstance(one, str):
        return one
    found = parts_on(one.device, one.step, staged.tensors, Tile(axis=params.axis, size=params.size))
    if isinstance(found, str):
        return f"{name} cannot be cut into tiles of {params.size} {params.axis}. {found}"
    most, capacity = max(working_sets(one.device, one.step, staged.tensors, found)), one.device.capacity_bytes
    if capacity is not None and most > capacity:
        return (
            f"A tile of {params.size} {params.axis} of {name} works on {most:,} bytes; {one.device.memory} holds "
            f"{capacity:,} (memories.{one.device.memory}.size_bytes): {most - capacity:,} too many."
        )
    return None


def _largest_tile(one: StagedStep, staged: StagedModel, axis: Axis, capacity: int) -> tuple[int, int, Tile] | str:
    """Bytes moved, number of tiles and the tile, for the fewest tiles along one axis that fit; or why none does."""
    found = extent(one.step, staged.tensors, axis)
    if isinstance(found, str):
        return found
    reason = f"No tile of {axis} fits: even the smallest needs more."
    for size in _sizes(found, one.device.dma.unit_bytes):
        tile = Tile(axis=axis, size=size)
        parts = parts_on(one.device, one.step, staged.tensors, tile)
        if isinstance(parts, str):
            reason = parts
        elif max(working_sets(one.device, one.step, staged.tensors, parts)) <= capacity:
            return _moved(one, staged, parts), len(parts), tile
    return reason


def _sizes(found: Extent, unit_bytes: int) -> list[int]:
    """Sizes worth trying, largest first: equal shares, and these rounded up to where a run of any width may end."""
    shares = {-(-found.size // count) for count in range(2, min(MOST_TILES, found.size) + 1)}
    steps = {found.multiple * (1 << power) for power in range(unit_bytes.bit_length())}
    rounded = {-(-share // step) * step for share in shares for step in steps}
    return sorted((size for size in rounded if size < found.size), reverse=True)


def _moved(one: StagedStep, staged: StagedModel, parts: tuple[Part, ...]) -> int:
    """Bytes over the bus: what all tiles share once, the rest tile by tile."""
    names = (*one.step.inputs, *one.step.outputs)
    total = 0
    for index, part in enumerate(parts):
        for name, block in zip(names, (*part.inputs, *part.outputs), strict=True):
            if name and (block is not None or index == 0):
                total += block.size_bytes if block is not None else staged.tensors[name].size_bytes
    return total
