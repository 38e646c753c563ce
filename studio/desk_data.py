"""What the desk for confirming a draft shows: places with their readings, in people's words, with what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hwdoc_ingest.fields import FIELDS
from metainfer_core.spec.draft import Candidate, SpecDraft
from studio.decision_log import Recorded
from studio.documents import document_with
from studio.draft_places import GROUPS, Place, amount, digest_of, missing, places, will_hold
from studio.draft_state import Standing, last_seqs, standing
from studio.page_routes import document_link
from studio.texts import TEXTS, text

SURE = 0.9
"""From this confidence on a reading needs no second look."""
THRESHOLDS = (0.98, 0.95, 0.9, 0.85, 0.8)
"""Above which values may be accepted together, the first unless another is chosen."""
SHOWN_PLACES = 400
"""More places than this are sent a group at a time."""

KEYS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("accept", ("a",), "a"),
    ("edit", ("e",), "e"),
    ("reject", ("r",), "r"),
    ("unknown", ("u",), "u"),
    ("unsure", ("n",), "n"),
    ("next", ("j", "ArrowDown"), "j ↓"),
    ("previous", ("k", "ArrowUp"), "k ↑"),
    ("undo", ("Backspace",), "⌫"),
    ("zoom", ("z",), "z"),
    ("sure", ("s",), "s"),
    ("help", ("?",), "?"),
)
"""Every key once: what it does, the names browsers give it, and how it is shown. 1 to 9 choose a reading."""

WORDS = "desk_"
_SHORT = ("cpu", "npu", "gpu", "dsp", "dma", "isa", "isp", "mmu", "usb", "dram", "sram", "psram", "rom", "tcm", "otp")
_PARTS = {name: name.upper() for name in _SHORT} | {
    "macs": "MACs",
    "mmio": "register",
    "tops": "peak TOPS",
    "xtal": "crystal",
    **{f"l{level}{kind}_cache": f"L{level}{kind} cache" for level in "123" for kind in ("", "i", "d")},
}
_SHOWN_AS = {".pdf": "pdf", ".svd": "text", ".dts": "text", ".dtsi": "text", ".csv": "text"}
_UNITS = ("bytes", "bits", "hz", "cycles", "nm", "mtps", "Bps", "w", "v", "c", "s", "a")


@dataclass(frozen=True)
class View:
    """What a window looks at, as its address says."""

    place: str = ""
    group: str = "all"
    asks: int = 0
    """Number of its question for the next unsure place, which may lie outside of what it was sent; 0: none."""

    @classmethod
    def of(cls, sent: Any) -> View:
        """The view in a message of a window; what is wrong in it is left out."""
        sent = sent if isinstance(sent, dict) else {}
        asks = sent.get("asks", 0)
        return cls(str(sent.get("place", "")), str(sent.get("group", "all")), asks if isinstance(asks, int) else 0)

    def at_next_unsure(self, draft: SpecDraft, stands: Mapping[str, Standing]) -> View:
        """The view with the next place that nobody has decided, an unsure one first; after the last comes the first."""
        every = places(draft)
        at = next((number for number, place in enumerate(every) if place.key == self.place), -1)
        after = [place for place in (*every[at + 1 :], *every[: at + 1]) if place.key not in stands]
        unsure = (place for place in after if not is_sure(draft, place))
        found = next(unsure, after[0] if after else None)
        return replace(self, place=found.key, group="all") if found else self


def is_sure(draft: SpecDraft, place: Place) -> bool:
    """Whether a place needs no second look."""
    return not place.is_conflict and draft.candidates[place.indexes[0]].confidence >= SURE


def desk_data(
    draft: SpecDraft,
    log: tuple[Recorded, ...],
    refused: list[dict[str, Any]],
    actor: str,
    view: View,
    workspace: Path | None = None,
) -> dict[str, Any]:
    """All that the component shows."""
    every = (*places(draft), *missing(draft))
    stands = standing(log)
    shown = _shown(every, view, stands)
    keys = {place.key for place in shown}
    acked: dict[str, int] = {}
    for window, number in [(each.decision.window, each.decision.number) for each in log] + [
        (each["window"], each["number"]) for each in refused
    ]:
        acked[window] = max(acked.get(window, 0), number)
    return {
        "draft": digest_of(draft),
        "actor": actor,
        "cursor": view.place,
        "group": view.group,
        "whole": len(shown) == len(every),
        "groups": _groups(every, stands),
        "places": [place_data(draft, place) for place in shown],
        "standing": {
            key: {"kind": each.kind, "actor": each.actor, "index": each.index, "given": each.given}
            for key, each in stands.items()
            if key in keys
        },
        "seqs": {key: seq for key, seq in last_seqs(log).items() if key in keys},
        "acked": acked,
        "refused": refused,
        "documents": {
            key: _document(source.document_digest, source.file_name, workspace) for key, source in draft.sources.items()
        },
        "keys": [{"act": act, "keys": names, "shown": shown_as} for act, names, shown_as in KEYS],
        "words": {key.removeprefix(WORDS): text_of(key) for key in TEXTS if key.startswith(WORDS)},
        "sure": SURE,
        "thresholds": THRESHOLDS,
    }


def text_of(key: str) -> str:
    """A text with its gaps left open: the component fills them in."""
    return TEXTS[key]["en"]


def in_group(place: Place, group: str, stands: Mapping[str, Standing]) -> bool:
    """Whether a place stands in a group of the screen; `conflicts` are those that nobody has decided."""
    match group:
        case "all":
            return True
        case "conflicts":
            return place.is_conflict and place.key not in stands
        case "missing":
            return not place.indexes
    return place.group == group


def _shown(every: tuple[Place, ...], view: View, stands: Mapping[str, Standing]) -> tuple[Place, ...]:
    """All places; of a large draft those of the group around the one that is looked at."""
    if len(every) <= SHOWN_PLACES:
        return every
    found = tuple(place for place in every if in_group(place, view.group, stands))
    at = next((number for number, place in enumerate(found) if place.key == view.place), 0)
    first = max(0, min(at - SHOWN_PLACES // 2, len(found) - SHOWN_PLACES))
    return found[first : first + SHOWN_PLACES]


def _groups(every: tuple[Place, ...], stands: Mapping[str, Standing]) -> list[dict[str, Any]]:
    """The groups that the draft has, with how many places each has and how many are decided."""
    found = []
    for group in ("all", *GROUPS, "conflicts", "missing"):
        own = [
            place
            for place in every
            if (place.is_conflict if group == "conflicts" else in_group(place, group, stands))
            and bool(place.indexes) == (group != "missing")
        ]
        if own:
            decided = sum(place.key in stands for place in own)
            found.append({"key": group, "title": text(f"group_{group}"), "places": len(own), "decided": decided})
    return found


def place_data(draft: SpecDraft, place: Place) -> dict[str, Any]:
    """One place with its readings, in people's words."""
    return {
        "key": place.key,
        "title": title(place.field),
        "instance": place.instance,
        "group": place.group,
        "conflict": place.is_conflict,
        "mixed": len({draft.candidates[index].instance for index in place.indexes}) > 1,
        "meaning": FIELDS[place.field].meaning if place.field in FIELDS else "",
        "readings": [_reading(draft.candidates[index], index, place.key) for index in place.indexes],
    }


def title(field: str) -> str:
    """A document field in words: `cpu.l1d_cache.size_bytes` is `CPU L1d cache size`."""
    parts = field.split(".")
    stem, _, unit = parts[-1].rpartition("_")
    if stem and unit in _UNITS:
        parts[-1] = stem
    words = " ".join(_PARTS.get(part, part.replace("_", " ")) for part in parts)
    return words[0].upper() + words[1:]


def _reading(candidate: Candidate, index: int, key: str) -> dict[str, Any]:
    ends = [(name, getattr(candidate, name)) for name in ("min", "typ", "max")]
    spread = " · ".join(f"{name} {amount(end, candidate.unit)}" for name, end in ends if end is not None)
    value = amount(candidate.value, candidate.unit)
    page = candidate.page
    return {
        "index": index,
        "value": value or spread,
        "range": spread if value else "",
        "instance": candidate.instance or "",
        "strength": candidate.strength or "",
        "sharing": text(f"sharing_{candidate.sharing}") if candidate.sharing else "",
        "condition": candidate.condition or "",
        "confidence": candidate.confidence,
        "method": candidate.method,
        "source": candidate.source,
        "page": page if isinstance(page, int) and not isinstance(page, bool) else None,
        "place": _where(candidate),
        "box": list(candidate.box) if candidate.box else None,
        "text": candidate.text[:600],
        "holds": will_hold(candidate, key),
    }


def _where(candidate: Candidate) -> str:
    if candidate.page is None:
        return ""
    if isinstance(candidate.page, str):
        return text("place_sheet", name=candidate.page)
    return text("place_page" if candidate.box else "place_line", number=candidate.page)


def _document(digest: str, name: str, workspace: Path | None) -> dict[str, str]:
    path = document_with(digest, workspace)
    if path is None:
        return {"kind": "absent", "name": name}
    kind = {".pdf": "pdf", ".svd": "text", ".dts": "text", ".dtsi": "text", ".csv": "text"}.get(
        path.suffix.lower(), "other"
    )
    return {"kind": kind, "name": name, **document_link(digest)}
