"""Pictures of the places in manuals that a policy's reasons rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from metainfer_core.cli.console import ProgressCallback
from metainfer_core.errors import MetaInferError
from metainfer_core.explain.explanation import place_of
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec

CUTTERS = "metainfer.page_crops"
"""Entry points of packages that cut places out of documents: `(document, places, progress) -> pictures`."""

Box = tuple[float, float, float, float]
Cut = Callable[[Path, Sequence[tuple[int, Box]], ProgressCallback], tuple[bytes | None, ...]]


class Spot(NamedTuple):
    """A place in a document."""

    document_digest: str
    page: int
    box: Box


def spot_of(spec: HardwareSpec, field: str) -> Spot | None:
    """The place on a page that a spec value was read from, where it has one."""
    found = place_of(spec, field)
    if found is None or found[1].box is None or not isinstance(found[1].page, int):
        return None
    return Spot(found[0], found[1].page, found[1].box)


def spots_of(policy: Policy, spec: HardwareSpec) -> tuple[Spot, ...]:
    """Every place that a reason of the policy rests on, each once, in the order of the policy."""
    fields = [reason.spec_field for action in policy.actions for reason in action.why if reason.spec_field]
    found = (spot_of(spec, field) for field in dict.fromkeys(fields))
    return tuple(dict.fromkeys(spot for spot in found if spot is not None))


def cutter() -> Cut | None:
    """What cuts places out of documents, if a package that does is installed."""
    found = next(iter(entry_points(group=CUTTERS)), None)
    return None if found is None else found.load()


def pictures_of(
    spots: Sequence[Spot], documents: Mapping[str, Path], cut: Cut, progress: ProgressCallback
) -> dict[Spot, bytes]:
    """A PNG for each place whose document is given by its digest and can be drawn."""
    pictures: dict[Spot, bytes] = {}
    for digest, path in documents.items():
        here = [spot for spot in spots if spot.document_digest == digest]
        try:
            drawn = cut(path, [(spot.page, spot.box) for spot in here], progress)
        except MetaInferError:  # the words stand on the page anyway
            continue
        pictures |= {spot: picture for spot, picture in zip(here, drawn, strict=True) if picture is not None}
    return pictures
