"""What a person decides on the review screen, from button or key to the record: with the version that they saw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from metainfer_core.bundle.review_rules import needs_justification
from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import MetaInferError
from metainfer_core.policy.policy import PolicyAction
from metainfer_core.values import canonical_json
from review_store.record.log import Conflict, Record
from review_store.review.decide import Decision, Legality, decide, known_action, undo_last
from review_store.review.state import ActionReview
from review_store.review.workspace import now
from studio.files.policies import Review, Subject, legality, review_of
from studio.files.typed import Typed, forget_typed, keep_typed
from studio.review.history_words import told
from studio.review.review_queue import Desk, Pressed, pressed
from studio.review.three_lines import THREE_LINES, fill_lines, own_lines
from studio.session.notices import MANY
from studio.words.core_words import refusal_words
from studio.words.texts import text

Override = dict[str, Any] | Literal[False] | None
"""Other parameters; False: switched off; None: as proposed."""
FORMS = ("approve", "tag", "override", "comment", "reject")
"""What is written only after a form was filled in; an approval without a needed justification is written at once."""


def take(found: Subject, desk: Desk, person: str) -> None:
    """Deals with the keys that the queue has sent, one after the other.

    Each is acknowledged after it was dealt with. Streamlit may break a run off wherever the script touches the screen
    or the session, as soon as the next key arrives; what is not acknowledged then is done by the run that follows.
    """
    with desk.lock:
        for event in pressed(desk):
            try:
                press(found, desk, event, person)
            except Exception:  # a fault of ours must not come again with every run
                desk.acknowledged = event.number
                raise
            desk.acknowledged = event.number


def press(found: Subject, desk: Desk, event: Pressed, person: str) -> None:
    """One key or button: writes what needs no more words, opens the form for what does."""
    review = review_of(found).state.action(event.id)
    if review is None:
        return
    desk.notices.begin(event.id)
    if event.verb == "undo":
        _undo(found, desk, event, person)
    elif event.verb == "approve" and not needs_justification(review.action):
        write(found, desk, event, Decision(person, (event.id,), ("approve",)))
    elif event.verb == "withdraw":
        write(found, desk, event, Decision(person, (event.id,), ("withdraw",)))
    else:
        verb = event.verb
        if verb == "approve_again":
            verb = "approve"
            _fill_again(found, desk, event.id, person)
        desk.forms[event.id] = (verb, event.version)
        desk.put_cursor(*(field_key(name, event.id) for name in first_fields(verb)))


def _fill_again(found: Subject, desk: Desk, action_id: str, person: str) -> None:
    """Puts the lines of the person's last approval into the form that opens; says so where there are none."""
    lines = own_lines(review_of(found).records, person)
    if lines is None:
        desk.notices.say(action_id, "error", partial(text, "lines_again_none"))
        return
    kept = desk.typed[action_id].fields if action_id in desk.typed else {}
    fill_lines(lines, {name: field_key(name, action_id) for name, _ in THREE_LINES}, kept)


def first_fields(verb: str) -> tuple[str, ...]:
    """Names of the fields that the cursor goes to when a form opens: to the first of them that the form has."""
    if verb == "approve":
        return ("why_allowed",)
    return ("param", "reason") if verb == "override" else ("reason",)


def field_key(name: str, action_id: str) -> str:
    """Key of a form's field: each action has its own, so that no words land under another one."""
    return f"{name}_{hashlib.sha256(action_id.encode()).hexdigest()[:10]}"


def keep_form(desk: Desk, person: str, action_id: str, fields: Mapping[str, object]) -> None:
    """Keeps what stands in the open form of an action, if that is new."""
    verb, version = desk.forms[action_id]
    now_typed = Typed(action=action_id, verb=verb, version=version, fields=dict(fields))
    if desk.typed.get(action_id) != now_typed:
        keep_typed(desk.key, person, now_typed)
        desk.typed[action_id] = now_typed


def close_form(desk: Desk, person: str, action_id: str) -> None:
    """Closes the form of an action; what was typed in it is kept."""
    desk.forms.pop(action_id, None)
    kept = desk.typed.get(action_id)
    if kept is not None:
        desk.typed[action_id] = Typed.from_plain(kept.plain() | {"open": False}, action_id)
        keep_typed(desk.key, person, desk.typed[action_id])


def write(found: Subject, desk: Desk, event: Pressed, decision: Decision) -> bool:
    """Writes a decision about what its maker saw; says on the desk how that ended. True if it was written."""
    desk.notices.begin(event.id)
    if not decision.person:
        desk.notices.say(event.id, "error", partial(text, "person_needed"))
        return False
    if _is_renewed(found, desk, event.id, event.policy):
        return False
    review = review_of(found)
    try:
        now_there = known_action(review.state, event.id)
        if now_there.version != desk.seen(event):
            return _conflict(desk, event.id, review, _newer(review, desk, event))
        if (
            decision.verdicts == ("approve",)
            and decision.justification is None
            and decision.person in now_there.approvals
        ):
            desk.notices.say(event.id, "success", partial(text, "said_approve"))
            return True
        check: Legality | None = legality(found, review) if "override" in decision.verdicts else None
        outcome = decide(review.log, review.state, decision, now(), check)
    except MetaInferError as error:
        desk.notices.say(event.id, "error", partial(refusal_words, error))
        return False
    if isinstance(outcome, Conflict):
        return _conflict(desk, event.id, review, outcome.others)
    question = now_there.question if decision.verdicts[-1] == "approve" else None
    _written(desk, event, outcome)
    desk.forms.pop(event.id, None)
    if desk.typed.pop(event.id, None) is not None:
        forget_typed(desk.key, decision.person, event.id)
    said = partial(_done, decision.verdicts[-1])
    desk.notices.say(event.id, "success", partial(text, "said_answer", who=question.actor) if question else said)
    return True


def why_illegal(found: Subject, review: Review, desk: Desk, action: ActionReview, override: Override) -> str | None:
    """Why an action cannot be overridden so, in a sentence. The answer is kept while nothing of it changes."""
    asked = (review.key, action.id, canonical_json(override))
    if desk.checked is None or desk.checked[0] != asked:
        check = legality(found, review)
        given = {} if override is None else {"override": override}
        overridden = PolicyAction.from_plain(action.proposed.plain() | given, action.id)
        desk.checked = (asked, check(overridden) if check is not None else text("form_no_check"))
    return desk.checked[1]


def write_about_all(
    found: Subject, desk: Desk, seen: Mapping[str, int], person: str, justification: Justification | None = None
) -> None:
    """Approves exactly the actions that were listed, with the versions that were seen: all or none."""
    desk.notices.begin(MANY)
    if not person:
        desk.notices.say(MANY, "error", partial(text, "person_needed"))
        return
    if _is_renewed(found, desk, MANY):
        return
    review = review_of(found)
    newer = [
        record
        for action_id, version in seen.items()
        for record in review.history(action_id)[::-1]
        if record.seq > version
    ]
    if newer:
        desk.notices.say(MANY, "conflict", partial(_in_words, newer, review.records))
        return
    decision = Decision(person, tuple(seen), ("approve",), justification=justification)
    try:
        outcome = decide(review.log, review.state, decision, now(), None)
    except MetaInferError as error:
        desk.notices.say(MANY, "error", partial(refusal_words, error))
        return
    if isinstance(outcome, Conflict):
        desk.notices.say(MANY, "conflict", partial(_in_words, outcome.others, review.records))
    else:
        desk.notices.say(MANY, "success", partial(text, "bulk_done", count=len(seen)))


def _undo(found: Subject, desk: Desk, event: Pressed, person: str) -> None:
    if not person:
        desk.notices.say(event.id, "error", partial(text, "person_needed"))
        return
    if _is_renewed(found, desk, event.id, event.policy):
        return
    review = review_of(found)
    try:
        if known_action(review.state, event.id).version != desk.seen(event):
            _conflict(desk, event.id, review, _newer(review, desk, event))
            return
        outcome = undo_last(review.log, review.state, event.id, person, now(), _legality_when_asked(found, review))
    except MetaInferError as error:
        desk.notices.say(event.id, "error", partial(refusal_words, error))
        return
    if isinstance(outcome, Conflict):
        _conflict(desk, event.id, review, outcome.others)
    else:
        _written(desk, event, outcome)
        desk.notices.say(event.id, "success", partial(text, "said_undo"))


def _legality_when_asked(found: Subject, review: Review) -> Legality:
    """The check that an undone override needs; the model is read only if it comes to that."""

    def check(*changed: PolicyAction) -> str | None:
        known = legality(found, review)
        return known(*changed) if known is not None else None

    return check


def _written(desk: Desk, event: Pressed, records: Sequence[Record]) -> None:
    desk.own[event.id] = (event.version, records[-1].seq)
    desk.written += 1


def _is_renewed(found: Subject, desk: Desk, about: str, shown: str | None = None) -> bool:
    """Whether the policy was made anew since the screen was drawn; says so. Nobody decides about what they never saw.

    `shown` is the digest that a key was pressed at: it may have waited in the browser while the server was away.

    The number of an action's last event does not tell: a new revision can have the same action with other contents.
    """
    if desk.drawn in ("", found.digest) and shown in (None, found.digest):
        return False
    desk.notices.say(about, "error", partial(text, "policy_renewed"))
    return True


def _newer(review: Review, desk: Desk, event: Pressed) -> Sequence[Record]:
    """What others wrote about an action since this window looked, the oldest first."""
    return [record for record in review.history(event.id) if record.seq > desk.seen(event)][::-1]


def _in_words(records: Sequence[Record], before: Sequence[Record]) -> str:
    return "\n".join(each.sentence for each in told(records, (*before, *records)))


def _conflict(desk: Desk, action_id: str, review: Review, others: Sequence[Record]) -> bool:
    desk.notices.say(action_id, "conflict", partial(_in_words, others, review.records))
    if action_id in desk.forms and others:  # what the others did is on the screen now: the next press is about that
        desk.forms[action_id] = (desk.forms[action_id][0], others[-1].seq)
    return False


def _done(verb: str) -> str:
    return text(f"said_{verb}")
