"""A backup from the screen: where to, and the job that writes it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from studio.background.job_view import job_list
from studio.background.jobs import Order, Title, start
from studio.files.workspace import workspace_folder
from studio.session.session import person
from studio.words.plain_words import error_words
from studio.words.texts import text

KIND = "backup"


def draw_backup() -> None:
    """Draws the field, the button and the newest backup's job."""
    folder = workspace_folder()
    st.caption(text("backup_hint"))
    with st.form("backup", border=False):
        suggested = folder.with_name(f"{folder.name}.backup")
        given = st.text_input(text("backup_where"), value=str(suggested), key="backup_given")
        pressed = st.form_submit_button(text("backup_do"), icon=":material/save:")
    if pressed:
        try:
            start(backup_order(Path(given)))
        except MetaInferError as error:
            st.error(error_words(error))
    job_list((KIND,), limit=1)


def backup_order(file: Path) -> Order:
    """The job that writes a backup of the workspace."""
    folder = workspace_folder()
    target = str(file.expanduser().absolute())
    return Order(
        kind=KIND,
        title=Title(words="backup_title", values={"file": file.name}),
        arguments=("workspace", "backup", target, "--workspace", str(folder)),
        actor=person(),
    )
