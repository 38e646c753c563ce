"""Import: an ONNX file becomes one onnx_ir model in canonical form, or one clear error.

After import every node has a unique id (`node.name`), every operator is of opset `ONNX_OPSET`, functions are inlined,
constants are initializers of the main graph, nodes stand in topological order, and all data is in memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir as ir
import onnx_ir.passes.common as passes
from google.protobuf.message import DecodeError

from metainfer_core import files
from metainfer_core.errors import InputError
from metainfer_core.graph.files.check_proto import check_parts, check_rules
from metainfer_core.graph.files.functions import inline_functions
from metainfer_core.graph.files.node_ids import name_nodes
from metainfer_core.graph.files.opset import to_canonical_opset
from metainfer_core.graph.files.proto_walk import has_only_text_strings, names_in
from metainfer_core.graph.files.registry import OperatorRegistry, inline_registered
from metainfer_core.graph.files.tensor_data import ExternalData, detach_weights
from metainfer_core.values import canonical_json, sha256

NO_OPERATORS = OperatorRegistry()
MODEL_LIMIT_BYTES = (1 << 31) - 1
"""What a protobuf message can hold; larger models keep their weights as external data."""

NAME_LIMIT = 4096
MISLEADING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters, further line ends, and what turns the direction of the text around it."""


@dataclass(frozen=True)
class ImportedModel:
    """A model as it came from its file, in canonical form."""

    model: ir.Model
    digest: str
    """SHA-256 of the file; with external data, of the file's digest and each data file's name and digest."""
    name: str


def load_model(path: Path, registry: OperatorRegistry = NO_OPERATORS) -> ImportedModel:
    """The model in an ONNX file.

    Args:
        path: The file; its external data is looked for in the same folder and nowhere else.
        registry: Operators that the user defined; their nodes are replaced by their definitions.

    Raises:
        InputError: It is not a file, not ONNX, or a broken model.
        UnsupportedError: It is a right model that cannot be handled (sequence types, unknown operators ...).
    """
    data = files.read_bytes(path, "model", MODEL_LIMIT_BYTES)
    return import_model(data, path.stem, str(path), ExternalData(path.parent), registry)


def import_model(
    data: bytes,
    name: str,
    source: str = "model",
    external: ExternalData | None = None,
    registry: OperatorRegistry = NO_OPERATORS,
) -> ImportedModel:
    """The model in the bytes of an ONNX file; `source` names it in messages."""
    proto = _parse(data, source)
    external = external or ExternalData(None)
    weights = detach_weights(proto, external, source)
    check_parts(proto, source, {(each.domain, each.name) for each in registry.operators})
    proto = inline_functions(proto, source)
    check_rules(proto, source)
    proto = to_canonical_opset(proto, source)
    name_nodes(proto.graph)
    model = _canonical_ir(proto, weights, registry)
    manifest = external.manifest()
    digest = sha256(canonical_json({"model": sha256(data), "external": manifest})) if manifest else sha256(data)
    return ImportedModel(model, digest, name)


def _parse(data: bytes, source: str) -> onnx.ModelProto:
    """The message in the bytes, if it can be a model at all."""
    fix = "Give an ONNX model (.onnx); export it again if it was cut off."
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise InputError(
            f"{source}: this is not an ONNX model.", f"Its bytes cannot be decoded: {error}.", fix
        ) from error
    if not proto.HasField("graph") or not proto.graph.output:
        raise InputError(f"{source}: this is not an ONNX model.", "There is no graph with an output in it.", fix)
    if not has_only_text_strings(proto):
        raise InputError(f"{source}: the model is broken.", "A name in it is not UTF-8 text.", fix)
    for name in names_in(proto):
        if len(name) > NAME_LIMIT or MISLEADING.search(name):
            raise InputError(
                f"{source}: the model holds the name {name[:100]!r}.",
                f"Names have at most {NAME_LIMIT:,} characters and no control characters: reviewers read them in "
                "lists and terminals, where those could pass for something else.",
                "Rename it, and export the model again.",
            )
    return proto


def _canonical_ir(
    proto: onnx.ModelProto, weights: dict[str, ir.TensorProtocol], registry: OperatorRegistry
) -> ir.Model:
    """The model as onnx_ir holds it, with the detached weights back and every constant an initializer."""
    constant = weights.keys() | {tensor.name for tensor in proto.graph.initializer}
    model = ir.serde.deserialize_model(proto)
    graph = model.graph
    for value in graph.inputs:
        if value.name in weights:
            value.const_value = weights[value.name]
            graph.register_initializer(value)
    inputs = [value for value in graph.inputs if value.name not in constant]
    graph.inputs.clear()
    graph.inputs.extend(inputs)
    model = inline_registered(model, registry)
    for simplify in (
        passes.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0),
        passes.LiftSubgraphInitializersToMainGraphPass(),
        passes.RemoveUnusedOpsetsPass(),
    ):
        model = simplify(model).model
    return model
