"""Drafts that are still being read: what stands in the pages read so far can be looked at before a job has ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import DRAFT_LIMIT
from studio.background.jobs import Job, jobs
from studio.drafts.draft_places import draft_in
from studio.files.file_cache import kept_by_file
from studio.files.workspace import hidden_folder, in_workspace, workspace_folder

FOLDER = "growing"


@dataclass(frozen=True)
class Growing:
    """A draft in the making."""

    name: str
    """Path in the workspace that the draft will have."""
    job: Job
    draft: SpecDraft | None
    """What was found so far; None where nothing has been written yet."""

    @property
    def found(self) -> int:
        """How many values that is."""
        return len(self.draft.candidates) if self.draft else 0


def growing_path(draft: Path, workspace: Path | None = None) -> Path:
    """Where the job that reads into `draft` writes what it has found so far."""
    return hidden_folder(FOLDER, workspace) / f"{draft.stem}.json"


def growing_drafts(workspace: Path | None = None) -> tuple[Growing, ...]:
    """The drafts that open jobs read into, the newest job first."""
    root = workspace or workspace_folder()
    found = []
    for job in jobs(workspace):
        if job.is_open and job.order.kind == "ingest" and job.order.subject:
            found.append(Growing(job.order.subject, job, _so_far(root / job.order.subject, workspace)))
    return tuple(found)


def draft_called(name: str, workspace: Path | None = None) -> SpecDraft:
    """The draft at a path of the workspace; while it is still being read, what was found so far.

    Raises:
        InputError: There is no such draft, or it cannot be read.
    """
    for growing in growing_drafts(workspace):
        if growing.name == name and growing.draft is not None:
            return growing.draft
    return draft_in(in_workspace(name, workspace))


def _so_far(draft: Path, workspace: Path | None) -> SpecDraft | None:
    try:
        return _read(growing_path(draft, workspace))
    except (OSError, MetaInferError):
        return None


@kept_by_file
def _read(path: Path) -> SpecDraft:
    return SpecDraft.from_json(read_bytes(path, "growing draft", DRAFT_LIMIT), "growing draft")
