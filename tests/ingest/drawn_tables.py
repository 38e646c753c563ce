"""Tables that are drawn cell by cell, with spans, alignment and rulings: what stands in which column is known."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.layout.tables import read_tables
from hwdoc_ingest.page.pages import PdfFile
from hwdoc_ingest.statements.statement import Statement

FONT = "Helvetica"
PAD = 4


@dataclass(frozen=True)
class Cell:
    """One drawn cell."""

    text: str
    columns: int = 1
    """How many columns it spans."""
    align: str = "left"
    rows: int = 1
    """How many rows it spans; the rows below leave these columns out."""
    raised: str = ""
    """A mark printed small and high right after the text."""


class Sheet:
    """A PDF on which tables are drawn from the top down."""

    def __init__(self, width: float = 560, height: float = 400, size: float = 9) -> None:
        self.out = io.BytesIO()
        self.width, self.height, self.size = width, height, size
        self.canvas = Canvas(self.out, pagesize=(width, height), invariant=1)

    def words(self, x: float, y: float, text: str, size: float | None = None) -> None:
        self.canvas.setFont(FONT, size or self.size)
        self.canvas.drawString(x, self.height - y, text)

    def next_page(self) -> None:
        self.canvas.showPage()

    def table(
        self,
        x: float,
        y: float,
        widths: Sequence[float],
        rows: Sequence[Sequence[Cell]],
        ruled: bool,
        pitch: float = 16,
    ) -> float:
        """Draws rows of cells from height `y` on; the height below them."""
        edges = [x + sum(widths[:at]) for at in range(len(widths) + 1)]
        taken: dict[tuple[int, int], bool] = {}
        heights = [y]
        for row in rows:
            heights.append(heights[-1] + pitch * max(cell.text.count("\n") + 1 for cell in row if cell.rows == 1))
        for at, row in enumerate(rows):
            column = 0
            for cell in row:
                while taken.get((at, column)):
                    column += 1
                top, bottom = heights[at], heights[at + cell.rows]
                self._cell(cell, edges[column], edges[column + cell.columns], top, bottom, ruled, pitch)
                for below in range(at, at + cell.rows):
                    taken |= {(below, each): True for each in range(column, column + cell.columns)}
                column += cell.columns
        return heights[-1]

    def _cell(
        self, cell: Cell, left: float, right: float, top: float, bottom: float, ruled: bool, pitch: float
    ) -> None:
        lines = cell.text.split("\n")
        base = (top + bottom - pitch * len(lines)) / 2 + 0.7 * pitch
        for line in lines:
            wide = self.canvas.stringWidth(line, FONT, self.size)
            at = {"left": left + PAD, "right": right - PAD - wide, "centre": (left + right - wide) / 2}[cell.align]
            self.words(at, base, line)
            if cell.raised:
                self.words(at + wide + 0.5, base - 3.5, cell.raised, 0.62 * self.size)
            base += pitch
        if ruled:
            self.canvas.setLineWidth(0.5)
            self.canvas.rect(left, self.height - bottom, right - left, bottom - top)

    def done(self) -> bytes:
        self.canvas.save()
        return self.out.getvalue()


def statements_of(data: bytes) -> list[Statement]:
    """The table rows that are read, page by page."""
    found: list[Statement] = []
    still_open = None
    with PdfFile(data, "tables") as file:
        for number in range(1, file.count + 1):
            rows, _, still_open = read_tables(file.page(number), still_open)
            found += rows
    return found


def read_cells(statement: Statement) -> dict[str, tuple[str, bool]]:
    """Header to the words under it, and whether they may belong to a neighbour; one entry a bounded or named column."""
    return {cell.header: (statement.cell_text(cell), cell.ambiguous) for cell in statement.cells}
