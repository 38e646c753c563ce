"""Reading: what one document says, before the documents of a chip are put side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from metainfer_core.files import MEBIBYTE
from metainfer_core.spec.drafting.draft import Candidate, DraftSource
from metainfer_core.values import Value

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are (0: not known)."""

Kind = Literal["pdf", "workbook", "table", "svd", "device-tree", "device-tree-blob", "device-tree-folder"]

LIMIT_BYTES: Mapping[Kind, int] = {
    "pdf": 512 * MEBIBYTE,
    "workbook": 64 * MEBIBYTE,
    "table": 64 * MEBIBYTE,
    "svd": 128 * MEBIBYTE,
    "device-tree": 16 * MEBIBYTE,
    "device-tree-blob": 16 * MEBIBYTE,
    "device-tree-folder": 16 * MEBIBYTE,
}
"""Largest document of each kind that is read."""


class Reading(Value):
    """All that was read in one document.

    In every candidate a number stands in its field's base unit (hwdoc_ingest/fields.yaml). An address (unit `addr`)
    is hex text, such as `0xfe000000`, so that all 64 bits survive JSON. `page` counts from 1; it is the line in a text
    file and the sheet's name in a workbook.
    """

    format: Literal["metainfer.reading/1"] = "metainfer.reading/1"
    key: str
    """Key of the document in the draft's `sources`; every candidate's `source` is this key."""
    source: DraftSource
    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be read or is not certain, each with its place."""


Found = Callable[[Reading], None]
"""Called now and then while a document is read, with what its next pages seem to say, each page once. The reading of
the whole document may weigh it differently."""


def no_progress(step: str, done: int, total: int) -> None:
    """Takes progress and shows nothing."""
