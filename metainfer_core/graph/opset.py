"""One operator set for the whole product: every model is converted to it on import."""

from __future__ import annotations

import onnx
import onnx.defs
import onnx.inliner
import onnx.shape_inference
import onnx.version_converter

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.node_ids import name_nodes
from metainfer_core.graph.proto_walk import nodes_in

ONNX_OPSET = 21
"""The canonical opset: the first whose QuantizeLinear and DequantizeLinear know 4, 8 and 16 bits, per channel."""

CANONICAL_IR_VERSION = 10
"""The ONNX file format that belongs to the opset."""


def to_canonical_opset(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model with its functions inlined and its operators converted to `ONNX_OPSET`.

    Raises:
        UnsupportedError: Names the operator or version for which there is no conversion.
    """
    proto = _inline_functions(proto, source)
    version = next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), ONNX_OPSET)
    if version > ONNX_OPSET:
        proto = _expand_newer_operators(proto, version, source)
    name_nodes(proto.graph)
    if version != ONNX_OPSET:
        try:
            proto = onnx.version_converter.convert_version(proto, ONNX_OPSET)
        except (onnx.version_converter.ConvertError, RuntimeError, ValueError) as error:
            raise UnsupportedError(
                f"{source}: the model's opset {version} cannot be converted to {ONNX_OPSET}.",
                f"{_short(error)}.",
                f"Export the model with opset {ONNX_OPSET}, or write the operator named above with others.",
            ) from error
    proto.ir_version = CANONICAL_IR_VERSION
    return proto


def _inline_functions(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model without functions; the converter that adjusts their opset needs the type of every value."""
    if not proto.functions:
        return proto
    try:
        typed = onnx.shape_inference.infer_shapes(proto)
        proto = onnx.inliner.inline_local_functions(typed, convert_version=True)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(
            f"{source}: a function of the model cannot be inlined.",
            f"{_short(error)}.",
            "Export the model with its functions inlined.",
        ) from error
    left = sorted({f"{function.domain}.{function.name}" for function in proto.functions})
    if left:
        raise UnsupportedError(
            f"{source}: the functions {', '.join(left)} cannot be inlined.",
            "Their opset differs from the model's and cannot be converted.",
            "Export the model with its functions inlined.",
        )
    return proto


def _expand_newer_operators(proto: onnx.ModelProto, version: int, source: str) -> onnx.ModelProto:
    """The model with operators newer than `ONNX_OPSET` replaced by the functions that the standard gives for them."""
    used = {node.op_type for node in nodes_in(proto) if node.domain in ("", "ai.onnx")}
    newer = sorted(name for name in used if not _known(name, ONNX_OPSET) and _known(name, version))
    if not newer:
        return proto
    try:
        typed = onnx.shape_inference.infer_shapes(proto)
        proto = onnx.inliner.inline_selected_functions(typed, [("", name) for name in newer], False, True)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(
            f"{source}: the operators {', '.join(newer)} cannot be written with those of opset {ONNX_OPSET}.",
            f"{_short(error)}.",
            f"Export the model with opset {ONNX_OPSET}.",
        ) from error
    left = sorted({node.op_type for node in nodes_in(proto)} & set(newer))
    if left:
        raise UnsupportedError(
            f"{source}: the operators {', '.join(left)} are newer than opset {ONNX_OPSET}.",
            "The standard gives no definition of them by older operators.",
            f"Export the model with opset {ONNX_OPSET}.",
        )
    return proto


def _known(op_type: str, version: int) -> bool:
    return bool(onnx.defs.has(op_type, version, ""))


def _short(error: Exception) -> str:
    """The last part of a C++ error text, without the source file that it starts with."""
    return str(error).strip().split("\n")[0].rsplit(": ", 1)[-1][:300].rstrip(".")
