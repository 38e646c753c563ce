"""Which words of a page come from its text layer and which must be read from its image.

A text layer may be empty (a scan), hold only bullets (text painted as pictures), or stand beside a picture of text. So
the ink on the page decides: what is drawn but not covered by words of the text layer, and looks like lines of text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from hwdoc_ingest.ocr.ocr import default_engine, skew
from hwdoc_ingest.ocr.ocr_engine import Image, OcrEngine, SeenWord
from hwdoc_ingest.ocr.ocr_spaces import keep_apart
from hwdoc_ingest.ocr.ocr_spelling import mend_quantities
from hwdoc_ingest.ocr.ocr_turns import ANGLES, read_any_way
from hwdoc_ingest.page.pages import Box, Page, PdfFile, Ruling, Word
from hwdoc_ingest.rules.page_filter import can_matter
from metainfer_core.errors import InputError

DPI = 200
"""Resolution for reading, in which small raised marks and decimal points are seen."""
LOOK_DPI = 72
"""Resolution for looking whether there is text at all."""
MAX_PIXELS = 30_000_000
"""Largest picture that is rendered; a larger page is rendered more coarsely."""
FEW_GLYPHS = 150
"""A page with fewer letters and digits in its text layer is looked at."""
LARGE_PICTURE = 0.2
"""Share of the page that a picture must cover to be looked at on a page that has a text layer."""
MIN_LINES = 5
"""Lines of text that a strip of the page must show for the page to be read."""
MIN_PICTURE_LINES = 9
"""The same for a picture on a page that has text: block diagrams and pin layouts are not read."""
CERTAIN = 0.5
"""Words that the engine is less sure of are left out."""


def read_page(file: PdfFile, number: int, engine: Callable[[], OcrEngine] = default_engine) -> tuple[Page, str]:
    """A page with its words, and a note on what was read from its image (or an empty text)."""
    try:
        page = file.page(number, can_matter)
    except InputError as error:
        return Page(number, 1.0, 1.0, (), is_broken=True), f"Page {number} was left out: {error.why}"
    unsure = 0
    for region in _regions_to_read(file, page):
        page, more = _with_ocr(file, page, region, engine())
        unsure += more
    return (
        page,
        f"Page {number}: {unsure} words of its image could not be read surely and were left out." if unsure else "",
    )


def _regions_to_read(file: PdfFile, page: Page) -> list[Box]:
    """The parts of a page that show text which its text layer lacks: all of it, or large pictures on it."""
    known = _known_words(page)
    glyphs = _letters(known)
    handle = file.open_page(page.number)
    try:
        if page.garbled:
            return [(0.0, 0.0, page.width, page.height)]
        if glyphs < FEW_GLYPHS:
            whole = (0.0, 0.0, page.width, page.height)
            return [whole] if _shows_text(_ink(handle, page, known), whole, MIN_LINES, 2) else []
        pictures = _pictures(handle, page)
        if not pictures:
            return []
        ink = _ink(handle, page, known)
        chosen: list[Box] = []
        for picture in pictures:
            covered = sum(c.isalnum() for w in page.words if _inside(w.box, picture) for c in w.text)
            apart = not any(_inside(picture, other) for other in chosen)
            if apart and covered < FEW_GLYPHS and _shows_text(ink, picture, MIN_PICTURE_LINES, 4):
                chosen.append(picture)
        return chosen
    finally:
        handle.close()


def _known_words(page: Page) -> tuple[Word, ...]:
    """The words of the text layer with turned headers; a page that lies on its side is read by its image."""
    lies = _letters(page.turned) > 2 * _letters(page.words)
    return page.words if lies else (*page.words, *page.turned)


def _letters(words: Sequence[Word]) -> int:
    return sum(c.isalnum() for word in words for c in word.text)


def _pictures(handle: pypdfium2.PdfPage, page: Page) -> list[Box]:
    """Large pictures on the page, the largest first."""
    boxes = []
    for item in handle.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=2):
        left, bottom, right, top = item.get_bounds()
        if (right - left) * (top - bottom) > LARGE_PICTURE * page.width * page.height:
            boxes.append((max(0.0, left), max(0.0, page.height - top), min(right, page.width), page.height - bottom))
    return sorted(boxes, key=lambda box: -(box[2] - box[0]) * (box[3] - box[1]))[:4]


def _inside(box: Box, outer: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def _ink(handle: pypdfium2.PdfPage, page: Page, words: Sequence[Word]) -> npt.NDArray[np.bool_]:
    """What is dark on the page and not covered by its text layer, at LOOK_DPI."""
    scale = _scale(page, LOOK_DPI)
    gray = render(handle, scale).mean(axis=2)
    paper, darkest = float(np.median(gray)), float(np.percentile(gray, 0.5))
    ink: npt.NDArray[np.bool_] = gray < paper - max(25.0, 0.4 * (paper - darkest))
    for word in words:
        left, top, right, bottom = (int(edge * scale) for edge in word.box)
        ink[max(0, top - 1) : bottom + 2, max(0, left - 1) : right + 2] = False
    return ink


def _shows_text(ink: npt.NDArray[np.bool_], region: Box, lines: int, bands: int) -> bool:
    """Whether the ink of a region forms lines: strips of text height with white between them.

    Each of six vertical bands is looked at on its own, so that a slight skew does not smear the strips; `bands` of them
    must show at least `lines` strips.
    """
    scale = LOOK_DPI / 72
    part = ink[int(region[1] * scale) : int(region[3] * scale), int(region[0] * scale) : int(region[2] * scale)]
    if part.size == 0:
        return False
    enough = 0
    for band in np.array_split(part, 6, axis=1):
        rows = band.mean(axis=1) > 0.02
        edges = np.flatnonzero(np.diff(np.concatenate(([0], rows.astype(np.int8), [0]))))
        heights = (edges[1::2] - edges[::2]) / scale
        enough += int(np.count_nonzero((heights >= 4) & (heights <= 22))) >= lines
    return enough >= bands


def _scale(page: Page, dpi: float) -> float:
    scale = dpi / 72
    pixels = page.width * page.height * scale * scale
    return scale if pixels <= MAX_PIXELS else scale * math.sqrt(MAX_PIXELS / pixels)


def render(handle: pypdfium2.PdfPage, scale: float) -> Image:
    """The page as an image: height, width, 3 (blue, green, red), `scale` pixels a point."""
    bitmap = handle.render(scale=scale, rev_byteorder=False, prefer_bgrx=False)
    try:
        pixels = bitmap.to_numpy()
        if pixels.ndim == 2 or pixels.shape[2] == 1:
            pixels = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
        return np.ascontiguousarray(pixels[:, :, :3])
    finally:
        bitmap.close()


def _with_ocr(file: PdfFile, page: Page, region: Box, engine: OcrEngine) -> tuple[Page, int]:
    """The page with the words of a region read from its image, and how many were left out as unsure.

    Words of the text layer stay where none was read. Only a page that is one image is straightened: beside a text layer
    nothing is askew.
    """
    scale = _scale(page, DPI)
    handle = file.open_page(page.number)
    try:
        image = render(handle, scale)
    finally:
        handle.close()
    left, top, right, bottom = (int(edge * scale) for edge in region)
    image = np.ascontiguousarray(image[top:bottom, left:right])
    is_whole = region == (0.0, 0.0, page.width, page.height)
    words, quarters = read_any_way(image, engine) if is_whole else (engine.read(image), 0)
    every = [word for word in words if word.text.strip()]
    seen = [word for word in every if word.sure >= CERTAIN]
    angle = ANGLES[quarters] or (skew(seen) if is_whole else 0.0)
    read = keep_apart(mend_quantities([_word(word, scale, (left, top), page, angle) for word in seen]))
    trusted = () if page.garbled or quarters else page.words
    kept = [w for w in trusted if not any(_inside(w.box, word.box) for word in read)]
    rulings = [*page.rulings, *_drawn_rulings(image, scale, (left, top), page, 0.0 if quarters else angle)]
    if quarters:
        rulings = [Ruling(_box_turned(ruling.box, page, angle)) for ruling in rulings]
    straight = Page(page.number, page.width, page.height, (*kept, *read), tuple(rulings), by_ocr=True, skew=angle)
    return straight, len(every) - len(seen)


def turned(point: tuple[float, float], page: Page, angle: float) -> tuple[float, float]:
    """A point of the page turned by `angle` around its middle, so that rising lines become level."""
    x, y = point[0] - page.width / 2, point[1] - page.height / 2
    cosine, sine = math.cos(-angle), math.sin(-angle)
    return x * cosine - y * sine + page.width / 2, x * sine + y * cosine + page.height / 2


def as_shown(box: Box, page: Page) -> Box:
    """A box of a straightened page as it stands on the page as shown."""
    if not page.skew:
        return box
    return _box_turned(box, page, -page.skew)


def _box_turned(box: Box, page: Page, angle: float) -> Box:
    corners = [turned((x, y), page, angle) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _word(word: SeenWord, scale: float, offset: tuple[int, int], page: Page, angle: float) -> Word:
    points = [turned(((x + offset[0]) / scale, (y + offset[1]) / scale), page, angle) for x, y in word.corners]
    top, bottom = (points[0][1] + points[1][1]) / 2, (points[2][1] + points[3][1]) / 2
    height = max(bottom - top, 1.0)
    box = (points[0][0], top, points[1][0], bottom)
    return Word(word.text, box, 0.72 * height, bottom - 0.25 * height, sure=word.sure)


def _drawn_rulings(image: Image, scale: float, offset: tuple[int, int], page: Page, angle: float) -> list[Ruling]:
    """Straight lines in the picture, level and upright, at least 40 points long."""
    import cv2

    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    height, width = gray.shape
    if angle:
        centre = (page.width / 2 * scale - offset[0], page.height / 2 * scale - offset[1])
        turn = cv2.getRotationMatrix2D(centre, math.degrees(angle), 1.0)
        gray = np.asarray(cv2.warpAffine(gray, turn, (width, height), borderValue=(255.0,)))
    dark = (gray < 150).astype(np.uint8)
    rulings = []
    length = int(40 * scale)
    for kernel in ((length, 1), (1, length)):
        lines = cv2.morphologyEx(
            cv2.dilate(dark, np.ones((2, 2), np.uint8)), cv2.MORPH_OPEN, np.ones(kernel[::-1], np.uint8)
        )
        count, _, stats, _ = cv2.connectedComponentsWithStats(lines)
        for x, y, wide, high, _ in stats[1:count]:
            if min(wide, high) <= 5 * scale:
                box = tuple(
                    float(edge) / scale
                    for edge in (x + offset[0], y + offset[1], x + wide + offset[0], y + high + offset[1])
                )
                rulings.append(Ruling((box[0], box[1], box[2], box[3])))
    return rulings
