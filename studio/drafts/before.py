"""What was confirmed about a chip before a draft: the newest version of its spec, with what an earlier draft adds."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metainfer_core.errors import MetaInferError
from metainfer_core.spec.drafting.accept import accept
from metainfer_core.spec.drafting.carry_over import CarryOver, carry_over, with_own_keys
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.files.aliases import FIELDS
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.drafts.decision_log import log_path, read_log
from studio.drafts.desk_places import title
from studio.drafts.draft_examples import example
from studio.drafts.draft_places import digest_of, draft_in, group_of, places
from studio.drafts.draft_state import decisions_of, standing
from studio.drafts.draft_summary import chip_of
from studio.drafts.save_spec import versions_of
from studio.files.file_cache import kept_by_file
from studio.files.workspace import files_of, workspace_folder
from studio.words.core_words import core_term


@dataclass(frozen=True)
class Before:
    """What people stood behind before this draft."""

    name: str
    """As people say it: `tarn 1.2.0`, or the earlier draft."""
    spec: HardwareSpec


def before(draft: SpecDraft, name: str, workspace: Path | None = None) -> Before | None:
    """What was confirmed before the draft at `name`; None where this is the first of its chip.

    Decisions about an earlier draft count when they are later than the newest version.
    """
    versions = versions_of(draft.chip, workspace)
    spec = _spec(versions[-1].path) if versions else None
    found = Before(f"{draft.chip} {versions[-1].version}", spec) if spec else None
    saved_at = versions[-1].path.stat().st_mtime_ns if versions else 0
    earlier = _earlier_draft(draft, name, saved_at, workspace)
    if earlier is None:
        return found
    path, other = earlier
    stands = standing(read_log(digest_of(other), workspace))
    try:
        base = with_own_keys(other, spec) if spec else other
        decided = decisions_of(other, stands, "", draft.chip, spec.version if spec else "0.0.0", "")
        return Before(path, accept(base, decided, spec).spec)
    except MetaInferError:
        return found


def before_data(draft: SpecDraft, earlier: Before | None) -> dict[str, Any] | None:
    """For the desk: of each place what it was and how that stands to the draft, and the places that are no more."""
    if earlier is None:
        return None
    found = _held(draft, earlier.spec)
    again = {path: {"was": found.was[path], "change": "same", "same": index} for path, index in found.again.items()}
    differs = {path: {"was": found.was[path], "change": "differs"} for path in found.differs}
    return {
        "name": earlier.name,
        "places": again | differs,
        "vanished": [_vanished(path, was) for path, was in found.vanished.items()],
    }


@functools.lru_cache(maxsize=16)
def _held(draft: SpecDraft, spec: HardwareSpec) -> CarryOver:
    return carry_over(spec, draft, {place.key: place.indexes for place in places(draft)})


def _vanished(path: str, was: str) -> dict[str, Any]:
    field, parts = _field_of(path), path.split(".")
    named = parts[0] in ("compute_units", "memories", "mmio_bases", "interrupts") and path not in FIELDS.values()
    return {
        "key": path,
        "title": core_term(title(field or ".".join(parts[2:] if named else parts))),
        "instance": parts[1] if named else "",
        "group": group_of(field),
        "conflict": False,
        "mixed": False,
        "meaning": "",
        "readings": [],
        "was": was,
        "change": "vanished",
        **example(path, field),
    }


@functools.lru_cache(maxsize=4096)
def _field_of(path: str) -> str:
    """The document field that a path is read from; empty where none is."""
    if path.startswith("other."):
        return path.removeprefix("other.").split("[")[0]
    own = path.split(".")
    found = [(field, kind) for field, pattern in FIELDS.items() if (kind := _kind(pattern.split("."), own)) is not None]
    # compute_units.npu.clock_hz could be any unit's: the kind that is in the name, if one is.
    return next((field for field, kind in found if kind and kind in own[1]), found[0][0] if found else "")


def _kind(pattern: list[str], path: list[str]) -> str | None:
    """What a path names where the pattern has a placeholder, such as `npu`; None where they do not fit."""
    if len(pattern) != len(path):
        return None
    if any(part != there and not part.startswith("{") for part, there in zip(pattern, path, strict=True)):
        return None
    return next((part[1:-1] for part in pattern if part.startswith("{")), "")


def _earlier_draft(draft: SpecDraft, name: str, saved_at: int, workspace: Path | None) -> tuple[str, SpecDraft] | None:
    """The draft of the same chip that was decided about last before this one, after the newest version was saved."""
    root = workspace or workspace_folder()
    read_at = (root / name).stat().st_mtime_ns if (root / name).exists() else math.inf
    found: list[tuple[int, str, SpecDraft]] = []
    for path in files_of("draft", workspace):
        own = path.relative_to(root).as_posix()
        if own == name or path.stat().st_mtime_ns >= read_at or chip_of(path) != draft.chip:
            continue
        try:
            other = draft_in(path)
        except MetaInferError:
            continue
        log = log_path(digest_of(other), workspace)
        decided_at = log.stat().st_mtime_ns if log.exists() else 0
        if decided_at > saved_at:
            found.append((decided_at, own, other))
    return max(found, key=lambda each: each[0])[1:] if found else None


@kept_by_file
def _spec(path: Path) -> HardwareSpec | None:
    try:
        return read_spec(path)
    except MetaInferError:
        return None
