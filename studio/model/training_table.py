"""Changes that need training again, as the adapt screen shows them."""

from __future__ import annotations

import streamlit as st

from metainfer_core.explain.sizes import sized_text
from metainfer_core.policy.structure.change import StructureChange
from studio.words.core_words import core_words
from studio.words.figures import microseconds
from studio.words.texts import text

ROW_HEIGHT = 35
"""Of a table's line, in pixels."""


def draw_changes(changes: tuple[StructureChange, ...], height: int) -> None:
    """A line for each change; its prediction is labelled so."""
    if not changes:
        st.caption(text("training_none"))
        return
    st.caption(text("training_about"))
    rows = [_row(change) for change in changes]
    st.dataframe(rows, hide_index=True, height=min(height, ROW_HEIGHT * (len(rows) + 1) + 2))


def _row(change: StructureChange) -> dict[str, str]:
    time = change.predicted_time_us
    return {
        text("training_grade"): text(f"grade_{change.grade.replace(' ', '_')}"),
        text("training_change"): core_words(change.sentence),
        text("training_why"): " ".join(sized_text(core_words(each.claim)) for each in change.why),
        text("training_time"): f"{microseconds(time[0], True)} … {microseconds(time[1], True)}" if time else "",
        text("training_risk"): core_words(change.risk),
        text("training_measure"): core_words(change.measure),
        text("training_then"): core_words(change.then),
    }
