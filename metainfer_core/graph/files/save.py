"""ONNX bytes of a model: the same model gives the same bytes, in whatever order its tables were filled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onnx_ir as ir

from metainfer_core import files
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.proto_walk import graphs_in

PROTOBUF_LIMIT_BYTES = (1 << 31) - 1


def model_bytes(model: ir.Model) -> bytes:
    """The model as an ONNX file. Nodes keep their order, which is the order of execution; all else is sorted by name.

    Raises:
        UnsupportedError: It is larger than one ONNX file can be.
    """
    size = sum(tensor.nbytes for tensor in _constants(model))
    if size > PROTOBUF_LIMIT_BYTES:
        raise UnsupportedError(
            f"The model's constants have {size:,} bytes.",
            f"One ONNX file holds at most {PROTOBUF_LIMIT_BYTES:,}.",
            "Use a smaller model or a lower precision.",
        )
    proto = ir.serde.serialize_model(model)
    _sort(proto.opset_import, "domain")
    _sort(proto.metadata_props, "key")
    for graph in graphs_in(proto.graph):
        _sort(graph.initializer, "name")
        _sort(graph.value_info, "name")
        _sort(graph.metadata_props, "key")
        _sort(graph.quantization_annotation, "tensor_name")
        for value in (*graph.input, *graph.output, *graph.value_info):
            _sort(value.metadata_props, "key")
        for node in graph.node:
            _sort(node.attribute, "name")
            _sort(node.metadata_props, "key")
    return bytes(proto.SerializeToString(deterministic=True))


def save_model(path: Path, model: ir.Model) -> None:
    """Writes the model's bytes to a file, as a whole or not at all."""
    files.write_bytes(path, model_bytes(model), "model")


def model_digest(model: ir.Model) -> str:
    """`sha256:` and the hex digest of `model_bytes`."""
    return "sha256:" + hashlib.sha256(model_bytes(model)).hexdigest()


def _constants(model: ir.Model) -> Iterable[ir.TensorProtocol]:
    for graph in model.graphs():
        yield from (value.const_value for value in graph.initializers.values() if value.const_value is not None)


def _sort(entries: Any, key: str) -> None:
    """Sorts a repeated field of messages in place."""
    entries.sort(key=lambda entry: getattr(entry, key))
