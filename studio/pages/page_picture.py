"""Pictures of a document's pages: drawn once in a limited process of their own, then kept by the document's digest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from hwdoc_ingest.intake.intake import Limits
from hwdoc_ingest.intake.intake_child import limit_process
from hwdoc_ingest.ocr.page_image import render_page
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes
from studio.files.workspace import hidden_folder

DPI = 144
"""Two pixels a point, so that marks can be laid over the picture without asking for its size."""
PDF_LIMIT = 512 * MEBIBYTE
_LIMITS = Limits(memory_bytes=4 << 30, seconds=60, cpu_seconds=60)
_AT_ONCE = threading.Semaphore(2)
_LOCKS: dict[Path, threading.Lock] = {}


def page_picture(document: Path, digest: str, page: int, workspace: Path | None = None) -> Path:
    """The PNG of a page at `DPI`; raises InputError with the reader's own words where it cannot be drawn."""
    picture = hidden_folder("pages", workspace) / digest.removeprefix("sha256:") / f"{page}-{DPI}.png"
    with _LOCKS.setdefault(picture, threading.Lock()):
        if not picture.is_file():
            picture.parent.mkdir(parents=True, exist_ok=True)
            with _AT_ONCE:
                _draw(document, page, picture)
    return picture


def forget_pictures(digest: str, workspace: Path | None = None) -> None:
    """Deletes all pictures of a document; OSError where they cannot be deleted."""
    folder = hidden_folder("pages", workspace) / digest.removeprefix("sha256:")
    if folder.is_dir():
        shutil.rmtree(folder)


def _draw(document: Path, page: int, picture: Path) -> None:
    command = [sys.executable, "-m", "studio.pages.page_picture", str(document), str(page), str(picture)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMITS.seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"Page {page} of {document.name} takes too long to draw.",
            f"It was stopped after {_LIMITS.seconds:.0f} s.",
            "Open the document itself beside this screen.",
        ) from error
    if picture.is_file():
        return
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = {"what": f"Page {page} of {document.name} cannot be drawn.", "why": f"Status {done.returncode}."}
    raise InputError(told.get("what", ""), told.get("why", ""), told.get("fix", ""))


def _main(document: Path, page: int, picture: Path) -> None:
    """The process that draws: it may hang or eat memory, so it is limited before it opens the document."""
    limit_process(_LIMITS)
    try:
        data = read_bytes(document, "PDF", PDF_LIMIT)
        write_bytes(picture, render_page(data, page, DPI, file_name=document.name), "picture")
    except MetaInferError as error:
        sys.stdout.write(json.dumps({"what": error.what, "why": error.why, "fix": error.fix}))
        sys.exit(error.exit_status)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
