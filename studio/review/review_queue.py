"""The component that owns the review's queue and its keys. Its events are numbered, and acknowledged by number."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from studio.files.typed import Typed
from studio.review.review_keys import KEYS, VERBS
from studio.session.notices import Notices
from studio.words.marks import RISK_SHAPES, STATE_SHAPES, risk_mark, state_mark
from studio.words.texts import text

MOST_EVENTS = 500

_HTML = """
<div class="queue">
  <div class="list" role="listbox" tabindex="0"></div>
  <div class="none" hidden></div>
  <div class="foot"><span class="place"></span><button class="help" type="button"></button></div>
  <div class="keys" hidden><div><h4></h4><dl></dl></div></div>
</div>
"""
_HERE = Path(__file__).parent
_SESSION = ("../session/leaving", "../session/popovers", "../session/outbox")
_SCRIPTS = (*_SESSION, "review_queue", "review_typing", "review_in_view")
_component = st.components.v2.component(
    "metainfer_review_queue",
    html=_HTML,
    css=(_HERE / "review_queue.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS),
)


@dataclass(frozen=True)
class Pressed:
    """One thing that someone did in the queue."""

    number: int
    verb: str
    id: str
    version: int
    """Of the action as the row showed it: a newer one means that someone else was faster."""
    policy: str | None = None
    """Digest of the policy whose rows the browser showed; None for a button, whose screen is known here."""


@dataclass
class Desk:
    """What the server keeps of one window's queue, for one policy."""

    key: str
    """Of the component: what it says about one policy is never taken for another."""
    acknowledged: int = 0
    """Number of the last event that was taken."""
    drawn: str = ""
    """Digest of the policy that was drawn last, to its end: what a key or a form on the screen is about."""
    go: tuple[int, str] = (0, "")
    """How often the selection was sent somewhere, and where last."""
    jump: tuple[str | None, str] | None = None
    """The selection that the server moved away from, and to where; until the browser says that it has followed."""
    focus: tuple[int, tuple[str, ...]] = (0, ())
    """The same for the field that the cursor shall be in, and for those where it goes if that one is not there."""
    written: int = 0
    """How often something was written: then the head of the panel, which says so, comes into view."""
    own: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Action id to the version that the row showed when this window wrote, and the version that this made: a key
    pressed before the row is drawn anew is no conflict with oneself."""
    forms: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Action id to the form that stands open, and the action's version that its writer has seen."""
    typed: dict[str, Typed] = field(default_factory=dict)
    """Action id to what stands in its form, as it is kept on the disk."""
    checked: tuple[object, str | None] | None = None
    """The override that was checked last, and why it is not legal."""
    notices: Notices = field(default_factory=Notices, repr=False, compare=False)
    """How the last deeds ended."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """Held while events are taken: a run of the script that is being broken off can overlap the next one."""

    def send_to(self, action_id: str) -> None:
        """Moves the selection."""
        self.go = (self.go[0] + 1, action_id)

    def jump_to(self, action_id: str) -> None:
        """Moves the selection away from where the browser stands."""
        self.jump = (_selected(self), action_id)
        self.send_to(action_id)

    def seen(self, event: Pressed) -> int:
        """The version that an event is about, with what this window itself wrote since its row was drawn."""
        drawn, made = self.own.get(event.id, (-1, -1))
        return made if event.version == drawn else event.version

    def put_cursor(self, *keys: str) -> None:
        """Puts the cursor into the field with this key, or into the first whose key goes on from it with `_`.

        With several keys, each counts where the page has no field of those before.
        """
        self.focus = (self.focus[0] + 1, keys)


def selected(desk: Desk) -> str | None:
    """Id of the action that the queue stands on: as the browser last said, or where it was sent to since then."""
    found = _selected(desk)
    if desk.jump is not None and found == desk.jump[0]:
        return desk.jump[1]
    desk.jump = None
    return found


def pressed(desk: Desk) -> tuple[Pressed, ...]:
    """The events that are not acknowledged yet, in order. Who has dealt with one sets `desk.acknowledged`."""
    outbox = _said(desk).get("outbox")
    sent = map(_event, list(outbox)[:MOST_EVENTS] if isinstance(outbox, Sequence) else [])
    new = {event.number: event for event in sent if event is not None and event.number > desk.acknowledged}
    return tuple(new[number] for number in sorted(new))


def draw_queue(rows: Sequence[Mapping[str, Any]], policy: str, desk: Desk) -> None:
    """Shows the queue of the policy with this digest."""
    _component(
        key=desk.key,
        data={
            "desk": desk.key,
            "policy": policy,
            "rows": list(rows),
            "acknowledged": desk.acknowledged,
            "go": {"number": desk.go[0], "id": desk.go[1], "answer": desk.jump is not None},
            "written": desk.written,
            "focus": {"number": desk.focus[0], "keys": list(desk.focus[1])},
            "keys": [
                {
                    "key": each.key,
                    "verb": each.verb,
                    "label": each.label,
                    "name": text(each.name),
                    "hint": text(each.hint),
                }
                for each in KEYS
            ],
            "words": {
                "risk": {level: risk_mark(level) for level in RISK_SHAPES},
                "state": {state: state_mark(state) for state in STATE_SHAPES},
            },
            "texts": {
                "list": text("queue_actions"),
                "none": text("queue_none"),
                "help": text("queue_keys"),
                "help_title": text("queue_help_title"),
                "not_yet": text("form_not_yet"),
                "not_yet_measured": text("form_not_yet_measured"),
            },
        },
        on_said_change=lambda: None,
    )


def _selected(desk: Desk) -> str | None:
    found = _said(desk).get("selected")
    return found if isinstance(found, str) else None


def _said(desk: Desk) -> Mapping[str, Any]:
    state = st.session_state.get(desk.key)
    said = state.get("said") if isinstance(state, Mapping) else None
    return said if isinstance(said, Mapping) else {}


def _event(plain: object) -> Pressed | None:
    """What a browser sent, if it has the form of an event; anything can come from there."""
    if not isinstance(plain, Mapping):
        return None
    number, verb, action_id, version = (plain.get(key) for key in ("number", "verb", "id", "version"))
    if not isinstance(number, int) or not isinstance(version, int) or not isinstance(action_id, str):
        return None
    policy = plain.get("policy")
    return Pressed(number, str(verb), action_id, version, str(policy) if policy else None) if verb in VERBS else None
