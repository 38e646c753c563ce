"""What one browser window remembers, by typed accessors: who sits there."""

from __future__ import annotations

import streamlit as st

from metainfer_core.errors import InputError
from review_store.review.workspace import default_person, person_id

PERSON = "person"
CHOSEN = "person_chosen"


def person() -> str:
    """Id of who sits at this window; empty where that is not known yet."""
    if PERSON not in st.session_state:
        try:
            st.session_state[PERSON] = default_person()
        except InputError:
            st.session_state[PERSON] = ""
    return str(st.session_state[PERSON])


def set_person(text: str) -> None:
    """Says who sits there; raises InputError where this cannot be a person's id."""
    st.session_state[PERSON] = person_id(text)
    st.session_state[CHOSEN] = True


def is_chosen() -> bool:
    """Whether somebody said so, here or before the window was loaded anew; else it is the machine's user."""
    return CHOSEN in st.session_state
