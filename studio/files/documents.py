"""Documents of the workspace found by what they hold, so that a draft leads to its page whatever the file is called."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from review_store.keeping.manual_files import purged_manuals
from studio.files.file_cache import kept_by_file
from studio.files.workspace import files_of, hidden_folder, workspace_folder

AROUND = 12
"""Lines shown before and after the line that holds a value."""
_TEXT_LIMIT = 128 << 20


def document_with(digest: str, workspace: Path | None = None) -> Path | None:
    """The manual of the workspace with this digest (`sha256:...`), or None where it is not there.

    An upload that a job still reads counts: pages are drawn in a limited process, whatever they hold.
    """
    uploads = sorted(hidden_folder("quarantine", workspace).glob("*/*"))
    for path in (*files_of("manual", workspace), *uploads):
        with contextlib.suppress(OSError):
            if file_digest(path) == digest:
                return path
    return None


def is_purged(digest: str, workspace: Path | None = None) -> bool:
    """Whether the document with this digest was removed from the workspace on purpose."""
    gone = purged_manuals(workspace or workspace_folder())
    return any(each.document_digest == digest for each in gone) and document_with(digest, workspace) is None


@kept_by_file
def file_digest(path: Path) -> str:
    """SHA-256 of a file, as digests are written."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def lines_around(path: Path, line: int) -> tuple[int, tuple[str, ...]]:
    """The number of the first line shown, and the lines around line `line` (from 1) of a text file."""
    first = max(1, line - AROUND)
    if path.stat().st_size > _TEXT_LIMIT:
        return first, ()
    with path.open("rb") as file:
        text = file.read(_TEXT_LIMIT).decode("utf-8", "replace").splitlines()
    return first, tuple(words[:400] for words in text[first - 1 : line + AROUND])
