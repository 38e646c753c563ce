"""Reading and writing files at the core's edge: size limits, clear errors, atomic writes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from metainfer_core.errors import InputError

MEBIBYTE = 1 << 20


def read_bytes(path: Path, what: str, limit_bytes: int = 64 * MEBIBYTE) -> bytes:
    """The bytes of a regular file of at most `limit_bytes`; raises InputError that calls the file a `what`."""
    try:
        if "\0" in str(path):
            raise InputError(f"{str(path)!r}: this cannot be a path.", "It holds a NUL character.", "Check the path.")
        if not path.exists():
            raise InputError(f"{path}: there is no such {what}.", fix="Check the path.")
        if not path.is_file():
            raise InputError(f"{path}: this is not a file.", f"A {what} was expected.", "Give the path of a file.")
        size = path.stat().st_size
        if size > limit_bytes:
            raise InputError(
                f"{path}: the {what} is too large.",
                f"It has {size:,} bytes; at most {limit_bytes:,} are read.",
                "Give a smaller file.",
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: the {what} cannot be read.", f"{error.strerror or error}.", "Check the path and its permissions."
        ) from error


def write_bytes(path: Path, data: bytes, what: str, mode: int = 0o644) -> None:
    """Writes a file as a whole or not at all: temporary file beside it, fsync, rename."""
    if not path.name:  # `.` and `/`
        raise InputError(f"{path}: this is a folder.", f"A {what} cannot be written there.", "Give the name of a file.")
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{path}: the {what} cannot be written.",
            f"{error.strerror or error}. What stood there before is unchanged.",
            "Check the folder, its permissions and the free space.",
        ) from error
