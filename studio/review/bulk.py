"""Approving several actions at once: exactly those that are listed, as they were when they were listed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from metainfer_core.bundle.review_rules import needs_justification, risk_level
from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import MetaInferError
from review_store.review.decide import low_risk_ids
from review_store.review.state import ActionReview
from studio.files.policies import Review, Subject
from studio.review.decisions import field_key, write_about_all
from studio.review.review_queue import Desk
from studio.review.review_rows import full_title, together
from studio.review.three_lines import THREE_LINES, draw_again, empty_lines, own_lines
from studio.session.notices import MANY, draw_notice
from studio.words.core_words import refusal_words
from studio.words.long_names import short_words, shortened
from studio.words.marks import risk_mark
from studio.words.plain_words import plain_words
from studio.words.texts import text

NAME_LETTERS = 60
"""Letters of a name that a line of a list shows."""


def draw_bulk(found: Subject, review: Review, shown: Sequence[ActionReview], desk: Desk, person: str) -> None:
    """Those of the queue: of low risk with one press, up to medium risk with one justification; what came of it.

    What a filter hides is not approved with the rest.
    """
    low_ids = set(low_risk_ids(review.state))
    low = [each for each in shown if each.id in low_ids]
    several = together(shown)
    if low:
        _low(found, low, desk, person)
    if len(several) > 1 and any(each.id not in low_ids for each in several):  # one alone is approved on its card
        _several(found, several, desk, person, own_lines(review.records, person))
    alone = sum(needs_justification(each.action) for each in review.state.unreviewed)
    if alone and several:
        st.caption(text("alone_count", count=alone))
    draw_notice(desk.notices, MANY, "many")


def _low(found: Subject, low: Sequence[ActionReview], desk: Desk, person: str) -> None:
    popover = st.popover(
        text("bulk_open", count=len(low)), width="stretch", key="bulk_popover", on_change="rerun",
        icon=":material/done_all:",
    )  # fmt: skip
    if popover.open:
        with popover:
            above = st.container()  # by keyboard, one does not go through the whole list to approve it
            ticked = draw_list(low, "bulk")
            above.caption(text("bulk_hint", count=len(ticked)))
            above.button(
                text("bulk_confirm", count=len(ticked)), type="primary", key="bulk", on_click=write_about_all,
                args=(found, desk, seen_now(ticked), person), disabled=not ticked,
            )  # fmt: skip


def _several(
    found: Subject, several: Sequence[ActionReview], desk: Desk, person: str, before: Justification | None
) -> None:
    label = text("several_open", count=len(several))
    popover = st.popover(
        label, width="stretch", key="several_popover", on_change="rerun", icon=":material/playlist_add_check:"
    )
    if popover.open:
        with popover:
            st.caption(text("several_hint", count=len(several)))
            notice = desk.notices.about(MANY)
            if notice is not None and notice.how == "error":
                draw_notice(desk.notices, MANY, "several")
            draw_again(before, {name: f"several_{name}" for name, _ in THREE_LINES}, {}, "several_again")
            for (name, label), column in zip(THREE_LINES, st.columns(len(THREE_LINES), gap="small"), strict=True):
                column.text_area(text(label), key=f"several_{name}", height=68, max_chars=2000, persist_state="session")
            above = st.container()
            ticked = draw_list(several, "several")
            above.button(
                text("bulk_confirm", count=len(ticked)), type="primary", key="several", on_click=_approve,
                args=(found, desk, seen_now(ticked), person), disabled=not ticked,
            )  # fmt: skip


def _approve(found: Subject, desk: Desk, seen: dict[str, int], person: str) -> None:
    lines = {name: st.session_state.get(f"several_{name}") or "" for name, _ in THREE_LINES}
    if empty_lines(lines):
        desk.notices.say(MANY, "error", partial(empty_lines, lines))
        return
    try:
        given = Justification.from_plain(lines, text("form_approve"))
    except MetaInferError as error:
        desk.notices.say(MANY, "error", partial(refusal_words, error))
    else:
        write_about_all(found, desk, seen, person, given)


def draw_list(actions: Sequence[ActionReview], name: str) -> tuple[ActionReview, ...]:
    """The actions with their names (long ones in full when pointed at), a tick before each; gives those ticked.

    What somebody unticked stays so while this window is open: it is not ticked again behind their back.
    """
    with st.container(key=f"{name}_list", gap=None):
        return tuple(
            each
            for each in actions
            if st.checkbox(
                _line(each),
                value=True,
                key=field_key(f"{name}_tick", each.id),
                persist_state="session",
                help=_whole(each),
            )
        )


def _line(action: ActionReview) -> str:
    shape, word = risk_mark(risk_level(action.action))
    name, node = short_words(full_title(action.action), NAME_LETTERS), shortened(action.id, NAME_LETTERS)
    return f"{shape} {word} · {plain_words(name)} · :gray[{plain_words(node)}]"


def _whole(action: ActionReview) -> str | None:
    """The names in full, where a line does not show them so."""
    names = full_title(action.action), action.id
    is_long = any(len(word) > NAME_LETTERS for each in names for word in each.split(" "))
    return " · ".join(map(plain_words, names)) if is_long else None


def seen_now(actions: Sequence[ActionReview]) -> dict[str, int]:
    """Action id to the version that stands on the screen."""
    return {each.id: each.version for each in actions}
