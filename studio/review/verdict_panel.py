"""The verdict on one action: who stands behind it, the buttons with their keys, the forms, and the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import MetaInferError
from review_store.review.decide import Decision
from review_store.review.since import since_verdict
from review_store.review.state import ActionReview
from studio.files.policies import Review, Subject
from studio.review.action_card import draw_history
from studio.review.buildable import open_action
from studio.review.decisions import Override, close_form, field_key, keep_form, press, why_illegal, write
from studio.review.history_words import changed, told
from studio.review.override_end import draw_end, end_of
from studio.review.override_fields import override_fields
from studio.review.policy_settings import budget_words, objective_of
from studio.review.review_keys import key_of
from studio.review.review_queue import Desk, Pressed
from studio.review.threads_panel import answered, draw_threads
from studio.review.three_lines import THREE_LINES, draw_again, empty_lines, own_lines
from studio.review.what_if import Effect, asked, draw_measurement
from studio.session.notices import draw_notice
from studio.words.alerts import draw_alert
from studio.words.core_words import core_words, refusal_words
from studio.words.long_names import shortened
from studio.words.markup import draw
from studio.words.moments import moment
from studio.words.plain_words import plain_words
from studio.words.texts import text

MOST_WAYS = 4
"""Buttons that lead to other actions, at one place."""


def draw_verdict(
    found: Subject, review: Review, action: ActionReview, desk: Desk, person: str, following: str | None
) -> None:
    """Shows the panel and takes what is decided in it; `following` is the next action that is open."""
    with st.container(key="verdict_head"):  # each in its place and in sight, however much is to be said below
        draw("verdict_state", state=action.word)
        _buttons(found, action, desk, person, following)
    draw_notice(desk.notices, action.id, "verdict")
    left_behind = [
        each.id for each in review.state.actions if each.id in desk.notices.refused() and each.id != action.id
    ]
    _ways_to(left_behind, "refused_elsewhere", desk)  # the keys have gone on from there by now
    draw("verdict", review=action, people=sorted(action.approvals), meaning=_meaning(action.word), person=person)
    _since(review, action, person)
    if action.id in desk.forms:
        verb, version = desk.forms[action.id]
        with st.container(border=True, key=f"form_{verb}"):
            _form(found, review, action, desk, person, Pressed(0, verb, action.id, version))
    draw_threads(found, action, desk, person)
    st.html(f'<div class="mi"><h3>{text("verdict_history")}</h3></div>')
    draw_history(review.history(action.id))


def _since(review: Review, action: ActionReview, person: str) -> None:
    """What is another than when this person last judged the action."""
    since = since_verdict(review.state, review.records, action.id, person, review.log.value)
    if since is None or not since.is_anything:
        return
    draw(
        "since",
        since=since,
        at=moment(since.verdict.event.at),
        kind=text(f"mark_{since.verdict.event.kind}"),
        fields=[changed(each) for each in since.fields or ()],
        others=[each.sentence for each in told(since.others, review.records)],
    )


def _buttons(found: Subject, action: ActionReview, desk: Desk, person: str, following: str | None) -> None:
    """One button for each verb, with its key on it, and what follows as its tooltip."""

    def button(verb: str) -> None:
        key = key_of(verb)
        st.button(
            f"{text(key.name)} `{key.label}`",
            key=f"do_{verb}",
            help=text(key.hint),
            width="stretch",
            type="primary" if verb == "approve" and action.word != "approved" else "secondary",
            on_click=press,
            args=(found, desk, Pressed(0, verb, action.id, action.version), person),
        )

    button("approve")
    key = key_of("next_open")
    st.button(
        f"{text(key.name)} `{key.label}`", key="do_next_open", help=text(key.hint), width="stretch",
        type="primary" if action.word == "approved" and following is not None else "secondary",
        on_click=desk.jump_to, args=(following or action.id,), disabled=following is None,
    )  # fmt: skip
    left, right = st.columns(2, gap="xsmall")
    with left:
        button("tag")
        button("reject")
        button("undo")
    with right:
        button("override")
        button("comment")
        button("withdraw")


def _form(found: Subject, review: Review, action: ActionReview, desk: Desk, person: str, event: Pressed) -> None:
    """The fields of one form. What stands in them is kept at every run, until it is written."""
    kept = desk.typed[action.id].fields if action.id in desk.typed else {}
    if event.verb == "approve":
        keys = {name: field_key(name, action.id) for name, _ in THREE_LINES}
        draw_again(own_lines(review.records, person), keys, kept, "lines_again")
        lines = {name: _lines(text(label), name, action.id, kept) for name, label in THREE_LINES}
        keep_form(desk, person, action.id, lines)
        question = action.question
        label = text("form_approve") if question is None else text("form_answer", who=question.actor)
        if _submit(label, desk, action.id, person):
            _approve(found, desk, event, person, lines)
        return
    override: Override = None
    why_not, expires, effect = "", None, Effect()
    fields: dict[str, Any] = {}
    if event.verb == "override":
        override, why_not, fields = _override(found, review, action, desk, kept)
    thread = answered(action, field_key("thread", action.id), kept.get("thread")) if event.verb == "comment" else None
    assignee = _assignee(review, action.id, kept) if event.verb == "tag" else None
    fields |= {"thread": thread, "assignee": assignee}
    reason = _lines(text("form_reason"), "reason", action.id, kept)
    if override is not None:  # behind the reason: nobody has to give it, and it holds up who walks by Tab
        end = draw_end(action.id, kept)
        expires = end["expires"]
        fields |= end
    if event.verb == "override" and not why_not:
        st.caption(budget_words(objective_of(found.policy)))
        known = asked(found, review, action, override, person)
        effect = draw_measurement(found, action, override, known, kept, person)
        why_not = "" if effect.is_told else text("effect_wait")
        fields |= {"unmeasured": effect.unmeasured} if known.takes_a_reason else {}
    keep_form(desk, person, action.id, {**fields, "reason": reason})
    labels = {
        "tag": text("form_tag"),
        "comment": text("form_comment"),
        "reject": text("form_reject"),
        "override": text("form_override"),
    }
    if _submit(labels[event.verb], desk, action.id, person, why_not=why_not):
        verdict: Any = event.verb
        decision = Decision(
            person, (action.id,), (verdict,), reason=reason, override=override, assignee=assignee, thread=thread,
            expires=None if expires is None else end_of(expires), measured=effect.measured,
            unmeasured=effect.unmeasured,
        )  # fmt: skip
        if write(found, desk, event, decision):
            _forget_fields(action.id)
        st.rerun()


def _approve(found: Subject, desk: Desk, event: Pressed, person: str, lines: dict[str, str]) -> None:
    if empty_lines(lines):
        desk.notices.say(event.id, "error", partial(empty_lines, lines))
        st.rerun()
    try:
        given = Justification.from_plain(lines, text("form_approve"))
    except MetaInferError as error:
        desk.notices.say(event.id, "error", partial(refusal_words, error))
    else:
        write(found, desk, event, Decision(person, (event.id,), ("approve",), justification=given))
    st.rerun()


def _override(
    found: Subject, review: Review, action: ActionReview, desk: Desk, kept: Mapping[str, Any]
) -> tuple[Override, str, dict[str, Any]]:
    """What was chosen, why it cannot be written as yet (empty where it can), and what is to be kept."""
    stands = action.action.override  # what holds now is what is changed; after Undo that is the proposal again
    choices = {"params": text("form_other"), "off": text("form_off")}
    if stands is not None:
        choices["none"] = text("form_undo_override")
    before = kept.get("how", "off" if stands is False else "params")
    how = st.segmented_control(
        text("form_what_instead"), list(choices), format_func=choices.__getitem__,
        default=before if before in choices else "params", required=True,
        key=field_key("how", action.id), persist_state="page",
    )  # fmt: skip
    if how != "params":
        chosen: Override = False if how == "off" else None
        legal = text("form_off_legal" if how == "off" else "form_as_proposed_legal")
        return chosen, _checked(found, review, desk, action, chosen, legal), {"how": how}
    spec = found.spec.spec if found.spec else None
    given = kept.get("params", stands)
    changed, any_field = override_fields(
        action.proposed, spec, field_key("param", action.id), given if isinstance(given, Mapping) else {}
    )
    fields = {"how": how, "params": changed}
    if not any_field or not changed:
        st.caption(text("form_same") if any_field else text("form_no_params"))
        return {}, text("form_wait") if any_field else text("form_wait_illegal"), fields
    return changed, _checked(found, review, desk, action, changed, text("form_legal")), fields


def _forget_fields(action_id: str) -> None:
    """Empties all fields of an action's forms: what was in them is written."""
    ending = field_key("", action_id)
    for key in [each for each in st.session_state if ending in str(each)]:
        del st.session_state[key]


def _checked(found: Subject, review: Review, desk: Desk, action: ActionReview, override: Override, legal: str) -> str:
    """Says at once whether an override is legal here; gives why it cannot be written, empty where it can."""
    if found.model is None or found.spec is None:
        st.warning(text("form_no_check"))
        return text("form_wait_illegal") if isinstance(override, dict) else ""
    why_not = why_illegal(found, review, desk, action, override)
    if why_not is None:
        st.success(legal, icon=":material/check:")
        return ""
    why = why_not.removeprefix(f"The action {action.id} is not legal here. ")  # its form stands below its name
    draw_alert("error", core_words(why), ":material/gavel:")
    _ways_to_named(review, desk, action, why)
    return text("form_wait_illegal")


def _ways_to_named(review: Review, desk: Desk, action: ActionReview, why: str) -> None:
    """Buttons that lead to the other actions that a refusal names, for they are to be overridden first."""
    words = {word.strip(".,:;()") for word in why.split()}
    named = [each.id for each in review.state.actions if each.id in words and each.id != action.id]
    _ways_to(named, "buildable_open", desk)


def _ways_to(actions: Sequence[str], words: str, desk: Desk) -> None:
    """Buttons that lead to other actions."""
    for number, action_id in enumerate(actions[:MOST_WAYS]):
        short = shortened(action_id)
        st.button(
            text(words, action=plain_words(short)), key=f"{words}_{number}", type="tertiary",
            help=plain_words(action_id) if short != action_id else None, on_click=open_action, args=(desk, action_id),
        )  # fmt: skip


def _submit(label: str, desk: Desk, action_id: str, person: str, why_not: str = "") -> bool:
    """The buttons of a form. One that cannot be pressed says why."""
    with st.container(horizontal=True):
        hint = f"{text('key_write')} `{key_of('write').label}` {text('hint_write')}"
        pressed = st.button(label, type="primary", key="form_submit", disabled=bool(why_not), help=hint)
        st.button(text("form_cancel"), key="form_close", on_click=close_form, args=(desk, person, action_id))
    if why_not:
        st.caption(why_not)
    return pressed


def _assignee(review: Review, action_id: str, kept: Mapping[str, Any]) -> str | None:
    """Who is asked to look closer, of those who can approve."""
    people = [each.id for each in review.trust.people]
    asked = kept.get("assignee")
    return st.selectbox(
        text("form_assignee"), people, index=people.index(asked) if asked in people else None,
        key=field_key("assignee", action_id), placeholder=text("form_assignee_anyone"), accept_new_options=True,
    )  # fmt: skip


def _lines(label: str, name: str, action_id: str, kept: Mapping[str, Any]) -> str:
    key = field_key(name, action_id)
    if key not in st.session_state and isinstance(kept.get(name), str):
        st.session_state[key] = kept[name]
    return st.text_area(label, key=key, height=68, max_chars=2000, persist_state="session") or ""


def _meaning(word: str) -> str:
    return {
        "approved": text("word_approved"),
        "outdated": text("word_outdated"),
        "pending": text("word_pending"),
        "rejected": text("word_rejected"),
        "required": text("word_required"),
    }[word]
