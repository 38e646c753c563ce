"""A page of a PDF as a picture with marks over the places that values were read from."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image as Picture
from PIL import ImageDraw

from hwdoc_ingest.ocr.ocr_pages import render
from hwdoc_ingest.page.pages import Box, PdfFile
from metainfer_core.errors import InputError

MARK = (255, 196, 0, 70)
EDGE = (214, 120, 0, 255)
MARGIN_POINTS = 1.5
DPI_RANGE = (36, 400)
MAX_PIXELS = 40_000_000


def render_page(data: bytes, page: int, dpi: int = 110, boxes: Sequence[Box] = (), file_name: str = "PDF") -> bytes:
    """PNG bytes of a page.

    Args:
        data: The PDF's bytes.
        page: 1 for the first page of the file.
        dpi: Resolution, 36 to 400.
        boxes: Left, top, right, bottom in points from the page's top left corner, as in a candidate.
        file_name: Its name, for messages.

    Raises:
        InputError: The PDF is locked or broken, has no such page, or the picture would be too large.
    """
    if not DPI_RANGE[0] <= dpi <= DPI_RANGE[1]:
        raise InputError(
            f"{dpi} dpi is not a usable resolution.", f"{DPI_RANGE[0]} to {DPI_RANGE[1]} are.", "Choose one of these."
        )
    scale = dpi / 72
    with PdfFile(data, file_name) as file:
        if not 1 <= page <= file.count:
            raise InputError(
                f"{file_name} has no page {page}.", f"It has pages 1 to {file.count}.", "Choose one of these."
            )
        handle = file.open_page(page)
        try:
            width, height = handle.get_size()
            if width * height * scale * scale > MAX_PIXELS:
                raise InputError(
                    f"{file_name}: page {page} is too large to be drawn at {dpi} dpi.",
                    f"It measures {width:.0f} x {height:.0f} points.",
                    "Choose a lower resolution.",
                )
            pixels = render(handle, scale)
        finally:
            handle.close()
    picture = Picture.fromarray(pixels[:, :, ::-1].copy()).convert("RGBA")
    layer = Picture.new("RGBA", picture.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    for left, top, right, bottom in boxes:
        edges = (left - MARGIN_POINTS, top - MARGIN_POINTS, right + MARGIN_POINTS, bottom + MARGIN_POINTS)
        draw.rectangle([edge * scale for edge in edges], fill=MARK, outline=EDGE, width=max(1, round(scale)))
    out = io.BytesIO()
    Picture.alpha_composite(picture, layer).convert("RGB").save(out, "PNG", optimize=False)
    return out.getvalue()
