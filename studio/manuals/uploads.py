"""What people upload: kept apart, unread, until a job has read it in a limited process; only then it joins the rest."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path

from hwdoc_ingest.intake.read_document import SAMPLE_BYTES, kind_by_start
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, write_bytes
from metainfer_core.spec.files.yaml_file import parse_spec
from studio.background.jobs import Job, Order, start
from studio.drafts.growing import growing_drafts, growing_path
from studio.files.documents import document_with, file_digest
from studio.files.workspace import folder_for, hidden_folder
from studio.pages.page_picture import forget_pictures

ENDINGS = ("pdf", "xlsx", "csv", "svd", "dts", "dtsi", "dtb")
UPLOAD_LIMIT_MEGABYTES = 256
"""Of one file that comes through the browser, which the server holds in memory; what lies in the workspace may have
twice as much.
"""
_ABOUT_THE_DOCUMENT = re.compile(r"data|sheet|datasheet|ds|trm|manual|reference|technical|user|guide|brief|rev\w*|en")
_CHIP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,59}")


def take_in(name: str, data: bytes, workspace: Path | None = None) -> Path:
    """Keeps an upload in quarantine under a name that is safe; raises InputError where it cannot be taken."""
    check_upload(name, data)
    stem, _, ending = name.rsplit("/", 1)[-1].rpartition(".")
    path = hidden_folder("quarantine", workspace) / secrets.token_hex(8) / f"{safe_stem(stem)}.{ending.lower()}"
    write_bytes(path, data, "upload", mode=0o600)
    return path


def discard(upload: Path, workspace: Path | None = None) -> None:
    """Deletes an upload from quarantine, and from nowhere else; raises InputError where it cannot be deleted.

    The pictures of its pages go with it, if no other document holds the same.
    """
    if upload.parent.parent != hidden_folder("quarantine", workspace):
        raise InputError(f"{upload.name}: this is no upload.", fix="Delete the file in its folder.")
    try:
        digest = file_digest(upload) if upload.is_file() else None
        upload.unlink(missing_ok=True)
        upload.parent.rmdir()
        if digest is not None and document_with(digest, workspace) is None:
            forget_pictures(digest, workspace)
    except OSError as error:
        raise InputError(
            f"{upload.name}: this upload cannot be deleted.", f"{error.strerror}.", "Make the workspace writable."
        ) from error


def chip_from_name(name: str) -> str:
    """A first guess of the chip's name from a document's: `RK3588 Datasheet v1.4.pdf` is about rk3588."""
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()
    words = [word for word in re.split(r"[^0-9a-z]+", stem) if word]
    kept: list[str] = []
    for word in words:
        if kept and _ABOUT_THE_DOCUMENT.fullmatch(word):
            break
        kept.append(word)
    return "_".join(kept[:4])[:60]


def safe_stem(stem: str) -> str:
    """A file's name without what file systems, shells and pages take for more; letters of every script stay."""
    safe = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", stem)).strip("._-")[:100]
    return safe.encode()[:150].decode(errors="ignore") or "document"


def keep_upload(folder: Path, name: str, data: bytes) -> Path:
    """Keeps a file under its own name, or under one with a number where another file has that; never over one.

    Raises:
        InputError: The file is empty, or cannot be written.
    """
    if not data:
        raise InputError(f"{name}: the file is empty.", fix="Get it again.")
    stem, _, ending = name.rpartition(".")
    return keep_beside(folder / f"{safe_stem(stem)}.{ending.lower()}", data, "upload")


def keep_beside(first: Path, data: bytes, what: str) -> Path:
    """Writes a file, under a name with a number where another stands there; gives where these bytes stand."""
    path, number = first, 1
    while path.exists():
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return path
        number += 1
        path = first.with_stem(f"{first.stem}-{number}")
    write_bytes(path, data, what)
    return path


def check_upload(name: str, data: bytes) -> None:
    """Looks at name, size and first bytes; raises InputError where no document can be meant.

    Nothing that is uploaded is opened in the server's own process: the rest is seen when a job reads it.
    """
    if ":" in name:
        raise InputError(
            f"{name}: a document's name has no colon.",
            "Windows takes what follows it for a hidden part of the file: a program can be named like a document.",
            "Rename it.",
        )
    _, dot, ending = name.rsplit("/", 1)[-1].rpartition(".")
    if not dot or ending.lower() not in ENDINGS:
        fix = f"Give one of: {', '.join(ENDINGS)}."
        raise InputError(f"{name}: this is no kind of document that is read.", fix=fix)
    if not data:
        raise InputError(f"{name}: the file is empty.", fix="Get it again.")
    if len(data) > UPLOAD_LIMIT_MEGABYTES * MEBIBYTE:
        raise InputError(
            f"{name}: the file is too large.",
            f"It has {len(data):,} bytes; at most {UPLOAD_LIMIT_MEGABYTES} MiB come through the browser.",
            "Give the pages that matter, or put the file into the workspace's folder.",
        )
    kind_by_start(Path(name), data[:SAMPLE_BYTES])


def take_in_spec(name: str, data: bytes, workspace: Path | None = None) -> Path:
    """Keeps a spec file that is right, as `specs/<name>_v<version>.yaml`; raises InputError with its first fault."""
    spec = parse_spec(data, name)
    if not _CHIP.fullmatch(spec.name):
        raise InputError(
            f"{name}: {spec.name!r} cannot be the name of a file.", fix="Use letters, digits and `_ . + -`."
        )
    path = folder_for("spec", workspace) / f"{spec.name}_v{spec.version}.yaml"
    if path.exists():
        raise InputError(f"{path.name} is there already.", "A version is never changed.", "Give it a higher version.")
    write_bytes(path, data, "hardware spec")
    return path


def read_into_draft(
    chip: str, known: Sequence[Path], uploads: Sequence[Path], actor: str, workspace: Path | None = None
) -> Job:
    """Starts the job that reads documents into a new draft; uploads become manuals when they have been read."""
    chip = chip.strip()
    if not _CHIP.fullmatch(chip):
        raise InputError(
            f"{chip!r}: this cannot be the name of a chip.",
            "A name has letters, digits and `_ . + -`, and begins with a letter or digit.",
            "Give one such as rk3588.",
        )
    if not known and not uploads:
        raise InputError("There is nothing to read.", fix="Upload a document, or choose one of the workspace.")
    in_the_making = {each.name for each in growing_drafts(workspace)}
    draft = _free(folder_for("draft", workspace) / f"{chip}.yaml", in_the_making)
    draft.parent.mkdir(parents=True, exist_ok=True)
    manuals = folder_for("manual", workspace)
    return start(
        Order(
            kind="ingest",
            title=f"{chip}: {', '.join(path.name for path in (*known, *uploads))}"[:200],
            arguments=(
                "ingest",
                *map(str, (*known, *uploads)),
                *("--chip", chip, "--output", str(draft), "--so-far", str(growing_path(draft, workspace))),
            ),
            subject=f"drafts/{draft.name}",
            actor=actor,
            moves={str(path): str(_free(manuals / path.name)) for path in uploads},
        ),
        workspace,
    )


def _free(path: Path, in_the_making: Collection[str] = ()) -> Path:
    """The path, or the same with a number where something stands there already or is about to."""
    number, found = 1, path
    while found.exists() or f"drafts/{found.name}" in in_the_making:
        number += 1
        found = path.with_stem(f"{path.stem}-{number}")
    return found
