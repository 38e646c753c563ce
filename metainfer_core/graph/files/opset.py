"""One operator set for the whole product: every model is converted to it on import."""

from __future__ import annotations

import onnx
import onnx.defs
import onnx.version_converter

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.functions import expand_operators, short_reason
from metainfer_core.graph.files.node_ids import name_nodes
from metainfer_core.graph.files.proto_walk import nodes_in

ONNX_OPSET = 21
"""The canonical opset: the first whose QuantizeLinear and DequantizeLinear know 4, 8 and 16 bits, per channel."""

SAME_MEANING_UP_TO = 25
"""Opsets 22 to 25 gave operators more element types, and where their attributes stayed the same, no other meaning."""

CANONICAL_IR_VERSION = 10
"""The ONNX file format that belongs to the opset."""


def to_canonical_opset(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model, which has no functions any more, with its operators converted to `ONNX_OPSET`.

    Raises:
        UnsupportedError: Names the operator or version for which there is no conversion.
    """
    version = next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), ONNX_OPSET)
    while version > ONNX_OPSET and (newer := _newer_operators(proto, version)):
        proto = expand_operators(proto, newer, version, source)  # whose definitions may use newer operators again
    name_nodes(proto.graph)
    if version != ONNX_OPSET:
        proto = _converted(proto, version, source)
    proto.ir_version = CANONICAL_IR_VERSION
    return proto


def _converted(proto: onnx.ModelProto, version: int, source: str) -> onnx.ModelProto:
    """The model in the canonical opset, by onnx's converter."""
    steps = [ONNX_OPSET] if version <= SAME_MEANING_UP_TO else [SAME_MEANING_UP_TO, ONNX_OPSET]
    for step in steps:
        try:
            proto = onnx.version_converter.convert_version(proto, step)
        except (onnx.version_converter.ConvertError, RuntimeError, ValueError) as error:
            if step == ONNX_OPSET < version and not _changed_operators(proto):
                return _relabelled(proto)
            raise UnsupportedError(
                f"{source}: the model's opset {version} cannot be converted to {ONNX_OPSET}.",
                f"{short_reason(error)}.",
                f"Export the model with opset {ONNX_OPSET}, or write the operator named above with others.",
            ) from error
    return proto


def _changed_operators(proto: onnx.ModelProto) -> list[str]:
    """Operators whose attributes, inputs or outputs differ between `SAME_MEANING_UP_TO` and the canonical opset."""
    changed = []
    for op_type in sorted({node.op_type for node in nodes_in(proto) if node.domain in ("", "ai.onnx")}):
        new = onnx.defs.get_schema(op_type, SAME_MEANING_UP_TO, "")
        old = onnx.defs.get_schema(op_type, ONNX_OPSET, "")
        before, after = ((set(each.attributes), len(each.inputs), len(each.outputs)) for each in (old, new))
        if before != after:
            changed.append(op_type)
    return changed


def _relabelled(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model under the canonical opset's number; its nodes mean the same there."""
    for entry in proto.opset_import:
        if entry.domain in ("", "ai.onnx"):
            entry.version = ONNX_OPSET
    return proto


def _newer_operators(proto: onnx.ModelProto, version: int) -> tuple[str, ...]:
    """Operators of the model that opset `version` has and `ONNX_OPSET` has not, sorted."""
    used = {node.op_type for node in nodes_in(proto) if node.domain in ("", "ai.onnx")}
    return tuple(
        sorted(name for name in used if onnx.defs.has(name, version, "") and not onnx.defs.has(name, ONNX_OPSET, ""))
    )
