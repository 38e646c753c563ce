"""A review as one page to take along: a button that writes it when it is pressed."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from metainfer_core.bundle.trust import time_text
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.export.page_export import export_page
from studio.files.documents import document_with
from studio.files.policies import Review, Subject
from studio.files.workspace import workspace_folder
from studio.words.texts import text


def draw_page_button(found: Subject, review: Review) -> None:
    """The button; one that cannot be pressed says why, where the spec is not in reach."""
    spec = found.spec.spec if found.spec is not None else None
    st.download_button(
        text("record_page"),
        (lambda: page_of(review, spec)) if spec is not None else b"",
        f"{found.path.stem}.review.html",
        "text/html",
        key="record_page",
        help=text("record_page_hint" if spec is not None else "record_page_no_spec"),
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        disabled=spec is None,
    )


def page_of(review: Review, spec: HardwareSpec) -> bytes:
    """The page, as of the start of today."""
    today = time_text(datetime.now(UTC).replace(hour=0, minute=0, second=0))
    return export_page(workspace_folder(), review.log, review.state, spec, document_with, today, _quiet)


def _quiet(step: str, done: int, total: int) -> None:
    """Nobody watches: the browser shows that it waits."""
