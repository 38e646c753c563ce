"""The folder that holds what a team works on: manuals, drafts, specs, models, data, policies, bundles, packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from metainfer_core.errors import InputError
from metainfer_core.spec.library import named_by_path
from review_store.keeping.manual_files import manual_folder
from studio.files.file_cache import kept_by_file

Kind = Literal["manual", "draft", "spec", "model", "data", "policy", "bundle", "package"]
KINDS: tuple[Kind, ...] = get_args(Kind)

VARIABLE = "METAINFER_WORKSPACE"
_BY_ENDING: dict[str, Kind] = {
    ".pdf": "manual",
    ".svd": "manual",
    ".dts": "manual",
    ".dtsi": "manual",
    ".dtb": "manual",
    ".xlsx": "manual",
    ".csv": "manual",
    ".onnx": "model",
    ".npz": "data",
    ".policy": "policy",
    ".bundle": "bundle",
    ".bin": "package",
}
_FOLDERS: dict[Kind, str] = {
    "manual": "manuals",
    "draft": "drafts",
    "spec": "specs",
    "model": "models",
    "data": "data",
    "policy": "policies",
    "bundle": "bundles",
    "package": "packages",
}
_HEAD_BYTES = 8192
_LOOKED_AT = 20_000


@dataclass(frozen=True)
class WorkspaceFile:
    """One file of the workspace."""

    kind: Kind
    name: str
    """Its path in the workspace."""
    path: Path
    size_bytes: int


def workspace_folder() -> Path:
    """The folder that the studio was started with."""
    return Path(os.environ.get(VARIABLE, "workspace")).absolute()


def choose_workspace(folder: Path) -> None:
    """Makes the whole server work in another folder; raises InputError where that cannot be."""
    folder = folder.expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: this folder cannot be used.", f"{error}.", "Choose another.") from error
    os.environ[VARIABLE] = str(folder)


def hidden_folder(name: str, workspace: Path | None = None) -> Path:
    """A folder for what the studio keeps beside people's files."""
    return (workspace or workspace_folder()) / ".studio" / name


def folder_for(kind: Kind, workspace: Path | None = None) -> Path:
    """Where new files of a kind go."""
    root = workspace or workspace_folder()
    return manual_folder(root) if kind == "manual" else root / _FOLDERS[kind]


def workspace_files(workspace: Path | None = None) -> tuple[WorkspaceFile, ...]:
    """Files of known kinds, by kind and name. Hidden files and symbolic links are left out."""
    root = workspace or workspace_folder()
    found = []
    for path in _visible(root):
        kind = kind_of(path)
        if kind:
            found.append(WorkspaceFile(kind, path.relative_to(root).as_posix(), path, path.stat().st_size))
    chosen = _chosen_for_manuals(root)
    if chosen is not None:
        manuals = [path for path in _visible(chosen) if kind_of(path) == "manual"]
        found += [WorkspaceFile("manual", _in_chosen(path, chosen), path, path.stat().st_size) for path in manuals]
    return tuple(sorted(found, key=lambda file: (KINDS.index(file.kind), file.name)))


def files_of(kind: Kind, workspace: Path | None = None) -> tuple[Path, ...]:
    """Paths of all files of a kind, by name."""
    return tuple(file.path for file in workspace_files(workspace) if file.kind == kind)


def in_workspace(name: str, workspace: Path | None = None) -> Path:
    """The file that a path in the workspace means, such as one from an address bar.

    Raises:
        InputError: It leads out of the workspace, is hidden, or is not there.
    """
    root = workspace or workspace_folder()
    path, chosen = root / name, _chosen_for_manuals(root)
    folder, _, rest = name.partition("/")
    if chosen is not None and folder == _FOLDERS["manual"] and not path.is_file():
        root, path = chosen, chosen / rest
    try:
        inside = path.resolve().relative_to(root.resolve())
        hidden = any(part.startswith(".") for part in inside.parts)
        if hidden or not path.is_file():
            raise ValueError
    except (ValueError, OSError) as error:
        raise InputError(f"The workspace has no file {name!r}.", fix="Choose one from the list.") from error
    return path


def kind_of(path: Path) -> Kind | None:
    """The kind of a file, by its name's ending; YAML files are told apart by their first lines."""
    ending = path.suffix.lower()
    if ending in (".yaml", ".yml"):
        return _kind_of_yaml(path)
    return _BY_ENDING.get(ending)


@kept_by_file
def _kind_of_yaml(path: Path) -> Kind | None:
    try:
        with path.open("rb") as file:
            head = b"\n" + file.read(_HEAD_BYTES)
    except OSError:
        return None
    if b"\nformat: metainfer.spec_draft/" in head or (b"\nchip:" in head and b"\ncandidates:" in head):
        return "draft"
    if named_by_path(path) or b"\nformat: metainfer.hardware_spec/" in head:
        return "spec"
    return "spec" if b"\ncompute_units:" in head or b"\nmemories:" in head else None


def _in_chosen(path: Path, chosen: Path) -> str:
    """What a manual outside of the workspace is called: as if its folder were the workspace's own."""
    return f"{_FOLDERS['manual']}/{path.relative_to(chosen).as_posix()}"


def _chosen_for_manuals(root: Path) -> Path | None:
    """The folder outside of the workspace that its manuals lie in, where one was chosen."""
    folder = manual_folder(root)
    return None if folder.resolve().is_relative_to(root.resolve()) else folder


def _visible(root: Path) -> Iterator[Path]:
    looked_at = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            looked_at += 1
            if looked_at > _LOOKED_AT:
                return
            path = Path(folder) / name
            if not name.startswith(".") and not path.is_symlink() and path.is_file():
                yield path
