"""The engines of optical character recognition, and which of them is used."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from hwdoc_ingest.ocr.ocr_engine import Corners, Image, OcrEngine, SeenWord
from hwdoc_ingest.ocr.ocr_kept import kept
from hwdoc_ingest.page.pages import plain_text
from metainfer_core.errors import UnsupportedError


class RapidOcr:
    """PP-OCR through ONNX Runtime with the models in the package: nothing is downloaded. English and Chinese."""

    name = "rapidocr"

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        # Without the classifier of upside-down lines: it turned good lines round, and costs a tenth of the time.
        settings = {"Global.log_level": "critical", "Global.use_cls": False}
        self.engine: Any = RapidOCR(params=settings | {"EngineConfig.onnxruntime.intra_op_num_threads": 2})

    def read(self, image: Image) -> Sequence[SeenWord]:
        """The words of an image, line by line."""
        result = self.engine(image, return_word_box=True)
        if result.boxes is None or result.txts is None:
            return ()
        words: list[SeenWord] = []
        for line_box, text, score, parts in zip(
            result.boxes, result.txts, result.scores, result.word_results, strict=True
        ):
            cut = list(_line_words(text, parts))
            words += cut or [SeenWord(plain_text(text), _corners(line_box), float(score))]
        return words


def _line_words(text: str, parts: Sequence[tuple[str, float, Any]]) -> list[SeenWord]:
    """The words of a line with their boxes; pieces that the text writes without a space between are one word."""
    words: list[SeenWord] = []
    at = 0
    for piece, score, box in parts:
        place = text.find(piece, at)
        glued = bool(words) and place == at and place > 0 and not text[place - 1].isspace()
        at = (place if place >= 0 else at) + len(piece)
        corners = _corners(box)
        if glued:
            last = words[-1]
            joined = (last.corners[0], corners[1], corners[2], last.corners[3])
            words[-1] = SeenWord(last.text + plain_text(piece), joined, min(last.sure, float(score)))
        else:
            words.append(SeenWord(plain_text(piece), corners, float(score)))
    return words


def _corners(box: Any) -> Corners:
    return tuple((float(x), float(y)) for x, y in box)


class Tesseract:
    """The classic engine, for machines without RapidOCR. It starts a process for each image."""

    name = "tesseract"

    def read(self, image: Image) -> Sequence[SeenWord]:
        """The words of an image, line by line."""
        import pytesseract

        installed = set(pytesseract.get_languages())
        languages = "+".join(name for name in ("eng", "chi_sim") if name in installed)
        data = pytesseract.image_to_data(
            image[:, :, ::-1], lang=languages, timeout=120, output_type=pytesseract.Output.DICT
        )
        rows = [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
        lines = {_line(row): row for row in rows if row["level"] == _LINE_LEVEL}
        words = []
        for row in rows:
            if row["text"].strip() and float(row["conf"]) >= 0:
                line = lines[_line(row)]  # its height, for a word's own box ends at its letters
                left, right = row["left"], row["left"] + row["width"]
                top, bottom = line["top"], line["top"] + line["height"]
                corners = ((left, top), (right, top), (right, bottom), (left, bottom))
                words.append(SeenWord(plain_text(row["text"]), corners, float(row["conf"]) / 100))
        return words


_LINE_LEVEL = 4


def _line(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Which line a row of Tesseract's table belongs to."""
    return row["block_num"], row["par_num"], row["line_num"]


@lru_cache(maxsize=1)
def default_engine() -> OcrEngine:
    """The better engine of those installed; raises UnsupportedError when there is none."""
    if importlib.util.find_spec("rapidocr"):
        return kept(RapidOcr(), "rapidocr")
    if importlib.util.find_spec("pytesseract"):
        return kept(Tesseract(), "pytesseract")
    raise UnsupportedError(
        "This installation cannot read scanned pages.",
        "Neither rapidocr nor pytesseract is installed.",
        "Install meta-infer with its extra 'ingest'.",
    )


def skew(words: Sequence[SeenWord]) -> float:
    """By how much lines of text rise to the right, in radians: the median over wide words, weighted by width."""
    slopes = sorted(
        (
            math.atan2(w.corners[1][1] - w.corners[0][1], w.corners[1][0] - w.corners[0][0]),
            w.corners[1][0] - w.corners[0][0],
        )
        for w in words
        if w.corners[1][0] - w.corners[0][0] > 40
    )
    half, passed = sum(width for _, width in slopes) / 2, 0.0
    for slope, width in slopes:
        passed += width
        if passed >= half:
            return slope if abs(slope) < math.radians(8) else 0.0
    return 0.0
