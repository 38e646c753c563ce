"""Reading and writing files at the core's edge: size limits, clear errors, atomic writes."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from metainfer_core.errors import InputError

MEBIBYTE = 1 << 20
IRREPLACEABLE = {
    b"SQLite format 3\0": "a database, such as the record of a review",
    b"-----BEGIN ENCRYPTED PRIVATE KEY-----": "a private key",
}
"""First bytes of files that no answer of a command may replace, since nothing can make them again."""


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


def check_outputs(outputs: Sequence[Path], what: str, inputs: Iterable[Path | str | None] = ()) -> None:
    """Refuses, before any work is done, to write over an input, one output over another, or where nothing can stand.

    Args:
        outputs: Files that will be written.
        what: What the first of them is, in words.
        inputs: What is read: paths, or the text of an option that may be one.
    """
    given = [Path(each) for each in inputs if each is not None and "\0" not in str(each)]
    for index, path in enumerate(outputs):
        _refuse_no_file(path, what)
        if path in outputs[:index]:
            raise InputError(f"{path}: two files would be written there.", fix=f"Give the {what} another ending.")
        try:
            overwritten = [each for each in given if path.exists() and each.exists() and path.samefile(each)]
            folder = next(each for each in path.absolute().parents if each.exists())
            usable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
        except OSError as error:
            raise _unwritable(path, what, error.strerror or str(error)) from error
        if overwritten:
            raise InputError(
                f"{path}: this is the file that is read.", f"The {what} would take its place.", "Give another name."
            )
        if not usable:
            raise _unwritable(path, what, f"{folder} is {'closed to you' if folder.is_dir() else 'not a folder'}")


def refuse_existing(*paths: Path, what: str) -> None:
    """Refuses to write where something stands already: for files that people go on to check and complete by hand."""
    for path in paths:
        if path.exists():
            raise InputError(
                f"{path}: this is there already.",
                f"The {what} goes into a new file; nothing is overwritten.",
                "Give another --output, such as the next version.",
            )


def _refuse_no_file(path: Path, what: str) -> None:
    """What is renamed into a place takes it, be it a device or a pipe: only a file gives way to a file."""
    kind = None
    try:
        if "\0" in str(path):
            kind = "cannot be a path"
        elif not path.name or path.is_dir():
            kind = "is a folder"
        elif path.exists() and not path.is_file():
            kind = "is not a file, but a device or a pipe"
        elif path.exists():
            kind = _irreplaceable(path)
    except OSError as error:
        raise _unwritable(path, what, error.strerror or str(error)) from error
    if kind:
        raise InputError(
            f"{str(path)!r}: this {kind}.", f"The {what} cannot be written there.", "Give the name of another file."
        )


def _irreplaceable(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(max(map(len, IRREPLACEABLE)))
    return next((f"is {what}" for head, what in IRREPLACEABLE.items() if start.startswith(head)), None)


def _unwritable(path: Path, what: str, why: str) -> InputError:
    return InputError(
        f"{path}: the {what} cannot be written.",
        f"{why}. What stood there before is unchanged.",
        "Check the folder, its permissions and the free space.",
    )


def write_bytes(path: Path, data: bytes, what: str, mode: int = 0o644, lasting: bool = False) -> None:
    """Writes a file as a whole or not at all: temporary file beside it, fsync, rename.

    With `lasting`, a power loss after this returns cannot bring back what stood there before.
    """
    with pending(path, what, mode) as file:
        file.write(data)
        file.settle(lasting)


class Pending:
    """A file that is safe on the disk, under a temporary name beside its place, until it may take that."""

    def __init__(self, path: Path, what: str, mode: int) -> None:
        self._path, self._what, self._mode = path, what, mode
        self._temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
        self._waits = False

    def write(self, data: bytes) -> None:
        """Writes all of it, in the place of what was written before; it is on the disk when this returns."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self.discard()
            self._waits = True
            descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self._mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(self._path, self._what, error.strerror or str(error)) from error

    def settle(self, lasting: bool = False) -> None:
        """Takes its place; with `lasting`, so that no power loss undoes it once this has returned."""
        try:
            os.replace(self._temporary, self._path)
            self._waits = False
            if lasting:
                descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError as error:
            raise _unwritable(self._path, self._what, error.strerror or str(error)) from error

    def discard(self) -> None:
        """Removes what was written and has not taken its place."""
        if self._waits:
            self._temporary.unlink(missing_ok=True)
            self._waits = False


@contextmanager
def pending(path: Path, what: str, mode: int = 0o644) -> Iterator[Pending]:
    """A file to be written in two steps; what has not taken its place in the end is removed."""
    _refuse_no_file(path, what)
    file = Pending(path, what, mode)
    try:
        yield file
    finally:
        with suppress(OSError):
            file.discard()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Reading a file, changing it and writing it back, while others who do so with the same folder wait.

    The lock is on the folder, which is made if it is missing, so that nothing is left behind; it ends with the
    process. Do not nest.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unwritable(path, "change", error.strerror or str(error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
