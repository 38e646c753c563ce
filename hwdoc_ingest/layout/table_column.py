"""A table's columns and where it stands on its page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hwdoc_ingest.statements.statement import Bound


@dataclass(frozen=True)
class Column:
    """A column of a table, as its header says."""

    header: str
    left: float
    right: float
    bound: Bound | None = None
    group: str = ""

    @property
    def centre(self) -> float:
        """Middle of the header's words."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class Table:
    """Where a table stands on a page, and its columns."""

    columns: tuple[Column, ...]
    top: float
    bottom: float
    caption: str = ""
    head: float = math.inf
    """Baseline of the header's first line; none of a table that goes on from the page before."""
    left: float = -math.inf
    """What stands left of this, or right of `right`, is of a table beside it."""
    right: float = math.inf

    @property
    def numeric(self) -> bool:
        """Whether some columns say what bound their numbers are."""
        return any(column.bound for column in self.columns)
