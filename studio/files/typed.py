"""What people have typed into a form and not written yet: on the disk, so that a refresh or a restart loses none of it.

One file for each person, policy and action. It is no decision, and nobody else sees it.
"""

from __future__ import annotations

import contextlib
import hashlib

from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes
from metainfer_core.values import JsonMap, Value
from studio.files.workspace import hidden_folder

LIMIT = MEBIBYTE
_WHAT = "kept form"


class Typed(Value):
    """A form as it was left."""

    action: str
    verb: str
    version: int
    """Of the action, as its writer has seen it."""
    open: bool = True
    """Whether the form stood open; one that was closed keeps its words for the next time."""
    fields: JsonMap = {}


def read_typed(desk: str, person: str) -> dict[str, Typed]:
    """Action id to form, of one person's review of one policy. A file that cannot be read is passed over."""
    folder = hidden_folder("typed") / desk / _name(person)
    found = {}
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(MetaInferError):
            kept = Typed.from_json(read_bytes(path, _WHAT, LIMIT), _WHAT)
            found[kept.action] = kept
    return found


def keep_typed(desk: str, person: str, typed: Typed) -> None:
    """Writes a form down."""
    write_bytes(hidden_folder("typed") / desk / _name(person) / f"{_name(typed.action)}.json", typed.to_json(), _WHAT)


def forget_typed(desk: str, person: str, action_id: str) -> None:
    """Throws a form away: what it said is in the record now."""
    (hidden_folder("typed") / desk / _name(person) / f"{_name(action_id)}.json").unlink(missing_ok=True)


def _name(words: str) -> str:
    """A file's name for an id of any length, that nobody's id can lead out of the folder."""
    return hashlib.sha256(words.encode()).hexdigest()[:24]
