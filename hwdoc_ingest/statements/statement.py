"""Statement: one thing a page says, a sentence or a table row, with its words, boxes and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hwdoc_ingest.page.pages import Box, Word
from hwdoc_ingest.page.text_lines import around, join_words

Bound = Literal["min", "typ", "max", "value"]

CELL_MARK = " | "
EARLIER = 400
"""Most letters of the sentences before one that it is read with."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table row: a stretch of the statement's text under a column header."""

    header: str
    """Words of the column's header, with its group's words before it (`-70A Min`)."""
    start: int
    end: int
    bound: Bound | None = None
    """What the header says a number under it is."""
    group: str = ""
    """The header that stands over several columns, such as a speed grade."""
    ambiguous: bool = False
    """Whether it may belong to a neighbouring column as well."""


@dataclass(frozen=True)
class Printed:
    """What the document prints, where a statement's text puts it in other words for the rules."""

    text: str
    origins: tuple[tuple[int, int], ...]
    """For each letter of the statement's text the stretch of the printed text that it stands for."""
    path: tuple[str, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The printed stretch that a stretch of the statement's text stands for."""
        real = [origin for origin in self.origins[start:end] if origin[0] < origin[1]]
        return (min(a for a, _ in real), max(b for _, b in real)) if real else (0, 0)


@dataclass(frozen=True)
class Statement:
    """A sentence or a table row."""

    page: int
    text: str
    words: tuple[Word, ...]
    places: tuple[tuple[int, int], ...]
    """Where each word stands in `text`."""
    path: tuple[str, ...] = ()
    """Headings and parent list items, outermost first; for a row the table's caption is the last."""
    cells: tuple[Cell, ...] = ()
    """Cells of a table row; none for a sentence."""
    by_ocr: bool = False
    earlier: str = ""
    """The sentences before it in its paragraph: what `it`, `each` and `the cache` speak of."""
    is_heading: bool = False
    cores: tuple[str, ...] = ()
    """The document's own short names of its cores (rules/core_names.py)."""
    printed: Printed | None = None
    """What the document prints, if `text` and `path` are not its own words."""

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return bool(self.cells)

    @property
    def sureness(self) -> float:
        """How sure the reader is of the glyphs: the least sure word counts."""
        return min((word.sure for word in self.words), default=1.0)

    def box(self, start: int, end: int) -> Box | None:
        """The box around the words that touch a stretch of the text."""
        touched = [
            word.box for word, (a, b) in zip(self.words, self.places, strict=True) if a < end and b > start and b > a
        ]
        return around(touched) if touched else None

    def cell_text(self, cell: Cell) -> str:
        """The words of a cell."""
        return self.text[cell.start : cell.end]

    def as_printed(self, words: str) -> str:
        """The document's own words for words of the text or the path; those that are not found stay as they are."""
        if self.printed is None:
            return words
        if words in self.path:
            return self.printed.path[self.path.index(words)]
        parts, said = words.split(" "), []
        while parts:
            count = next((n for n in range(len(parts), 0, -1) if " ".join(parts[:n]) in self.text), 0)
            piece = " ".join(parts[: count or 1])
            at = self.text.find(piece) if piece else -1
            if at >= 0:
                piece = self.printed.text[slice(*self.printed.span(at, at + len(piece)))].strip() or piece
            said.append(piece)
            del parts[: count or 1]
        return " ".join(said)


def sentence(page: int, words: Sequence[Word], path: tuple[str, ...], by_ocr: bool) -> Statement:
    """A statement of running text."""
    text, places = join_words(words)
    return Statement(page, text, tuple(words), places, path, (), by_ocr)


@dataclass(frozen=True)
class RowCell:
    """Words of one cell before the row's text is put together."""

    words: tuple[Word, ...]
    header: str
    bound: Bound | None = None
    group: str = ""
    ambiguous: bool = False


def row(page: int, cells: Iterable[RowCell], path: tuple[str, ...], by_ocr: bool) -> Statement:
    """A statement of a table row: the cells' texts with a mark between them."""
    text = ""
    words: list[Word] = []
    places: list[tuple[int, int]] = []
    placed: list[Cell] = []
    for cell in cells:
        piece, spots = join_words(cell.words)
        if not piece:
            continue
        start = len(text) + len(CELL_MARK) if text else 0
        text = text + CELL_MARK + piece if text else piece
        words += cell.words
        places += [(start + a, start + b) for a, b in spots]
        placed.append(Cell(cell.header, start, start + len(piece), cell.bound, cell.group, cell.ambiguous))
    return Statement(page, text, tuple(words), tuple(places), path, tuple(placed), by_ocr)
