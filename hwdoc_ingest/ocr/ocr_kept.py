"""What OCR saw in an image, kept in a folder, so that a document that is read again costs no OCR again.

Rules and confidence are made anew many times over the same scans; what the engine sees in a picture stays the same. So
the pictures' digests are the keys, and no change of a rule makes what is kept stale.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from hwdoc_ingest.ocr.ocr_engine import Image, OcrEngine, SeenWord
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.values import canonical_json

FOLDER_VARIABLE = "METAINFER_OCR_FOLDER"
"""Names the folder; without it nothing is kept."""


class KeptOcr:
    """An engine that looks first whether it has seen an image before."""

    def __init__(self, engine: OcrEngine, package: str, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        self.name = engine.name
        self.release = f"{engine.name}-{version(package)}"

    def read(self, image: Image) -> Sequence[SeenWord]:
        """The words of an image, line by line."""
        digest = hashlib.sha256(repr(image.shape).encode() + image.tobytes()).hexdigest()
        path = self.folder / f"{self.release}-{digest}.json"
        if path.is_file():
            kept = json.loads(read_bytes(path, "kept OCR"))
            return [SeenWord(text, tuple((x, y) for x, y in corners), sure) for text, corners, sure in kept]
        words = self.engine.read(image)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, canonical_json([[w.text, [list(c) for c in w.corners], w.sure] for w in words]), "kept OCR")
        return words


def kept(engine: OcrEngine, package: str, environment: Mapping[str, str] = os.environ) -> OcrEngine:
    """The engine, with a memory if the environment names a folder for it."""
    folder = environment.get(FOLDER_VARIABLE, "")
    return KeptOcr(engine, package, Path(folder)) if folder else engine
