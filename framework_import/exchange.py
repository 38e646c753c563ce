"""What goes into the process that converts a model, and what comes out of it."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass

import numpy as np

from metainfer_core.errors import DefectError, InputError, MetaInferError, UnsupportedError
from metainfer_core.values import Value

DRAWS = 2
"""Inferences that are compared: free sizes differ between them, so that a frozen size comes out."""


class Task(Value):
    """One model to convert."""

    framework: str
    """`torch` or `tensorflow`."""
    path: str
    signature: str = "serving_default"
    """Of a SavedModel: which of its functions."""
    shapes: dict[str, tuple[int, ...]] = {}
    """Shape by input name, where the sizes that are free cannot be guessed; "" is the only input."""
    seed: int = 0
    memory_bytes: int = 32 << 30
    """Address space; a framework maps several GiB and touches a part of it."""
    seconds: int = 1800
    """Computing time, and half as much again by the clock on the wall."""


_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f]")
"""Colours of a terminal, and what else is no text."""


@dataclass(frozen=True)
class Draw:
    """Inputs of one inference by name, and what the framework gave for them, in the order of its outputs."""

    feeds: dict[str, np.ndarray]
    outputs: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Converted:
    """What the framework's exporter made."""

    onnx: bytes
    versions: dict[str, str]
    """Version of each tool by its name."""
    draws: tuple[Draw, ...]


def pack(converted: Converted) -> bytes:
    """As bytes that are read without running anything."""
    arrays = {"onnx": np.frombuffer(converted.onnx, np.uint8)}
    for number, draw in enumerate(converted.draws):
        arrays |= {f"{number}/feed/{name}": array for name, array in draw.feeds.items()}
        arrays |= {f"{number}/output/{index}": array for index, array in enumerate(draw.outputs)}
    return _packed({"versions": converted.versions, "draws": len(converted.draws)}, arrays)


def pack_error(error: MetaInferError) -> bytes:
    """An error as the answer."""
    return _packed({"error": [type(error).__name__, error.what, error.why, error.fix]}, {})


def unpack(data: bytes) -> Converted:
    """What `pack` packed.

    Raises:
        MetaInferError: The answer is an error.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    told = json.loads(arrays.pop("told").tobytes())
    if "error" in told:
        kind, *text = told["error"]
        kinds = {each.__name__: each for each in (InputError, UnsupportedError)}
        raise kinds.get(kind, DefectError)(*text)
    draws = []
    for number in range(told["draws"]):
        feed, output = f"{number}/feed/", f"{number}/output/"
        feeds = {name.removeprefix(feed): array for name, array in arrays.items() if name.startswith(feed)}
        count = sum(name.startswith(output) for name in arrays)
        draws.append(Draw(feeds, tuple(arrays[f"{output}{index}"] for index in range(count))))
    return Converted(arrays["onnx"].tobytes(), told["versions"], tuple(draws))


def random_array(generator: np.random.Generator, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    """Standard normal for floats; 0 and 1 for all else, which any table that is looked up in has."""
    if kind.kind == "f":
        return generator.standard_normal(shape).astype(kind)
    return generator.integers(0, 2, shape).astype(kind)


def free_size(draw: int, axis: int, smallest: int = 1, largest: int | None = None) -> int:
    """A size that the model leaves free: small for the first axis, which is the batch, 32 or so for others."""
    size = max(smallest, (2 if axis == 0 else 32) + draw)
    return size if largest is None else min(size, largest)


def root_of(error: BaseException) -> str:
    """Class and first line of what a framework's error comes from; its own classes only say at which step it was."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in _ESCAPES.sub("", str(error)).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else 'no more is said'}"


def _packed(told: dict[str, object], arrays: dict[str, np.ndarray]) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, told=np.frombuffer(json.dumps(told).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return packed.getvalue()
