"""Where manuals lie, on a screen: the folder is shown and chosen, and a manual is purged."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from review_store.keeping.manual_files import choose_manual_folder, manual_folder, purged_manuals
from review_store.keeping.manual_purge import purge, traces_of
from review_store.review.workspace import now, person_id
from studio.files.documents import file_digest
from studio.files.workspace import WorkspaceFile, workspace_folder
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text


def draw_keeping(manuals: list[WorkspaceFile], person: str) -> None:
    """Draws both, and what was purged before."""
    with st.expander(text("keep_manuals"), icon=":material/folder_managed:"):
        workspace = workspace_folder()
        _say_done()
        st.caption(text("keep_manuals_at"))
        st.code(str(manual_folder(workspace)), language=None, wrap_lines=True)
        with st.form("keep_folder", border=False):
            given = st.text_input(text("keep_manuals_other"), key="keep_folder_given")
            if st.form_submit_button(text("keep_manuals_set")):
                try:
                    choose_manual_folder(workspace, Path(given) if given.strip() else None)
                except MetaInferError as error:
                    st.error(error_words(error))
                else:
                    st.rerun()
        if manuals:
            _purge(workspace, manuals, person)
        for each in purged_manuals(workspace):
            names = ", ".join(each.file_names) or each.document_digest
            st.text(text("keep_purged", name=names, day=each.at[:10], person=each.actor))


def _purge(workspace: Path, manuals: list[WorkspaceFile], person: str) -> None:
    names = {file.name: file for file in manuals}
    chosen = st.selectbox(text("keep_purge"), list(names), index=None, key="keep_purge_choice")
    if chosen is None:
        return
    st.caption(text("keep_purge_hint"))
    words = st.toggle(text("keep_purge_words"), key="keep_purge_words")
    try:
        traces = traces_of(workspace, file_digest(names[chosen].path), names[chosen].size_bytes)
        count = len(traces.documents) + len(traces.made_from_it)
        if not person:
            st.caption(text("person_needed"))
        elif st.button(text("keep_purge_do", count=count), key="keep_purge", icon=":material/delete_forever:"):
            done = purge(workspace, traces, words, person_id(person), now())
            st.session_state["keep_done"] = (chosen, (*done.still_quoting, *done.pictures_in))
            st.rerun()
    except MetaInferError as error:
        st.error(error_words(error))


def _say_done() -> None:
    name, left = st.session_state.pop("keep_done", ("", ()))
    if name:
        st.success(text("keep_purge_done", name=plain_words(name)), icon=":material/check:")
    if left:
        st.warning(text("keep_purge_left", names=plain_words(", ".join(left))), icon=":material/search:")
