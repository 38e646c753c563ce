"""What a compiled plan costs on the simulated NPU: transfers, bytes and cycles, by the spec's figures.

Work is in order. A transfer is waited for, unless another step computes before the one that reads it: then both run
side by side, and that reader waits for what is left. Where both use one bank, they take turns at the typical and the
worst end. What no unit with a local memory runs is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metainfer_core.codegen.backends.sim_npu.banks import bank_conflicts
from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.npu.cycles import Cycles, compute_cycles, moved_bytes, products, transfer_cycles
from metainfer_core.npu.device import Device
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.program import Step, Tensor
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.unit_figures import UnitFigures


@dataclass
class _Clock:
    """One unit as time goes by, at one end of the spec's ranges."""

    now: float = 0.0
    bus_free: float = 0.0
    ready: dict[str, float] = field(default_factory=dict)

    def transfer(self, cycles: float, target: str, is_waited_for: bool) -> None:
        self.bus_free = max(self.now, self.bus_free) + cycles
        self.ready[target] = self.bus_free
        if is_waited_for:
            self.now = self.bus_free

    def compute(self, cycles: float, inputs: Sequence[str]) -> None:
        self.now = max(self.now, *(self.ready.get(name, 0.0) for name in inputs), 0.0) + cycles


def timeline(plan: CompilePlan, spec: HardwareSpec) -> tuple[UnitFigures, ...]:
    """The figures of each unit that DMA feeds, by name."""
    tensors = {tensor.name: tensor for tensor in plan.program.tensors}
    places = {one.tensor: one.memory or plan.weights_memory for one in plan.locations}
    return tuple(
        _of_unit(device, [step for step in plan.program.steps if step.unit == device.unit], tensors, places, spec, plan)
        for device in plan.devices
    )


def _of_unit(
    device: Device,
    steps: Sequence[Step],
    tensors: Mapping[str, Tensor],
    places: Mapping[str, str],
    spec: HardwareSpec,
    plan: CompilePlan,
) -> UnitFigures:
    clocks = {end: _Clock() for end in ("low", "typical", "high")}
    sums: dict[bool, Cycles | None] = {True: Cycles(), False: Cycles()}
    unknown: set[str] = set()
    computing = [step for step in steps if step.kernel not in (TRANSFER, "view")]
    moving = [step for step in steps if step.kernel == TRANSFER]
    early = _early(steps)
    conflicts = bank_conflicts(plan, spec, device, steps, early)
    if conflicts is None and early:
        unknown.add(f"memories.{device.memory}.banks (bank conflicts not counted)")
    for index, step in enumerate(steps):
        if step.kernel == "view":
            continue
        is_transfer = step.kernel == TRANSFER
        if is_transfer:
            found = transfer_cycles(spec, device, step, (places[step.inputs[0]], places[step.outputs[0]]))
        else:
            found = compute_cycles(spec, device.unit, step, tensors)
        unknown.update(found.unknown)
        before = sums[is_transfer]
        sums[is_transfer] = before.plus(found.cycles) if before is not None and found.cycles is not None else None
        for end, clock in clocks.items():
            cycles = getattr(found.cycles or Cycles(), end)
            if is_transfer:
                in_turn = index not in early or (end != "low" and index in (conflicts or ()))
                clock.transfer(cycles, step.outputs[0], in_turn)
            else:
                clock.compute(cycles, step.inputs)
    is_known = sums[True] is not None and sums[False] is not None
    ends = {end: max(clock.now, clock.bus_free) for end, clock in clocks.items()}
    inward = [step for step in moving if places[step.outputs[0]] == device.memory]
    return UnitFigures(
        unit=device.unit,
        memory=device.memory,
        steps=len(computing),
        macs=sum(_macs(step) for step in computing),
        transfers=sum(int(step.params["rows"]) for step in moving),
        bytes_in=sum(moved_bytes(device, step) for step in inward),
        bytes_out=sum(moved_bytes(device, step) for step in moving if step not in inward),
        compute=sums[False],
        transfer=sums[True],
        total=Cycles(**ends) if is_known else None,
        bank_conflicts=None if conflicts is None else len(conflicts),
        unknown=tuple(sorted(unknown)),
    )


def _early(steps: Sequence[Step]) -> set[int]:
    """Transfers that another step computes after, before the first one that reads what they bring."""
    early: set[int] = set()
    waiting: dict[int, str] = {}
    for index, step in enumerate(steps):
        if step.kernel == TRANSFER:
            waiting[index] = step.outputs[0]
        elif step.kernel != "view":
            read = {at for at, target in waiting.items() if target in step.inputs}
            waiting = {at: target for at, target in waiting.items() if at not in read}
            early.update(waiting)
            early -= {at for at, target in waiting.items() if not _is_read_later(steps[index:], target)}
    return early


def _is_read_later(steps: Sequence[Step], name: str) -> bool:
    return any(step.kernel != TRANSFER and name in step.inputs for step in steps)


def _macs(step: Step) -> int:
    shape = products(step)
    return shape[0] * shape[1] * shape[2] if shape is not None else 0
