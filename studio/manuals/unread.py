"""What was given and not read: uploads whose reading was cancelled or failed, and manuals that no draft is from.

Nothing has to be uploaded twice: an upload stays in quarantine until it has been read or is discarded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import InputError, MetaInferError
from studio.background.jobs import Job, jobs
from studio.drafts.draft_places import draft_in
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.workspace import WorkspaceFile, hidden_folder
from studio.manuals.uploads import chip_from_name, discard, read_into_draft


@dataclass(frozen=True)
class Unread:
    """Uploads that were to be read together and still are in quarantine."""

    uploads: tuple[Path, ...]
    chip: str
    """What they are about, as it was said; else guessed from a name."""
    known: tuple[Path, ...] = ()
    """Manuals of the workspace that were to be read with them."""

    @property
    def names(self) -> str:
        """Their names."""
        return ", ".join(path.name for path in self.uploads)


def unread_uploads(workspace: Path | None = None) -> tuple[Unread, ...]:
    """All uploads that no job reads or is about to, those of the newest job first."""
    kept = sorted(hidden_folder("quarantine", workspace).glob("*/*"))
    left = {str(path): path for path in kept if not path.name.startswith(".") and path.is_file()}
    found = []
    for job in sorted(jobs(workspace), key=lambda each: not each.is_open):  # jobs of one second stand in any order
        own = tuple(left.pop(name) for name in job.order.moves if name in left)
        if own and not job.is_open:
            found.append(_of_job(job, own))
    return (*found, *(Unread((path,), chip_from_name(path.name)) for path in left.values()))


def read_again(unread: Unread, chip: str, actor: str, workspace: Path | None = None) -> Job:
    """Starts a job that reads them, and what was to be read with them; raises InputError where that cannot be."""
    _must_be_unread(unread, workspace)
    return read_into_draft(chip, unread.known, unread.uploads, actor, workspace)


def discard_unread(unread: Unread, workspace: Path | None = None) -> None:
    """Deletes them; raises InputError where one is read meanwhile or cannot be deleted."""
    _must_be_unread(unread, workspace)
    for path in unread.uploads:
        discard(path, workspace)


def unread_manuals(
    manuals: Iterable[WorkspaceFile], drafts: Iterable[WorkspaceFile], workspace: Path | None = None
) -> list[WorkspaceFile]:
    """The manuals that no draft is from and that no job reads, told by what they hold and not by their names."""
    being_read = {word for job in jobs(workspace) if job.is_open for word in job.order.arguments}
    digests: set[str] = set()
    for draft in drafts:
        with contextlib.suppress(OSError, MetaInferError):  # the list of drafts tells what is wrong with it
            digests |= _read_from(draft.path)
    found = []
    for manual in manuals:
        with contextlib.suppress(OSError):
            if str(manual.path) not in being_read and file_digest(manual.path) not in digests:
                found.append(manual)
    return found


def _of_job(job: Job, uploads: tuple[Path, ...]) -> Unread:
    words = job.order.arguments
    at = words.index("--chip") if "--chip" in words else len(words)
    chip = words[at + 1] if at + 1 < len(words) else chip_from_name(uploads[0].name)
    given = (Path(word) for word in words[1:at] if word not in job.order.moves)
    return Unread(uploads, chip, tuple(path for path in given if path.is_file()))


def _must_be_unread(unread: Unread, workspace: Path | None) -> None:
    now = {path for each in unread_uploads(workspace) for path in each.uploads}
    if not now.issuperset(unread.uploads):
        raise InputError(
            f"{unread.names}: this is no longer unread.",
            "It is being read, or was discarded, from another window.",
            "Look at the list again.",
        )


@kept_by_file
def _read_from(draft: Path) -> frozenset[str]:
    return frozenset(source.document_digest for source in draft_in(draft).sources.values())
