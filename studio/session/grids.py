"""Tables that Tab leaves: one small script for every screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "metainfer_grids", js=Path(__file__).with_name("grids.js").read_text(encoding="utf-8")
)


def tab_leaves_grids() -> None:
    """Makes Tab leave a table instead of walking through its cells."""
    _component(key="grids")
