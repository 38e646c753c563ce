"""The spot on a manual's page that a spec value was read from, as a cut-out of the page's picture."""

from __future__ import annotations

from dataclasses import dataclass

from metainfer_core.spec.hardware_spec import HardwareSpec, Provenance
from studio.documents import document_with
from studio.page_picture import DPI
from studio.page_routes import document_link

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
    found = _provenance(spec, field)
    if found is None or found.box is None or not isinstance(found.page, int):
        return None
    source = spec.sources.get(found.source)
    if source is None or document_with(source.document_digest) is None:
        return None
    link = document_link(source.document_digest)
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
        caption=f"{source.title}, page {found.page}",
    )


def _provenance(spec: HardwareSpec, field: str) -> Provenance | None:
    """Of the value itself, or of the nearest one above it; an assumed value has none."""
    parts = field.split(".")
    for length in range(len(parts), 0, -1):
        path = ".".join(parts[:length])
        if path in spec.assumed:
            return None
        if path in spec.provenance:
            return spec.provenance[path]
    return None
