"""A draft while its documents are still being read, in a file that is whole at every moment."""

from __future__ import annotations

import threading
from pathlib import Path

from hwdoc_ingest.drafting.draft import draft
from hwdoc_ingest.reading import Reading
from metainfer_core.files import write_bytes


class GrowingDraft:
    """Writes what has been found so far to a file as JSON, and takes it away at the end.

    Args:
        chip: Name of the chip.
        path: The file.
    """

    def __init__(self, chip: str, path: Path) -> None:
        self._chip, self._path = chip, path
        self._readings: dict[str, Reading] = {}
        self._lock = threading.Lock()

    def found(self, part: Reading) -> None:
        """Adds what some pages of a document say."""
        with self._lock:
            before = self._readings.get(part.key)
            self._readings[part.key] = _joined(before, part) if before else part
            self._write()

    def read(self, whole: Reading) -> None:
        """Puts what a whole document says in the place of its parts."""
        with self._lock:
            self._readings[whole.key] = whole
            self._write()

    def remove(self) -> None:
        """Takes the file away."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        write_bytes(self._path, draft(self._chip, list(self._readings.values())).to_json(), "draft so far")


def _joined(before: Reading, part: Reading) -> Reading:
    return Reading(
        key=before.key,
        source=before.source,
        candidates=(*before.candidates, *part.candidates),
        notes=(*before.notes, *part.notes),
    )
