"""Inputs to measure on: a .npz file, a function that makes them, or seeded random ones that are labelled so."""

from __future__ import annotations

import hashlib
import importlib
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.graph.shapes import size_bytes
from metainfer_core.values import sha256

Feeds = Mapping[str, np.ndarray]
"""One array per graph input, for one inference."""
Outputs = dict[str, np.ndarray]
"""One array per output (or other tensor), of one inference."""

SAMPLES = 64
"""How many are used unless another number is asked for."""
LABELS = "labels"
"""Name of the array that says what is right for each sample."""
DATA_LIMIT_BYTES = 512 * MEBIBYTE
UNPACKED_LIMIT_BYTES = 4 * DATA_LIMIT_BYTES
RANDOM_LIMIT_BYTES = 4 * DATA_LIMIT_BYTES
_LABEL = re.compile(r"(\d+) samples of (.+?)(?: \(first \d+ of \d+\))?")


@dataclass(frozen=True)
class Samples:
    """Inputs for several inferences."""

    feeds: tuple[Feeds, ...]
    label: str
    """What the data is, in words that a reviewer reads."""
    digest: str
    is_random: bool
    labels: np.ndarray | None = None
    """What is right for each sample, where the data says so; the first axis counts the samples."""

    def first(self, count: int) -> Samples:
        """At most so many samples, the first ones."""
        if count >= len(self.feeds):
            return self
        labels = self.labels[:count] if self.labels is not None else None
        feeds = self.feeds[:count]
        return Samples(feeds, f"first {count} of {self.label}", _digest(feeds), self.is_random, labels)


def random_samples(model: ir.Model, count: int = 8, seed: int = 0) -> Samples:
    """Seeded random inputs: standard normal for floats, 0..255 for integers, both for booleans.

    Raises:
        UnsupportedError: they would fill the memory.
    """
    generator = np.random.default_rng(seed)
    needed = count * sum(size_bytes(value) or 0 for value in model.graph.inputs)
    if needed > RANDOM_LIMIT_BYTES:
        raise UnsupportedError(
            "The inputs of the model are too large for random data.",
            f"{count} random inputs take {needed:,} bytes; at most {RANDOM_LIMIT_BYTES:,} are made.",
            "Give smaller input shapes, or data of your own with --calib.",
        )

    def array(value: ir.Value) -> np.ndarray:
        shape, kind = _static(value)
        if kind.kind == "f":
            return generator.standard_normal(shape).astype(kind)
        return generator.integers(0, 2 if kind.kind == "b" else 256, shape).astype(kind)

    feeds = tuple({value.name: array(value) for value in model.graph.inputs} for _ in range(count))
    return Samples(feeds, f"{count} random inputs, seed {seed}", _digest(feeds), is_random=True)  # type: ignore[arg-type]


def read_samples(source: str, model: ir.Model, limit: int = SAMPLES) -> Samples:
    """Samples for `model` from `source`: the path of a .npz file, or `package:function`.

    The file, or what the function returns, maps each graph input to an array whose first axis counts the samples, and
    `labels`, where it has them, to what is right for each. At most `limit` samples are used.

    Raises:
        InputError: an array is missing, has another shape or type, or is not finite.
    """
    arrays, label = _call(source) if _is_function(source) else _read_npz(Path(source))
    count = _sample_count(arrays, model, source)
    used = min(count, limit)
    feeds = tuple(
        {str(value.name): _checked(arrays[str(value.name)][index], value, source) for value in model.graph.inputs}
        for index in range(used)
    )
    note = f" (first {used} of {count})" if used < count else ""
    labels = _labels(arrays, count, used, model, source)
    return Samples(feeds, f"{used} samples of {label}{note}", _digest(feeds), is_random=False, labels=labels)


def source_of(label: str) -> tuple[str, int] | None:
    """The name and the number of samples that the label of `read_samples` tells; None of random inputs."""
    found = _LABEL.fullmatch(label)
    return None if found is None else (found[2], int(found[1]))


def _labels(arrays: Mapping[str, np.ndarray], count: int, used: int, model: ir.Model, source: str) -> np.ndarray | None:
    """The array of labels, unless that is the name of an input."""
    if LABELS not in arrays or any(value.name == LABELS for value in model.graph.inputs):
        return None
    labels = arrays[LABELS]
    if labels.ndim == 0 or len(labels) != count or labels.dtype.kind not in "iufb":
        raise InputError(
            f"{source}: the array {LABELS} has the shape {list(labels.shape)} and the type {labels.dtype}.",
            f"There are {count} samples, and a label is a number or a row of numbers.",
            "Give one label a sample, along the first axis.",
        )
    return labels[:used]


def _is_function(source: str) -> bool:
    return ":" in source and not Path(source).exists() and "/" not in source


def _call(source: str) -> tuple[dict[str, np.ndarray], str]:
    module_name, _, function_name = source.partition(":")
    try:
        arrays = getattr(importlib.import_module(module_name), function_name)()
        return {str(key): np.asarray(value) for key, value in dict(arrays).items()}, source
    except Exception as error:  # the user's own code: anything can happen
        raise InputError(
            f"{source}: this function gave no data.",
            f"{type(error).__name__}: {error}.",
            "It must take nothing and return a mapping of input name to array.",
        ) from error


def _read_npz(path: Path) -> tuple[dict[str, np.ndarray], str]:
    return read_arrays(path, "data file"), path.name


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """The arrays of a .npz file, a `what`; nothing in it is run, and nothing unpacks to more than the limit.

    Raises:
        InputError: it is no such file, or too large.
    """
    data = read_bytes(path, what, DATA_LIMIT_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > UNPACKED_LIMIT_BYTES:
            raise InputError(
                f"{path}: the arrays are too large.",
                f"They take {unpacked:,} bytes unpacked; at most {UNPACKED_LIMIT_BYTES:,} are read.",
                "Give fewer samples.",
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        strangers = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
        if strangers:
            raise ValueError(f"{strangers[0]!r} in it is no array")
        return arrays
    except InputError:
        raise
    except Exception as error:  # zip, zlib, the header of an array, its size: each fails with a class of its own
        raise InputError(
            f"{path}: this is not a .npz file of plain arrays.",
            f"{str(error) or type(error).__name__}.",
            "Save it with numpy.savez(path, **{input_name: array}).",
        ) from error


def _sample_count(arrays: Mapping[str, np.ndarray], model: ir.Model, source: str) -> int:
    names = [str(value.name) for value in model.graph.inputs]
    missing = [name for name in names if name not in arrays]
    if missing:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(
            f"{source}: there is no array for the input {missing[0]}.",
            f"The model reads {', '.join(names)}; the data holds {found}.",
            "Name each array after the graph input that it feeds.",
        )
    counts = {name: arrays[name].shape[0] if arrays[name].ndim else 0 for name in names}
    if len(set(counts.values())) != 1 or not all(counts.values()):
        raise InputError(
            f"{source}: the arrays hold different numbers of samples.",
            ", ".join(f"{name}: {count}" for name, count in counts.items()) + ".",
            "The first axis of each array counts the samples.",
        )
    return counts[names[0]]


def _checked(array: np.ndarray, value: ir.Value, source: str) -> np.ndarray:
    shape, kind = _static(value)
    if array.shape != shape and array.size == np.prod(shape, dtype=int) and array.shape == shape[1:]:
        array = array.reshape(shape)  # a sample without the batch axis of 1
    if array.shape != shape or array.dtype != kind:
        raise InputError(
            f"{source}: a sample of {value.name} has the shape {list(array.shape)} and the type {array.dtype}.",
            f"The model reads {list(shape)} of {kind}.",
            "Give samples of this shape and type, with one axis more in front that counts them.",
        )
    if kind.kind == "f" and not np.isfinite(array).all():
        raise InputError(
            f"{source}: a sample of {value.name} holds NaN or infinity.",
            "Ranges and errors cannot be measured on it.",
            "Remove the sample.",
        )
    return np.ascontiguousarray(array)


def _static(value: ir.Value) -> tuple[tuple[int, ...], np.dtype]:
    if value.shape is None or value.dtype is None or not value.shape.is_static():
        raise InputError(
            f"The input {value.name} has no fixed shape.",
            f"It is {value.shape}.",
            f'Bind it first: meta-infer preprocess --input-shape "{value.name}=[...]".',
        )
    return tuple(int(extent) for extent in value.shape), np.dtype(value.dtype.numpy())  # type: ignore[arg-type]


def _digest(feeds: tuple[Feeds, ...]) -> str:
    state = hashlib.sha256()
    for feed in feeds:
        for name in sorted(feed):
            array = np.ascontiguousarray(feed[name])
            state.update(sha256(f"{name}|{array.dtype.str}|{array.shape}".encode() + array.tobytes()).encode())
    return "sha256:" + state.hexdigest()
