"""An adapted model as other programs read it: what ONNX has no type for is said in operators."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import add_constant, readers
from metainfer_core.numerics.lowering.model_reader import CODE_BITS
from metainfer_core.numerics.program import code_limits


def as_onnx(model: ir.Model) -> ir.Model:
    """A copy in which a Clip of the codes stands behind each QuantizeLinear to 6 bits; the model itself where none is.

    4 bits need none: they are INT4, to which QuantizeLinear saturates by itself.
    """
    if not any(node.op_type == "QuantizeLinear" and CODE_BITS in node.metadata_props for node in model.graph):
        return model
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
    return copy
