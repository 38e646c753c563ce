"""How many bytes of a local memory one step works on at once, whole or tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metainfer_core.npu.device import Device
from metainfer_core.npu.tiles import Part, touched
from metainfer_core.numerics.program import Step, Tensor


def working_sets(
    device: Device, step: Step, tensors: Mapping[str, Tensor], parts: Sequence[Part | None]
) -> tuple[int, ...]:
    """Bytes that each tile occupies: its operands and its result; shared operands count in each. (None,): the whole."""
    return tuple(_bytes(device, step, tensors, part) for part in parts)


def double_buffered(device: Device, step: Step, tensors: Mapping[str, Tensor], parts: Sequence[Part]) -> int:
    """Bytes at most while one tile is computed and the operands of the next one arrive."""
    most = 0
    for one, following in zip(parts, (*parts[1:], None), strict=True):
        arriving = 0
        if following is not None:
            brought = zip(step.inputs, following.inputs, strict=True)
            arriving = sum(device.occupied_bytes(block.size_bytes) for name, block in brought if name and block)
        most = max(most, _bytes(device, step, tensors, one) + arriving)
    return most


def largest(device: Device, step: Step, tensors: Mapping[str, Tensor]) -> str:
    """What a step works on, in words, the largest array first."""
    sizes = {name: device.occupied_bytes(tensors[name].size_bytes) for name, _ in touched(step, None)}
    ranked = sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{name} ({size:,} bytes)" for name, size in ranked[:3]) + (" and more" if len(ranked) > 3 else "")


def _bytes(device: Device, step: Step, tensors: Mapping[str, Tensor], part: Part | None) -> int:
    seen: set[str] = set()
    total = 0
    for name, block in touched(step, part):
        if block is None and name in seen:
            continue
        seen.add(name)
        total += device.occupied_bytes(tensors[name].size_bytes if block is None else block.size_bytes)
    return total
