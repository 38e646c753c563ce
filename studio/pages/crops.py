"""The spot on a manual's page that a spec value was read from, as a cut-out of the page's picture."""

from __future__ import annotations

from dataclasses import dataclass

from metainfer_core.explain.explanation import place_of
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.files.documents import document_with, is_purged
from studio.pages.page_picture import DPI
from studio.pages.page_routes import document_link
from studio.words.texts import text

WIDTH, HEIGHT = 640, 150
"""Pixels of the picture that a cut-out shows."""


@dataclass(frozen=True)
class Crop:
    """What the template draws: the picture's address, where it is cut, and where the mark lies in the cut-out."""

    address: str
    width: int
    height: int
    left: float
    top: float
    mark: tuple[float, float, float, float]
    """Left, top, width, height, in pixels of the cut-out."""
    caption: str


def crop_of(spec: HardwareSpec, field: str) -> Crop | None:
    """The place of a spec value, or None where it has none on a page of a manual in the workspace."""
    place = place_of(spec, field)
    if place is None:
        return None
    digest, found = place
    if found.box is None or not isinstance(found.page, int) or document_with(digest) is None:
        return None
    link = document_link(digest)
    scale = DPI / 72
    left, top, right, bottom = (edge * scale for edge in found.box)
    cut_left = max(0.0, (left + right - WIDTH) / 2)
    cut_top = max(0.0, (top + bottom - HEIGHT) / 2)
    return Crop(
        address=f"{link['address']}/{found.page}.png?token={link['token']}",
        width=WIDTH,
        height=HEIGHT,
        left=round(cut_left, 1),
        top=round(cut_top, 1),
        mark=(
            round(left - cut_left - 4, 1),
            round(top - cut_top - 4, 1),
            round(right - left + 8, 1),
            round(bottom - top + 8, 1),
        ),
        caption=text("crop_caption", title=spec.sources[found.source].title, page=found.page),
    )


def source_is_purged(spec: HardwareSpec, field: str) -> bool:
    """Whether the document that a value was read from was removed from the workspace on purpose."""
    found = place_of(spec, field)
    return found is not None and is_purged(found[0])
