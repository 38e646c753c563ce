"""Functions replaced by their bodies: those that a model brings, and those by which the standard defines operators."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
import onnx.defs
import onnx.inliner
import onnx.shape_inference

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.proto_walk import graphs_in, nodes_below, nodes_in


def inline_functions(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model with every call of one of its functions replaced by the function's body.

    Raises:
        InputError: Functions call each other in a circle.
        UnsupportedError: A function is written for another opset and cannot be converted.
    """
    if not proto.functions:
        return proto
    _refuse_recursion(proto, source)
    try:
        inlined = onnx.inliner.inline_local_functions(_typed(proto), convert_version=True)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(
            f"{source}: a function of the model cannot be inlined.",
            f"{short_reason(error)}.",
            "Export the model with its functions inlined.",
        ) from error
    if inlined.functions:
        left = ", ".join(sorted(f"{function.domain}.{function.name}" for function in inlined.functions))
        raise UnsupportedError(
            f"{source}: the functions {left} cannot be inlined.",
            "Their opset differs from the model's and cannot be converted.",
            "Export the model with its functions inlined.",
        )
    return inlined


def expand_operators(proto: onnx.ModelProto, names: Sequence[str], version: int, source: str) -> onnx.ModelProto:
    """The model with the named operators of opset `version` written by the functions that the standard gives for them.

    Raises:
        UnsupportedError: The standard gives none.
    """
    if not names:
        return proto
    for node in nodes_in(proto):
        if node.op_type in names:
            _spell_out_defaults(node, onnx.defs.get_schema(node.op_type, version, ""))
    listed = ", ".join(names)
    try:
        chosen = [("", name) for name in names]
        proto = onnx.inliner.inline_selected_functions(_typed(proto), chosen, inline_schema_functions=True)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(
            f"{source}: the operators {listed} cannot be written by older ones.",
            f"{short_reason(error)}.",
            "Export the model with an older opset.",
        ) from error
    left = sorted({node.op_type for node in nodes_in(proto)} & set(names))
    if left:
        raise UnsupportedError(
            f"{source}: the operators {', '.join(left)} are too new.",
            "The standard gives no definition of them by older operators.",
            "Export the model with an older opset.",
        )
    return proto


def short_reason(error: Exception) -> str:
    """The last part of a C++ error text, without the source file that it starts with."""
    return str(error).strip().split("\n")[0].rsplit(": ", 1)[-1][:300].rstrip(".")


def _typed(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the type of every value that follows, which the inliner needs."""
    typed: onnx.ModelProto = onnx.shape_inference.infer_shapes(proto)
    for graph in graphs_in(typed.graph):
        known = {value.name for value in (*graph.input, *graph.value_info)}
        for tensor in graph.initializer:
            if tensor.name not in known:
                value_type = onnx.helper.make_tensor_type_proto(tensor.data_type, tuple(tensor.dims))
                graph.value_info.append(onnx.ValueInfoProto(name=tensor.name, type=value_type))
    return typed


def _refuse_recursion(proto: onnx.ModelProto, source: str) -> None:
    """A function that calls itself, directly or through others, has no body to put in its place."""
    called = {
        (function.domain, function.name): {(node.domain, node.op_type) for node in nodes_below(function.node)}
        for function in proto.functions
    }
    open_calls = {name: calls & called.keys() for name, calls in called.items()}
    while leaves := [name for name, calls in open_calls.items() if not calls]:
        for leaf in leaves:
            del open_calls[leaf]
        for calls in open_calls.values():
            calls.difference_update(leaves)
    if open_calls:
        listed = ", ".join(f"{domain}.{name}" for domain, name in sorted(open_calls))
        raise InputError(
            f"{source}: the functions {listed} call each other in a circle.",
            "A function of a model cannot be recursive.",
            "Export the model again.",
        )


def _spell_out_defaults(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> None:
    """Writes default attributes onto the node; the inliner would drop what refers to one that is missing."""
    present = {attribute.name for attribute in node.attribute}
    for name, attribute in sorted(schema.attributes.items()):
        if name not in present and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
