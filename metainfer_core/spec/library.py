"""The folder of specs, `<name>_v<x.y.z>.yaml`: what it holds, and the spec that a name means."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.flat_profile import load_spec_or_profile
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec

FOLDER_VARIABLE = "METAINFER_HWSPECS"
_FILE_NAME = re.compile(r"(?P<name>.+)_v(?P<version>\d{1,9}\.\d{1,9}\.\d{1,9})\.ya?ml")
_REFERENCE = re.compile(r"(?P<name>.+?)(?:[_@]v?(?P<version>\d{1,9}\.\d{1,9}\.\d{1,9}))?")
Version = tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """One spec file of a library."""

    name: str
    version: str
    path: Path

    @property
    def order(self) -> Version:
        """The version as numbers, so that 1.10.0 comes after 1.9.0."""
        return tuple(int(part) for part in self.version.split("."))


def named_by_path(path: Path) -> tuple[str, str] | None:
    """Name and version that a file's name tells, or None where it is not `<name>_v<x.y.z>.yaml`."""
    match = _FILE_NAME.fullmatch(path.name)
    return (match["name"], match["version"]) if match else None


def default_folder() -> Path:
    """Where specs are kept: $METAINFER_HWSPECS, else `hwspecs` here, else the one beside the product's source."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    here = Path("hwspecs")
    return here if here.is_dir() else Path(__file__).parents[2] / "hwspecs"


def entries(folder: Path) -> tuple[Entry, ...]:
    """All spec files of a folder, by name, then oldest version first."""
    found = []
    for path in folder.glob("*_v*.y*ml") if folder.is_dir() else ():
        named = named_by_path(path)
        if named:
            found.append(Entry(*named, path))
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.order)))


def find(reference: str, folder: Path) -> Entry:
    """The entry that `rk3399`, `rk3399@1.0.0` or `rk3399_v1.0.0` means; without a version, the latest.

    Raises:
        InputError: No such name or version; the message lists what there is.
    """
    known = entries(folder)
    match = _REFERENCE.fullmatch(reference.strip())
    name, version = (match["name"], match["version"]) if match else (reference, None)
    versions = [entry for entry in known if entry.name == name and version in (None, entry.version)]
    if versions:
        return versions[-1]
    there = ", ".join(f"{entry.name}@{entry.version}" for entry in known) or "nothing"
    raise InputError(
        f"There is no hardware spec {reference!r}.",
        f"{folder} holds {there}.",
        "Give one of these, or the path of a spec file.",
    )


def load(reference: str, folder: Path | None = None) -> HardwareSpec:
    """The spec that a path or a name means; a flat profile is imported on the way."""
    path = Path(reference)
    if path.suffix in (".yaml", ".yml") or path.exists():
        return load_spec_or_profile(path)
    return read_spec(find(reference, folder or default_folder()).path)
