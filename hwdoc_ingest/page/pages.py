"""Pages of a PDF as words with boxes: the text layer through PDFium, glyph by glyph.

All boxes are left, top, right, bottom in points (1/72 inch) from the top left corner of the page as it is shown, that
is, after its crop box and rotation.
"""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

from metainfer_core.errors import InputError

Box = tuple[float, float, float, float]

MAX_PAGES = 5000
MAX_GLYPHS = 60_000
"""Glyphs read from one page: a dense page has about 8,000."""
MAX_PATHS = 20_000
"""Drawn paths looked at on one page; a drawing with more is no table."""
EVERY, FEWEST, UNKNOWN_SHARE = 7, 10, 0.2
"""Each seventh glyph is asked for its character; of ten or more asked, a fifth without one make a page garbled."""
PLAIN = str.maketrans(
    {"\u00a0": " ", "\u00ad": "-", "−": "-", "–": "-", "‐": "-", "‑": "-", "µ": "μ"}
    | {"º": "°", "˚": "°"}
    | {"\ufffe": "-", "\x02": "-"}  # how PDFium marks a word that is broken at the end of a line
)


_VARIANTS = (
    ("\u2e80", "\u2fdf"),  # radicals that fonts give in place of the characters: ⽀ for 支
    ("\u3300", "\u33ff"),  # units in one square: ㎒, ㎃
    ("\uf900", "\ufaff"),  # Han characters of other code pages
    ("\ufb00", "\ufb06"),  # ligatures
    ("\uff00", "\uffef"),  # wide and narrow forms
    ("\U0001d400", "\U0001d7ff"),  # mathematical letters
)
"""First and last of the stretches of Unicode whose characters are other shapes of plain ones."""


def plain_text(text: str) -> str:
    """Text with ligatures, full-width forms and mathematical letters as plain ones, and one kind of hyphen."""
    if not text.isascii():
        text = "".join(unicodedata.normalize("NFKC", c) if _is_variant(c) else c for c in text)
    return text.translate(PLAIN)


def _is_variant(c: str) -> bool:
    return c in "℃℉Ω" or any(first <= c <= last for first, last in _VARIANTS)


@dataclass(frozen=True, slots=True)
class Word:
    """A run of glyphs without a space between them."""

    text: str
    box: Box
    size: float
    """Size of the font in points, as shown."""
    base: float
    """Distance of the baseline from the top of the page."""
    raised: int = 0
    """1 for a superscript, -1 for a subscript, 0 on the line."""
    sure: float = 1.0
    """How sure the reader is of the glyphs, 0 to 1 (1 for a text layer)."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line that is drawn on the page, horizontal or vertical."""

    box: Box
    shades: bool = False
    """Whether it is no line but the edge of a filled area, such as the shading of every second row."""

    @property
    def horizontal(self) -> bool:
        """Whether it runs from left to right."""
        return self.box[2] - self.box[0] > self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on one page."""

    number: int
    """1 for the first page of the file, whatever number is printed on it."""
    width: float
    height: float
    words: tuple[Word, ...]
    rulings: tuple[Ruling, ...] = ()
    by_ocr: bool = False
    """Whether any of the words came from an image."""
    skew: float = 0.0
    """By how much lines of text rise to the right on the page as shown, in radians; the boxes are straightened."""
    garbled: bool = False
    """Whether the text layer gives other letters than the page shows: its fonts do not say what their glyphs mean."""
    matters: bool = True
    """Whether a rule may find something on it; else its rulings are not read, and only its headings count."""
    is_broken: bool = False
    """Whether nothing of it could be read."""
    dots: tuple[Box, ...] = ()
    """Shapes that are drawn as small and as wide as high as a bullet is."""
    turned: tuple[Word, ...] = ()
    """Words of the text layer that run upwards or downwards, in the order of the file."""


SMALLEST_DOT, LARGEST_DOT = 1.2, 8.0
"""Points that a drawn bullet is wide and high."""


def is_dot(box: Box) -> bool:
    """Whether a drawn shape is as wide as high, and of the size of a bullet."""
    wide, high = box[2] - box[0], box[3] - box[1]
    return SMALLEST_DOT <= wide <= LARGEST_DOT and abs(wide - high) <= 0.12 * max(wide, high)


class PdfFile:
    """An open PDF. Close it after use (a context manager)."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        if not data.lstrip()[:5] == b"%PDF-" and b"%PDF-" not in data[:1024]:
            raise InputError(f"{name}: this is not a PDF.", "It does not begin with %PDF-.", "Give a PDF file.")
        try:
            self.document = pypdfium2.PdfDocument(data)
            self.count = len(self.document)
        except pypdfium2.PdfiumError as error:
            locked = "password" in str(error).lower()
            raise InputError(
                f"{name}: the PDF cannot be opened.",
                "It is locked by a password." if locked else f"It is broken ({error}).",
                "Save a copy without a password." if locked else "Get the file again, or print it to a new PDF.",
            ) from error
        if not 0 < self.count <= MAX_PAGES:
            raise InputError(
                f"{name}: the PDF has {self.count:,} pages.", f"1 to {MAX_PAGES:,} can be read.", "Give a part of it."
            )

    def __enter__(self) -> PdfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.document.close()

    def page(self, number: int, matters: Callable[[Sequence[Word]], bool] = lambda _: True) -> Page:
        """The text layer and rulings of page `number` (from 1); no rulings if its words do not matter."""
        handle = self.open_page(number)
        try:
            place = _Placement(handle)
            glyphs = tuple(_glyphs(handle, place))
            words, turned = tuple(_words(glyphs)), tuple(_turned(glyphs))
            wanted = matters((*words, *turned))
            drawn = tuple(_drawn(handle, place)) if wanted else ()
            rulings = tuple(each for each in drawn if isinstance(each, Ruling))
            dots = tuple(each for each in drawn if not isinstance(each, Ruling))
            garbled = _is_garbled(handle)
            return Page(
                number,
                place.width,
                place.height,
                words,
                rulings,
                matters=wanted,
                garbled=garbled,
                dots=dots,
                turned=turned,
            )
        except pypdfium2.PdfiumError as error:
            raise self._broken(number, error) from error
        finally:
            handle.close()

    def open_page(self, number: int) -> pypdfium2.PdfPage:
        """PDFium's own page; the caller closes it."""
        try:
            return self.document[number - 1]
        except pypdfium2.PdfiumError as error:
            raise self._broken(number, error) from error

    def _broken(self, number: int, error: Exception) -> InputError:
        return InputError(
            f"{self.name}: page {number} cannot be read.", f"It is broken ({error}).", "Get the file again."
        )


class _Placement:
    """Turns PDF coordinates (origin at the bottom left of the media box) into boxes on the page as shown."""

    def __init__(self, handle: pypdfium2.PdfPage) -> None:
        self.width, self.height = (float(side) for side in handle.get_size())
        scale = 1000  # PDFium answers in whole device units
        size = [max(1, round(self.width * scale)), max(1, round(self.height * scale))]
        x, y = ctypes.c_int(), ctypes.c_int()

        def shown(left: float, bottom: float) -> tuple[float, float]:
            pdfium.FPDF_PageToDevice(handle.raw, 0, 0, size[0], size[1], 0, left, bottom, x, y)
            return x.value / scale, y.value / scale

        reach = 100.0
        origin, along, up = shown(0, 0), shown(reach, 0), shown(0, reach)
        self.matrix = (
            (along[0] - origin[0]) / reach,
            (up[0] - origin[0]) / reach,
            origin[0],
            (along[1] - origin[1]) / reach,
            (up[1] - origin[1]) / reach,
            origin[1],
        )

    def point(self, x: float, y: float) -> tuple[float, float]:
        a, b, c, d, e, f = self.matrix
        return a * x + b * y + c, d * x + e * y + f

    def runs_right(self, x: float, y: float) -> bool:
        """Whether a direction in PDF coordinates runs from left to right on the page as shown."""
        a, b, _, d, e, _ = self.matrix
        along, down = a * x + b * y, d * x + e * y
        return along > 0 and abs(down) < 0.05 * along

    def runs_up_or_down(self, x: float, y: float) -> bool:
        """Whether a direction in PDF coordinates runs straight upwards or downwards on the page as shown."""
        a, b, _, d, e, _ = self.matrix
        along, down = a * x + b * y, d * x + e * y
        return abs(along) < 0.05 * abs(down)

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        x0, y0 = self.point(left, bottom)
        x1, y1 = self.point(right, top)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


@dataclass(slots=True)
class _Glyph:
    text: str
    box: Box
    size: float
    base: float
    upright: bool
    """Whether it stands in a line that runs from left to right."""
    turned: bool
    """Whether its line runs straight upwards or downwards."""


def _glyphs(handle: pypdfium2.PdfPage, place: _Placement) -> Iterator[_Glyph | None]:
    """The glyphs in the order of the file; None for a space or the end of a line."""
    text_page = handle.get_textpage()
    try:
        raw = text_page.raw
        x, y = ctypes.c_double(), ctypes.c_double()
        high = 0  # PDFium gives UTF-16: the first half of a pair
        loose, matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        for index in range(min(text_page.count_chars(), MAX_GLYPHS)):
            code = pdfium.FPDFText_GetUnicode(raw, index)
            if code in (0, 9, 10, 13, 32, 160):
                yield None
                continue
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD
            high = 0
            if not pdfium.FPDFText_GetLooseCharBox(raw, index, loose):
                continue
            pdfium.FPDFText_GetCharOrigin(raw, index, x, y)
            box = place.box(loose.left, loose.bottom, loose.right, loose.top)
            if box[2] <= box[0] or box[3] <= box[1]:
                continue
            pdfium.FPDFText_GetMatrix(raw, index, matrix)
            upright, turned = place.runs_right(matrix.a, matrix.b), place.runs_up_or_down(matrix.a, matrix.b)
            size = pdfium.FPDFText_GetFontSize(raw, index) * math.hypot(matrix.c, matrix.d)
            base = place.point(x.value, y.value)[1]
            yield _Glyph(plain_text(chr(code)), box, size or box[3] - box[1], base, upright, turned)
    finally:
        text_page.close()


def _is_garbled(handle: pypdfium2.PdfPage) -> bool:
    """Whether PDFium knows no character for many of the glyphs of a page; a sample of them is asked about."""
    text_page = handle.get_textpage()
    try:
        sample = range(0, min(text_page.count_chars(), MAX_GLYPHS), EVERY)
        unknown = sum(pdfium.FPDFText_HasUnicodeMapError(text_page.raw, index) == 1 for index in sample)
        return len(sample) >= FEWEST and unknown > UNKNOWN_SHARE * len(sample)
    finally:
        text_page.close()


def _words(glyphs: Iterable[_Glyph | None]) -> Iterator[Word]:
    """Upright words. Glyphs that run in another direction (watermarks, labels along an axis) are left out."""
    run: list[_Glyph] = []
    line: _Glyph | None = None  # the last glyph that stood on a line, to tell raised glyphs by
    for each in glyphs:
        glyph = each if each is not None and each.upright else None
        if run and (glyph is None or not _joins(run[-1], glyph)):
            word = _word(run, line)
            if not word.raised:
                line = run[-1]
            yield word
            run = []
        if glyph is not None:
            run.append(glyph)
    if run:
        yield _word(run, line)


def _turned(glyphs: Iterable[_Glyph | None]) -> Iterator[Word]:
    """Words that run straight upwards or downwards."""
    run: list[_Glyph] = []
    for each in (*glyphs, None):
        glyph = each if each is not None and each.turned else None
        if run and (glyph is None or not _stands_on(run[-1], glyph)):
            box = (
                min(each.box[0] for each in run),
                min(each.box[1] for each in run),
                max(each.box[2] for each in run),
                max(each.box[3] for each in run),
            )
            yield Word("".join(each.text for each in run), box, run[0].size, box[3])
            run = []
        if glyph is not None:
            run.append(glyph)


def _stands_on(last: _Glyph, glyph: _Glyph) -> bool:
    """Whether a glyph stands right above or below the one before it."""
    beside = abs(glyph.box[0] - last.box[0]) + abs(glyph.box[2] - last.box[2])
    return beside < 0.3 * glyph.size and max(last.box[1] - glyph.box[3], glyph.box[1] - last.box[3]) < 0.2 * glyph.size


def _joins(last: _Glyph, glyph: _Glyph) -> bool:
    """Whether two glyphs that follow each other belong to one word."""
    size = max(last.size, glyph.size)
    if abs(glyph.base - last.base) > 0.1 * size or min(last.size, glyph.size) < 0.8 * size:
        return False
    gap = glyph.box[0] - last.box[2]
    return -0.5 * size < gap < 0.2 * size


def _word(run: list[_Glyph], line: _Glyph | None) -> Word:
    box = (
        run[0].box[0],
        min(glyph.box[1] for glyph in run),
        run[-1].box[2],
        max(glyph.box[3] for glyph in run),
    )
    size = Counter(round(glyph.size, 2) for glyph in run).most_common(1)[0][0]
    base = run[0].base
    raised = 0
    if line is not None and size < 0.85 * line.size and -0.6 * line.size < box[0] - line.box[2] < 0.5 * line.size:
        shift = line.base - base
        if 0.15 * line.size < shift < line.size:
            raised = 1
        elif -0.6 * line.size < shift < -0.04 * line.size:
            raised = -1
    return Word("".join(glyph.text for glyph in run), box, size, base, raised)


def _drawn(handle: pypdfium2.PdfPage, place: _Placement) -> Iterator[Ruling | Box]:
    """Lines, rectangles that are thin enough to be lines or drawn as frames, and the boxes of dots."""
    seen = 0
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    fill, stroked = ctypes.c_int(), ctypes.c_int()
    for path in handle.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=1):
        seen += 1
        if seen > MAX_PATHS:
            return
        if not pdfium.FPDFPageObj_GetBounds(path.raw, left, bottom, right, top):
            continue
        box = place.box(left.value, bottom.value, right.value, top.value)
        wide, high = box[2] - box[0], box[3] - box[1]
        if is_dot(box):
            yield box
        if high <= 3 < wide or wide <= 3 < high:
            yield Ruling(box)
        elif wide > 3 and high > 3 and pdfium.FPDFPath_CountSegments(path.raw) <= 6:
            pdfium.FPDFPath_GetDrawMode(path.raw, fill, stroked)
            shades = bool(fill.value) and not stroked.value
            x0, y0, x1, y1 = box
            for edge in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
                yield Ruling(edge, shades)
