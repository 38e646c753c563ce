"""Choosing what a screen is about. The choice stands in the address bar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from studio.files.policies import Review, SpecChoice, Subject, review_of, spec_choices
from studio.files.workspace import Kind, files_of, workspace_folder
from studio.words.long_names import shortened
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

Begin = Callable[[Sequence[str], str | None], str]
"""What a choice begins with that the address leaves free: of these names, with what was chosen last in this window."""


def last_or_first(names: Sequence[str], last: str | None) -> str:
    """What was chosen last, on whichever screen that was; else the first by name."""
    return last if last is not None and last in names else names[0]


def choose_file(kind: Kind, label: str, key: str, begin: Begin = last_or_first) -> Path | None:
    """One file of the workspace; None, and nothing drawn, where there is none of its kind."""
    folder = workspace_folder()
    names = [path.relative_to(folder).as_posix() for path in files_of(kind)]
    if not names:
        return None
    return folder / _chosen(label, names, key, begin)


def choose_spec(key: str = "spec") -> SpecChoice | None:
    """One spec of the workspace or the library; None where there is none at all."""
    found = {short_reference(each.reference): each for each in spec_choices()}
    return found[_chosen(text("choose_spec"), list(found), key)] if found else None


def review_or_why_not(found: Subject) -> Review | None:
    """The review of a policy; says why, where the record or the trust file of the workspace cannot be read."""
    try:
        return review_of(found)
    except MetaInferError as error:
        st.error(error_words(error), icon=":material/error:")
        return None


def say_if_lost(asked: str, known: Collection[str]) -> None:
    """Says that what the address asks for is not there; the screen shows another one instead."""
    if asked and asked not in known:
        st.warning(text("asked_lost", asked=plain_words(shortened(asked, 120))), icon=":material/link_off:")


def remember(key: str, name: str) -> None:
    """Takes a name for the last choice of its kind: screens that the address leaves free begin with it."""
    st.session_state[f"last_{key}"] = name


def _chosen(label: str, names: list[str], key: str, begin: Begin = last_or_first) -> str:
    """One of the names: the one that the address asks for, else the one to begin with.

    The address holds it even where it is the first: that can be another one tomorrow. The field stays the same field
    when the choice changes, or the keyboard would fall out of it.
    """
    asked = st.query_params.get(key, "")
    say_if_lost(asked, names)
    field, written = f"chosen_{key}", f"written_{key}"
    if asked != st.session_state.get(written) or st.session_state.get(field) not in names:
        st.session_state[field] = asked if asked in names else begin(names, st.session_state.get(f"last_{key}"))
    name = str(st.selectbox(label, names, key=field))
    remember(key, name)
    st.session_state[written] = name
    if name != asked:
        st.query_params[key] = name
    return name


def short_reference(reference: str) -> str:
    """A spec's reference as the address bar holds it: relative to the workspace where it is a file there."""
    path = Path(reference)
    return path.relative_to(workspace_folder()).as_posix() if path.is_absolute() else reference
