"""What people read while the server is away, in our words and their language: one small script for every screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from studio.words.texts import text

_component = st.components.v2.component(
    "metainfer_server_gone", js=Path(__file__).with_name("server_gone.js").read_text(encoding="utf-8")
)


def say_when_the_server_is_gone() -> None:
    """Hands over the words for a time when nothing can be asked for."""
    _component(key="server_gone", data={"title": text("server_gone"), "what": text("server_gone_what")})
