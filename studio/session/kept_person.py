"""Who sits at a window stays the same when the window is loaded anew."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from metainfer_core.errors import InputError
from studio.session.session import is_chosen, person, set_person

_component = st.components.v2.component(
    "metainfer_kept_person", js=Path(__file__).with_name("kept_person.js").read_text(encoding="utf-8")
)


def keep_person() -> None:
    """Hands the person who was chosen to the window's tab, and takes who was chosen before it was loaded anew.

    What comes from there is held to what a person's id may be, as if it had been typed.
    """
    sent = _component(key="kept_person", data={"person": person(), "chosen": is_chosen()}, on_kept_change=lambda: None)
    if isinstance(sent.kept, str) and not is_chosen():
        try:
            set_person(sent.kept)
        except InputError:
            return  # not what we gave it to keep
        st.rerun()
