"""What a window sends about a draft, held against the record and written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.draft import SpecDraft
from review_store.review.workspace import now
from studio.drafts.decision_log import Decision, Recorded, writing
from studio.drafts.draft_places import digest_of
from studio.drafts.draft_state import fault, last_of
from studio.words.core_words import core_words
from studio.words.texts import text

MOST_PLACES = 200_000
"""Of one decision: more than the largest draft has."""


class Outbox(pydantic.BaseModel):
    """What a window sends: all decisions that were not acknowledged yet."""

    draft: str
    """Digest of the draft that the window shows."""
    window: str = pydantic.Field(pattern=r"^[0-9a-f]{16}$")
    events: list[Sent] = pydantic.Field(max_length=5000)


class Sent(pydantic.BaseModel):
    """One decision as a window sends it."""

    number: int = pydantic.Field(ge=1)
    kind: str
    places: list[str] = pydantic.Field(max_length=MOST_PLACES)
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
    if outbox.draft != digest_of(draft):
        return []  # of a draft that is no longer shown here; the window keeps it
    refused: list[dict[str, Any]] = []
    with writing(digest_of(draft), workspace) as record:
        known = {each.decision.number for each in record.log if each.decision.window == outbox.window}
        for event in sorted(outbox.events, key=lambda each: each.number):
            if event.number in known:
                continue
            decision, why = _decision(event, draft, outbox.window, actor, record.log)
            if decision is None:
                refused.append({"number": event.number, "window": outbox.window, "places": event.places, "why": why})
            else:
                record.append(decision)
                known.add(event.number)
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
    except InputError as error:
        return None, core_words(str(error))
    why = fault(draft, decision)
    return (None, core_words(why)) if why else (decision, "")
