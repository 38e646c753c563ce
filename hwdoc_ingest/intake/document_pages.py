"""What stands on certain pages of a document, word by word, to hold a quotation against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hwdoc_ingest.intake.read_document import kind_of
from hwdoc_ingest.page.plain_text import decode
from hwdoc_ingest.reading import LIMIT_BYTES, Kind, Progress
from metainfer_core.files import read_bytes
from metainfer_core.values import Value

PageName = int | str
"""1-based page of a PDF, line of a text, sheet of a workbook, node of a device tree blob."""
LINES_OF_A_STATEMENT = 6
"""A property or an element of a text file is at most this many lines long."""


class PageWords(Value):
    """The words of one page."""

    page: PageName
    words: tuple[str, ...]
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    """Left, top, right, bottom of each word, in points; empty where the document has no pages to look at."""
    opening: str = ""
    """The line of a text file that was named: what is quoted begins in it, and may go on in the next ones."""


def words_in(page: PageWords, box: Sequence[float]) -> str:
    """The words of a page whose middle is inside a box."""
    left, top, right, bottom = box
    inside = (
        word
        for word, (x0, y0, x1, y1) in zip(page.words, page.boxes, strict=True)
        if left - 1 <= (x0 + x1) / 2 <= right + 1 and top - 1 <= (y0 + y1) / 2 <= bottom + 1
    )
    return " ".join(inside)


class DocumentPages(Value):
    """The pages that were asked for, as far as the document has them."""

    kind: Kind
    count: int | None = None
    """Pages of a PDF, lines of a text; None where they are not counted."""
    pages: tuple[PageWords, ...] = ()

    def page(self, name: PageName) -> PageWords | None:
        """The page of that name, or None where the document has none."""
        return next((page for page in self.pages if page.page == name), None)


def document_pages(path: Path, wanted: Sequence[PageName] | None, progress: Progress) -> DocumentPages:
    """The words on the wanted pages of the document at `path`.

    Args:
        path: The document. `intake.pages_safely` does the same in a limited process.
        wanted: Pages as provenance names them; None for all pages of a PDF, by their text layer alone.
        progress: Called for every page.
    """
    kind = kind_of(path)
    match kind:
        case "pdf":
            return _of_pdf(path, wanted, progress)
        case "workbook":
            return DocumentPages(kind=kind, pages=tuple(_sheets(path, progress)))
        case "device-tree" | "svd" | "table":
            data = read_bytes(path, "document", LIMIT_BYTES[kind])
            lines = decode(data, path).split("\n")
            asked = [number for number in wanted or () if isinstance(number, int) and 0 < number <= len(lines)]
            pages = tuple(
                PageWords(page=number, words=_statement(lines, number), opening=lines[number - 1]) for number in asked
            )
            return DocumentPages(kind=kind, count=len(lines), pages=pages)
        case "device-tree-blob" | "device-tree-folder":
            return DocumentPages(kind=kind)


def _statement(lines: Sequence[str], number: int) -> tuple[str, ...]:
    return tuple(" ".join(lines[number - 1 : number - 1 + LINES_OF_A_STATEMENT]).split())


def _of_pdf(path: Path, wanted: Sequence[PageName] | None, progress: Progress) -> DocumentPages:
    from hwdoc_ingest.ocr.ocr_pages import as_shown, read_page
    from hwdoc_ingest.page.pages import PdfFile

    data = read_bytes(path, "PDF", LIMIT_BYTES["pdf"])
    with PdfFile(data, path.name) as file:
        numbers = range(1, file.count + 1) if wanted is None else [n for n in wanted if isinstance(n, int)]
        asked = [number for number in numbers if 0 < number <= file.count]
        found = []
        for done, number in enumerate(asked, start=1):
            page = file.page(number) if wanted is None else read_page(file, number)[0]
            boxes: Any = [as_shown(word.box, page) for word in page.words]
            found.append(PageWords(page=number, words=tuple(word.text for word in page.words), boxes=tuple(boxes)))
            progress("looking at the quoted pages", done, len(asked))
        return DocumentPages(kind="pdf", count=file.count, pages=tuple(found))


def _sheets(path: Path, progress: Progress) -> Iterator[PageWords]:
    from hwdoc_ingest.registers.sheets import sheet_rows
    from hwdoc_ingest.registers.table_columns import Row

    rows: list[Row] = []
    for title, index, count in sheet_rows(path, rows, []):
        progress(f"sheet {title.strip()!r}", index, count)
    for name in dict.fromkeys(row.page for row in rows):
        words = " ".join(cell for row in rows if row.page == name for cell in row.cells.values())
        yield PageWords(page=name, words=tuple(words.split()))
