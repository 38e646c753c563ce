"""An adapted model as other programs read it: in the oldest opset that will do, with operators where no type exists."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from onnx_ir.traversal import RecursiveGraphIterator

from metainfer_core.actions.rewiring import add_constant, readers
from metainfer_core.numerics.lowering.model_reader import CODE_BITS
from metainfer_core.numerics.program import code_limits

OLDER_OPSET = 20
"""What is said where nothing needs the canonical opset. ONNX Runtime 1.32 on x86 turns pairs of INT8 into UINT8, but
not the `output_dtype` of those pairs of opset 21 that it added itself, and then refuses the model that it made."""

SINCE_21 = frozenset({ir.DataType.INT4, ir.DataType.UINT4})
PAIRED_SINCE_21 = frozenset({ir.DataType.INT16, ir.DataType.UINT16})
PAIR = ("QuantizeLinear", "DequantizeLinear")


def as_onnx(model: ir.Model) -> ir.Model:
    """A copy that says the oldest opset, and in which a Clip of the codes stands behind each QuantizeLinear to 6 bits.

    4 bits need none: they are INT4, to which QuantizeLinear saturates by itself.
    """
    copy = model.clone()
    for node in [node for node in copy.graph if node.op_type == "QuantizeLinear" and CODE_BITS in node.metadata_props]:
        codes = node.outputs[0]
        limits = [
            add_constant(copy, f"{node.name}.{word}", np.array(limit, np.int8))
            for word, limit in zip(("low", "high"), code_limits(int(node.metadata_props[CODE_BITS])), strict=True)
        ]
        held = ir.Value(name=f"{codes.name}.clipped", shape=codes.shape, type=codes.type)
        behind = readers(codes)
        clip = ir.node("Clip", [codes, *limits], outputs=[held], name=f"{node.name}.clip")
        copy.graph.insert_after(node, clip)
        for reader in behind:
            reader.replace_input_with(list(reader.inputs).index(codes), held)
    if not any(_needs_canonical_opset(node) for node in RecursiveGraphIterator(copy.graph)):
        copy.graph.opset_imports[""] = OLDER_OPSET
    return copy


def _needs_canonical_opset(node: ir.Node) -> bool:
    """Whether the node means something else in `OLDER_OPSET`, or does not exist there. Others only got more types."""
    types = {value.dtype for value in (*node.inputs, *node.outputs) if value is not None}
    if node.op_type in PAIR:
        newer = {"block_size", "output_dtype"} & set(node.attributes)
        return bool(newer or types & (SINCE_21 | PAIRED_SINCE_21))
    return node.op_type == "GroupNormalization" or bool(types & SINCE_21)
