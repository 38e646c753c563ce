"""Which language a window speaks: what its reader chose, else what the address asks for, else what the browser prefers.

The address holds it where it is another one than the browser's, so that a link opens in the language that it was read
in. Outside of a window (a job, a route, a test) it is English.
"""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

Language = Literal["en", "zh"]
LANGUAGES: dict[Language, str] = {"en": "English", "zh": "中文"}
"""Every language, in its own words."""
FIRST: Language = "en"
KEY = "lang"
"""Name in the window's memory and in the address."""
CHOSEN_BY_WORDS = re.compile("mode|sort|target_.*")
"""Keys of boxes that show a choice in words. Others must not be written to: a box for files refuses it."""


def language() -> Language:
    """The language of the window that the script runs for."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return FIRST
    return known_language(st.session_state.get(KEY)) or FIRST


def settle_language() -> None:
    """Fixes the language of a new window, and writes it into the address where that must say it."""
    preferred = preferred_language(st.context.headers.get("Accept-Language") or "")
    if known_language(st.session_state.get(KEY)) is None:
        st.session_state[KEY] = known_language(st.query_params.get(KEY)) or preferred
    chosen = language()
    if chosen != preferred:
        if st.query_params.get(KEY) != chosen:
            st.query_params[KEY] = chosen
    elif KEY in st.query_params:
        del st.query_params[KEY]


def choose_language(given: Language) -> None:
    """Says which language this window speaks from now on, also in the boxes where something was chosen by its words."""
    st.session_state[KEY] = given
    for key in [str(each) for each in st.session_state if CHOSEN_BY_WORDS.fullmatch(str(each))]:
        st.session_state[key] = st.session_state[key]  # else the browser goes on to show the word that was chosen


def preferred_language(accepted: str) -> Language:
    """The first of our languages in an `Accept-Language` header, whose words stand in the order of preference."""
    for part in accepted.split(","):
        found = known_language(part.partition(";")[0].strip().partition("-")[0].lower())
        if found is not None:
            return found
    return FIRST


def known_language(word: object) -> Language | None:
    """The language with this name, which can come from anywhere."""
    return next((each for each in LANGUAGES if each == word), None)
