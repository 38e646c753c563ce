"""The output types and shapes of one node, by onnx's own inference, from static inputs and known constants."""

from __future__ import annotations

import math

import onnx
import onnx.checker
import onnx.defs
import onnx.shape_inference
import onnx_ir as ir

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.operand_shapes import operand_mismatch
from metainfer_core.graph.shapes import describe, static_shape

SHAPE_DATA_LIMIT = 4096
"""Constants with more elements are weights, not shapes; inference does not need their values."""

SHAPE_OF_FIRST_INPUT = frozenset({"GroupNormalization", "MeanVarianceNormalization"})
"""Operators for which onnx has no shape inference: their result is like their first input."""

TENSOR_LIMIT_BYTES = 1 << 34
"""No tensor of a model for a chip is larger; shapes that ask for more come from a mistake or an attack."""


def infer_outputs(node: ir.Node, opset_imports: dict[str, int]) -> None:
    """Writes type and shape, as far as they follow, onto the node's outputs.

    Raises:
        InputError: The node's inputs do not fit together.
        UnsupportedError: An output is too large.
    """
    proto = ir.serde.serialize_node(node)
    types = {value.name or "": _type_of(value) for value in node.inputs if value is not None and value.type is not None}
    try:
        inferred = _infer(node, proto, types, opset_imports)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise _unfit(node, _reason(error)) from error
    for value in node.outputs:
        found = inferred.get(value.name or "")
        if found is None or not value.name:
            continue
        if found.WhichOneof("value") != "tensor_type" or found.tensor_type.elem_type == onnx.TensorProto.STRING:
            raise UnsupportedError(
                f"The node {node.name} ({node.op_type}) makes a value that is no tensor of numbers.",
                "Sequences, optionals and text cannot be handled.",
                "Export the model so that it passes on tensors only.",
            )
        value.type = ir.serde.deserialize_type_proto_for_type(found)
        value.shape = ir.serde.deserialize_type_proto_for_shape(found)
        _check_size(node, value)
    if reason := operand_mismatch(node):
        raise _unfit(node, reason)


def _infer(
    node: ir.Node, proto: onnx.NodeProto, types: dict[str, onnx.TypeProto], opset_imports: dict[str, int]
) -> dict[str, onnx.TypeProto]:
    schema = onnx.defs.get_schema(node.op_type, opset_imports.get(node.domain, 1), node.domain)
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in sorted(opset_imports.items())]
    data = {value.name or "": tensor for value in node.inputs if value is not None and (tensor := _small_data(value))}
    if schema.has_type_and_shape_inference_function:
        return dict(onnx.shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=opsets))
    if node.op_type in SHAPE_OF_FIRST_INPUT and proto.input and proto.output:
        return {proto.output[0]: types[proto.input[0]]}
    return {}


def _unfit(node: ir.Node, reason: str) -> InputError:
    shown = ", ".join(f"{value.name!r} {describe(value)}" for value in node.inputs if value is not None)
    return InputError(
        f"The node {node.name} ({node.op_type}) cannot take its inputs: {shown}.",
        f"{reason[:1].upper()}{reason[1:]}.",
        "Give the input shapes that the model was made for, or export it again.",
    )


def _type_of(value: ir.Value) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    ir.serde.serialize_type_into(proto, value.type)  # type: ignore[arg-type]
    if value.shape is not None:
        ir.serde.serialize_shape_into(proto, value.shape)
    return proto


def _small_data(value: ir.Value) -> onnx.TensorProto | None:
    tensor = value.const_value
    if tensor is None or tensor.size > SHAPE_DATA_LIMIT:
        return None
    proto = ir.serde.serialize_tensor(tensor)
    proto.name = value.name or ""
    return proto


def _check_size(node: ir.Node, value: ir.Value) -> None:
    shape = static_shape(value)
    if shape is None or value.dtype is None:
        return
    size = math.prod(shape) * value.dtype.itemsize
    if size > TENSOR_LIMIT_BYTES:
        raise UnsupportedError(
            f"The node {node.name} ({node.op_type}) makes a tensor {describe(value)} of {size:,.0f} bytes.",
            f"At most {TENSOR_LIMIT_BYTES:,} are handled.",
            "Give smaller input shapes.",
        )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text.replace("[ShapeInferenceError] ", "").replace("[TypeInferenceError] ", "")[:300].rstrip(". ")
