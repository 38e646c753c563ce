"""Where the keyboard begins on a screen, and the key that goes to its chief button: one script for every screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from studio.words.texts import text

_component = st.components.v2.component(
    "metainfer_keyboard", js=Path(__file__).with_name("keyboard.js").read_text(encoding="utf-8")
)


def lead_the_keyboard() -> None:
    """Draws the script, and the line that tells of its key."""
    _component(key="keyboard")
    st.caption(text("main_key"))
