"""A finding: one thing that is wrong, doubtful or missing in a spec file, with its place and the mend."""

from __future__ import annotations

from typing import Literal

from metainfer_core.values import Value

Severity = Literal["error", "warning", "note"]


class Mend(Value):
    """A change of the file that cannot change what it means to say, so that a program may make it."""

    place: tuple[str | int, ...]
    """Where the key or the value stands, as keys and indexes from the top of the file."""
    of_key: bool = False
    """Whether the key is replaced, and not the value."""
    text: str
    """The YAML that takes its place."""


class Finding(Value):
    """One fault of a spec file."""

    code: str
    severity: Severity
    path: str
    """Field path, such as `memories.sram.size_bytes`; empty for the file as a whole."""
    line: int
    """1-based."""
    column: int
    message: str
    fix: str
    mend: Mend | None = None
    """The fix, where a program can make it safely (`--fix`)."""
