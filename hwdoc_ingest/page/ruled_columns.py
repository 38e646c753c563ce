"""Two columns of a page that are told by their tables: ruled lines end well before what stands in the other column."""

from __future__ import annotations

from hwdoc_ingest.page.pages import Box, Page

FEWEST_HEIGHTS = 4
"""Heights at which lines must be ruled on one side: header, two rows and foot."""
FEWEST_WORDS = 8
"""Words beside or below each other that make a column."""
GAP = 8.0
"""Points that must be free between the columns; the cells of one table touch each other."""
SHARE = 0.2
"""Share of the page's width that a table in a column has at least."""


def ruled_gutter(page: Page) -> float | None:
    """Where two columns part, if ruled tables stand in one of them or in both; None on a page of one column."""
    level = [ruling.box for ruling in page.rulings if ruling.horizontal]
    if len(level) < FEWEST_HEIGHTS:
        return None
    top, bottom = min(box[1] for box in level), max(box[3] for box in level)
    beside = [word.box for word in page.words if top < word.box[3] and word.box[1] < bottom]
    best: tuple[float, float] | None = None
    for step in range(42, 59):
        gutter = page.width * step / 100
        gap = _gap(level, beside, gutter, page.width)
        if gap >= GAP and (best is None or gap > best[0]):
            best = gap, gutter
    return best[1] if best else None


def _gap(level: list[Box], beside: list[Box], gutter: float, width: float) -> float:
    """How much is free around a gutter between two columns; 0 where it is none."""
    every = [*level, *beside]
    if any(box[0] < gutter < box[2] for box in every):
        return 0.0
    sides = [[box for box in level if box[2] <= gutter], [box for box in level if box[0] >= gutter]]
    if not any(_is_table(side, width) for side in sides):
        return 0.0
    words = [sum(box[2] <= gutter for box in beside), sum(box[0] >= gutter for box in beside)]
    if min(words) < FEWEST_WORDS:
        return 0.0
    return min(box[0] for box in every if box[0] >= gutter) - max(box[2] for box in every if box[2] <= gutter)


def _is_table(side: list[Box], width: float) -> bool:
    """Whether lines of one side rule a table."""
    if len({round(box[1]) for box in side}) < FEWEST_HEIGHTS:
        return False
    return max(box[2] for box in side) - min(box[0] for box in side) >= SHARE * width
