"""Saving a version of a spec from what people decided about a draft."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.accept import Acceptance, accept
from metainfer_core.spec.drafting.carry_over import with_own_keys
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.files.yaml_file import read_spec, save_spec
from metainfer_core.spec.library import Entry, entries
from metainfer_core.spec.revising.edit import keep_comments
from studio.drafts.draft_state import Standing, decisions_of
from studio.files.workspace import folder_for
from studio.words.texts import text

_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")


@dataclass(frozen=True)
class Saved:
    """A version that was written."""

    path: Path
    values: int
    """Places that stand in it: accepted from documents, or given by people."""
    conflicts: tuple[str, ...]
    """Places that are left open, because what was accepted there contradicts itself or the spec built on."""
    sentence: str


def versions_of(chip: str, workspace: Path | None = None) -> tuple[Entry, ...]:
    """The versions of a chip's spec in the workspace, the oldest first."""
    return tuple(entry for entry in entries(folder_for("spec", workspace)) if entry.name == chip)


def next_version(versions: tuple[Entry, ...]) -> str:
    """The version that comes after the last one: new values are a minor version."""
    if not versions:
        return "1.0.0"
    major, minor, _ = versions[-1].order
    return f"{major}.{minor + 1}.0"


def save_version(
    draft: SpecDraft,
    stands: Mapping[str, Standing],
    person: str,
    version: str,
    reason: str,
    onto: Path | None,
    workspace: Path | None = None,
    given_from: str = "",
) -> Saved:
    """Writes `specs/<chip>_v<version>.yaml`; raises InputError where it is there already or the values do not fit."""
    if not person:
        raise InputError("It is not known who accepts.", fix="Say who you are, in the bar on the left.")
    if not _VERSION.fullmatch(version):
        raise InputError(f"{version!r} is no version.", fix="Write three numbers, such as 1.0.0.")
    path = folder_for("spec", workspace) / f"{draft.chip}_v{version}.yaml"
    if path.exists():
        raise InputError(f"{path.name} is there already.", "A version is never changed.", "Choose a higher version.")
    before = read_spec(onto) if onto else None
    decided = decisions_of(draft, stands, person, draft.chip, version, reason, given_from)
    accepted = accept(with_own_keys(draft, before) if before else draft, decided, before)
    if onto:
        keep_comments(onto, accepted.spec, path)
    else:
        save_spec(accepted.spec, path)
    conflicts = tuple(conflict.path for conflict in accepted.conflicts)
    in_it = {key for key, each in stands.items() if each.kind == "edit" or _is_in(each, accepted)}
    sentence = text("saved", file=path.name, count=len(in_it))
    if conflicts:
        sentence += " " + text("saved_open", places=", ".join(conflicts))
    return Saved(path, len(in_it), conflicts, sentence)


def _is_in(stands: Standing, accepted: Acceptance) -> bool:
    """Whether an accepted place got into the spec; one statement of a document can fill several."""
    return stands.kind == "accept" and stands.index in accepted.accepted
