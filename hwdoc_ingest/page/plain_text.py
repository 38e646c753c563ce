"""Text of a document in whatever encoding it came."""

from __future__ import annotations

from pathlib import Path

from metainfer_core.errors import InputError


def decode(data: bytes, path: Path) -> str:
    """The text in UTF-8, UTF-16 (with its mark) or, failing both, Latin-1, with lines that end as on Unix."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: byte {error.start} is not UTF-16.",
                "The file begins with the mark of UTF-16.",
                "Save the file as UTF-8 text.",
            ) from error
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if "\x00" in text:
        raise InputError(f"{path}: this is no text: it holds NUL bytes.", fix="Give the file as its vendor has it.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
