"""`meta-infer sample`: lays out all that the tutorial needs in one folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import numpy as np
import rapidocr
import typer

from hwdoc_ingest.sample.text_lines import text_lines
from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes, write_bytes

DATASHEET = "tarnholt_v200_datasheet.pdf"
MODEL = "ch_ppocr_mobile_v2.0_cls_mobile.onnx"
NOTICE = """\
text_direction.onnx is the text-direction classifier of PaddleOCR (PP-OCR mobile v2.0), converted to ONNX by RapidOCR,
as the Python package rapidocr carries it. Both are licensed under the Apache License 2.0. It was copied from the
installed package unchanged.

tarnholt_v200_datasheet.pdf describes a chip that does not exist. It and the two data files were made for this sample.
"""


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command("sample", epilog="Example: meta-infer sample try")(sample)


def sample(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write to; it is made if missing.")],
    as_json: Json = False,
) -> None:
    """Write a sample to try the loop on: a data sheet, a model, and calibration and evaluation data."""
    with progress("Sample") as report:
        report("drawing text lines", 0, 1)
        files = sample_files()
    present = sorted(name for name in files if (folder / name).exists())
    if present:
        raise InputError(
            f"{folder / present[0]} is there already.", "Nothing is overwritten.", "Choose another folder."
        )
    for name, data in files.items():
        write_bytes(folder / name, data, "sample file")
    lines = [f"{folder / name}: {len(data):,} bytes" for name, data in files.items()]
    emit(as_json, {"files": [str(folder / name) for name in files]}, "\n".join(lines))


def sample_files() -> dict[str, bytes]:
    """File name to content."""
    model = Path(rapidocr.__file__).parent / "models" / MODEL
    return {
        DATASHEET: read_bytes(Path(__file__).parent / DATASHEET, "sample data sheet"),
        "text_direction.onnx": read_bytes(model, "model of the package rapidocr"),
        "calibration.npz": _npz(text_lines(32, seed=1)),
        "evaluation.npz": _npz(text_lines(64, seed=2)),
        "NOTICE.txt": NOTICE.encode(),
    }


def _npz(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
