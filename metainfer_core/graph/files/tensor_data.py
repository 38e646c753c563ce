"""Constant data of a model file: read safely from the file itself or from data files beside it, checked for size."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
import onnx_ir as ir

from metainfer_core.errors import InputError, MetaInferError, UnsupportedError
from metainfer_core.graph.files.proto_walk import tensors_in

DETACH_BYTES = 4096
"""Larger initializers travel beside the model while onnx's C++ code works on it, which copies all that it sees."""

DATA_FILE_LIMIT_BYTES = 16 << 30
TENSOR_LIMIT_BYTES = (1 << 31) - (1 << 20)


class ExternalData:
    """The data files that a model may read: regular files in its own folder, reached through no link.

    Args:
        folder: The model file's folder; None where the model came without one, so that it may read nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._digests: dict[str, str] = {}

    def manifest(self) -> dict[str, str]:
        """Name relative to the model and SHA-256 of each file read so far, sorted by name."""
        return dict(sorted(self._digests.items()))

    def read(self, tensor: onnx.TensorProto, source: str) -> bytes:
        """The bytes of a tensor that is stored outside of the model file."""
        keys = {entry.key: entry.value for entry in tensor.external_data}
        location = keys.get("location", "")
        path = self._path(location, tensor.name, source)
        try:
            offset, length = int(keys.get("offset") or 0), int(keys.get("length") or -1)
        except ValueError as error:
            raise _broken(tensor.name, source, f"its offset or length is not a number ({error})") from error
        size = path.stat().st_size
        length = size - offset if length == -1 else length
        if offset < 0 or length < 0 or offset + length > size:
            raise _broken(
                tensor.name, source, f"bytes {offset} to {offset + length} of {location} were named; it has {size}"
            )
        if length > TENSOR_LIMIT_BYTES:
            raise _too_large(tensor.name, source, length)
        try:
            if location not in self._digests:
                self._digests[location] = _file_digest(path)
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except OSError as error:
            raise InputError(
                f"{source}: the data file {location!r} of tensor {tensor.name!r} cannot be read.",
                f"{error.strerror}.",
                "Check its permissions.",
            ) from error

    def _path(self, location: str, name: str, source: str) -> Path:
        """The file that a location names; refuses whatever could lie outside of the model's folder."""
        parts = PurePosixPath(location).parts
        outside = (
            not location
            or "\0" in location
            or "\\" in location
            or ".." in parts
            or PurePosixPath(location).is_absolute()
            or bool(PureWindowsPath(location).drive)
        )
        if outside:
            raise InputError(
                f"{source}: the tensor {name!r} names the data file {location!r}.",
                "Only files in the model's own folder are read: no absolute path, no '..'.",
                "Put the data file beside the model and name it by its plain name.",
            )
        if self._folder is None:
            raise InputError(
                f"{source}: the tensor {name!r} is stored in another file, {location!r}.",
                "This model came as bytes without a folder.",
                "Give the path of the model file, with its data file beside it.",
            )
        path = self._folder
        try:
            for part in parts:
                path = path / part
                if path.is_symlink():
                    raise InputError(
                        f"{source}: the data file {location!r} of tensor {name!r} is reached through a symbolic link.",
                        "A link could lead out of the model's folder, so none is followed.",
                        "Put the file itself beside the model.",
                    )
            if not path.is_file():
                raise InputError(
                    f"{source}: the data file {location!r} of tensor {name!r} is missing.",
                    f"There is no such file in {self._folder}.",
                    "Copy it there beside the model.",
                )
            if path.stat().st_size > DATA_FILE_LIMIT_BYTES:
                raise _too_large(name, source, path.stat().st_size)
        except OSError as error:
            raise InputError(
                f"{source}: the data file {location[:200]!r} of tensor {name!r} cannot be read.",
                f"{error.strerror}.",
                "Check its name and permissions.",
            ) from error
        return path


def detach_weights(proto: onnx.ModelProto, external: ExternalData, source: str) -> dict[str, ir.TensorProtocol]:
    """Loads and checks every tensor of the model, and takes the large initializers of the main graph out of it.

    What is taken out stays behind as a graph input of the same name and type. Returns it by name.
    """
    for tensor in tensors_in(proto):
        _load(tensor, external, source)
    inputs = {value.name for value in proto.graph.input}
    detached: dict[str, ir.TensorProtocol] = {}
    kept = []
    for tensor in proto.graph.initializer:
        if tensor.ByteSize() <= DETACH_BYTES or tensor.name in detached or not tensor.name:
            kept.append(tensor)  # a repeated or empty name is the checker's to refuse
            continue
        detached[tensor.name] = _in_memory(tensor)
        if tensor.name not in inputs:
            value_type = onnx.helper.make_tensor_type_proto(tensor.data_type, tuple(tensor.dims))
            proto.graph.input.append(onnx.ValueInfoProto(name=tensor.name, type=value_type))
    if detached:
        del proto.graph.initializer[:]
        proto.graph.initializer.extend(kept)
    return detached


def _load(tensor: onnx.TensorProto, external: ExternalData, source: str) -> None:
    """Brings a tensor's data into the message and checks that it is there as a whole."""
    if any(extent < 0 for extent in tensor.dims):
        raise _broken(tensor.name, source, f"its shape is {list(tensor.dims)}")
    try:
        element = ir.DataType(tensor.data_type)
    except ValueError as error:
        raise _broken(tensor.name, source, f"its element type {tensor.data_type} is not known") from error
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        data = external.read(tensor, source)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = data
    if element in (ir.DataType.STRING, ir.DataType.UNDEFINED):
        return
    elements = math.prod(tensor.dims)
    needed = math.ceil(elements * element.bitwidth / 8)
    if needed > TENSOR_LIMIT_BYTES:
        raise _too_large(tensor.name, source, needed)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != needed:
            raise _broken(
                tensor.name,
                source,
                f"it has {len(tensor.raw_data)} bytes, its shape {list(tensor.dims)} needs {needed}",
            )
        return
    try:
        ir.serde.deserialize_tensor(tensor).numpy()
    except (ValueError, TypeError, AssertionError) as error:  # onnx_ir asserts which field holds the data
        raise _broken(tensor.name, source, f"shape {list(tensor.dims)}: {error}") from error


def _in_memory(tensor: onnx.TensorProto) -> ir.TensorProtocol:
    """The tensor as one that onnx_ir holds without the message."""
    loaded = ir.serde.deserialize_tensor(tensor)
    if loaded.dtype == ir.DataType.STRING:
        return loaded
    return ir.Tensor(loaded.numpy(), dtype=loaded.dtype, name=tensor.name)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def _broken(name: str, source: str, why: str) -> MetaInferError:
    return InputError(
        f"{source}: the data of tensor {name!r} is broken.", f"{why[:1].upper()}{why[1:]}.", "Export the model again."
    )


def _too_large(name: str, source: str, size: int) -> MetaInferError:
    return UnsupportedError(
        f"{source}: the tensor {name!r} is too large.",
        f"It has {size:,} bytes; at most {TENSOR_LIMIT_BYTES:,} are handled.",
        "Split it into smaller tensors.",
    )
