"""A folder of our own for the time of one build or run; where the disk is full or closed, one clear message."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metainfer_core.errors import InputError


@contextmanager
def private_folder(purpose: str) -> Iterator[Path]:
    """A new folder that only this user can read, gone afterwards; raises InputError where it cannot be written."""
    try:
        with tempfile.TemporaryDirectory(prefix=f"metainfer-{purpose}-") as name:
            yield Path(name)
    except OSError as error:
        raise InputError(
            f"The temporary folder for the {purpose} cannot be used.",
            f"{error.strerror or error} ({error.filename or tempfile.gettempdir()}).",
            "Free some space, or name another folder in TMPDIR.",
        ) from error
