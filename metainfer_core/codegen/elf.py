"""One section of an ELF file, such as compilers write for Linux and for bare chips. Hostile files end in InputError."""

from __future__ import annotations

import struct

from metainfer_core.errors import InputError

MAGIC = b"\x7fELF"


def section(binary: bytes, name: str) -> bytes:
    """The bytes of the section of that name, from a little-endian ELF file of 32 or 64 bits.

    Raises:
        InputError: not such a file, or it has no or several such sections.
    """
    try:
        found = [data for section_name, data in _sections(binary) if section_name == name]
    except (struct.error, IndexError, ValueError) as error:
        raise _broken(f"Its section table is broken ({error}).") from error
    if len(found) != 1:
        raise _broken(f"It has {len(found)} sections named {name}; there must be one.")
    return found[0]


def _sections(binary: bytes) -> list[tuple[str, bytes]]:
    if binary[:4] != MAGIC or len(binary) < 52:
        raise _broken("It does not begin as an ELF file does.")
    if binary[5] != 1:
        raise _broken("It is not little-endian.")
    is_wide = binary[4] == 2
    table_at = struct.unpack_from("<Q" if is_wide else "<I", binary, 0x28 if is_wide else 0x20)[0]
    row_bytes, rows, names_row = struct.unpack_from("<HHH", binary, 0x3A if is_wide else 0x2E)
    layout = "<IIQQQQ" if is_wide else "<IIIIII"
    headers = []
    if table_at + rows * row_bytes > len(binary):
        raise ValueError("the section table ends after the file")
    for row in range(rows):
        values = struct.unpack_from(layout, binary, table_at + row * row_bytes)
        headers.append((values[0], values[1], values[4], values[5]))
    names = _extent(binary, headers[names_row])
    return [(_text(names, header[0]), _extent(binary, header)) for header in headers]


def _extent(binary: bytes, header: tuple[int, int, int, int]) -> bytes:
    _, kind, offset, size = header
    if kind in (0, 8):  # unused; zeros that take no room in the file
        return b""
    if offset + size > len(binary):
        raise ValueError("a section ends after the file")
    return binary[offset : offset + size]


def _text(names: bytes, at: int) -> str:
    return names[at : names.index(b"\0", at)].decode("utf-8", "replace")


def _broken(why: str) -> InputError:
    return InputError("The built binary cannot be read.", why, "Build the package again.")
