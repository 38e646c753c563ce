"""The two labelled data sets, each made once into a folder: `pages.npz` and `files.npz`, both with strict parts.

Arrays: `calibration` and `evaluation` (the inputs as bytes or integers), `calibration_labels` and `evaluation_labels`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import turned_pages
import typed_files

PAGES = {"calibration": 160, "evaluation": 600}
"""Crops of each part, each in four rotations."""
FILES_FOR_CALIBRATION = 1664
"""Ranges are taken from them, and choices are made on them: a drop of .2 % is two of a thousand answers."""
FILES_OF_ONE_TYPE = 400


def load(name: str, folder: Path, documents: Path | None) -> Mapping[str, np.ndarray]:
    """The arrays of one data set, made where the folder does not hold it yet."""
    path = folder / f"{name}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        arrays = _pages(documents) if name == "pages" else _files()
        np.savez(path, **arrays)
    return dict(np.load(path))


def _pages(documents: Path | None) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for part in turned_pages.PARTS:
        found = list(turned_pages.crops(documents, PAGES[part], part, seed=0))
        order = np.random.default_rng(0).permutation(len(found))  # the first samples are of many pages
        arrays[part] = np.stack([found[index][0] for index in order])
        arrays[f"{part}_labels"] = np.array([found[index][1] for index in order])
    return arrays


def _files() -> dict[str, np.ndarray]:
    found = list(typed_files.typed_files(file_types(), FILES_OF_ONE_TYPE, seed=0))
    order = np.random.default_rng(0).permutation(len(found))
    inputs = np.stack([found[index][0] for index in order]).astype(np.int16)
    labels = np.array([found[index][1] for index in order])
    return {
        "calibration": inputs[:FILES_FOR_CALIBRATION],
        "calibration_labels": labels[:FILES_FOR_CALIBRATION],
        "evaluation": inputs[FILES_FOR_CALIBRATION:],
        "evaluation_labels": labels[FILES_FOR_CALIBRATION:],
    }


def file_types() -> list[str]:
    """The labels of the model, from the configuration that its own package ships."""
    package = find_spec("magika")
    if package is None or package.origin is None:
        raise SystemExit("pip install -r benchmarks/quality/requirements.txt")
    (path,) = Path(package.origin).parent.glob("models/standard_v*/config.min.json")
    names: list[str] = json.loads(path.read_text())["target_labels_space"]
    return names
