"""How far a training is, as a file: a stopped run goes on from it and comes to the same weights."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metainfer_core import files
from metainfer_core.errors import InputError
from metainfer_core.verify.samples import read_arrays

_PARTS = ("now", "best", "first_moment", "second_moment")
_NUMBERS = ("step", "best_step", "first_loss", "best_loss", "learning_rate", "waited", "halved", "restarted")
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Checkpoint:
    """State of a training between two steps."""

    now: Arrays
    best: Arrays
    first_moment: Arrays
    second_moment: Arrays
    step: int
    best_step: int
    first_loss: float
    """On the samples that decide when to stop, before the first step."""
    best_loss: float
    learning_rate: float
    waited: int
    """Looks in a row that saw nothing better."""
    halved: int
    """How often the learning rate was halved."""
    restarted: int
    """The step at which the moments were zero last."""


def write_checkpoint(path: Path, task: str, state: Checkpoint) -> None:
    """Writes the state, as a whole or not at all; `task` is the digest of what is trained on what."""
    arrays = {f"{part}/{name}": array for part in _PARTS for name, array in getattr(state, part).items()}
    numbers = {name: np.float64(getattr(state, name)) for name in _NUMBERS}
    buffer = io.BytesIO()
    np.savez(buffer, **{"task": np.array(task), **numbers, **arrays})
    files.write_bytes(path, buffer.getvalue(), "checkpoint")


def read_checkpoint(path: Path, task: str, weights: Arrays) -> Checkpoint | None:
    """The state of the same training; None where the file is not there.

    Raises:
        InputError: It is of another training, or no such file.
    """
    if not path.exists():
        return None
    arrays = read_arrays(path, "checkpoint")
    fix = "Remove it to begin anew, or give another --output."
    if str(arrays.get("task", "")) != task:
        why = "It was made from another model, other changes, data or settings."
        raise InputError(f"{path}: this is the state of another training.", why, fix)
    parts = {part: {name: arrays.get(f"{part}/{name}", np.empty(0)) for name in weights} for part in _PARTS}
    fits = all(
        part[name].shape == array.shape and part[name].dtype == np.float32
        for part in parts.values()
        for name, array in weights.items()
    )
    numbers = {name: arrays.get(name) for name in _NUMBERS}
    if not fits or any(number is None or number.shape != () or not np.isfinite(number) for number in numbers.values()):
        raise InputError(f"{path}: this checkpoint is damaged.", "Arrays are missing, or have another shape.", fix)
    known = {name: float(number) for name, number in numbers.items() if number is not None}
    whole = {name: int(known.pop(name)) for name in ("step", "best_step", "waited", "halved", "restarted")}
    return Checkpoint(**parts, **whole, **known)  # type: ignore[arg-type]
