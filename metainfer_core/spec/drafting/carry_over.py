"""A new revision of a document: which confirmed values it says again, which it says otherwise, which it no longer has.

Nothing is decided here: what is found again can be accepted without another look, the rest is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metainfer_core.spec.drafting.accept import plain_candidate, value_in
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.drafting.spec_values import NotRepresentable, spec_value
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import FrozenMap, Value

SHARE_OF_A_REVISION = 0.5
"""A document that says at least so much of another again is a later revision of it, whatever the files are called."""
_OF_A_VERSION = re.compile(r"v?\d+[a-z]?|v|rev\w*|ver\w*|final|draft|new|old|[a-z]")


class CarryOver(Value):
    """A draft held against what was confirmed before it. Every value is as a spec file would say it."""

    again: FrozenMap[int] = {}
    """Path to the candidate that says the same, under the same condition."""
    was: FrozenMap[str] = {}
    """Path to the confirmed value, for all paths that the draft has readings of."""
    vanished: FrozenMap[str] = {}
    """Path to the confirmed value, where it came from a document that the draft has a later revision of, and the draft
    has no reading of it."""
    revised: tuple[str, ...] = ()
    """Keys of the spec's documents that the draft has a later revision of."""

    @property
    def differs(self) -> tuple[str, ...]:
        """Paths of which the documents say something else now."""
        return tuple(path for path in self.was if path not in self.again)


def carry_over(confirmed: HardwareSpec, draft: SpecDraft, readings: Mapping[str, Sequence[int]]) -> CarryOver:
    """Holds a draft against what was confirmed.

    Args:
        confirmed: The spec that people stand behind.
        draft: What the documents say now.
        readings: Path to the indexes of the draft's candidates for it.
    """
    plain = confirmed.plain()
    was: dict[str, str] = {}
    again: dict[str, int] = {}
    for path, indexes in readings.items():
        standing = value_in(plain, path)
        if standing is None or not indexes:
            continue
        was[path] = shown(path, standing)
        place = confirmed.provenance.get(path)
        for index in indexes:
            candidate = draft.candidates[index]
            if _told(candidate, path).get(path) == standing and (
                place is None or _alike(candidate.condition, place.condition)
            ):
                again[path] = index
                break
    revised = _revised(confirmed, draft, again)
    said = {
        told for path, indexes in readings.items() for index in indexes for told in _told(draft.candidates[index], path)
    }
    vanished = {
        path: shown(path, value)
        for path, place in confirmed.provenance.items()
        if place.source in revised and path not in said and (value := value_in(plain, path)) is not None
    }
    return CarryOver(again=again, was=was, vanished=vanished, revised=revised)


def with_own_keys(draft: SpecDraft, confirmed: HardwareSpec) -> SpecDraft:
    """The draft with another key for each document that bears the key of another document of the spec."""
    taken = {key: source.document_digest for key, source in confirmed.sources.items()}
    renamed: dict[str, str] = {}
    for key, source in draft.sources.items():
        name, number = key, 1
        while taken.get(name, source.document_digest) != source.document_digest:
            number += 1
            name = f"{key}_{number}"
        taken[name] = source.document_digest
        renamed[key] = name
    if all(key == name for key, name in renamed.items()):
        return draft
    plain = draft.plain()
    plain["sources"] = {renamed[key]: source for key, source in plain["sources"].items()}
    for candidate in plain["candidates"]:
        candidate["source"] = renamed.get(candidate["source"], candidate["source"])
    return SpecDraft.from_plain(plain)


def _told(candidate: Candidate, path: str) -> dict[str, Any]:
    """All that the spec holds of a candidate: a cache's size also tells how it is shared."""
    if path.startswith("other."):
        return {path: plain_candidate(candidate)}
    try:
        return dict(spec_value(candidate, path))
    except NotRepresentable:
        return {}


def _alike(one: str | None, other: str | None) -> bool:
    return " ".join((one or "").lower().split()) == " ".join((other or "").lower().split())


def _revised(confirmed: HardwareSpec, draft: SpecDraft, again: Mapping[str, int]) -> tuple[str, ...]:
    found = []
    for key, document in confirmed.sources.items():
        own = [path for path, place in confirmed.provenance.items() if place.source == key]
        said = sum(path in again for path in own)
        names = {_without_version(source.file_name) for source in draft.sources.values()}
        named_alike = _without_version(document.file_name or document.title) in names
        if own and (named_alike or said >= SHARE_OF_A_REVISION * len(own)):
            found.append(key)
    return tuple(found)


def _without_version(file_name: str) -> tuple[str, ...]:
    """The words of a file's name that tell what it is: of `RK3588_Datasheet_v1.4.pdf` rk3588 and datasheet."""
    words = re.findall(r"[a-z0-9]+", file_name.lower().rsplit(".", 1)[0])
    return tuple(word for word in words if not _OF_A_VERSION.fullmatch(word)) or tuple(words)
