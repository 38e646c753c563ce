"""Running programs with a shim between them and the disk, and what a disk may hold after the power went.

The shim (disk_shim.c) notes every write, sync, renaming and removal. What was synced is on the disk; of what was not,
any part may be, down to single sectors of 512 bytes.
"""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SOURCE = Path(__file__).with_name("disk_shim.c")
PROGRAMS = Path(__file__).with_name("shimmed_programs.py")
SECTOR = 512


@cache
def shim():
    """The compiled shim."""
    library = Path(mkdtemp()) / "disk_shim.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=120)
    return library


def run(program, folder, *arguments, **shim_settings):
    """Runs one of `shimmed_programs` on a folder, with the shim's settings (log, kill_at, full_at)."""
    settings = {f"SHIM_{key.upper()}": str(value) for key, value in shim_settings.items()}
    environment = os.environ | {"LD_PRELOAD": str(shim()), "SHIM_DIR": str(folder)} | settings
    command = [sys.executable, PROGRAMS, program, folder, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@dataclass
class Operation:
    """One thing that a program did to a file."""

    what: str
    path: str
    other: str
    offset: int
    size: int
    data: bytes


def operations(log):
    """Everything that was noted down, in order."""
    found, data, at = [], log.read_bytes(), 0
    while at < len(data):
        end = data.index(b"\n", at)
        what, path, other, offset, size = data[at:end].decode().split("\t")
        body = data[end + 1 : end + 1 + int(size)]
        found.append(Operation(what, path, other, int(offset), int(size), body))
        at = end + 1 + int(size)
    return found


@dataclass
class _File:
    now: bytearray = field(default_factory=bytearray)
    """As the program sees it."""
    disk: bytearray = field(default_factory=bytearray)
    """What is certainly there after a power loss."""
    open: list = field(default_factory=list)
    """(offset, bytes) of writes and (size, None) of truncations since the last sync."""


def after_power_loss(done, rng, before=None):
    """Path to bytes, one of the states that the disk may be in when the power goes after these operations.

    `before` is what was on the disk already, path to bytes.
    """
    files = {path: _File(bytearray(data), bytearray(data)) for path, data in (before or {}).items()}
    renamed = []  # (from, to, what stood there) since the folder was synced: any of the last ones may be undone
    for each in done:
        if each.what == "sync" and any(each.path == os.path.dirname(to) for _, to, _ in renamed):
            renamed = [entry for entry in renamed if each.path != os.path.dirname(entry[1])]
            continue
        file = files.setdefault(each.path, _File())
        if each.what == "write":
            offset = len(file.now) if each.offset < 0 else each.offset
            _put(file.now, offset, each.data)
            file.open.append((offset, each.data))
        elif each.what == "truncate":
            _cut(file.now, each.offset)
            file.open.append((each.offset, None))
        elif each.what == "sync":
            file.disk, file.open = bytearray(file.now), []
        elif each.what == "rename":
            renamed.append((each.path, each.other, files.get(each.other)))
            files[each.other] = files.pop(each.path)
        elif each.what == "unlink":
            del files[each.path]
    kept = rng.randint(0, len(renamed))
    for old, new, there_before in reversed(renamed[kept:]):
        files[old] = files.pop(new)
        if there_before is not None:
            files[new] = there_before
    for file in files.values():
        chance = rng.choice((0.0, 0.3, 0.7, 1.0))
        for offset, data in file.open:
            if data is None:
                if rng.random() < chance:
                    _cut(file.disk, offset)
                continue
            for start in range(0, len(data), SECTOR):
                if rng.random() < chance:
                    _put(file.disk, offset + start, data[start : start + SECTOR])
    return {path: bytes(file.disk) for path, file in files.items()}


def _put(content, offset, data):
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


def _cut(content, size):
    del content[size:]
    content.extend(bytes(max(0, size - len(content))))
