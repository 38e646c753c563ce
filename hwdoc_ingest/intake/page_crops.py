"""Cut-outs of a manual's pages around the places that values were read from: small pictures, the place marked."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image as Picture

from hwdoc_ingest.intake.intake import DEFAULT_LIMITS, Limits, Place, Task, in_child
from hwdoc_ingest.ocr.page_image import render_page
from hwdoc_ingest.page.pages import Box
from hwdoc_ingest.reading import Progress
from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes

DPI = 144
WIDTH, HEIGHT = 720, 168
"""Pixels of a cut-out: five inches of the page across."""
GREYS = 16
PDF_LIMIT = 512 * MEBIBYTE


def crops(path: Path, places: Sequence[Place], progress: Progress) -> tuple[bytes | None, ...]:
    """A PNG for each place, in their order; None where the document has no such page or it cannot be drawn.

    Runs on documents that are trusted; `crops_safely` does the same in a limited process.
    """
    data = read_bytes(path, "PDF", PDF_LIMIT)
    drawn: dict[Place, bytes | None] = {}
    for index, place in enumerate(dict.fromkeys(places)):
        progress(f"cutting out of page {place.page}", index, len(places))
        try:
            drawn[place] = _cut(render_page(data, place.page, DPI, (place.box,), file_name=path.name), place.box)
        except MetaInferError:
            drawn[place] = None
    return tuple(drawn[place] for place in places)


def crops_safely(
    path: Path, wanted: Sequence[tuple[int, Box]], progress: Progress, limits: Limits = DEFAULT_LIMITS
) -> tuple[bytes | None, ...]:
    """The cut-outs of the document at `path`, drawn in a limited process.

    Raises:
        InputError: The document is broken, locked or hostile, or takes more than it may.
    """
    places = tuple(Place(page=page, box=box) for page, box in wanted)
    answer = in_child(path, Task(crops=places), progress, limits)["crops"]
    return tuple(None if each is None else base64.b64decode(each) for each in answer)


def _cut(page: bytes, box: Box) -> bytes:
    """The part of a page's picture around a box; what would lie beyond the page's edge is left out."""
    picture = Picture.open(io.BytesIO(page))
    left, top, right, bottom = (edge * DPI / 72 for edge in box)
    from_left = round(max(0.0, min((left + right - WIDTH) / 2, picture.width - WIDTH)))
    from_top = round(max(0.0, min((top + bottom - HEIGHT) / 2, picture.height - HEIGHT)))
    until = min(picture.width, from_left + WIDTH), min(picture.height, from_top + HEIGHT)
    part = picture.crop((from_left, from_top, *until)).quantize(GREYS, method=Picture.Quantize.FASTOCTREE)
    out = io.BytesIO()
    part.save(out, "PNG", optimize=True)
    return out.getvalue()
