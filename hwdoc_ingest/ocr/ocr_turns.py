"""Pages that were scanned lying on a side or upside down: read the way round in which most can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hwdoc_ingest.ocr.ocr_engine import Image, OcrEngine, SeenWord

FEW_LETTERS = 2.0
"""Letters of a word, weighed with how sure they are, below which on average a page seems to be the wrong way round."""
ANGLES = (0.0, math.pi / 2, math.pi, -math.pi / 2)
"""By how much lines of text rise to the right, by quarters that the picture must be turned back."""


def read_any_way(image: Image, engine: OcrEngine) -> tuple[Sequence[SeenWord], int]:
    """The words of a page, and how many quarters to the left it must be turned to be read.

    The corners are those on the picture as it is, from the start of each word on. Only a page that reads badly is read
    the other ways round.
    """
    seen = engine.read(image)
    if not _reads_badly(seen):
        return seen, 0
    ways = [seen, *(engine.read(np.ascontiguousarray(np.rot90(image, quarters))) for quarters in (1, 2, 3))]
    best = max(range(4), key=lambda quarters: (_readable(ways[quarters]), -quarters))
    height, width = image.shape[:2]
    return [_turned_back(word, best, height, width) for word in ways[best]], best


def _reads_badly(words: Sequence[SeenWord]) -> bool:
    return bool(words) and _readable(words) < FEW_LETTERS * len(words)


def _readable(words: Sequence[SeenWord]) -> float:
    """Letters that were read, weighed with how sure they are, of the words that lie and do not stand."""
    return sum(len(word.text) * word.sure for word in words if len(word.text) < 3 or _lies(word))


def _lies(word: SeenWord) -> bool:
    (left, top), _, (right, bottom), _ = word.corners
    return right - left > bottom - top


def _turned_back(word: SeenWord, quarters: int, height: int, width: int) -> SeenWord:
    """A word of the turned picture with its corners on the picture as it is."""
    corners = word.corners
    match quarters:
        case 1:
            corners = tuple((width - 1 - y, x) for x, y in corners)
        case 2:
            corners = tuple((width - 1 - x, height - 1 - y) for x, y in corners)
        case 3:
            corners = tuple((y, height - 1 - x) for x, y in corners)
    return replace(word, corners=corners)
