"""What a popover holds is the next Tab after a key has opened it: one small script for every screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "metainfer_popovers",
    js=Path(__file__).with_name("popovers.js").read_text(encoding="utf-8") + "\nexport default function () {}\n",
)


def tab_enters_popovers() -> None:
    """Gives the cursor to a popover that was opened with a key."""
    _component(key="popovers")
