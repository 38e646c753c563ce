"""Filters and choices in the address bar, by names that stay: a link opens exactly this view in another browser.

Streamlit can bind a field to the address itself, but writes what the field shows, with counts and in one language.
The address is read when a window draws a field for the first time. Later it only follows: a browser sends the address
that it had when a key was pressed, which may be older than what stands in the field. What it holds of a choice is its
key, which is the same in every language.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import streamlit as st


def many_from_address(key: str, known: Collection[str]) -> None:
    """Gives a new field of several choices what the address asks for."""
    if key not in st.session_state:
        st.session_state[key] = [each for each in st.query_params.get_all(key) if each in known]


def many_to_address(key: str, chosen: Iterable[str]) -> None:
    """Writes the choices into the address."""
    values = list(chosen)
    if values:
        if values != st.query_params.get_all(key):
            st.query_params[key] = values
    elif key in st.query_params:
        del st.query_params[key]


def choice_from_address(key: str, known: Collection[str], default: str) -> None:
    """Gives a new field of one choice what the address asks for, where that is among the choices; else the default."""
    if st.session_state.get(key) not in known:
        asked = st.query_params.get(key, "")
        st.session_state[key] = asked if asked in known else default


def text_from_address(key: str) -> None:
    """Gives a new field of words what the address asks for."""
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get(key, "")


def text_to_address(key: str, words: str) -> None:
    """Writes the words into the address."""
    many_to_address(key, [words] if words else [])
