"""The desk for confirming a draft: what the component gets, and what it sends back, held against the record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic
import streamlit as st

from hwdoc_ingest.fields import FIELDS
from metainfer_core.spec.draft import Candidate, SpecDraft
from review_store.workspace import now
from studio.decision_log import Decision, Recorded, append, read_log
from studio.documents import document_with
from studio.draft_places import GROUPS, Group, Place, amount, missing, places, will_hold
from studio.draft_state import fault, last_of, last_seqs, standing
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
_FOLDER = Path(__file__).parent
_PARTS = {
    name: name.upper() for name in ("cpu", "npu", "gpu", "dsp", "dma", "isa", "dram", "sram", "rom", "tcm", "otp")
} | {f"l{level}{kind}_cache": f"L{level}{kind} cache" for level in "123" for kind in ("", "i", "d")}
_SHOWN_AS = {".pdf": "pdf", ".svd": "text", ".dts": "text", ".dtsi": "text", ".csv": "text"}
_UNITS = ("bytes", "bits", "hz", "cycles", "nm", "mtps", "Bps", "w", "v", "c", "s", "a")


class Outbox(pydantic.BaseModel):
    """What a window sends: all decisions that were not acknowledged yet."""

    window: str = pydantic.Field(pattern=r"^[0-9a-f]{16}$")
    events: list[Sent] = pydantic.Field(max_length=5000)


class Sent(pydantic.BaseModel):
    """One decision as a window sends it."""

    number: int = pydantic.Field(ge=1)
    kind: str
    places: list[str] = pydantic.Field(max_length=5000)
    seen: dict[str, int] = {}
    choices: dict[str, int] = {}
    given: str = pydantic.Field(default="", max_length=400)


def take(sent: Any, draft: SpecDraft, actor: str, workspace: Path | None = None) -> list[dict[str, Any]]:
    """Writes down what a window sent, in its order, each once; gives what was refused and why.

    A decision is refused where another window has decided the same place since this one last looked.
    """
    try:
        outbox = Outbox.model_validate(sent)
    except pydantic.ValidationError:
        return []
    refused: list[dict[str, Any]] = []
    for event in sorted(outbox.events, key=lambda each: each.number):
        log = read_log(draft.digest, workspace)
        if any(each.decision.window == outbox.window and each.decision.number == event.number for each in log):
            continue
        decision, why = _decision(event, draft, outbox.window, actor, log)
        if decision is None:
            refused.append({"number": event.number, "window": outbox.window, "places": event.places, "why": why})
        else:
            append(draft.digest, [decision], workspace)
    return refused


def _decision(
    event: Sent, draft: SpecDraft, window: str, actor: str, log: tuple[Recorded, ...]
) -> tuple[Decision | None, str]:
    places_of, undoes = tuple(event.places), None
    if event.kind == "undo":
        last = last_of(log, actor)
        if last is None:
            return None, text("desk_nothing_to_undo")
        places_of, undoes = last.decision.places, last.seq
    else:
        newest = {place: each for each in log for place in each.decision.places}
        for place in places_of:
            other = newest.get(place)
            if other and other.decision.window != window and other.seq > event.seen.get(place, 0):
                return None, text("desk_decided_meanwhile", actor=other.decision.actor)
    try:
        decision = Decision.from_plain(
            {
                "kind": event.kind,
                "places": places_of,
                "choices": event.choices,
                "given": event.given,
                "undoes": undoes,
                "actor": actor,
                "at": now(),
                "window": window,
                "number": event.number,
            },
            "decision",
        )
    except Exception as error:  # a hand-made message: whatever is wrong with it is told, and nothing is written
        return None, str(error)
    why = fault(draft, decision)
    return (None, why) if why else (decision, "")


def desk_data(
    draft: SpecDraft,
    log: tuple[Recorded, ...],
    refused: list[dict[str, Any]],
    actor: str,
    cursor: str,
    workspace: Path | None = None,
) -> dict[str, Any]:
    """All that the component shows."""
    shown = _shown((*places(draft), *missing(draft)), cursor)
    stands = standing(log)
    acked: dict[str, int] = {}
    for window, number in [(each.decision.window, each.decision.number) for each in log] + [
        (each["window"], each["number"]) for each in refused
    ]:
        acked[window] = max(acked.get(window, 0), number)
    return {
        "draft": draft.digest,
        "actor": actor,
        "cursor": cursor,
        "groups": _groups(shown),
        "places": [place_data(draft, place) for place in shown],
        "standing": {
            key: {"kind": each.kind, "actor": each.actor, "index": each.index, "given": each.given}
            for key, each in stands.items()
        },
        "seqs": last_seqs(log),
        "acked": acked,
        "refused": refused,
        "documents": {
            key: _document(source.document_digest, source.file_name, workspace) for key, source in draft.sources.items()
        },
        "keys": [{"act": act, "keys": keys, "shown": shown_as} for act, keys, shown_as in KEYS],
        "words": {key.removeprefix(WORDS): text_of(key) for key in TEXTS if key.startswith(WORDS)},
        "sure": SURE,
        "thresholds": THRESHOLDS,
    }


def text_of(key: str) -> str:
    """A text with its gaps left open: the component fills them in."""
    return TEXTS[key]["en"]


def _shown(every: tuple[Place, ...], cursor: str) -> tuple[Place, ...]:
    if len(every) <= SHOWN_PLACES:
        return every
    at = next((number for number, place in enumerate(every) if place.key == cursor), 0)
    first = max(0, min(at - SHOWN_PLACES // 2, len(every) - SHOWN_PLACES))
    return every[first : first + SHOWN_PLACES]


def _groups(shown: tuple[Place, ...]) -> list[dict[str, str]]:
    there: set[Group] = {place.group for place in shown if place.indexes}
    found = [{"key": "all", "title": text("group_all")}]
    found += [{"key": group, "title": text(f"group_{group}")} for group in GROUPS if group in there]
    if any(place.is_conflict for place in shown):
        found.append({"key": "conflicts", "title": text("group_conflicts")})
    if any(not place.indexes for place in shown):
        found.append({"key": "missing", "title": text("group_missing")})
    return found


def place_data(draft: SpecDraft, place: Place) -> dict[str, Any]:
    """One place with its readings, in people's words."""
    return {
        "key": place.key,
        "title": title(place.field),
        "instance": place.instance,
        "group": place.group,
        "conflict": place.is_conflict,
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


_COMPONENT = st.components.v2.component(
    "confirm_desk",
    html='<div class="desk" tabindex="0" aria-label="Confirm the draft"></div>\n',
    css=(_FOLDER / "confirm_desk.css").read_text("utf-8"),
    js=(_FOLDER / "confirm_desk.js").read_text("utf-8"),
)


def confirm_desk(data: Mapping[str, Any], key: str, on_outbox: Any, on_view: Any) -> None:
    """Draws the desk; `on_outbox` and `on_view` are called before the next run when it has sent something."""
    _COMPONENT(key=key, data=dict(data), on_outbox_change=on_outbox, on_view_change=on_view)
