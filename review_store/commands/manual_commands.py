"""Commands `meta-infer workspace manuals` and `meta-infer workspace purge`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.cli.console import Json, emit
from metainfer_core.errors import InputError
from review_store.commands.review_options import Workspace
from review_store.keeping.manual_files import (
    choose_manual_folder,
    file_digest,
    manual_candidates,
    manual_folder,
    purged_manuals,
)
from review_store.keeping.manual_purge import purge, traces_of
from review_store.review.workspace import DEFAULT_WORKSPACE, default_person, now, person_id

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def manuals(
    folder: Annotated[Path | None, typer.Option("--folder", help="Keep them in this folder from now on.")] = None,
    own: Annotated[bool, typer.Option("--own", help="Keep them in the workspace's own folder again.")] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Shows where manuals lie, with their digests, and what was purged; or chooses their folder."""
    if folder is not None and own:
        raise InputError("--folder and --own do not go together.", fix="Give one of them.")
    if folder is not None or own:
        choose_manual_folder(workspace, folder)
    there = manual_folder(workspace)
    found = {str(path): file_digest(path) for path in manual_candidates(workspace)}
    gone = purged_manuals(workspace)
    lines = [f"Manuals lie in {there.absolute()}."]
    lines += [f"  {digest}  {path}" for path, digest in found.items()]
    for each in gone:
        names = ", ".join(each.file_names) or "a document"
        words = f", {len(each.words)} quotations taken out" if each.quotations else ""
        lines.append(f"  {each.document_digest}  {names}: purged on {each.at} by {each.actor}{words}")
    data = {"folder": str(there.absolute()), "manuals": found, "purged": [each.plain() for each in gone]}
    emit(as_json, data, "\n".join(lines))


def purge_command(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="The document: its file, or its sha256:... .")],
    with_quotations: Annotated[
        bool, typer.Option("--quotations", help="Also the words that drafts and specs quote from it.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, what would go is listed.")] = False,
    person: Annotated[str | None, typer.Option("--as", metavar="PERSON", help="Who purges (default: git).")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Removes a manual and all that was made from it; digests, values and what people decided stay."""
    who = default_person() if person is None else person_id(person)
    named = None if DIGEST.fullmatch(document) else Path(document)
    digest = document if named is None else _digest_of(named)
    traces = traces_of(workspace, digest, None if named is None else named.stat().st_size)
    if not yes:
        going = [str(path) for path in (*traces.documents, *traces.made_from_it)]
        quoting = {str(path): len(traces.words[path]) for path in traces.words}
        lines = [*going, *(f"{path}: quotes it in {count} places" for path, count in quoting.items())]
        kept = "would be taken out" if with_quotations else "would stay; --quotations takes them out"
        lines.append(f"{len(going)} files and folders would go; the words that are quoted {kept}. Add --yes to do it.")
        emit(as_json, {"would_remove": going, "quoting": quoting}, "\n".join(lines))
        return
    done = purge(workspace, traces, with_quotations, who, now())
    lines = [f"Removed: {name}" for name in done.removed]
    lines.append(f"{digest} is purged; {done.words_taken_out} quotations were taken out.")
    lines += [f"Still quotes it: {name}" for name in done.still_quoting]
    lines += [f"Shows pictures of it: {name}" for name in done.pictures_in]
    if done.still_quoting or done.pictures_in:
        lines.append("Look at these yourself: the record of decisions is never changed, and files of yours are not.")
    data = {
        "removed": list(done.removed),
        "words_taken_out": done.words_taken_out,
        "still_quoting": list(done.still_quoting),
        "pictures_in": list(done.pictures_in),
    }
    emit(as_json, data, "\n".join(lines))


def _digest_of(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such document.",
            "A document is named by its file, or by the SHA-256 of its bytes as `sha256:` and 64 digits.",
            "`meta-infer workspace manuals` lists the documents that there are.",
        )
    return file_digest(path)
