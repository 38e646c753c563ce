"""The three lines of a justification: their fields, which of them are empty, and the words that one gave last time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from metainfer_core.bundle.statement import Justification
from review_store.record.events import Approved, Undone
from review_store.record.log import Record
from studio.words.plain_words import plain_words
from studio.words.texts import text

THREE_LINES = (
    ("why_allowed", "form_why_allowed"),
    ("accuracy_effect", "form_accuracy_effect"),
    ("fallback", "form_fallback"),
)
"""The fields of a justification, and their labels."""


def empty_lines(lines: Mapping[str, str]) -> str:
    """Which of the three lines are empty, in a sentence; nothing where all are filled in."""
    empty = [f"“{text(label)}”" for name, label in THREE_LINES if not lines[name].strip()]
    return text("form_lines_empty", fields=", ".join(empty)) if empty else ""


def own_lines(records: Sequence[Record], person: str) -> Justification | None:
    """The lines of this person's last approval that had any and was not undone; never those of another person."""
    undone = {record.event.undoes for record in records if isinstance(record.event, Undone)}
    for record in reversed(records):
        event = record.event
        if isinstance(event, Approved) and event.actor == person and event.justification and record.seq not in undone:
            return event.justification
    return None


def fill_lines(lines: Justification, keys: Mapping[str, str], kept: Mapping[str, object]) -> None:
    """Puts the lines into their fields (name to the field's key), where nobody has typed anything yet.

    A field that is not on the screen yet is empty unless words are kept for it.
    """
    for name, words in lines.plain().items():
        there = st.session_state.get(keys[name], kept.get(name))
        if not (isinstance(there, str) and there.strip()):
            st.session_state[keys[name]] = words


def draw_again(lines: Justification | None, keys: Mapping[str, str], kept: Mapping[str, object], key: str) -> None:
    """The button that fills the fields with one's own words of last time; nothing is written before one approves."""
    if lines is not None:
        st.button(
            text("lines_again"), key=key, icon=":material/history:", on_click=fill_lines, args=(lines, keys, kept),
            help=text("lines_again_hint", why=plain_words(lines.why_allowed),
                      accuracy=plain_words(lines.accuracy_effect), fallback=plain_words(lines.fallback)),
        )  # fmt: skip
