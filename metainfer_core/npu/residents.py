"""Which tensors stay in a local memory between the steps that touch them, where no action says where they lie."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from metainfer_core.npu.device import Device
from metainfer_core.npu.working_set import working_sets
from metainfer_core.numerics.program import Program, Step
from metainfer_core.numerics.signatures import signature


def residents(
    program: Program, device_of: Callable[[Step], Device | None], tiled: Collection[str], share: float
) -> Mapping[str, str]:
    """Tensor to local memory, of those that one device alone makes and reads whole: shortest lives first.

    Args:
        program: Before staging.
        device_of: The device that a step is staged for.
        tiled: Nodes that are cut into tiles; these bring parts, so their operands live outside.
        share: Of the memory, that may be taken at any step.
    """
    tensors = {tensor.name: tensor for tensor in program.tensors}
    homes, uses = _candidates(program, device_of, tiled)
    loads = _loads(program, device_of)
    chosen: dict[str, str] = {}
    for name in sorted(homes, key=lambda one: (uses[one][-1] - uses[one][0], -tensors[one].size_bytes, uses[one], one)):
        device = homes[name]
        size, load = device.occupied_bytes(tensors[name].size_bytes), loads[device.memory]
        between = [step for step in range(uses[name][0], uses[name][-1]) if step not in uses[name]]
        room = None if device.capacity_bytes is None else int(device.capacity_bytes * share)
        if room is not None and any(load[step] + size > room for step in between):
            continue
        for step in between:
            load[step] += size
        chosen[name] = device.memory
    return chosen


def _candidates(
    program: Program, device_of: Callable[[Step], Device | None], tiled: Collection[str]
) -> tuple[dict[str, Device], dict[str, list[int]]]:
    """Tensors that one device alone touches, with that device, and the steps that touch each."""
    tensors = {tensor.name: tensor for tensor in program.tensors}
    outside = {*program.inputs, *program.outputs}
    homes: dict[str, Device] = {}
    uses: dict[str, list[int]] = {}
    for index, step in enumerate(program.steps):
        device = device_of(step)
        cut = bool(step.node_ids) and step.node_ids[0] in tiled
        for name in (*step.inputs, *step.outputs):
            if not name or tensors[name].constant is not None or tensors[name].memory is not None:
                continue
            uses.setdefault(name, []).append(index)
            if device is None or cut or homes.get(name, device).unit != device.unit:
                outside.add(name)
            else:
                homes[name] = device
    return {name: device for name, device in homes.items() if name not in outside}, uses


def _loads(program: Program, device_of: Callable[[Step], Device | None]) -> dict[str, list[int]]:
    """Bytes of each local memory that each step takes in any case: what it works on, and what was placed there."""
    tensors = {tensor.name: tensor for tensor in program.tensors}
    loads: dict[str, list[int]] = {}
    lives: dict[str, list[int]] = {}
    by_memory: dict[str, Device] = {}
    for index, step in enumerate(program.steps):
        device = device_of(step)
        if device is not None:
            by_memory[device.memory] = device
            load = loads.setdefault(device.memory, [0] * len(program.steps))
            load[index] += working_sets(device, step, tensors, (None,))[0]
        for name in (*step.inputs, *step.outputs):
            if name and tensors[name].memory is not None:
                lives.setdefault(name, []).append(index)
    for name, steps in lives.items():
        device = by_memory.get(tensors[name].memory or "")
        if device is None:
            continue
        for index in range(steps[0], steps[-1] + 1):
            if (
                index not in steps
                or device_of(program.steps[index]) is None
                or signature(program.steps[index].kernel).is_view
            ):
                loads[device.memory][index] += device.occupied_bytes(tensors[name].size_bytes)
    return loads
