"""Whether an ONNX message is a right model that can be handled: refused here with one clear error, or not at all."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Set

import onnx
import onnx.checker
import onnx.defs

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.proto_walk import graphs_in, nodes_in, subgraphs_of

KNOWN_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")


def check_parts(proto: onnx.ModelProto, source: str, registered: Set[tuple[str, str]] = frozenset()) -> None:
    """Refuses a model with missing or unknown parts; sorts nodes that do not stand in order.

    Args:
        proto: The model, with its weights taken out.
        source: Names it in messages.
        registered: Domain and name of the operators that the user defined.

    Raises:
        InputError: A fault in the model: a missing input, a cycle, an output named twice.
        UnsupportedError: A right model with sequence, optional, map, sparse or text values, or unknown operators.
    """
    _check_versions(proto, source)
    _check_types(proto, source)
    _check_operators(proto, source, registered)
    _sort(proto.graph, frozenset(), source)


def check_rules(proto: onnx.ModelProto, source: str) -> None:
    """Holds a model without functions against onnx's own checker: attributes, arity, names given once.

    Raises:
        InputError: A rule is broken.
    """
    try:
        onnx.checker.check_model(_with_shapes(proto))
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise InputError(
            f"{source}: the model breaks a rule of ONNX.", f"{_one_line(error)}.", "Export the model again."
        ) from error


def _with_shapes(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy for onnx's checker, which wants a shape on every input and output; here an unknown one is no fault."""
    probe = onnx.ModelProto()
    probe.CopyFrom(proto)
    for value in (*probe.graph.input, *probe.graph.output):
        value.type.tensor_type.shape.SetInParent()
    return probe


def _check_versions(proto: onnx.ModelProto, source: str) -> None:
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    newest = onnx.defs.onnx_opset_version()
    if not proto.opset_import:
        raise InputError(f"{source}: the model names no operator set.", fix="Export the model again.")
    domains = Counter("" if entry.domain == "ai.onnx" else entry.domain for entry in proto.opset_import)
    if max(domains.values(), default=0) > 1:
        raise InputError(f"{source}: the model names one operator set twice.", fix="Export the model again.")
    outputs = Counter(value.name for value in proto.graph.output)
    if max(outputs.values()) > 1:
        name = outputs.most_common(1)[0][0]
        raise InputError(f"{source}: the model names the output {name!r} twice.", fix="Export the model again.")
    if any(version > newest for version in versions):
        raise UnsupportedError(
            f"{source}: the model uses opset {max(versions)}.",
            f"The newest that is known here is {newest}.",
            f"Export it with opset {newest} or older.",
        )
    if any(version < 1 for version in versions):
        raise InputError(f"{source}: {min(versions)} is not an opset version.", fix="Export the model again.")


def _check_types(proto: onnx.ModelProto, source: str) -> None:
    """Refuses everything that is not a dense tensor of numbers."""
    sparse = [tensor.values.name for graph in graphs_in(proto.graph) for tensor in graph.sparse_initializer]
    sparse_kinds = (onnx.AttributeProto.SPARSE_TENSOR, onnx.AttributeProto.SPARSE_TENSORS)
    for node in nodes_in(proto):
        sparse += [node.name or node.op_type for attribute in node.attribute if attribute.type in sparse_kinds]
    for name in sparse:
        raise UnsupportedError(
            f"{source}: the constant {name!r} is a sparse tensor.",
            "Only dense tensors are handled.",
            "Export the model with dense constants.",
        )
    for graph in graphs_in(proto.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            _check_value(value, source)


def _check_value(value: onnx.ValueInfoProto, source: str) -> None:
    kind = value.type.WhichOneof("value")
    if kind not in (None, "tensor_type"):
        raise UnsupportedError(
            f"{source}: the value {value.name!r} is of type {kind.removesuffix('_type').replace('_', ' ')}.",
            "Only dense tensors are handled.",
            "Export the model so that it takes, makes and passes on tensors only.",
        )
    if value.type.tensor_type.elem_type not in onnx.TensorProto.DataType.values():
        raise InputError(
            f"{source}: the element type {value.type.tensor_type.elem_type} of the value {value.name!r} is not known.",
            fix="Export the model again.",
        )
    if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        raise UnsupportedError(
            f"{source}: the value {value.name!r} holds text.",
            "Only numbers are handled.",
            "Do the text processing outside of the model.",
        )
    for dim in value.type.tensor_type.shape.dim:
        if dim.dim_value == -1:  # what some exporters write for "not known"
            dim.Clear()
        elif dim.dim_value < 0:
            raise InputError(
                f"{source}: the value {value.name!r} has the extent {dim.dim_value}.", fix="Export the model again."
            )


def _check_operators(proto: onnx.ModelProto, source: str, registered: Set[tuple[str, str]]) -> None:
    """Refuses operators that neither ONNX nor the model nor the user's registry defines."""
    defined = {(function.domain, function.name) for function in proto.functions} | registered
    versions = {entry.domain or "": entry.version for entry in proto.opset_import}
    versions.setdefault("", versions.get("ai.onnx", 1))
    unknown: dict[str, str] = {}
    for node in nodes_in(proto):
        if (node.domain, node.op_type) in defined:
            continue
        domain = "" if node.domain == "ai.onnx" else node.domain
        known = domain in KNOWN_DOMAINS and onnx.defs.has(node.op_type, versions.get(domain, 1), domain)
        if not known:
            title = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            unknown.setdefault(title, node.name or (node.output[0] if node.output else ""))
    if unknown:
        listed = ", ".join(f"{op} (node {name!r})" for op, name in sorted(unknown.items()))
        raise UnsupportedError(
            f"{source}: the model uses operators that ONNX does not define: {listed}.",
            f"Opset {versions['']} has no such operator, and the model brings no function for it.",
            "Register its definition with `meta-infer op-registry add`, and let `meta-infer preprocess` write the "
            "model in operators of ONNX, for all other commands.",
        )


def _sort(graph: onnx.GraphProto, outer: frozenset[str], source: str) -> None:
    """Puts the nodes in an order in which every input is made before it is used; they mostly stand so already."""
    given = outer | {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    maker = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    followers: list[list[int]] = [[] for _ in graph.node]
    missing = [0] * len(graph.node)
    for index, node in enumerate(graph.node):
        for name in sorted(_needed_by(node) - given):
            if name not in maker:
                raise InputError(
                    f"{source}: the node {_title(node)} reads {name!r}.",
                    "Nothing in the model makes a value of that name.",
                    "Export the model again.",
                )
            followers[maker[name]].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order: list[int] = []
    while ready:  # the ready node that stands first in the file goes first
        index = heapq.heappop(ready)
        order.append(index)
        for follower in followers[index]:
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, follower)
    if len(order) < len(graph.node):
        waiting = [_title(graph.node[index]) for index, count in enumerate(missing) if count]
        raise InputError(
            f"{source}: the graph has a cycle.",
            f"These nodes wait for each other: {', '.join(waiting[:5])}{' ...' if len(waiting) > 5 else ''}.",
            "Export the model again; a recurrence is written with Loop, Scan, LSTM or state inputs.",
        )
    if order != sorted(order):
        ordered = [onnx.NodeProto.FromString(graph.node[index].SerializeToString()) for index in order]
        del graph.node[:]
        graph.node.extend(ordered)
    known = given | maker.keys()
    for node in graph.node:
        for _, inner in subgraphs_of(node):
            _sort(inner, known, source)
    unmade = sorted({value.name for value in graph.output} - known)
    if unmade:
        raise InputError(
            f"{source}: nothing makes the output {unmade[0]!r} of the graph {graph.name!r}.",
            fix="Export the model again.",
        )


def _needed_by(node: onnx.NodeProto) -> set[str]:
    """Names that must exist before the node can run: its inputs, and what its sub-graphs read from outside."""
    needed = {name for name in node.input if name}
    for _, inner in subgraphs_of(node):
        made = {value.name for value in inner.input} | {tensor.name for tensor in inner.initializer}
        made |= {name for part in inner.node for name in part.output}
        read: Iterable[str] = {name for part in inner.node for name in _needed_by(part)}
        needed |= (set(read) | {value.name for value in inner.output}) - made
    return needed


def _title(node: onnx.NodeProto) -> str:
    made = node.output[0] if node.output else ""
    return f"{node.name or made!r} ({node.op_type})"


def _one_line(error: Exception) -> str:
    text = str(error).split("==> Context")[0]
    return " ".join(text.split())[:400].rstrip(". ")
