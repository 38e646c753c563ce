"""What was computed once is kept in the work folder, under the digest of all that it follows from: runs can go on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

PIECE = 200
"""Samples that are kept together: so many at most are computed again after a stop."""

Feed = dict[str, np.ndarray]
Answers = tuple[np.ndarray, np.ndarray]
"""Outputs and logits, [samples, classes] each."""


def digest(*parts: bytes | str) -> str:
    """Of some parts, each with its length."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()[:24]


def of_feeds(feeds: Sequence[Feed]) -> str:
    """The digest of some inputs."""
    return digest(*(name + digest(array.tobytes()) for feed in feeds for name, array in sorted(feed.items())))


def answers(folder: Path, key: str, feeds: Sequence[Feed], runner: Callable[[], Callable[[Feed], Answers]]) -> Answers:
    """The answers to all feeds: those of a piece that was computed before are read.

    Args:
        folder: Where pieces are kept.
        key: Digest of the model and of what runs it.
        feeds: One sample each.
        runner: Makes what runs one sample; called where a piece is missing.
    """
    run: Callable[[Feed], Answers] | None = None
    found = []
    for first in range(0, len(feeds), PIECE):
        piece = feeds[first : first + PIECE]
        path = folder / "kept" / f"{digest(key, of_feeds(piece))}.npz"
        if not path.exists():
            run = run or runner()
            pairs = [run(feed) for feed in piece]
            outputs, logits = (np.stack([pair[side].reshape(-1) for pair in pairs]) for side in (0, 1))
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, outputs, logits)
        stored = np.load(path)
        found.append((stored["outputs"], stored["logits"]))
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])


def text(folder: Path, key: str, make: Callable[[], bytes]) -> bytes:
    """The bytes that were made under this key, or are made now."""
    path = folder / "kept" / key
    if not path.exists():
        data = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_bytes(data)
        partial.replace(path)
    return path.read_bytes()


def _write(path: Path, outputs: np.ndarray, logits: np.ndarray) -> None:
    partial = path.with_name(path.stem + ".part.npz")
    np.savez(partial, outputs=outputs, logits=logits)
    partial.replace(path)
