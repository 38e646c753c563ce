"""Purging a manual from a workspace: its bytes and all that was made from them go, digests and values stay.

What goes: the document and every copy of it, pictures of its pages, answers of the jobs that read it, and copies of
drafts in the studio's caches. On request, also the few words that drafts and specs quote. What people wrote into the
record cannot go, so it is said where words of the document stand in it.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from metainfer_core.bundle.trust import PersonId, Time
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, alone, read_bytes, write_bytes
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import canonical_json, read_json
from review_store.keeping.manual_files import (
    PURGED,
    PurgedManual,
    PurgedManuals,
    file_digest,
    manual_folder,
    purged_manuals,
)
from review_store.keeping.quotations import (
    Quotation,
    names_of,
    quotations,
    quoted,
    read_quoting,
    take_words_out,
    without_words,
)
from review_store.record.database import store_errors
from review_store.record.log import DATABASE

PAGES, DRAFTS, GROWING, JOBS, DECISIONS = "pages", "drafts", "growing", "jobs", "decisions"
"""Folders of the workspace's hidden folder `.studio` that a document leaves traces in."""
SEARCHED_BYTES = 512 * MEBIBYTE
LEAST_WORDS = 12
"""Characters of a quotation that is searched for elsewhere; shorter ones, such as `512 KB`, stand anywhere."""


@dataclass(frozen=True)
class Traces:
    """Everything of a workspace that holds a document or was made from it."""

    digest: str
    documents: tuple[Path, ...]
    made_from_it: tuple[Path, ...]
    """Files and folders."""
    quoting: dict[Path, SpecDraft | HardwareSpec] = field(repr=False)
    names: frozenset[str]
    """What the document is called."""

    @property
    def words(self) -> dict[Path, dict[str, str]]:
        """File to place to the words that are quoted there, of files that quote any."""
        found = {path: quoted(each, self.digest) for path, each in self.quoting.items()}
        return {path: places for path, places in found.items() if places}


@dataclass(frozen=True)
class Outcome:
    """What a purge did, and what people must look at themselves."""

    removed: tuple[str, ...]
    words_taken_out: int
    still_quoting: tuple[str, ...]
    """Files that hold words of the document still."""
    pictures_in: tuple[str, ...]
    """Pages that people exported, which show places of it."""


def traces_of(workspace: Path, digest: str, size_bytes: int | None = None) -> Traces:
    """What a workspace holds of a document; raises InputError where that is nothing at all.

    Where the document's size is given, files of other sizes are not read.
    """
    documents = tuple(
        path for path in _every_file(workspace) if size_bytes in (None, path.stat().st_size) and _is(path, digest)
    )
    quoting = {}
    for path in _every_file(workspace):
        found = read_quoting(path) if path.suffix in (".yaml", ".yml") else None
        if found is not None and any(each.document_digest == digest for each in found.sources.values()):
            quoting[path] = found
    names = {path.name for path in documents}.union(*(names_of(each, digest) for each in quoting.values()))
    made = tuple(_made_from(workspace, digest, names))
    if not documents and not quoting and not made:
        raise InputError(
            f"{digest}: nothing in {workspace} holds this document or was read from it.",
            "A document is known by the SHA-256 of its bytes.",
            "`meta-infer workspace manuals` lists the documents that there are.",
        )
    return Traces(digest, documents, made, quoting, frozenset(names))


def purge(workspace: Path, traces: Traces, with_quotations: bool, actor: PersonId, at: Time) -> Outcome:
    """Removes a document and what was made from it. Digests are written down first: an interrupted purge can go on.

    Raises:
        InputError: A job is reading a document right now, or a file cannot be removed.
    """
    running = [path for path in traces.made_from_it if path.parent.name == JOBS and _is_running(path)]
    if running:
        raise InputError(
            "A job is reading a document right now.",
            f"{running[0].name} has not ended.",
            "Wait until it has ended, or stop it, and purge then.",
        )
    words = traces.words
    taken = with_quotations and bool(words)
    kept = tuple(each for path, places in words.items() for each in quotations(workspace, path, places))
    _write_down(workspace, traces, kept if taken else (), with_quotations, actor, at)
    for path in (*traces.documents, *traces.made_from_it):
        _remove(path)
    if taken:
        for path in words:
            _take_out(workspace, path, traces.quoting[path], traces.digest)
    _vacuum(workspace / DATABASE)
    said = [text for places in words.values() for text in places.values() if len(text) >= LEAST_WORDS]
    return Outcome(
        removed=tuple(_name(workspace, path) for path in (*traces.documents, *traces.made_from_it)),
        words_taken_out=len(kept) if taken else 0,
        still_quoting=tuple(sorted(_name(workspace, path) for path in _files_with(workspace, said))),
        pictures_in=tuple(sorted(_name(workspace, path) for path in _exports_showing(workspace, traces.digest))),
    )


def _every_file(workspace: Path) -> Iterator[Path]:
    """Every file of the workspace, hidden ones too, and of its folder for manuals; links are not followed."""
    roots = [workspace]
    folder = manual_folder(workspace)
    if not folder.resolve().is_relative_to(workspace.resolve()):
        roots.append(folder)
    for root in roots:
        for path in sorted(root.rglob("*")):
            if not path.is_symlink() and path.is_file():
                yield path


def _is(path: Path, digest: str) -> bool:
    with suppress(OSError):
        return file_digest(path) == digest
    return False


def _made_from(workspace: Path, digest: str, names: set[str]) -> Iterator[Path]:
    hidden = workspace / ".studio"
    pages = hidden / PAGES / digest.removeprefix("sha256:")
    if pages.is_dir():
        yield pages
    for name in (DRAFTS, GROWING):
        for path in sorted((hidden / name).glob("*.json")):
            if digest.encode() in path.read_bytes():
                yield path
    for told in sorted((hidden / JOBS).glob("*/order.json")):
        order = read_json(read_bytes(told, "job"), str(told))
        arguments = order.get("arguments", []) if isinstance(order, dict) else []
        if "ingest" in arguments[:1] and names & {Path(each).name for each in arguments}:
            yield told.parent
    for path in sorted(workspace.rglob(".*.tmp")):  # left behind where a program was killed while it wrote
        if any(path.name.startswith(f".{name[:100]}.") for name in names):
            yield path


def _is_running(job: Path) -> bool:
    """Whether a job's process holds its lock."""
    alive = job / "alive"
    if not alive.is_file():
        return False
    with alive.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _write_down(
    workspace: Path, traces: Traces, words: tuple[Quotation, ...], with_quotations: bool, actor: PersonId, at: Time
) -> None:
    path = workspace / PURGED
    with alone(path):
        before = purged_manuals(workspace)
        earlier = [each for each in before if each.document_digest == traces.digest]
        known = {each.place + each.file: each for one in earlier for each in one.words}
        merged = known | {each.place + each.file: each for each in words}
        now = PurgedManual(
            document_digest=traces.digest,
            file_names=tuple(sorted(traces.names.union(*(each.file_names for each in earlier)))),
            at=at,
            actor=actor,
            quotations=with_quotations or any(each.quotations for each in earlier),
            words=tuple(merged.values()),
        )
        others = [each for each in before if each.document_digest != traces.digest]
        write_bytes(
            path, canonical_json(PurgedManuals(manuals=(*others, now)).plain()) + b"\n", "list of purged manuals"
        )


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{path}: this cannot be removed.",
            f"{error.strerror or error}. What was removed before it is gone.",
            "Mend the permissions, and purge again.",
        ) from error


def _take_out(workspace: Path, path: Path, found: SpecDraft | HardwareSpec, digest: str) -> None:
    """Takes the words out of a draft or spec; what people decided about the draft moves to its new digest."""
    if isinstance(found, SpecDraft):
        decisions = workspace / ".studio" / DECISIONS
        before, after = (
            decisions / f"{each.digest.removeprefix('sha256:')}.jsonl" for each in (found, without_words(found, digest))
        )
        if before.is_file() and not (after.is_file() and after.stat().st_size >= before.stat().st_size):
            write_bytes(after, read_bytes(before, "record of decisions", SEARCHED_BYTES), "record of decisions")
        take_words_out(path, found, digest)
        before.unlink(missing_ok=True)
    else:
        take_words_out(path, found, digest)


def _vacuum(database: Path) -> None:
    """Writes the record's file anew, without what stood in pages that it no longer uses, and empties its journal."""
    if not database.is_file():
        return
    with store_errors(database), closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _files_with(workspace: Path, words: list[str]) -> Iterator[Path]:
    """Files that hold one of these texts, as UTF-8 or as a JSON text spells it."""
    needles = {form for text in words for form in (text.encode(), canonical_json(text)[1:-1])}
    if not needles:
        return
    for path in _every_file(workspace):
        if path.name != PURGED and path.stat().st_size <= SEARCHED_BYTES:
            data = path.read_bytes()
            if any(needle in data for needle in needles):
                yield path


def _exports_showing(workspace: Path, digest: str) -> Iterator[Path]:
    for path in _every_file(workspace):
        if path.suffix in (".html", ".htm") and path.stat().st_size <= SEARCHED_BYTES:
            data = path.read_bytes()
            if digest.encode() in data and b"data:image/png" in data:
                yield path


def _name(workspace: Path, path: Path) -> str:
    return path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else str(path)
