"""Reads register workbooks (.xlsx) and tables (.csv) as plain rows, and turns them into candidates."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path

from hwdoc_ingest.page.plain_text import decode
from hwdoc_ingest.reading import LIMIT_BYTES, Progress, Reading
from hwdoc_ingest.registers.register_tables import table_candidates
from hwdoc_ingest.registers.table_columns import Row
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.spec.drafting.draft import DraftSource
from metainfer_core.values import sha256

MAX_UNPACKED_BYTES = 512 * MEBIBYTE
MAX_PARTS = 5_000
MAX_SHEETS = 300
MAX_ROWS = 100_000
MAX_COLUMNS = 2_000
MAX_CELL_LETTERS = 2_000


def read_workbook(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of a workbook; `page` is the name of the sheet."""
    data = read_bytes(path, "workbook", LIMIT_BYTES["workbook"])
    _refuse_hostile(path)
    notes: list[str] = []
    rows: list[Row] = []
    for title, index, count in sheet_rows(path, rows, notes):
        progress(f"sheet {title.strip()!r}", index, count)
    source = DraftSource(
        title=f"Workbook {path.name}",
        document_digest=sha256(data),
        file_name=path.name,
        pages=len({r.page for r in rows}),
    )
    candidates, further = table_candidates(rows, key, "workbook")
    return Reading(key=key, source=source, candidates=candidates, notes=(*notes, *further))


def read_csv(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of a table with separators; `page` is the line."""
    data = read_bytes(path, "table", LIMIT_BYTES["table"])
    progress("reading rows", 0, 0)
    text = decode(data, path)
    try:
        mark = csv.Sniffer().sniff(text[:65536], delimiters=",;\t|").delimiter
    except csv.Error:
        mark = ","
    rows: list[Row] = []
    notes: list[str] = []
    csv.field_size_limit(1 << 20)
    reader = csv.reader(text.split("\n"), delimiter=mark)
    try:
        for cells in reader:
            if len(rows) >= MAX_ROWS:
                notes.append(f"Read up to line {reader.line_num}: more than {MAX_ROWS:,} rows.")
                break
            kept = {at: cell.strip()[:MAX_CELL_LETTERS] for at, cell in enumerate(cells[:MAX_COLUMNS]) if cell.strip()}
            if kept:
                rows.append(Row(reader.line_num, reader.line_num, kept))
    except csv.Error as error:
        raise InputError(
            f"{path}:{reader.line_num}: this table cannot be read.", f"{error}.", "Save it anew as .csv."
        ) from error
    source = DraftSource(
        title=f"Table {path.name}", document_digest=sha256(data), file_name=path.name, pages=len(text.splitlines())
    )
    candidates, further = table_candidates(rows, key, "csv")
    return Reading(key=key, source=source, candidates=candidates, notes=(*notes, *further))


def _refuse_hostile(path: Path) -> None:
    """Looks at the archive before anything unpacks it."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        unpacked = sum(part.file_size for part in parts)
        if len(parts) > MAX_PARTS or unpacked > MAX_UNPACKED_BYTES:
            raise InputError(
                f"{path}: this workbook unpacks to more than is read.",
                f"{len(parts):,} parts with {unpacked:,} bytes; at most {MAX_PARTS:,} and {MAX_UNPACKED_BYTES:,}.",
                "Save the sheets with the registers as a workbook of their own.",
            )
        if any(part.flag_bits & 1 for part in parts):
            raise InputError(f"{path}: this workbook is locked with a password.", "", "Save it without a password.")
        for part in parts:
            if part.filename.endswith((".xml", ".rels")):
                _refuse_document_type(archive, part, path)


def _refuse_document_type(archive: zipfile.ZipFile, part: zipfile.ZipInfo, path: Path) -> None:
    try:
        with archive.open(part) as file:
            start = file.read(4096)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise InputError(f"{path}: {part.filename} in it is broken.", f"{error}.", "Save the workbook anew.") from error
    if b"<!DOCTYPE" in start or b"<!ENTITY" in start or "<!DOCTYPE".encode("utf-16-le") in start:
        raise InputError(
            f"{path}: {part.filename} in it declares a document type.",
            "Through it a file can swell or fetch others; no workbook needs one.",
            "Save the workbook anew with a spreadsheet program.",
        )


def sheet_rows(path: Path, rows: list[Row], notes: list[str]) -> Iterator[tuple[str, int, int]]:
    """Adds the filled cells of every sheet to `rows`; yields each sheet's name before it is read."""
    import openpyxl  # takes a while to load, and only a workbook needs it
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        for index, sheet in enumerate(book.worksheets[:MAX_SHEETS]):
            yield sheet.title, index, len(book.worksheets)
            sheet.reset_dimensions()  # what the file claims about its size is not to be trusted
            for number, cells in enumerate(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS), start=1):
                if number > MAX_ROWS:
                    notes.append(f"sheet {sheet.title}: read up to row {MAX_ROWS:,}.")
                    break
                kept = {at: _text(cell) for at, cell in enumerate(cells) if cell is not None and _text(cell)}
                if kept:
                    rows.append(Row(sheet.title, number, kept))
        book.close()
    except (InvalidFileException, KeyError, ValueError, TypeError, AttributeError, IndexError, OSError) as error:
        raise _broken(path, error) from error
    except (zipfile.BadZipFile, EOFError, SyntaxError) as error:  # a SyntaxError is how ElementTree tells bad XML
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: this workbook is broken.", f"{error}.", "Save it anew with a spreadsheet program.")


def _text(cell: object) -> str:
    """A cell as people see it: whole numbers without `.0`."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 53:
        return str(int(cell))
    return str(cell).strip()[:MAX_CELL_LETTERS]
