"""Netron on the screen. It lays out a whole graph at once, so of a large one people are asked first."""

from __future__ import annotations

import hashlib

import streamlit as st

from studio.model.graph_viewer import netron_link
from studio.words.texts import text

VIEWER_HEIGHT = 720
MOST_AT_ONCE = 2000
"""Nodes that Netron lays out in some seconds, whatever their wiring."""


def draw_netron_tab(name: str, nodes: int) -> None:
    """Draws the model with this path in the workspace."""
    key = f"netron_{hashlib.sha256(name.encode()).hexdigest()[:10]}"
    if nodes > MOST_AT_ONCE and not st.session_state.get(f"{key}_wanted"):
        st.warning(text("graph_large", count=f"{nodes:,}"), icon=":material/hourglass_top:")
        if not st.button(text("graph_large_open"), key=key):
            return
        st.session_state[f"{key}_wanted"] = True
    st.iframe(netron_link(name), height=VIEWER_HEIGHT)
