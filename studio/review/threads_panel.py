"""What was said about an action and is not dealt with yet: threads with their answers, and a button for each."""

from __future__ import annotations

import streamlit as st

from review_store.record.events import Commented
from review_store.review.decide import Decision
from review_store.review.state import ActionReview
from review_store.review.threads import Thread, open_threads
from studio.files.policies import Subject
from studio.review.decisions import write
from studio.review.review_queue import Desk, Pressed
from studio.words.markup import draw
from studio.words.texts import text


def draw_threads(found: Subject, action: ActionReview, desk: Desk, person: str) -> None:
    """Shows the open threads."""
    for thread in open_threads(action.threads):
        draw("thread", comments=_comments(thread))
        st.button(
            text("thread_resolve"), key=f"resolve_{thread.number}", type="tertiary", icon=":material/check:",
            on_click=_resolve, args=(found, action, desk, person, thread.number),
        )  # fmt: skip


def answered(action: ActionReview, key: str, kept: object) -> int | None:
    """The thread that a comment answers, as chosen in its form; None: it begins one of its own."""
    there = {each.number: each for each in open_threads(action.threads)}
    if not there:
        return None
    return st.selectbox(
        text("thread_answers"), list(there), index=list(there).index(kept) if kept in there else None, key=key,
        format_func=lambda number: " · ".join(_comments(there[number])[0]), placeholder=text("thread_new"),
    )  # fmt: skip


def _resolve(found: Subject, action: ActionReview, desk: Desk, person: str, number: int) -> None:
    event = Pressed(0, "resolve", action.id, action.version)
    write(found, desk, event, Decision(person, (action.id,), ("resolve",), thread=number))


def _comments(thread: Thread) -> list[tuple[str, str]]:
    """Who said what, oldest first."""
    said = (record.event for record in thread.comments)
    return [(event.actor, event.text) for event in said if isinstance(event, Commented)]
