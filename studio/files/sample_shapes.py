"""What arrays a data file holds, and the input shapes that they suggest, from their heads: no array is read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from studio.files.file_cache import kept_by_file

MOST_ARRAYS = 64


@kept_by_file
def suggested_shapes(path: Path) -> tuple[str, ...]:
    """One `name=[...]` for each array with samples of two axes or more; empty where the file tells none."""
    return tuple(f"{name}=[{','.join(map(str, shape[1:]))}]" for name, shape in _heads(path) if len(shape) > 2)


@kept_by_file
def array_names(path: Path) -> frozenset[str]:
    """The names of its arrays; empty where the file tells none."""
    return frozenset(name for name, _ in _heads(path))


def _heads(path: Path) -> tuple[tuple[str, tuple[int, ...]], ...]:
    found = []
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist()[:MOST_ARRAYS]:
                with archive.open(entry) as file:
                    found.append((entry.filename.removesuffix(".npy"), _shape(file)))
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError):
        return ()
    return tuple(found)


def _shape(file: IO[bytes]) -> tuple[int, ...]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, _ = read(file)
    return tuple(shape)
