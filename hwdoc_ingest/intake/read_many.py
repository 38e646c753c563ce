"""Reads several documents, each in its own limited process: one that fails does not stop the others."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hwdoc_ingest.drafting.draft import draft, source_keys
from hwdoc_ingest.drafting.growing_draft import GrowingDraft
from hwdoc_ingest.intake.intake import read_safely
from hwdoc_ingest.reading import Progress, Reading
from metainfer_core.errors import MetaInferError
from metainfer_core.spec.drafting.draft import SpecDraft


def read_many(
    documents: Sequence[Path], progress: Progress, workers: int = 1, growing: GrowingDraft | None = None
) -> list[Reading | MetaInferError]:
    """What was read in each document, or why it could not be, in their order. `growing` is told of each part."""
    lock = threading.Lock()

    def read(path: Path, key: str) -> Reading | MetaInferError:
        def say(step: str, done: int, total: int) -> None:
            with lock:
                progress(f"{path.name}: {step}", done, total)

        try:
            reading = read_safely(path, key, say, found=growing.found if growing else None)
        except MetaInferError as error:
            return error
        if growing:
            growing.read(reading)
        return reading

    keys = source_keys([path.name for path in documents])
    if workers == 1:
        return [read(path, key) for path, key in zip(documents, keys, strict=True)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(read, documents, keys))


def draft_of(chip: str, documents: Sequence[Path], progress: Progress) -> SpecDraft:
    """The draft of one chip from its documents; without a name it is that which the documents give, or `chip`.

    Raises:
        MetaInferError: One of the documents cannot be read.
    """
    readings = []
    for outcome in read_many(documents, progress):
        if isinstance(outcome, MetaInferError):
            raise outcome
        readings.append(outcome)
    said = (candidate for reading in readings for candidate in reading.candidates)
    name = next((str(candidate.value) for candidate in said if candidate.field == "chip.name"), "chip")
    return draft(chip or name, readings)
