"""Commands `meta-infer workspace backup`, `restore`, `upgrade` and `check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit, progress, verdict
from metainfer_core.files import check_outputs, read_bytes, refuse_existing
from review_store.commands.review_options import Workspace
from review_store.keeping.backup import back_up
from review_store.keeping.restore import Witness, restore
from review_store.keeping.upgrade import upgrade
from review_store.keeping.workspace_state import state_of
from review_store.review.workspace import DEFAULT_WORKSPACE, now, trust_path

Bundles = Annotated[
    list[Path] | None, typer.Option("--bundle", help="A signed bundle that bears witness; several times.")
]


def backup_command(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The backup to write, outside of the workspace.")],
    without_manuals: Annotated[
        bool, typer.Option("--without-manuals", help="Leave the workspace's folder of manuals out.")
    ] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Saves all work in one file, while people go on with it; the same work gives the same bytes."""
    check_outputs([output], "backup")
    refuse_existing(output, what="backup")
    with progress("Backing up") as report:
        report(str(workspace), 0, 0)
        done = back_up(workspace, output, not without_manuals)
    record = done.manifest.record
    lines = [f"{output}: {len(done.manifest.files)} files, {output.stat().st_size:,} bytes."]
    lines.append(f"The record of decisions ends at event {record.seq}, {record.hash}.")
    lines += [f"Left out: {name}" for name in done.left_out]
    lines += [f"The record is not whole: {fault.what}" for fault in done.faults]
    data = {
        "backup": str(output),
        "files": len(done.manifest.files),
        "record": record.plain(),
        "left_out": list(done.left_out),
        "faults": [each.plain() for each in done.faults],
    }
    emit(as_json, data, "\n".join(lines))
    verdict(bool(done.faults))


def restore_command(
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    replace: Annotated[bool, typer.Option("--replace", help="Move aside what stands in its place.")] = False,
    roll_back: Annotated[
        bool, typer.Option("--roll-back", help="Restore although later decisions would be gone from the record.")
    ] = False,
    bundle: Bundles = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Puts a backup in place, every file checked first; names what an old one would lose."""

    def witnesses(unpacked: Path) -> list[Witness]:
        return _witnesses(bundle or (), workspace if trust_path(workspace).is_file() else unpacked)

    with progress("Restoring") as report:
        report(str(backup), 0, 0)
        done = restore(backup, workspace, replace, roll_back, witnesses)
    record = done.manifest.record
    lines = [f"{workspace}: {len(done.manifest.files)} files; the record ends at event {record.seq}."]
    lines += [f"Lost: {sentence}" for sentence in done.lost]
    if done.moved_aside:
        lines.append(f"What stood here lies in {done.moved_aside}.")
    elif not bundle:
        lines.append("Nothing here shows whether a newer backup exists: a signed bundle does, given with --bundle.")
    data = {
        "workspace": str(workspace),
        "files": len(done.manifest.files),
        "record": record.plain(),
        "moved_aside": None if done.moved_aside is None else str(done.moved_aside),
        "lost": list(done.lost),
    }
    emit(as_json, data, "\n".join(lines))


def upgrade_command(workspace: Workspace = DEFAULT_WORKSPACE, as_json: Json = False) -> None:
    """Brings the record's tables to the newest form; saves a backup beside the workspace before it changes any."""
    done = upgrade(workspace)
    if done.backup is None:
        text = f"{workspace}: nothing to upgrade, the tables have the newest form ({done.after})."
    else:
        text = f"{workspace}: tables {done.before or 'of no form'} → {done.after}. The backup is {done.backup}."
    data = {
        "before": done.before,
        "after": done.after,
        "backup": None if done.backup is None else str(done.backup),
    }
    emit(as_json, data, text)


def check_command(bundle: Bundles = None, workspace: Workspace = DEFAULT_WORKSPACE, as_json: Json = False) -> None:
    """Says whether all that a workspace holds can be relied on: the record, its files, and the manuals behind specs."""
    found = state_of(workspace, tuple(each.head for each in _witnesses(bundle or (), workspace)))
    lines = [*found.faults, *found.notes]
    lines.append(f"{workspace}: {found.events} events, {found.files} files read; {len(found.faults)} faults.")
    data = {
        "faults": list(found.faults),
        "notes": list(found.notes),
        "events": found.events,
        "files": found.files,
    }
    emit(as_json, data, "\n".join(lines))
    verdict(bool(found.faults))


def _witnesses(bundles: Sequence[Path], folder: Path) -> list[Witness]:
    """The bundles, opened with the trust file of a folder, with the end of the record that each states."""
    trust, found = read_trust(trust_path(folder)), []
    for path in bundles:
        opened = open_bundle(read_bytes(path, "bundle"), trust, now(), source=str(path))
        found.append(Witness(str(path), opened.statement.predicate.review_log))
    return found
