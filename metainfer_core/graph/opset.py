"""One operator set for the whole product: every model is converted to it on import."""

from __future__ import annotations

import onnx
import onnx.defs
import onnx.version_converter

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.functions import expand_operators, short_reason
from metainfer_core.graph.node_ids import name_nodes
from metainfer_core.graph.proto_walk import nodes_in

ONNX_OPSET = 21
"""The canonical opset: the first whose QuantizeLinear and DequantizeLinear know 4, 8 and 16 bits, per channel."""

CANONICAL_IR_VERSION = 10
"""The ONNX file format that belongs to the opset."""


def to_canonical_opset(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model, which has no functions any more, with its operators converted to `ONNX_OPSET`.

    Raises:
        UnsupportedError: Names the operator or version for which there is no conversion.
    """
    version = next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), ONNX_OPSET)
    if version > ONNX_OPSET:
        proto = expand_operators(proto, _newer_operators(proto, version), version, source)
    name_nodes(proto.graph)
    if version != ONNX_OPSET:
        try:
            proto = onnx.version_converter.convert_version(proto, ONNX_OPSET)
        except (onnx.version_converter.ConvertError, RuntimeError, ValueError) as error:
            raise UnsupportedError(
                f"{source}: the model's opset {version} cannot be converted to {ONNX_OPSET}.",
                f"{short_reason(error)}.",
                f"Export the model with opset {ONNX_OPSET}, or write the operator named above with others.",
            ) from error
    proto.ir_version = CANONICAL_IR_VERSION
    return proto


def _newer_operators(proto: onnx.ModelProto, version: int) -> tuple[str, ...]:
    """Operators of the model that opset `version` has and `ONNX_OPSET` has not, sorted."""
    used = {node.op_type for node in nodes_in(proto) if node.domain in ("", "ai.onnx")}
    return tuple(
        sorted(name for name in used if onnx.defs.has(name, version, "") and not onnx.defs.has(name, ONNX_OPSET, ""))
    )
