"""Staging: a program whose units read operands where they lie becomes one in which DMA brings them.

A step of a unit with a local memory reads and writes that memory alone. What it needs and lies elsewhere is brought
by transfer steps before it, and what it makes is taken away after it. Transfers and the copies that they make are steps
and tensors like all others, so memory planning, code generation and every check see them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metainfer_core.errors import DoesNotFitError, UnsupportedError
from metainfer_core.npu.blocks import Block, Transfer, moves, reason_against
from metainfer_core.npu.device import Device, devices
from metainfer_core.npu.residents import residents
from metainfer_core.npu.tiles import Part, Tile, parts
from metainfer_core.npu.working_set import largest, working_sets
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program, Quantization, Step, Tensor
from metainfer_core.numerics.signatures import signature
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value, sha256

TRANSFER = "transfer"
"""The kernel of transfer steps."""


class Asked(Value):
    """What approved actions ask of staging, by the first node of a step."""

    tiles: dict[str, Tile] = {}
    ahead: tuple[str, ...] = ()
    """Nodes whose operands are brought while the step before computes."""

    def tile(self, step: Step) -> Tile | None:
        """How the step is to be cut."""
        return self.tiles.get(step.node_ids[0]) if step.node_ids else None

    def is_ahead(self, step: Step) -> bool:
        """Whether its operands are to be brought early."""
        return bool(step.node_ids) and step.node_ids[0] in self.ahead


NOTHING_ASKED = Asked()


def stage(lowered: Lowered, spec: HardwareSpec, asked: Asked, everywhere: bool, resident_share: float = 0.0) -> Lowered:
    """The staged program, with the same constants.

    Args:
        lowered: The program as it was lowered.
        spec: Says which units have a local memory, and what DMA can do.
        asked: The tiles and early transfers that were approved.
        everywhere: Stage all steps of units with a local memory; else only those that an action asks about.
        resident_share: Of the local memory, for tensors that no action placed and that only its unit touches: these
            stay there.

    Raises:
        UnsupportedError: an approved tile or early transfer cannot be done; names it and says why.
        DoesNotFitError: a step works on more than its unit's local memory holds, and no tile was approved for it.
    """
    stager = _Stager(lowered.program, devices(spec), asked, everywhere, dict(lowered.constants))
    if everywhere and resident_share > 0:
        stager.keep(residents(stager.program, stager.device_of, asked.tiles.keys(), resident_share))
    for step in lowered.program.steps:
        stager.add(step)
    stager.check_all_done()
    program = Program(
        inputs=lowered.program.inputs,
        outputs=lowered.program.outputs,
        tensors=_used(stager),
        steps=tuple(stager.steps),
    )
    return Lowered(program, stager.constants)


def parts_on(device: Device, step: Step, tensors: Mapping[str, Tensor], tile: Tile) -> tuple[Part, ...] | str:
    """The tiles of a step for one device, or the sentence why its DMA cannot bring them."""
    found = parts(step, tensors, tile, device.dma.unit_bytes)
    if isinstance(found, str):
        return found
    for part in found:
        for name, block in zip((*step.inputs, *step.outputs), (*part.inputs, *part.outputs), strict=True):
            is_moved = name and block and tensors[name].constant is None  # constants are cut when the model is compiled
            reason = reason_against(block, tensors[name].size_bytes, device.dma) if is_moved and block else None
            if reason:
                return f"DMA cannot move a tile of {name}. {reason}"
    return found


def bringing(
    device: Device, step: Step, part: Part | None, tensors: Mapping[str, Tensor], constants_only: bool
) -> list[Step]:
    """The transfers that bring the operands of a step, or of one tile of it: what they are, not where they lead to."""
    found = []
    for name, block in zip(step.inputs, part.inputs if part else (None,) * len(step.inputs), strict=True):
        lies_there = not name or (block is None and tensors[name].memory == device.memory)
        if lies_there or (part is not None and block is None) or (constants_only and tensors[name].constant is None):
            continue
        whole = block or Block(tensors[name].shape, 0, tensors[name].size_bytes)
        found += [_transfer(step, name, name, one) for one in moves(whole, device.dma, outward=False)]
    return found


def _transfer(step: Step, source: str, target: str, moved: Transfer) -> Step:
    return Step(
        kernel=TRANSFER,
        node_ids=step.node_ids,
        inputs=(source,),
        outputs=(target,),
        params=moved.params(),
        unit=step.unit,
    )


@dataclass
class _Stager:
    """The staged program as it grows."""

    program: Program
    devices: Mapping[str, Device]
    asked: Asked
    everywhere: bool
    constants: dict[str, bytes]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """Nodes whose step was staged."""
    last_work: dict[str, int] = field(default_factory=dict)
    """Unit to the place of its last computing step."""

    def __post_init__(self) -> None:
        self.tensors = {tensor.name: tensor for tensor in self.program.tensors}

    def device_of(self, step: Step) -> Device | None:
        """The device that the step is staged for."""
        device = self.devices.get(step.unit or "")
        if device is None or signature(step.kernel).is_view:
            return None
        return device if self.everywhere or self.asked.tile(step) or self.asked.is_ahead(step) else None

    def keep(self, names: Mapping[str, str]) -> None:
        """Makes these tensors live in these memories."""
        for name, memory in names.items():
            self.tensors[name] = _moved(self.tensors[name], name, memory)

    def add(self, step: Step) -> None:
        """Appends a step, with the transfers that it needs."""
        device = self.device_of(step)
        if device is None:
            self.steps.append(step)
            if not signature(step.kernel).is_view:
                self.last_work[step.unit or ""] = len(self.steps) - 1
            return
        self.done.update(step.node_ids)
        tile = self.asked.tile(step)
        found: tuple[Part | None, ...] = (None,)
        if tile is not None:
            cut = parts_on(device, step, self.tensors, tile)
            if isinstance(cut, str):
                raise UnsupportedError(
                    f"The action tile@{step.node_ids[0]} cannot be done.", cut, "Override its size, or switch it off."
                )
            found = cut
        self._check_room(device, step, tile)
        self._add_tiles(device, step, found)

    def check_all_done(self) -> None:
        """Raises where an approved action belongs to a step that no unit with a local memory runs."""
        for kind, nodes in (("tile", self.asked.tiles), ("prefetch", self.asked.ahead)):
            for node in nodes:
                if node not in self.done:
                    raise UnsupportedError(
                        f"The action {kind}@{node} cannot be done.",
                        f"{node} does not run on a unit with a local memory (compute_units.<unit>.local_memory).",
                        "Switch it off with `override: false`.",
                    )

    def _check_room(self, device: Device, step: Step, tile: Tile | None) -> None:
        needed = working_sets(device, step, self.tensors, (None,) if tile is None else self._cut(device, step, tile))
        if device.capacity_bytes is None or max(needed) <= device.capacity_bytes:
            return
        advice = (
            f"Approve a smaller tile for {step.node_ids[0]}."
            if tile is not None
            else f"Approve the action tile@{step.node_ids[0]} (meta-infer adapt proposes it where one fits), or place "
            f"the node on another unit."
        )
        raise DoesNotFitError(
            f"{step.node_ids[0]}: memory {device.memory!r} (memories.{device.memory}.size_bytes less reserved_bytes), "
            f"in which {device.unit} works on {largest(device, step, self.tensors)},",
            max(needed),
            device.capacity_bytes,
            fix=advice,
            node=step.node_ids[0],
        )

    def _cut(self, device: Device, step: Step, tile: Tile) -> tuple[Part, ...]:
        found = parts_on(device, step, self.tensors, tile)
        return () if isinstance(found, str) else found

    def _add_tiles(self, device: Device, step: Step, found: Sequence[Part | None]) -> None:
        """Each tile with its transfers; operands that all tiles share are brought once."""
        ahead = self.asked.is_ahead(step)
        shared: dict[str, str] = {}
        for index, part in enumerate(found):
            early: list[Step] = []
            late: list[Step] = []
            inputs = []
            for name, block in zip(step.inputs, part.inputs if part else (None,) * len(step.inputs), strict=True):
                if name and block is not None and part is not None and self.tensors[name].constant is not None:
                    name, block = self._laid_out(name, block, part, index), None
                if not name or (block is None and self.tensors[name].memory == device.memory):
                    inputs.append(name)
                    continue
                if block is None and name in shared:
                    inputs.append(shared[name])
                    continue
                copy = self._copy(device, name, block, index if part and block else None)
                if block is None:
                    shared[name] = copy
                inputs.append(copy)
                may_be_early = ahead and (index > 0 or self._is_ready(name))
                (early if may_be_early else late).extend(self._bring(device, step, name, copy, block))
            outputs, after = self._outputs(device, step, part, index)
            self._insert_early(step, early)
            self.steps += late
            self.steps.append(_with(step, inputs, outputs, part))
            self.last_work[step.unit or ""] = len(self.steps) - 1
            self.steps += after

    def _laid_out(self, name: str, block: Block, part: Part, index: int) -> str:
        """The part of a constant that one tile reads, as a constant of its own, which begins where DMA can."""
        whole = self.tensors[name]
        data = block.of(self.constants[whole.constant or ""])
        digest = sha256(data)
        self.constants[digest] = data
        part_name = self._free(f"{name}.tile{index}")
        changes: dict[str, object] = {"name": part_name, "shape": block.shape, "constant": digest, "memory": None}
        if whole.quantization is not None and len(whole.quantization.scales) > 1 and part.channels is not None:
            first, count = part.channels
            kept = slice(first, first + count)
            scales, points = whole.quantization.scales[kept], whole.quantization.zero_points
            changes["quantization"] = Quantization(
                scales=scales, zero_points=points[kept] if len(points) > 1 else points, axis=whole.quantization.axis
            )
        self.tensors[part_name] = Tensor(**{**whole.__dict__, **changes})
        return part_name

    def _free(self, name: str) -> str:
        """The name, with a mark behind it as long as it is taken."""
        while name in self.tensors:
            name += "'"
        return name

    def _is_ready(self, name: str) -> bool:
        """Whether a tensor is there before the step that computes last: a constant is."""
        return self.tensors[name].constant is not None

    def _insert_early(self, step: Step, transfers: Sequence[Step]) -> None:
        """Puts transfers before what the unit computes last, so that they run beside it."""
        place = self.last_work.get(step.unit or "", len(self.steps))
        self.steps[place:place] = transfers
        self.last_work = {unit: at + len(transfers) if at >= place else at for unit, at in self.last_work.items()}

    def _outputs(self, device: Device, step: Step, part: Part | None, index: int) -> tuple[list[str], list[Step]]:
        outputs, after = [], []
        for position, name in enumerate(step.outputs):
            block = part.outputs[position] if part else None
            if not name or (block is None and self.tensors[name].memory == device.memory):
                outputs.append(name)
                continue
            copy = self._copy(device, name, block, index if part and block else None)
            outputs.append(copy)
            after += self._transfers(device, step, copy, name, block or self._whole(name), outward=True)
        return outputs, after

    def _bring(self, device: Device, step: Step, name: str, copy: str, block: Block | None) -> list[Step]:
        return self._transfers(device, step, name, copy, block or self._whole(name), outward=False)

    def _whole(self, name: str) -> Block:
        tensor = self.tensors[name]
        return Block(tensor.shape, 0, tensor.size_bytes)

    def _transfers(
        self, device: Device, step: Step, source: str, target: str, block: Block, outward: bool
    ) -> list[Step]:
        return [_transfer(step, source, target, moved) for moved in moves(block, device.dma, outward)]

    def _copy(self, device: Device, name: str, block: Block | None, index: int | None) -> str:
        """A new tensor in the local memory for all of a tensor, or for a block of it."""
        copy = self._free(f"{name}@{device.memory}" + ("" if index is None else f".{index}"))
        tensor = _moved(self.tensors[name], copy, device.memory)
        self.tensors[copy] = tensor if block is None else _part_of(tensor, block)
        return copy


def _used(stager: _Stager) -> tuple[Tensor, ...]:
    """The tensors that some step touches or the model gives; a constant that was cut is no longer among them."""
    touched = {name for step in stager.steps for name in (*step.inputs, *step.outputs)}
    touched |= {*stager.program.inputs, *stager.program.outputs}
    return tuple(tensor for name, tensor in stager.tensors.items() if name in touched)


def _moved(tensor: Tensor, name: str, memory: str) -> Tensor:
    """The same array under another name in another memory; no constant, for its bytes are brought at run time."""
    return Tensor(**{**tensor.__dict__, "name": name, "memory": memory, "constant": None})


def _part_of(tensor: Tensor, block: Block) -> Tensor:
    """The tensor that holds a block of another: where its channels have scales, with those of the block's channels."""
    kept = tensor.quantization
    if kept is not None and len(kept.scales) > 1 and tensor.shape[0] == 1 and block.shape[1] < tensor.shape[1]:
        first = block.offset // (tensor.size_bytes // tensor.shape[1])
        scales = kept.scales[first : first + block.shape[1]]
        kept = Quantization(scales=scales, zero_points=kept.zero_points, axis=kept.axis)
    return Tensor(**{**tensor.__dict__, "shape": block.shape, "quantization": kept})


def _with(step: Step, inputs: Sequence[str], outputs: Sequence[str], part: Part | None) -> Step:
    params = step.params if part is None else {**part.params}
    return Step(**{**step.__dict__, "inputs": tuple(inputs), "outputs": tuple(outputs), "params": params})
