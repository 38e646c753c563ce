"""Page configuration and navigation: what stands around every screen."""

from __future__ import annotations

import streamlit as st

from studio.texts import text


def frame() -> None:
    """Draws the frame and runs the screen that the address names."""
    st.set_page_config(page_title="meta-infer", page_icon=":material/developer_board:", layout="wide")
    st.navigation([st.Page("pages/home.py", title=text("home"), icon=":material/home:", default=True)]).run()
