"""Functions replaced by their bodies: those that a model brings, and those by which the standard defines operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import onnx
import onnx.defs
import onnx.inliner
import onnx.shape_inference

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.proto_walk import graphs_in, nodes_below, nodes_in

EXPANDED_DOMAIN = "metainfer.expanded"
"""Where the functions of expanded operators stand for the moment until they are inlined."""

INLINED_NODE_LIMIT = 200_000


def inline_functions(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model with every call of one of its functions replaced by the function's body.

    Raises:
        InputError: Functions call each other in a circle.
        UnsupportedError: A function is written for another opset and cannot be converted, or their bodies put in
            place of the calls are too many nodes.
    """
    if not proto.functions:
        return proto
    _refuse_recursion(proto, source)
    _refuse_growth(proto, source)
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


def expand_operators(proto: onnx.ModelProto, names: Collection[str], version: int, source: str) -> onnx.ModelProto:
    """The model with the named operators of opset `version` written by the functions that the standard gives for them.

    Raises:
        UnsupportedError: The standard gives none.
    """
    typed = _typed(proto)
    types = {
        value.name: value.type
        for graph in graphs_in(typed.graph)
        for value in (*graph.input, *graph.value_info, *graph.output)
    }
    functions: list[onnx.FunctionProto] = []
    for node in nodes_in(typed):
        if node.op_type not in names or node.domain not in ("", "ai.onnx"):
            continue
        schema = onnx.defs.get_schema(node.op_type, version, "")
        _spell_out_defaults(node, schema)
        function = _standard_function(node, schema, types, version)
        if function is None:
            raise UnsupportedError(
                f"{source}: the operator {node.op_type} (node {node.name!r}) is too new.",
                "The standard gives no definition of it by older operators for such inputs.",
                "Export the model with an older opset.",
            )
        function.domain, function.name = EXPANDED_DOMAIN, f"{node.op_type}_{len(functions)}"
        node.domain, node.op_type = function.domain, function.name
        functions.append(function)
    if not functions:
        return proto
    typed.functions.extend(functions)
    typed.opset_import.add(domain=EXPANDED_DOMAIN, version=1)
    return inline_functions(typed, source)


def _standard_function(
    node: onnx.NodeProto, schema: Any, types: Mapping[str, onnx.TypeProto], version: int
) -> onnx.FunctionProto | None:
    """The body by which the standard defines the operator of a node, or None. `schema` is an OpSchema."""
    function = onnx.FunctionProto()
    fixed = [each for each in schema.function_opset_versions if each <= version]
    varying = [each for each in schema.context_dependent_function_opset_versions if each <= version]
    try:
        if fixed:
            function.ParseFromString(schema.get_function_with_opset_version(max(fixed)))
        elif varying:
            inputs = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
            context = schema.get_context_dependent_function_with_opset_version
            function.ParseFromString(context(max(varying), node.SerializeToString(), inputs))
    except (RuntimeError, ValueError):
        return None
    return function if function.node else None


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


def _refuse_growth(proto: onnx.ModelProto, source: str) -> None:
    """Functions that call functions several times each grow with every level; none of them calls itself here."""
    bodies = {(function.domain, function.name): function.node for function in proto.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size(nodes: Iterable[onnx.NodeProto]) -> int | None:
        """Nodes after inlining; None while the size of a function that they call is not known."""
        total = 0
        for node in nodes_below(nodes):
            name = (node.domain, node.op_type)
            if name in bodies and name not in sizes:
                return None
            total += sizes.get(name, 1)
        return total

    while len(sizes) < len(bodies):
        known = {name: found for name in bodies.keys() - sizes.keys() if (found := size(bodies[name])) is not None}
        sizes.update(known)
    total = size(proto.graph.node) or 0
    if total > INLINED_NODE_LIMIT:
        raise UnsupportedError(
            f"{source}: the functions of the model are too large.",
            f"Put in place of their calls they make {total:,} nodes; at most {INLINED_NODE_LIMIT:,} are handled.",
            "Export the model with fewer repetitions.",
        )


def _spell_out_defaults(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> None:
    """Writes default attributes onto the node; the inliner would drop what refers to one that is missing."""
    present = {attribute.name for attribute in node.attribute}
    for name, attribute in sorted(schema.attributes.items()):
        if name not in present and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
