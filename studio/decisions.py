"""What a person decides on the review screen, from button or key to the record: with the version that they saw."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.bundle.review_rules import needs_justification
from metainfer_core.errors import MetaInferError
from review_store.decide import Decision, Legality, decide, known_action, undo_last
from review_store.log import Conflict, Record
from review_store.review_text import record_text
from review_store.workspace import now
from studio.policies import Subject, legality, review_of
from studio.review_queue import Desk, Pressed
from studio.texts import text

FORMS = ("approve", "tag", "override", "comment", "reject")
"""What is written only after a form was filled in; an approval without a needed justification is written at once."""


def press(found: Subject, desk: Desk, event: Pressed, person: str) -> None:
    """One key or button: writes what needs no more words, opens the form for what does."""
    review = review_of(found).state.action(event.id)
    if review is None:
        return
    if event.verb == "undo":
        _undo(found, desk, event, person)
    elif event.verb == "approve" and not needs_justification(review.action):
        write(found, desk, event, Decision(person, (event.id,), ("approve",)))
    elif event.verb == "withdraw":
        write(found, desk, event, Decision(person, (event.id,), ("withdraw",)))
    else:
        desk.forms[event.id] = (event.verb, event.version)
        desk.put_cursor(first_field(event.verb))


def first_field(verb: str) -> str:
    """Key of the field that the cursor goes to when a form opens."""
    return "why_allowed" if verb == "approve" else "reason"


def write(found: Subject, desk: Desk, event: Pressed, decision: Decision) -> bool:
    """Writes a decision about what its maker saw; says on the desk how that ended. True if it was written."""
    if not decision.person:
        desk.said[event.id] = ("error", text("person_needed"))
        return False
    review = review_of(found)
    try:
        seen = known_action(review.state, event.id)
        if seen.version != event.version:
            newer = [record for record in review.history(event.id) if record.seq > event.version]
            return _conflict(desk, event.id, newer[::-1])
        check: Legality | None = legality(found, review) if isinstance(decision.override, dict) else None
        outcome = decide(review.log, review.state, decision, now(), check)
    except MetaInferError as error:
        desk.said[event.id] = ("error", " ".join(part for part in (error.what, error.why) if part))
        return False
    if isinstance(outcome, Conflict):
        return _conflict(desk, event.id, outcome.others)
    desk.forms.pop(event.id, None)
    desk.said[event.id] = ("success", _said(decision.verdicts[-1]))
    return True


def write_about_all(found: Subject, desk: Desk, action_ids: Sequence[str], person: str) -> str:
    """Approves exactly these actions, all or none; a sentence where that could not be done, else empty."""
    if not person:
        return text("person_needed")
    review = review_of(found)
    try:
        outcome = decide(review.log, review.state, Decision(person, tuple(action_ids), ("approve",)), now(), None)
    except MetaInferError as error:
        return str(error)
    return "\n".join(map(record_text, outcome.others)) if isinstance(outcome, Conflict) else ""


def _undo(found: Subject, desk: Desk, event: Pressed, person: str) -> None:
    if not person:
        desk.said[event.id] = ("error", text("person_needed"))
        return
    review = review_of(found)
    try:
        outcome = undo_last(review.log, review.state, event.id, person, now())
    except MetaInferError as error:
        desk.said[event.id] = ("error", " ".join(part for part in (error.what, error.why) if part))
        return
    if isinstance(outcome, Conflict):
        _conflict(desk, event.id, outcome.others)
    else:
        desk.said[event.id] = ("success", text("said_undo"))


def _conflict(desk: Desk, action_id: str, others: Sequence[Record]) -> bool:
    desk.said[action_id] = ("conflict", "\n".join(map(record_text, others)))
    if action_id in desk.forms:  # what the others did is on the screen now: the next press is about that
        desk.forms[action_id] = (desk.forms[action_id][0], others[-1].seq)
    return False


def _said(verb: str) -> str:
    return {
        "approve": text("said_approve"),
        "comment": text("said_comment"),
        "override": text("said_override"),
        "reject": text("said_reject"),
        "tag": text("said_tag"),
        "withdraw": text("said_withdraw"),
    }[verb]
