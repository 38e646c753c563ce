"""The package `X.bin`: a deterministic zip of all that was built, whose manifest names every file by digest.

Entries are stored, not compressed: the bytes depend on no version of zlib, and no entry can unpack to more than it is.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pydantic

from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.numerics.program import ElementType, numpy_type
from metainfer_core.values import FrozenMap, Value, read_json, sha256
from metainfer_core.verify.unit_figures import UnitFigures

MANIFEST = "manifest.json"
UNITS = "units.json"
"""What each unit that DMA feeds does in one inference; only in packages of targets that have such units."""
SIZE_LIMIT_BYTES = 2 << 30
ENTRY_LIMIT = 10_000
VECTOR_LIMIT = 1000
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
FIXED_DATE = (1980, 1, 1, 0, 0, 0)


class Port(Value):
    """One input or output of the model."""

    name: str
    element_type: ElementType
    shape: tuple[Annotated[int, pydantic.Field(ge=0)], ...]

    @property
    def size_bytes(self) -> int:
        """Of its array, without gaps."""
        return math.prod(self.shape) * numpy_type(self.element_type).itemsize

    def array(self, data: bytes) -> np.ndarray:
        """Its array in raw little-endian bytes, of which there are exactly `size_bytes`."""
        return np.frombuffer(data, numpy_type(self.element_type).newbyteorder("<")).reshape(self.shape)


class Manifest(Value):
    """What the package is, what it was made from, and the digest of each of its files."""

    format: Literal["metainfer.package/1"] = "metainfer.package/1"
    model: str
    target: str
    spec: str
    development: bool
    """True: built without approvals, or with a demo's alone."""
    review: Literal["signed", "unreviewed", "demo"]
    parents: FrozenMap[str]
    """Digests of what it was made from: model, spec, policy, and bundle where there is one."""
    tool_version: str
    compiler: FrozenMap[str]
    """Programs that built it, with their versions."""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    binary: str
    """Path of the host binary in the package."""
    variants: tuple[str, ...]
    """Instruction sets that it was built for, best first."""
    vectors: Annotated[int, pydantic.Field(ge=1, le=VECTOR_LIMIT)]
    """How many test vectors it carries."""
    files: FrozenMap[str]
    """Path to digest, of every file but this one."""


@dataclass(frozen=True)
class Package:
    """A package whose files have been held against its manifest."""

    manifest: Manifest
    files: Mapping[str, bytes]
    digest: str

    @property
    def binary(self) -> bytes:
        """The host binary."""
        return self.files[self.manifest.binary]

    @property
    def units(self) -> tuple[UnitFigures, ...]:
        """What each unit that DMA feeds does in one inference; none where the target has no such units."""
        found = read_json(self.files[UNITS], UNITS) if UNITS in self.files else []
        if not isinstance(found, list):
            raise InputError(f"{UNITS} is no list.", fix="Compile again.")
        return tuple(UnitFigures.from_plain(unit, UNITS) for unit in found)

    def vector(self, index: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """Raw inputs and expected raw outputs of one test vector, by name."""
        inputs = {
            port.name: self.files[vector_path(index, "input", at)] for at, port in enumerate(self.manifest.inputs)
        }
        outputs = {
            port.name: self.files[vector_path(index, "output", at)] for at, port in enumerate(self.manifest.outputs)
        }
        return inputs, outputs


def vector_path(vector: int, side: Literal["input", "output"], index: int) -> str:
    """Where one array of a test vector stands in the package."""
    return f"vectors/{vector:03}/{side}_{index}.bin"


def layers_path(vector: int) -> str:
    """Where the digests of every layer's result of a test vector stand: tensor name to digest, in one JSON object."""
    return f"vectors/{vector:03}/layers.json"


def write_package(manifest: Manifest, files: Mapping[str, bytes]) -> bytes:
    """The package's bytes: the same for the same files, whatever the clock, the user and the folder are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in ((MANIFEST, manifest.to_json()), *sorted(files.items())):
            entry = zipfile.ZipInfo(name, FIXED_DATE)
            entry.create_system = 3  # Unix: the one that keeps permissions
            entry.external_attr = (0o100755 if name == manifest.binary else 0o100644) << 16
            archive.writestr(entry, data)
    return stream.getvalue()


def read_package(data: bytes, source: str = "The package") -> Package:
    """The package in `data`, every file held against the manifest's digests.

    Raises:
        InputError: not such a package, or a part of it is missing, doubled, misnamed or compressed.
        NotTrustedError: a file is not the one that the manifest names.
    """
    files = _entries(data, source)
    if MANIFEST not in files:
        raise InputError(f"{source} is not a package.", f"It holds no {MANIFEST}.", "Give a file that compile wrote.")
    manifest = Manifest.from_plain(read_json(files.pop(MANIFEST), f"{source}: {MANIFEST}"), f"{source}: {MANIFEST}")
    missing = sorted(set(manifest.files) - set(files))
    unknown = sorted(set(files) - set(manifest.files))
    if missing or unknown:
        raise InputError(
            f"{source} is not complete." if missing else f"{source} holds a file that its manifest does not name.",
            f"{(missing or unknown)[0]} is {'missing' if missing else 'not in the manifest'}.",
            "Compile again.",
        )
    for name, content in sorted(files.items()):
        if sha256(content) != manifest.files[name]:
            raise NotTrustedError(
                f"{source} was changed after it was built: {name} is another file.",
                f"Its digest is {sha256(content)}; the manifest names {manifest.files[name]}.",
                "Compile again.",
            )
    _check_parts(manifest, files, source)
    return Package(manifest, files, sha256(data))


def _entries(data: bytes, source: str) -> dict[str, bytes]:
    if len(data) > SIZE_LIMIT_BYTES:
        raise InputError(
            f"{source} is too large.", f"It has {len(data):,} bytes; at most {SIZE_LIMIT_BYTES:,} are read."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            fault = _entry_fault(entries, len(data))
            if fault:
                raise InputError(f"{source} is not a package.", fault, "Give a file that compile wrote.")
            return {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{source} is not a package.", f"{error}.", "Give a file that compile wrote.") from error


def _entry_fault(entries: list[zipfile.ZipInfo], size: int) -> str | None:
    """Why these entries are not those of a package, or None."""
    if len(entries) > ENTRY_LIMIT:
        return f"It holds {len(entries):,} entries; at most {ENTRY_LIMIT:,} are read."
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if name in seen:
            return f"It holds {name!r} twice."
        seen.add(name)
        if not SAFE_NAME.fullmatch(name) or ".." in name or len(name) > 200:
            return f"{name[:200]!r} is not a name that a package uses."
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size or entry.flag_bits & 1:
            return f"{name!r} is compressed or encrypted; packages store their files as they are."
    if sum(entry.file_size for entry in entries) > size:
        return "Its entries overlap."
    return None


def _check_parts(manifest: Manifest, files: Mapping[str, bytes], source: str) -> None:
    wanted: dict[str, int | None] = {manifest.binary: None}
    for vector in range(manifest.vectors):
        wanted[layers_path(vector)] = None
        wanted |= {vector_path(vector, "input", at): port.size_bytes for at, port in enumerate(manifest.inputs)}
        wanted |= {vector_path(vector, "output", at): port.size_bytes for at, port in enumerate(manifest.outputs)}
    for name, size in wanted.items():
        if name not in files:
            raise InputError(f"{source} is not complete.", f"{name} is missing.", "Compile again.")
        if size is not None and len(files[name]) != size:
            raise InputError(
                f"{source} contradicts itself.",
                f"{name} has {len(files[name]):,} bytes; the manifest's shape needs {size:,}.",
                "Compile again.",
            )
