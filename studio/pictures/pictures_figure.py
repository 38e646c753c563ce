"""What every picture consists of: the figure, what its numbers are, and the same numbers as a table to be read out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import plotly.graph_objects as go

How = Literal["predicted", "measured", "both", "counted", "planned", "decided"]
HEIGHT, LETTERS = 420, 34
BLUE, ORANGE, GREEN, VIOLET, GREY = "#0b7fab", "#c2571a", "#2f8f6b", "#8e6bd1", "#888888"
"""Read on a light and on a dark ground."""


@dataclass(frozen=True)
class Picture:
    """One picture with its table."""

    figure: go.Figure = field(repr=False)
    how: How
    sentence: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)
    left_out: int = 0
    """Rows that the table does without, the least of them."""


def laid_out(figure: go.Figure, x: str, y: str, height: int = HEIGHT, **more: Any) -> go.Figure:
    """The figure with titles on its axes, in the page's colours."""
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 20, "t": 40, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hoverlabel={"align": "left"},
        xaxis={"title": x, "automargin": True},
        yaxis={"title": y, "automargin": True},
        **more,
    )
    return figure


def plain(words: str) -> str:
    """Plotly reads some HTML in its texts: names from a model stay text."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def different(names: Sequence[str]) -> list[str]:
    """Names short enough for an axis, which no two share: an axis would put both in one place."""
    short = [f"{name[:12]}…{name[-20:]}" if len(name) > LETTERS else name for name in names]
    return [plain(name if short.count(name) == 1 else f"{name} #{at + 1}") for at, name in enumerate(short)]
