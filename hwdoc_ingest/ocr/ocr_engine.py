"""Optical character recognition behind one interface: an image in, words with boxes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
"""Height, width, 3: blue, green, red."""
Corners = tuple[tuple[float, float], ...]
"""Four corners in pixels, from the top left clockwise."""


@dataclass(frozen=True)
class SeenWord:
    """A word in an image."""

    text: str
    corners: Corners
    sure: float


class OcrEngine(Protocol):
    """Reads the words of an image."""

    name: str

    def read(self, image: Image) -> Sequence[SeenWord]:
        """The words of an image, line by line."""
        ...
