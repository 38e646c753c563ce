"""What a person can do about an operator that no kernel computes."""

from __future__ import annotations

import onnx_ir as ir

ONE_OF_ONNX = "Export the model by operators that have one (docs/reference/kernels.md), or end it before this node."
ONES_OWN = "Give its definition by operators that have one: meta-infer op-registry add."
TOP_K = (
    "It gives the k greatest elements, sorted, and where they stand; no target computes that. End the model at "
    "{before}, which it reads, and sort in the program that calls the model, on the CPU. Where only the greatest one "
    "is wanted, export ArgMax or ReduceMax, which have kernels."
)


def instead_of(node: ir.Node) -> str:
    """The advice for one node: where what it does can be computed, or how the model does without it."""
    if node.domain not in ("", "ai.onnx"):
        return ONES_OWN
    source = node.inputs[0] if node.inputs else None
    return TOP_K.format(before=source.name) if node.op_type == "TopK" and source is not None else ONE_OF_ONNX
