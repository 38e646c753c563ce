"""Whether all that a workspace holds can be relied on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from metainfer_core.bundle.statement import LogHead
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import MEBIBYTE
from metainfer_core.policy.plain import read_policy
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.keeping.manual_files import manual_with, purged_manuals
from review_store.keeping.quotations import read_quoting
from review_store.record.check_log import check_log
from review_store.record.log import DATABASE, EventLog
from review_store.review.workspace import trust_path

LIMIT = 64 * MEBIBYTE


@dataclass(frozen=True)
class WorkspaceState:
    """What was found."""

    faults: tuple[str, ...]
    notes: tuple[str, ...]
    """What is no fault, but good to know."""
    events: int
    files: int
    """How many files were read."""


def state_of(workspace: Path, witnesses: tuple[LogHead, ...] = ()) -> WorkspaceState:
    """Looks at the record, the trust file, every policy, and the manuals behind drafts and specs."""
    if not workspace.is_dir():
        raise InputError(f"{workspace}: there is no such workspace.", fix="Check the path.")
    faults: list[str] = []
    events = 0
    if (workspace / DATABASE).is_file():
        log = EventLog(workspace)
        faults += [each.what for each in check_log(log, witnesses)]
        events = log.head().seq
        log.close()
    faults += _unreadable("trust file", lambda: read_trust(trust_path(workspace)))
    policies = sorted(workspace.rglob("*.policy"))
    for path in policies:
        faults += _unreadable("policy", partial(read_policy, path))
    quoting: dict[Path, SpecDraft | HardwareSpec] = {}
    for path in sorted(workspace.rglob("*.yaml")):
        found = None if ".studio" in path.parts else read_quoting(path)
        if found is not None:
            quoting[path] = found
    return WorkspaceState(tuple(faults), tuple(_manual_notes(workspace, quoting)), events, len(policies) + len(quoting))


def _unreadable(what: str, read: Callable[[], object]) -> list[str]:
    try:
        read()
    except MetaInferError as error:
        return [f"The {what} cannot be used: {error.what} {error.why}".strip()]
    return []


def _manual_notes(workspace: Path, quoting: Mapping[Path, SpecDraft | HardwareSpec]) -> list[str]:
    """A sentence for each document that a draft or spec names and that is not at hand."""
    purged = {each.document_digest: each for each in purged_manuals(workspace)}
    titles = {each.document_digest: each.title for found in quoting.values() for each in found.sources.values()}
    notes = []
    for digest, title in sorted(titles.items(), key=lambda each: each[1]):
        if digest in purged:
            notes.append(f"{title}: purged on {purged[digest].at} by {purged[digest].actor}.")
        elif manual_with(workspace, digest) is None:
            notes.append(f"{title}: the document ({digest}) is not at hand, so its pages cannot be shown.")
    return notes
