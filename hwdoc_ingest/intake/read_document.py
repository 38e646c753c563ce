"""Reads one document in this process: what kind it is stands in its first bytes, never in its name."""

from __future__ import annotations

import functools
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from hwdoc_ingest.reading import LIMIT_BYTES, Found, Kind, Progress, Reading
from metainfer_core.errors import InputError, UnsupportedError

READABLE = "PDF, register workbooks (.xlsx, .csv), CMSIS-SVD and device trees (.dts, .dtsi, .dtb) are read."

SAMPLE_BYTES = 1 << 16
"""First bytes that are looked at."""
_OTHER_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an Office file of the old binary kind (.xls, .doc) or one locked with a password; save it as plain .xlsx",
    ),
    (b"\x1f\x8b", "a gzip archive; unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it"),
    (b"BZh", "a bzip2 archive; unpack it"),
    (b"\xfd7zXZ\x00", "an xz archive; unpack it"),
    (b"Rar!", "a RAR archive; unpack it"),
    (b"\x89PNG", "a PNG picture; put it into a PDF"),
    (b"\xff\xd8\xff", "a JPEG picture; put it into a PDF"),
    (b"II*\x00", "a TIFF picture; put it into a PDF"),
    (b"MM\x00*", "a TIFF picture; put it into a PDF"),
    (b"%!PS", "a PostScript file; convert it to PDF"),
    (b"{\\rtf", "an RTF text; save it as PDF"),
)
_DEVICE_TREE = re.compile(
    rb"/dts-v1/|/plugin/|/delete-(?:node|property)/|^[ \t]*#include[ \t]*[\"<][^\"\n>]*\.dtsi?[\">]"
    rb"|^[ \t]*(?:\w+[ \t]*:[ \t]*)*(?:/|&\w+|&\{[^}\n]*\}|[\w,.+-]+@[\w,.]+)[ \t]*\{",
    re.M,
)
"""A directive, an included tree, or a line that opens the root, an extended node or one with a unit address."""
_NODE = re.compile(rb"^[ \t]*(?:[\w()]+[ \t]*:[ \t]*)*[\w,.+-]+[ \t]*\{[ \t]*\r?$", re.M)
"""A line that opens any node; much else looks like it, so that it counts only with a `};`."""


def read_document(path: Path, key: str, progress: Progress, found: Found | None = None) -> Reading:
    """All candidates of the document at `path`; raises InputError when it is not one, broken, locked or hostile.

    Args:
        path: The document. `intake.read_safely` does the same in a limited process.
        key: Key of the document in the draft's sources.
        progress: Called at least once a page or a thousand lines.
        found: Takes what the pages of a PDF read so far say; the other kinds are read in a moment.
    """
    kind = kind_of(path)
    try:
        return _reader(kind, found)(path, key, progress)
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            f"{path}: this installation cannot read a {kind}.",
            f"The package {error.name!r} is missing.",
            "Install meta-infer with its extra 'ingest'.",
        ) from error


def _reader(kind: Kind, found: Found | None) -> Callable[[Path, str, Progress], Reading]:
    """The reader of a kind, loaded only now: OCR and workbooks take seconds that the other kinds need not wait for."""
    match kind:
        case "pdf":
            from hwdoc_ingest.intake.pdf_reading import read_pdf

            return functools.partial(read_pdf, found=found)
        case "workbook":
            from hwdoc_ingest.registers.sheets import read_workbook

            return read_workbook
        case "table":
            from hwdoc_ingest.registers.sheets import read_csv

            return read_csv
        case "svd":
            from hwdoc_ingest.registers.svd import read_svd

            return read_svd
        case "device-tree":
            from hwdoc_ingest.device_trees.device_tree import read_device_tree

            return read_device_tree
        case "device-tree-blob":
            from hwdoc_ingest.device_trees.device_tree import read_device_tree_blob

            return read_device_tree_blob
        case "device-tree-folder":
            from hwdoc_ingest.device_trees.device_tree import read_device_tree_folder

            return read_device_tree_folder


def kind_of(path: Path) -> Kind:
    """What the document is by its first bytes; raises InputError when it is nothing that is read, or too large."""
    if _is_live_tree(path):
        return "device-tree-folder"
    size, start = _first_bytes(path)
    kind = _kind(path, start)
    if size > LIMIT_BYTES[kind]:
        raise InputError(
            f"{path}: the document is too large.",
            f"It has {size:,} bytes; at most {LIMIT_BYTES[kind]:,} of a {kind} are read.",
            "Give the part of it that describes the hardware.",
        )
    return kind


def _is_live_tree(path: Path) -> bool:
    """Whether it is a folder like /proc/device-tree."""
    try:
        return all((path / name).is_file() for name in ("compatible", "#address-cells"))
    except (OSError, ValueError):
        return False


def _first_bytes(path: Path) -> tuple[int, bytes]:
    try:
        if not path.exists():
            raise InputError(f"{path}: there is no such document.", fix="Check the path.")
        if not path.is_file():
            raise InputError(f"{path}: this is not a file.", "A document was expected.", "Give the path of a file.")
        with path.open("rb") as file:
            return path.stat().st_size, file.read(SAMPLE_BYTES)
    except OSError as error:
        raise InputError(
            f"{path}: the document cannot be read.",
            f"{error.strerror or error}.",
            "Check the path and its permissions.",
        ) from error
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{str(path)!r}: this cannot be a path.", f"{error}.", "Check the path.") from error


def _kind(path: Path, start: bytes) -> Kind:
    return kind_by_start(path, start) or _kind_of_archive(path)


def kind_by_start(path: Path, start: bytes) -> Kind | None:
    """What a document is by its first bytes, or None for an archive, whose table of contents tells more.

    Nothing is opened. Raises InputError, which begins with `path`, when it is nothing that is read.
    """
    if not start.strip(b"\x00 \t\r\n"):
        raise InputError(f"{path}: the document is empty.", READABLE, "Get the file again.")
    if b"%PDF-" in start[:1024]:
        return "pdf"
    if start.startswith(b"\xd0\x0d\xfe\xed"):
        return "device-tree-blob"
    if start.startswith(b"PK\x03\x04"):
        return None
    for magic, name in _OTHER_KINDS:
        if start.startswith(magic):
            raise InputError(f"{path}: this is {name}.", READABLE, "Give a document of one of these kinds.")
    return _kind_of_text(path, start)


def _kind_of_archive(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(
            f"{path}: the archive is broken.", f"{error}.", "Get the file again, or save the workbook anew."
        ) from error
    if "xl/workbook.xml" in names:
        return "workbook"
    raise InputError(
        f"{path}: this is a zip archive and no workbook.", READABLE, "Unpack it, or save the sheet as .xlsx or .csv."
    )


def _kind_of_text(path: Path, start: bytes) -> Kind:
    utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not utf16 and (b"\x00" in start or sum(byte < 9 or 13 < byte < 27 for byte in start) > len(start) // 100):
        raise InputError(f"{path}: this is a binary file of no known kind.", READABLE, "Give one of these.")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<"):
        return _kind_of_xml(path, text)
    if not utf16 and (_DEVICE_TREE.search(text) or (_NODE.search(text) and b"};" in text)):
        return "device-tree"
    first = next((line for line in text.splitlines() if line.strip()), b"")
    if utf16 or any(mark in first for mark in (b",", b";", b"\t", b"|")):
        return "table"
    raise InputError(
        f"{path}: this text is no device tree, SVD or table.",
        f"{READABLE} It has no node `name {{ ... }};`, no <device> and no row of column names.",
        "Give one of these.",
    )


def _kind_of_xml(path: Path, text: bytes) -> Kind:
    root = re.search(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)", text)
    if root and root[1] == b"device":
        return "svd"
    name = root[1].decode("ascii", "replace")[:40] if root else ""
    raise InputError(
        f"{path}: this XML is no CMSIS-SVD.",
        f"Its outermost element is <{name}>, <device> was expected.",
        "Give the .svd file of the device.",
    )
