"""Where the manuals of a workspace lie, and which of them were purged: their digests stay, their bytes do not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from metainfer_core.bundle.statement import Digest
from metainfer_core.bundle.trust import PersonId, Time
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, alone, read_bytes, write_bytes
from metainfer_core.values import Value, canonical_json, read_json
from review_store.keeping.quotations import Quotation

SETTING = "manuals.json"
"""Name in the workspace of the file that says where its manuals lie, where that is not its folder `manuals`."""
PURGED = "manuals.purged.json"
"""Name in the workspace of the list of what was purged."""
MOST_FILES = 20_000


class ManualSetting(Value):
    """Where manuals lie."""

    format: Literal["metainfer.manual_setting/1"] = "metainfer.manual_setting/1"
    folder: str
    """An absolute path."""


class PurgedManual(Value):
    """A document that was removed on purpose: its digest stays."""

    document_digest: Digest
    file_names: tuple[str, ...]
    at: Time
    actor: PersonId
    quotations: bool
    """Whether the words quoted from it were taken out of drafts and specs too."""
    words: tuple[Quotation, ...] = ()
    """Where they stood, with their digests."""


class PurgedManuals(Value):
    """All documents that were removed from a workspace on purpose."""

    format: Literal["metainfer.purged_manuals/1"] = "metainfer.purged_manuals/1"
    manuals: tuple[PurgedManual, ...] = ()


def manual_folder(workspace: Path) -> Path:
    """The folder that manuals of a workspace lie in: its own, or the one that its owner chose."""
    path = workspace / SETTING
    if not path.is_file():
        return workspace / "manuals"
    return Path(ManualSetting.from_plain(read_json(read_bytes(path, "setting"), str(path)), str(path)).folder)


def choose_manual_folder(workspace: Path, folder: Path | None) -> Path:
    """Makes a folder, which must be there, the one for manuals; None: the workspace's own. No file is moved."""
    setting = workspace / SETTING
    with alone(setting):
        if folder is None:
            setting.unlink(missing_ok=True)
            return workspace / "manuals"
        chosen = folder.expanduser().absolute()
        if not chosen.is_dir() or not os.access(chosen, os.R_OK | os.W_OK | os.X_OK):
            raise InputError(
                f"{chosen}: this folder cannot hold manuals.",
                "It is not there, or you may not read and write in it.",
                "Make it first, with the permissions that the manuals' owner asks for.",
            )
        write_bytes(setting, canonical_json(ManualSetting(folder=str(chosen)).plain()) + b"\n", "setting")
        return chosen


def manual_with(workspace: Path, digest: str) -> Path | None:
    """The document with this digest in the workspace or its folder for manuals, whatever it is called."""
    for path in manual_candidates(workspace):
        if file_digest(path) == digest:
            return path
    return None


def manual_candidates(workspace: Path) -> Iterator[Path]:
    """Files that can be manuals, in a fixed order: those of the folder for manuals, then uploads that wait."""
    looked_at = 0
    for root in (manual_folder(workspace), workspace / "manuals", workspace / ".studio" / "quarantine"):
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                looked_at += 1
                path = Path(folder) / name
                if looked_at <= MOST_FILES and not path.is_symlink() and path.is_file():
                    yield path


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as digests are written."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def purged_manuals(workspace: Path) -> tuple[PurgedManual, ...]:
    """What was purged from a workspace, oldest first."""
    path = workspace / PURGED
    if not path.is_file():
        return ()
    data = read_bytes(path, "list of purged manuals", 16 * MEBIBYTE)
    return PurgedManuals.from_plain(read_json(data, str(path)), str(path)).manuals


def why_absent(workspace: Path, digest: str) -> str:
    """Why a document is not at hand, in a sentence."""
    for each in reversed(purged_manuals(workspace)):
        if each.document_digest == digest:
            return f"This document was purged on {each.at} by {each.actor}: its pages can no longer be shown."
    return "This document is not in the workspace."
