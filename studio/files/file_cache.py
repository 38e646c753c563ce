"""What was read from a file is kept for as long as the file is unchanged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def kept_by_file(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Reads a file anew only when its size or time of change is another; what `read` raises is not kept."""

    @functools.lru_cache(maxsize=256)
    def once(path: Path, _changed: int, _size: int) -> T:
        return read(path)

    @functools.wraps(read)
    def kept(path: Path) -> T:
        status = path.stat()
        return once(path, status.st_mtime_ns, status.st_size)

    return kept
