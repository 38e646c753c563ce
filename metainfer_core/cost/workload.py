"""What one kernel call demands of the hardware, as plain features: built from a summary or from a lowered program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metainfer_core.graph.summary import GraphSummary
from metainfer_core.numerics.laid_out import BLOCKED
from metainfer_core.numerics.program import Program, Step, Tensor, multiplied
from metainfer_core.numerics.vector_steps import KERNELS, lanes_of, sizes_of, steps_in_blocks, steps_in_nchw
from metainfer_core.values import FrozenMap, Value

VECTOR_BITS = (64, 128, 256, 512, 1024, 2048)
"""Widths of vectors that the share of a kernel's time is told for."""


class Workload(Value):
    """One kernel call."""

    node_ids: tuple[str, ...]
    unit: str | None
    data_type: str
    operations: int | None
    """Multiplications, additions and comparisons; None where they are not known."""
    bytes_by_memory: FrozenMap[int]
    """Memory of the spec to bytes read and written; the key "" is for what no action placed."""
    working_set_bytes: int
    """Bytes that the call touches at least once."""
    share_of_nchw: FrozenMap[float] = {}
    """Width of a vector in bits to the time of computing, as a share of that of the usual kernel; 1 without it."""


def workloads_of_summary(summary: GraphSummary, units: Mapping[str, str | None] | None = None) -> tuple[Workload, ...]:
    """One workload for each node, nothing fused, all tensors where the spec puts unplaced ones.

    Args:
        summary: Of the model.
        units: Node id to compute unit, for nodes whose unit the model does not name.
    """
    return tuple(
        Workload(
            node_ids=(node.id,),
            unit=node.unit or (units or {}).get(node.id),
            data_type=node.element_type,
            operations=node.flops,
            bytes_by_memory={"": node.moved_bytes},
            working_set_bytes=node.moved_bytes,
        )
        for node in summary.nodes
    )


def workloads_of_program(program: Program, summary: GraphSummary) -> tuple[Workload, ...]:
    """One workload for each kernel call, with the bytes of the types and memories that the program really has.

    Args:
        program: The lowered program.
        summary: Of the adapted model, for the operations of each node.
    """
    tensors = {tensor.name: tensor for tensor in program.tensors}
    operations = {node.id: node.flops for node in summary.nodes}
    return tuple(_workload(step, tensors, operations) for step in program.steps)


def _workload(step: Step, tensors: Mapping[str, Tensor], operations: Mapping[str, int | None]) -> Workload:
    touched = [tensors[name] for name in dict.fromkeys((*step.inputs, *step.outputs)) if name in tensors]
    by_memory: dict[str, int] = {}
    for tensor in touched:
        place = tensor.memory or ""
        by_memory[place] = by_memory.get(place, 0) + tensor.size_bytes
    counts = [operations.get(node_id, 0) for node_id in step.node_ids]
    types = {tensor.element_type for tensor in touched if tensor.element_type != "int32"}
    # a conversion runs as fast as the narrower of its two types does
    known = ("int16", "int8", "uint8", "float16", "bfloat16", "float32")
    data_type = next((name for name in known if name in types), "float32")
    if types & {"int4", "int6"}:
        data_type = multiplied(step, tensors) if not types & {"float32", "int16"} else "int8"
    return Workload(
        node_ids=step.node_ids,
        unit=step.unit,
        data_type=data_type,
        operations=None if any(count is None for count in counts) else sum(count or 0 for count in counts),
        bytes_by_memory=by_memory,
        working_set_bytes=sum(tensor.size_bytes for tensor in touched),
        share_of_nchw=_share_of_nchw(step, touched),
    )


def _share_of_nchw(step: Step, touched: Sequence[Tensor]) -> dict[str, float]:
    """What a kernel with channels in the lanes takes of the steps of the one for NCHW, by the width of vectors."""
    if BLOCKED not in step.kernel or step.kernel.rpartition("_")[0] not in KERNELS:
        return {}
    sizes = sizes_of(step.params, touched[0].element_type)
    block = int(step.params["out_block"])
    widths = {str(bits): lanes_of(bits) for bits in VECTOR_BITS}
    return {bits: steps_in_blocks(sizes, n, block) / steps_in_nchw(sizes, n) for bits, n in widths.items()}
