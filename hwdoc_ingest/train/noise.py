"""What OCR makes of a text: lost blanks, letters taken for one another. Numbers and their roles stay."""

from __future__ import annotations

import random
from dataclasses import replace

from hwdoc_ingest.train.example import Example, Mark, RowCell

LOST_BLANK = 0.12
TAKEN_FOR = {
    "l": "1",
    "O": "0",
    "o": "0",
    "I": "l",
    "S": "5",
    "B": "8",
    "m": "rn",
    "-": "",
    "i": "í",
    "μ": "u",
    "µ": "u",
    "°": "o",
}
MISREAD = 0.012


def as_ocr_reads(example: Example, rng: random.Random) -> Example:
    """The example with a few faults, its marks and cells moved along."""
    inside_value = [False] * len(example.text)
    for mark in example.marks:
        if mark.label == "value":
            inside_value[mark.start : mark.end] = [True] * (mark.end - mark.start)
    text, moved = "", [0]
    for at, letter in enumerate(example.text):
        kept = letter
        if letter == " " and "|" not in example.text[max(0, at - 1) : at + 2] and rng.random() < LOST_BLANK:
            kept = ""
        elif not inside_value[at] and letter in TAKEN_FOR and rng.random() < MISREAD:
            kept = TAKEN_FOR[letter]
        text += kept
        moved.append(len(text))
    marks = tuple(Mark(moved[m.start], moved[m.end], m.label, m.field) for m in example.marks)
    cells = tuple(RowCell(c.header, moved[c.start], moved[c.end]) for c in example.cells)
    return replace(example, text=text, marks=marks, cells=cells)
