"""Bank conflicts of a local memory: what DMA brings early meets the step that computes meanwhile in one bank.

Banks are taken to be equal parts that follow one another, the first at the arena's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.npu.device import Device
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.program import Step
from metainfer_core.spec.hardware_spec import HardwareSpec


def bank_conflicts(
    plan: CompilePlan, spec: HardwareSpec, device: Device, steps: Sequence[Step], early: Iterable[int]
) -> tuple[int, ...] | None:
    """Early transfers that touch a bank in which a step works before their reader; None: the banks are unknown.

    Args:
        plan: Where tensors lie.
        spec: Size and banks of the local memory.
        device: The unit.
        steps: What it does, in order.
        early: Indices of the transfers that run beside a computing step.
    """
    memory = spec.memories[device.memory]
    if memory.banks is None or memory.size_bytes is None:
        return None
    bank_bytes = max(1, int(memory.size_bytes.low) // memory.banks)
    banks = _banks(plan, device.memory, bank_bytes)
    return tuple(sorted(index for index in early if _meets(steps, index, banks)))


def _banks(plan: CompilePlan, memory: str, bank_bytes: int) -> Mapping[str, frozenset[int]]:
    """Tensor to the banks that it lies in."""
    sizes = {tensor.name: tensor.size_bytes for tensor in plan.program.tensors}
    return {
        one.tensor: frozenset(
            range(one.offset_bytes // bank_bytes, (one.offset_bytes + max(1, sizes[one.tensor]) - 1) // bank_bytes + 1)
        )
        for one in plan.locations
        if one.memory == memory and one.offset_bytes is not None
    }


def _meets(steps: Sequence[Step], index: int, banks: Mapping[str, frozenset[int]]) -> bool:
    arriving = steps[index].outputs[0]
    filled = banks.get(arriving, frozenset())
    for step in steps[index + 1 :]:
        if step.kernel in (TRANSFER, "view"):
            continue
        if arriving in step.inputs:
            return False
        if any(filled & banks.get(name, frozenset()) for name in (*step.inputs, *step.outputs)):
            return True
    return False
