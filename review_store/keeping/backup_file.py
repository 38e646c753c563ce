"""The file of a backup: a zip that stores files as they are, with a manifest that names each by digest.

The same workspace gives the same bytes. Nothing in it is compressed, so no entry can unpack to more than it is.
"""

from __future__ import annotations

import hashlib
import stat
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from metainfer_core.bundle.statement import Digest, LogHead
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import MEBIBYTE
from metainfer_core.values import FrozenMap, Value, read_json

MANIFEST = "metainfer_backup.json"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
MOST_FILES = 100_000
MANIFEST_LIMIT = 64 * MEBIBYTE
CHUNK = MEBIBYTE
HIDDEN = ".studio"
"""The one hidden folder that a backup holds a part of."""


class BackupManifest(Value):
    """What a backup holds."""

    format: Literal["metainfer.backup/1"] = "metainfer.backup/1"
    tool_version: str
    record: LogHead
    """Where the record of decisions ended; number 0: there was none."""
    with_manuals: bool
    files: FrozenMap[Digest]
    """Path in the workspace to digest."""


def write_backup(path: Path, files: Mapping[str, Path], manifest: BackupManifest) -> BackupManifest:
    """Writes the archive, each file in one pass; gives the manifest with the digests of what was really written.

    Args:
        path: Where the archive goes.
        files: Path in the workspace to the file that is read.
        manifest: All but the digests.
    """
    digests: dict[str, Digest] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            try:
                source = files[name].open("rb")
            except FileNotFoundError:
                continue  # removed since it was listed
            with source, archive.open(_entry(name), "w", force_zip64=True) as target:
                digests[name] = _copy(source, target)
        whole = BackupManifest.from_plain(manifest.plain() | {"files": digests}, "backup")
        archive.writestr(_entry(MANIFEST), whole.to_json())
    return whole


def read_manifest(path: Path) -> BackupManifest:
    """What a backup says that it holds; raises InputError where it is none, or one that could do harm."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _manifest(archive, path)
    except _BROKEN as error:
        raise _no_backup(path, f"{error}.") from error


def unpack(path: Path, folder: Path) -> BackupManifest:
    """Unpacks a backup into an empty folder; raises NotTrustedError where a file is not the one of the manifest."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path)
            for name, digest in manifest.files.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, target.open("xb") as file:
                    found = _copy(source, file)
                if found != digest:
                    raise NotTrustedError(
                        f"{path}: {name} was changed since the backup was made.",
                        f"Its digest is {found}; the manifest names {digest}.",
                        "Use another backup.",
                        "tampered",
                    )
            return manifest
    except _BROKEN as error:
        raise _no_backup(path, f"{error}.") from error


_BROKEN = (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.create_system = 3  # Unix: the one that keeps permissions
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry


def _copy(source: IO[bytes], target: IO[bytes]) -> Digest:
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        target.write(chunk)
    return f"sha256:{digest.hexdigest()}"


def _manifest(archive: zipfile.ZipFile, path: Path) -> BackupManifest:
    entries = archive.infolist()
    fault = _entries_fault(entries, path.stat().st_size) or names_fault(
        each.filename for each in entries if each.filename != MANIFEST
    )
    if fault:
        raise _no_backup(path, fault)
    sizes = {each.filename: each.file_size for each in entries}
    if sizes.get(MANIFEST, MANIFEST_LIMIT + 1) > MANIFEST_LIMIT:
        raise _no_backup(path, f"It holds no {MANIFEST}, or one that is too large.")
    where = f"{path}: {MANIFEST}"
    manifest = BackupManifest.from_plain(read_json(archive.read(MANIFEST), where), where)
    unknown = sorted(sizes.keys() - manifest.files.keys() - {MANIFEST})
    missing = sorted(manifest.files.keys() - sizes.keys())
    if unknown or missing:
        what = f"{missing[0]} is missing." if missing else f"{unknown[0]} is not in its manifest."
        raise _no_backup(path, what)
    return manifest


def _entries_fault(entries: list[zipfile.ZipInfo], size: int) -> str | None:
    """Why these are not the entries of a backup, or None."""
    if len(entries) > MOST_FILES:
        return f"It holds {len(entries):,} files; at most {MOST_FILES:,} are read."
    for each in entries:
        kind = stat.S_IFMT(each.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            return f"{each.filename!r} is a link, a folder or a device; a backup holds files alone."
        if each.compress_type != zipfile.ZIP_STORED or each.file_size != each.compress_size or each.flag_bits & 1:
            return f"{each.filename!r} is compressed or encrypted; a backup stores its files as they are."
    if sum(each.file_size for each in entries) > size:
        return "Its entries overlap."
    return None


def names_fault(names: Iterable[str]) -> str | None:
    """Why these cannot all be files of one workspace, on any system, or None."""
    files: dict[str, str] = {}
    folders: set[str] = set()
    for name in names:
        parts = name.split("/")
        if len(name) > 1000 or not all(_is_plain(part) for part in parts):
            return f"{name[:200]!r} does not stay in the workspace, or is no name for a file."
        if any(part.startswith(".") for part in parts) and parts[0] != HIDDEN:
            return f"{name!r} is hidden; a backup holds no such file."
        if _alike(name) in files:
            return f"{files[_alike(name)]!r} and {name!r} are one file on some systems."
        files[_alike(name)] = name
        folders.update(_alike(str(each)) for each in PurePosixPath(name).parents)
    both = sorted(files.keys() & folders)
    return f"{files[both[0]]!r} is a file and a folder." if both else None


def _is_plain(part: str) -> bool:
    """Whether it can be the name of a file or folder and nothing else."""
    return (
        part not in ("", ".", "..")
        and len(part.encode("utf-8", "surrogatepass")) <= 255
        and not any(unicodedata.category(char) in ("Cc", "Cs") or char in "\\:" for char in part)
    )


def _alike(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _no_backup(path: Path, why: str) -> InputError:
    return InputError(f"{path}: this is no backup that can be restored.", why, "Give a file that backup wrote.")
