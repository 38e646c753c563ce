"""Approving several actions at once: exactly those that are listed, as they were when they were listed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import MetaInferError
from review_store.decide import low_risk_ids
from review_store.state import ActionReview, ReviewState
from studio.decisions import write_about_all
from studio.marks import risk_mark
from studio.plain_words import plain_words
from studio.policies import Subject
from studio.review_queue import Desk
from studio.review_rows import title, together
from studio.texts import text

LIST_HEIGHT = 240
THREE_LINES = (
    ("why_allowed", "form_why_allowed"),
    ("accuracy_effect", "form_accuracy_effect"),
    ("fallback", "form_fallback"),
)
"""The fields of a justification, and their labels."""


def draw_bulk(found: Subject, state: ReviewState, shown: Sequence[ActionReview], desk: Desk, person: str) -> None:
    """All of low risk with one press; those of the queue up to medium risk with one justification."""
    low_ids = set(low_risk_ids(state))
    low = [each for each in state.actions if each.id in low_ids]
    several = together(shown)
    if low:
        _low(found, low, desk, person)
    if any(each.id not in low_ids for each in several):
        _several(found, several, desk, person)
    _notice(desk)


def _low(found: Subject, low: Sequence[ActionReview], desk: Desk, person: str) -> None:
    popover = st.popover(text("bulk_open", count=len(low)), width="stretch", key="bulk_popover", on_change="rerun")
    if popover.open:
        with popover:
            st.caption(text("bulk_hint", count=len(low)))
            _list(low)
            st.button(
                text("bulk_confirm", count=len(low)), type="primary", key="bulk", on_click=write_about_all,
                args=(found, desk, _seen(low), person),
            )  # fmt: skip


def _several(found: Subject, several: Sequence[ActionReview], desk: Desk, person: str) -> None:
    label = text("several_open", count=len(several))
    popover = st.popover(label, width="stretch", key="several_popover", on_change="rerun")
    if popover.open:
        with popover:
            st.caption(text("several_hint", count=len(several)))
            _list(several)
            for name, label in THREE_LINES:
                st.text_area(text(label), key=f"several_{name}", height=68, max_chars=2000, persist_state="session")
            st.button(
                text("bulk_confirm", count=len(several)), type="primary", key="several", on_click=_approve,
                args=(found, desk, _seen(several), person),
            )  # fmt: skip


def _approve(found: Subject, desk: Desk, seen: dict[str, int], person: str) -> None:
    lines = {name: st.session_state.get(f"several_{name}") or "" for name, _ in THREE_LINES}
    try:
        given = Justification.from_plain(lines, text("form_approve"))
    except MetaInferError as error:
        desk.bulk = ("error", " ".join((error.what, error.why)))
    else:
        write_about_all(found, desk, seen, person, given)


def _list(actions: Sequence[ActionReview]) -> None:
    st.dataframe(
        [
            {
                text("column_risk"): " ".join(risk_mark(risk_level(each.action))),
                text("column_action"): title(each.action),
                text("name"): each.id,
            }
            for each in actions
        ],
        hide_index=True,
        height=LIST_HEIGHT,
    )


def _seen(actions: Sequence[ActionReview]) -> dict[str, int]:
    return {each.id: each.version for each in actions}


def _notice(desk: Desk) -> None:
    how, words = desk.bulk
    if how == "success":
        st.success(plain_words(words), icon=":material/check:")
    elif how == "error":
        st.error(plain_words(words), icon=":material/error:")
    elif how == "conflict":
        lines = "\n".join(f"- {plain_words(line)}" for line in words.splitlines())
        title = text("bulk_conflict")
        st.warning(f"{title}\n{lines}", icon=":material/group:")
