"""The folder that holds what a team works on: manuals, drafts, specs, models, policies, bundles, packages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    ".pdf": "manual",
    ".svd": "manual",
    ".dts": "manual",
    ".dtsi": "manual",
    ".xlsx": "manual",
    ".csv": "manual",
    ".yaml": "draft_or_spec",
    ".onnx": "model",
    ".policy": "policy",
    ".bundle": "bundle",
    ".bin": "package",
}
"""File name ending to the key of its kind's name in the table of texts."""

SHOWN_FILES = 500


@dataclass(frozen=True)
class WorkspaceFile:
    """One file of the workspace."""

    kind: str
    name: str
    size_bytes: int


def workspace_folder() -> Path:
    """The folder that the studio was started with."""
    return Path(os.environ.get("METAINFER_WORKSPACE", "workspace")).absolute()


def workspace_files(folder: Path) -> tuple[WorkspaceFile, ...]:
    """Files of known kinds, by kind and name; symbolic links are left out."""
    found = []
    for path in sorted(folder.rglob("*"))[: SHOWN_FILES * 10] if folder.is_dir() else []:
        if path.suffix in KINDS and path.is_file() and not path.is_symlink():
            found.append(WorkspaceFile(KINDS[path.suffix], str(path.relative_to(folder)), path.stat().st_size))
    return tuple(sorted(found, key=lambda file: (file.kind, file.name))[:SHOWN_FILES])
