"""What a draft comes to, for a list of drafts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from studio.drafts.decision_log import read_log
from studio.drafts.draft_places import digest_of, draft_in
from studio.drafts.draft_state import counts, standing
from studio.files.file_cache import kept_by_file

_CHIP = re.compile(rb"^chip: *[\"']?([^\"'\n]{1,200})", re.MULTILINE)


@dataclass(frozen=True)
class Summary:
    """One line of the list."""

    chip: str
    sources: tuple[str, ...]
    places: int
    decided: int
    conflicts: int


def summary(path: Path, workspace: Path | None = None) -> Summary:
    """The figures of the draft in a file; raises InputError where it cannot be read."""
    draft = draft_in(path)
    figures = counts(draft, standing(read_log(digest_of(draft), workspace)))
    names = tuple(source.file_name for source in draft.sources.values())
    return Summary(draft.chip, names, figures.places, figures.decided, figures.conflicts)


@kept_by_file
def chip_of(path: Path) -> str:
    """The chip that a draft is about, told from its first lines without reading all of it."""
    with path.open("rb") as file:
        match = _CHIP.search(file.read(8192))
    return match[1].decode("utf-8", "replace").strip() if match else path.stem
